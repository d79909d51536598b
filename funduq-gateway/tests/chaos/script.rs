//! What each run is to say, known beforehand to its agent and to its caller.

use funduq_contract::{RunId, ThreadId};
use funduq_core::RunStatus;
use serde_json::json;

/// How many events each run has.
pub(crate) const EVENTS: usize = 200;

/// How an agent ends its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Finished,
    Failed,
    Interrupted,
    Cancelled,
    /// It returns without a word.
    Silent,
}

impl End {
    /// The end of the run with this number.
    pub(crate) fn of(run: usize) -> Self {
        match run % 10 {
            0..5 => Self::Finished,
            5..7 => Self::Failed,
            7 => Self::Interrupted,
            8 => Self::Cancelled,
            _ => Self::Silent,
        }
    }

    /// What the record is to say of such a run.
    pub(crate) fn status(self) -> RunStatus {
        match self {
            Self::Finished | Self::Interrupted => RunStatus::Completed,
            Self::Cancelled => RunStatus::Cancelled,
            Self::Failed | Self::Silent => RunStatus::Failed,
        }
    }
}

/// What the agent says in the run with this number, byte for byte.
pub(crate) fn texts(run: usize, thread_id: &ThreadId, run_id: &RunId) -> Vec<String> {
    let ids = |kind: &str| json!({ "type": kind, "threadId": thread_id, "runId": run_id });
    let mut texts = vec![ids("RUN_STARTED").to_string()];
    for number in 2..EVENTS {
        // Spaces and members' order as no serializer of ours would have them; one large event a run.
        let padding = "é世👩‍🚀 ".repeat(if number == 100 + run % 50 { 600 } else { number % 4 });
        texts.push(format!(
            r#"{{ "value":{{"run":{run},"number":{number},"text":"{padding}"}}, "type" :"CUSTOM","name":"n"}}"#
        ));
    }
    let mut finished = ids("RUN_FINISHED");
    let end = match End::of(run) {
        End::Finished => finished,
        End::Interrupted => {
            let interrupts = json!([{ "id": format!("ask-{run}"), "reason": "confirmation" }]);
            finished["outcome"] = json!({ "type": "interrupt", "interrupts": interrupts });
            finished
        }
        End::Cancelled => {
            finished["outcome"] = json!({ "type": "cancelled" });
            finished
        }
        End::Failed => {
            json!({ "type": "RUN_ERROR", "message": format!("run {run} says no"), "code": "agents_own" })
        }
        End::Silent => return texts,
    };
    texts.push(end.to_string());
    texts
}
