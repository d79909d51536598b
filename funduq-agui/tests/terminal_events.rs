//! Which events end a run, and how: read from the bytes and from the typed event alike.

use funduq_agui::event::{CancelledOutcome, RunError, RunFinished, StepStarted};
use funduq_agui::{Event, EventType, Interrupt, Outcome, RelayedEvent, Terminal};

fn terminal(event: &str) -> Option<Terminal> {
    RelayedEvent::parse(event).expect("the test's event is valid").terminal()
}

#[test]
fn a_finished_run_names_its_outcome() {
    for (outcome, expected) in [
        ("", Outcome::Success),
        (r#","outcome":{"type":"success"}"#, Outcome::Success),
        (r#","outcome":{"type":"success","pendingToolCallIds":["c"]}"#, Outcome::Success),
        (r#","outcome":{"interrupts":[{"id":"i","reason":"r"}],"type":"interrupt"}"#, Outcome::Interrupt),
        (r#","outcome":{"\u0074ype":"cancel\u006ced"}"#, Outcome::Cancelled),
        (r#","outcome":{"type":"paused"}"#, Outcome::Unknown),
        (r#","outcome":{}"#, Outcome::Unknown),
    ] {
        let event = format!(r#"{{"type":"RUN_FINISHED","threadId":"t","runId":"r"{outcome}}}"#);
        assert_eq!(terminal(&event), Some(Terminal::RunFinished(expected)), "{event}");
    }
}

#[test]
fn a_failed_run_tells_its_code() {
    let code = |event| match terminal(event) {
        Some(Terminal::RunError { code }) => code,
        other => panic!("{other:?}"),
    };
    assert_eq!(code(r#"{"type":"RUN_ERROR","message":"m"}"#), None);
    assert_eq!(code(r#"{"type":"RUN_ERROR","message":"m","code":"a\"b"}"#).as_deref(), Some("a\"b"));
}

#[test]
fn no_other_event_ends_a_run() {
    assert_eq!(terminal(r#"{"type":"STEP_FINISHED","stepName":"s","outcome":{"type":"cancelled"}}"#), None);
    assert_eq!(terminal(r#"{"type":"RUN_CANCELLED","outcome":{"type":"cancelled"}}"#), None);
    assert_eq!(terminal(r#"{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"m","code":"c"}"#), None);
}

#[test]
fn a_typed_event_says_the_same_when_it_is_relayed() {
    let events: [Event; 6] = [
        RunFinished::new("t", "r").into(),
        RunFinished::interrupted("t", "r", Interrupt::new("i", "approval"), []).into(),
        RunFinished::cancelled("t", "r").into(),
        RunFinished::new("t", "r").outcome(CancelledOutcome::new()).into(),
        RunError::new("it broke").code("broken").into(),
        StepStarted::new("s").into(),
    ];
    for event in events {
        let relayed = RelayedEvent::from(event);
        let read = RelayedEvent::parse(relayed.json()).unwrap();
        assert_eq!(read, relayed);
        assert_eq!(read.terminal(), relayed.terminal());
        assert_eq!(read.terminal().is_some(), read.event_type() != EventType::StepStarted);
    }
}
