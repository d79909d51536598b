//! What a simulated agent says in one run: events whose bytes are like no other run's, and how it stops.

use std::sync::Arc;

use funduq_core::RunStatus;

use crate::prng::Rng;

/// One event, and what funduq must make of it.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) json: Arc<str>,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    /// Terminal: the status that it gives a run nobody asked to cancel.
    Terminal(RunStatus),
    Malformed,
}

/// Everything that an agent will say in a run, in order; numbers count from 1.
#[derive(Debug, Clone, Default)]
pub(crate) struct Script {
    pub(crate) events: Vec<Said>,
    /// The asks that the run leaves open if it says all of it.
    pub(crate) asks: Vec<String>,
}

/// How an agent's run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Success,
    Interrupt,
    ToolCall,
    CancelledItself,
    Error,
    /// It says that it is done, and nothing else.
    Nothing,
    Malformed,
    /// It goes on after its terminal event.
    TalksOn,
}

impl Script {
    pub(crate) fn new(rng: &mut Rng, run: usize, well_behaved: bool) -> Self {
        let mut script = Self::default();
        let odd = if well_behaved { 0 } else { 1 };
        let end = rng.weigh(&[
            (40, End::Success),
            (14, End::Interrupt),
            (8, End::ToolCall),
            (5, End::CancelledItself),
            (10, End::Error),
            (8 * odd, End::Nothing),
            (8 * odd, End::Malformed),
            (7 * odd, End::TalksOn),
        ]);
        if rng.percent(80) {
            script.say(run, r#""type":"RUN_STARTED","threadId":"t","runId":"r""#, Kind::Plain);
        }
        for _ in 0..rng.below(6) {
            let body = rng.weigh(&[
                (3, r#""type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":"x""#),
                (3, r#""type":"CUSTOM","name":"progress","value":1"#),
                (1, r#""type":"A_LATER_EVENT" , "with":[1e400]"#),
            ]);
            script.say(run, body, Kind::Plain);
        }
        let finished = r#""type":"RUN_FINISHED","threadId":"t","runId":"r""#;
        match end {
            End::Success | End::TalksOn => script.say(run, finished, Kind::Terminal(RunStatus::Completed)),
            End::Interrupt => {
                script.asks.push(format!("ask{run}"));
                let outcome = format!(
                    r#"{finished},"outcome":{{"type":"interrupt","interrupts":[{{"id":"ask{run}","reason":"confirmation"}}]}}"#
                );
                script.say(run, &outcome, Kind::Terminal(RunStatus::Completed));
            }
            End::ToolCall => {
                script.asks.push(format!("call{run}"));
                let start =
                    format!(r#""type":"TOOL_CALL_START","toolCallId":"call{run}","toolCallName":"look""#);
                script.say(run, &start, Kind::Plain);
                script.say(run, &format!(r#""type":"TOOL_CALL_END","toolCallId":"call{run}""#), Kind::Plain);
                script.say(run, finished, Kind::Terminal(RunStatus::Completed));
            }
            End::CancelledItself => script.say_cancelled(run),
            End::Error => script.say_error(run),
            End::Nothing => {}
            End::Malformed => {
                let bad = rng.weigh(&[
                    (1, r#""type":"TEXT_MESSAGE_START""#),
                    (1, r#""kind":"none""#),
                    (1, r#""type":"RUN_FINISHED","threadId":null"#),
                ]);
                script.say(run, bad, Kind::Malformed);
            }
        }
        if end == End::TalksOn {
            script.say(run, r#""type":"CUSTOM","name":"after the end","value":1"#, Kind::Plain);
            script.say_error(run);
        }
        script
    }

    /// What is left of it when somebody asked for the run to stop: `said` events have gone out.
    pub(crate) fn stop(&mut self, rng: &mut Rng, run: usize, said: usize) {
        if said >= self.events.len() || rng.percent(25) {
            return;
        }
        self.events.truncate(said);
        self.asks.clear();
        match rng.below(3) {
            0 => self.say_cancelled(run),
            1 => self.say_error(run),
            _ => {}
        }
    }

    fn say_cancelled(&mut self, run: usize) {
        let body = r#""type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}"#;
        self.say(run, body, Kind::Terminal(RunStatus::Cancelled));
    }

    fn say_error(&mut self, run: usize) {
        let body = r#""type":"RUN_ERROR","message":"it broke","code":"its_own""#;
        self.say(run, body, Kind::Terminal(RunStatus::Failed));
    }

    fn say(&mut self, run: usize, body: &str, kind: Kind) {
        let number = self.events.len() + 1;
        let json = format!(r#"{{{body},"of":{run}, "number":{number}}}"#).into();
        self.events.push(Said { json, kind });
    }
}
