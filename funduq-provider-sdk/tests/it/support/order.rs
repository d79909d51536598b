//! AG-UI 1.0's rules about the order of a run's events, as a client checks them.

use funduq_provider_sdk::agui::Event;

/// Panics at the first event that a client would not take, and when the run is not whole.
pub(crate) fn check_order(events: &[String], thread: &str, run: &str) {
    let mut open: Vec<(&str, String)> = Vec::new();
    let mut ended = false;
    for (at, json) in events.iter().enumerate() {
        assert!(!ended, "event {at} after the end: {json}");
        let event = super::typed(json);
        assert_eq!(at == 0, matches!(event, Event::RunStarted(_)), "event {at} of {events:?}");
        let mut opens = |kind, id: &String| {
            let what = (kind, id.clone());
            assert!(!open.contains(&what), "event {at} opens twice: {json}");
            open.push(what);
        };
        match &event {
            Event::RunStarted(started) => {
                assert_eq!((started.thread_id.as_str(), started.run_id.as_str()), (thread, run));
                assert_eq!(started.protocol_version.as_deref(), Some("1.0"));
            }
            Event::TextMessageStart(start) => opens("text", &start.message_id),
            Event::ToolCallStart(start) => opens("tool", &start.tool_call_id),
            Event::ReasoningStart(start) => opens("span", &start.message_id),
            Event::ReasoningMessageStart(start) => opens("thought", &start.message_id),
            Event::StepStarted(start) => opens("step", &step(&start.step_name, &start.subagent_run_id)),
            Event::SubagentStarted(start) => opens("subagent", &start.subagent_run_id),
            Event::TextMessageContent(content) => is_open(&open, "text", &content.message_id),
            Event::ToolCallArgs(arguments) => is_open(&open, "tool", &arguments.tool_call_id),
            Event::ReasoningMessageContent(content) => is_open(&open, "thought", &content.message_id),
            Event::TextMessageEnd(end) => closes(&mut open, "text", &end.message_id),
            Event::ToolCallEnd(end) => closes(&mut open, "tool", &end.tool_call_id),
            Event::ReasoningEnd(end) => closes(&mut open, "span", &end.message_id),
            Event::ReasoningMessageEnd(end) => closes(&mut open, "thought", &end.message_id),
            Event::StepFinished(end) => {
                closes(&mut open, "step", &step(&end.step_name, &end.subagent_run_id));
            }
            Event::SubagentFinished(end) => closes(&mut open, "subagent", &end.subagent_run_id),
            Event::SubagentError(end) => closes(&mut open, "subagent", &end.subagent_run_id),
            Event::RunFinished(finished) => {
                assert_eq!((finished.thread_id.as_str(), finished.run_id.as_str()), (thread, run));
                assert!(open.is_empty(), "left open at the finish: {open:?}");
                ended = true;
            }
            Event::RunError(_) => ended = true,
            _ => {}
        }
    }
    assert!(ended, "the run has no end: {events:?}");
}

/// A step's name is unique among those of one agent.
fn step(name: &str, subagent: &Option<String>) -> String {
    format!("{name} of {subagent:?}")
}

fn is_open(open: &[(&str, String)], kind: &str, id: &str) {
    assert!(open.iter().any(|(known, what)| *known == kind && what == id), "{kind} {id} is not open");
}

fn closes(open: &mut Vec<(&str, String)>, kind: &str, id: &str) {
    is_open(open, kind, id);
    open.retain(|(known, what)| *known != kind || what != id);
}
