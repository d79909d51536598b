//! What callers saw, and whether the record and the metrics say the same.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::gateway::Gateway;
use crate::outage::Held;
use crate::watch::Figures;

/// How a run ended, as its caller saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Completed,
    Failed,
    Cancelled,
    /// The gateway stopped, and what becomes of the run is for the next process to say.
    Interrupted,
}

impl Seen {
    /// The statuses that the record may have then. A provider may end in an error what it was asked to stop, and AG-UI has no
    /// other word for it.
    fn statuses(self) -> &'static [&'static str] {
        match self {
            Self::Completed => &["completed"],
            Self::Failed => &["failed", "cancelled"],
            Self::Cancelled => &["cancelled"],
            Self::Interrupted => &["completed", "failed", "cancelled"],
        }
    }
}

/// The runs that callers opened, and how they saw them end.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    runs: Mutex<HashMap<String, Option<Seen>>>,
    /// Answers to asks: runs whose ids their callers do not see.
    answers: Mutex<usize>,
    /// Runs whose callers were told that they go on after the restart, and not which they are.
    suspended: Mutex<usize>,
    /// Requests that may have opened a run and had no answer that says which, as the gateway stopped.
    unheard: Mutex<usize>,
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

    pub(crate) fn suspended(&self) {
        *self.suspended.lock().unwrap() += 1;
    }

    pub(crate) fn unheard(&self) {
        *self.unheard.lock().unwrap() += 1;
    }

    /// Holds record, metrics and callers against each other. The metrics are of the process that began when the record held
    /// `rest`.
    pub(crate) fn reconcile(&self, gateway: &Gateway, rest: &Held, figures: &Figures) -> Summary {
        let record = gateway.record();
        let runs = self.runs.lock().unwrap();
        let mut rows = record.prepare("SELECT id, status, answers_run_id IS NOT NULL FROM runs").unwrap();
        let recorded: HashMap<String, (String, bool)> = rows
            .query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        for (run, seen) in runs.iter() {
            let (status, _) = recorded.get(run).unwrap_or_else(|| panic!("run {run} is not in the record"));
            if let Some(seen) = seen {
                assert!(
                    seen.statuses().contains(&status.as_str()),
                    "run {run}: {status}, and {seen:?} was seen"
                );
            }
        }
        let answers = recorded.values().filter(|(_, answers)| *answers).count();
        let known = runs.len() + *self.answers.lock().unwrap() + *self.suspended.lock().unwrap();
        let unheard = recorded.len().checked_sub(known).expect("no caller knows of a run that is not there");
        let most = *self.unheard.lock().unwrap();
        assert!(
            unheard <= most,
            "{} runs in the record ({answers} answers), {known} known to callers, and {most} requests without an answer",
            recorded.len(),
        );

        let held = Held::read(&record);
        assert_eq!((held.queued.len(), held.running), (0, 0), "every run has ended");
        assert_eq!(held.of("failed", "orphaned_by_restart"), 0, "who stops in order leaves no run behind");
        for run in &rest.queued {
            assert!(recorded.contains_key(run), "run {run} was queued, and is lost");
        }
        let went_on = rest.queued.iter().filter(|run| recorded[*run].0 == "completed").count();
        assert!(went_on > 0, "none of the {} runs that were queued went on to its end", rest.queued.len());

        let ended = held.ended_since(rest);
        assert_eq!(figures.with("funduq_runs_ended_total"), ended, "ends in the metrics, and in the record");
        assert_eq!(figures.get("funduq_runs_opened_total") as usize, held.runs - rest.runs);
        assert_eq!(figures.get("funduq_events_total") as u64, held.events - rest.events);
        assert_eq!(figures.get("funduq_event_bytes_total") as u64, held.bytes - rest.bytes);
        let verdicts = figures.sum("funduq_verdicts_total");
        assert!(verdicts <= figures.get("funduq_offers_total"), "more answers than offers");
        Summary { runs: held.runs, events: held.events, queued: rest.queued.len(), went_on, unheard }
    }
}

/// What there was.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) runs: usize,
    pub(crate) events: u64,
    /// Runs that were queued while the gateway was away, and those of them that completed.
    pub(crate) queued: usize,
    pub(crate) went_on: usize,
    /// Runs whose callers were never told of them, as the gateway stopped.
    pub(crate) unheard: usize,
}
