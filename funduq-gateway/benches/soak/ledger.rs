//! What callers saw, and whether the record and the metrics say the same.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use crate::gateway::Gateway;
use crate::watch::Figures;

/// How a run ended, as its caller saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Completed,
    Failed,
    Cancelled,
}

impl Seen {
    /// The statuses that the record may have then. A provider may end in an error what it was asked to stop, and AG-UI has no
    /// other word for it.
    fn statuses(self) -> &'static [&'static str] {
        match self {
            Self::Completed => &["completed"],
            Self::Failed => &["failed", "cancelled"],
            Self::Cancelled => &["cancelled"],
        }
    }
}

/// The runs that callers opened, and how they saw them end.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    runs: Mutex<HashMap<String, Option<Seen>>>,
    /// Answers to asks: runs whose ids their callers do not see.
    answers: Mutex<usize>,
}

impl Ledger {
    pub(crate) fn opened(&self, run: &str) {
        self.runs.lock().unwrap().entry(run.to_owned()).or_default();
    }

    pub(crate) fn ended(&self, run: &str, seen: Seen) {
        self.runs.lock().unwrap().insert(run.to_owned(), Some(seen));
    }

    pub(crate) fn answered(&self) {
        *self.answers.lock().unwrap() += 1;
    }

    /// Holds record, metrics and callers against each other; how many runs there were.
    pub(crate) fn reconcile(&self, gateway: &Gateway, figures: &Figures) -> usize {
        let record = gateway.record();
        let runs = self.runs.lock().unwrap();
        let mut rows = record.prepare("SELECT id, status, answers_run_id IS NOT NULL FROM runs").unwrap();
        let recorded: HashMap<String, (String, bool)> = rows
            .query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let answers = recorded.values().filter(|(_, answers)| *answers).count();
        assert_eq!(
            answers,
            *self.answers.lock().unwrap(),
            "answers in the record, and those that were given"
        );
        assert_eq!(recorded.len(), runs.len() + answers, "runs in the record, and those that callers opened");
        for (run, seen) in runs.iter() {
            let (status, _) = recorded.get(run).unwrap_or_else(|| panic!("run {run} is not in the record"));
            if let Some(seen) = seen {
                assert!(
                    seen.statuses().contains(&status.as_str()),
                    "run {run}: {status}, and {seen:?} was seen"
                );
            }
        }

        let mut groups = record
            .prepare(
                "SELECT status, iif(status = 'failed', coalesce(json_extract(metadata, '$.failureReason'), 'provider_error'), ''),
                 count(*) FROM runs GROUP BY 1, 2",
            )
            .unwrap();
        let by_end: BTreeMap<String, u64> = groups
            .query_map([], |row| {
                let (status, reason): (String, String) = (row.get(0)?, row.get(1)?);
                let name = format!("funduq_runs_ended_total{{outcome=\"{status}\",reason=\"{reason}\"}}");
                Ok((name, row.get(2)?))
            })
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(figures.with("funduq_runs_ended_total"), by_end, "ends in the metrics, and in the record");
        let (events, bytes): (u64, u64) = record
            .query_row("SELECT count(*), sum(length(CAST(json AS BLOB))) FROM run_events", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!(figures.get("funduq_runs_opened_total") as usize, recorded.len());
        assert_eq!(figures.get("funduq_events_total") as u64, events);
        assert_eq!(figures.get("funduq_event_bytes_total") as u64, bytes);
        let verdicts = figures.sum("funduq_verdicts_total");
        assert!(verdicts <= figures.get("funduq_offers_total"), "more answers than offers");
        recorded.len()
    }
}
