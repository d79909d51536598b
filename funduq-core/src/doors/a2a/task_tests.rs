//! A run as a task: its state, its words, its history.

use funduq_agui::RelayedInput;
use funduq_contract::{AgentAddress, Identity};
use serde_json::{Value, json};

use super::*;
use crate::record::RunStatus;

fn run(id: &str, status: RunStatus, messages: &Value, metadata: &Value) -> Run {
    let input = json!({"threadId": "t", "runId": id, "messages": messages});
    let id = RunId::new(id).unwrap();
    Run {
        thread_id: ThreadId::new("t").unwrap(),
        agent: AgentAddress::new(Identity::from_seed(&[1; 32]).public_key(), "echo".parse().unwrap()),
        status,
        input: RelayedInput::parse(input.to_string().as_bytes()).unwrap(),
        chain: None,
        answers_run_id: None,
        root_run_id: RunId::new("root").unwrap(),
        addressed_run_id: None,
        metadata: serde_json::from_str(&metadata.to_string()).unwrap(),
        last_event: 0,
        created_at: 1,
        updated_at: 2,
        id,
    }
}

fn user(id: &str) -> Value {
    json!({"id": id, "role": "user", "content": id})
}

fn asks(question: &str) -> Value {
    json!({"interrupts": [{"id": "i", "reason": "r", "message": question}, {"id": "j", "reason": "r"}]})
}

#[test]
fn a_tasks_state_is_its_tails() {
    let none = json!({});
    let of = |status, metadata: &Value| state(&run("root", status, &json!([]), metadata));
    assert_eq!(of(RunStatus::Queued, &none), TaskState::Submitted);
    assert_eq!(of(RunStatus::Offering, &none), TaskState::Submitted);
    assert_eq!(of(RunStatus::Running, &none), TaskState::Working);
    assert_eq!(of(RunStatus::Cancelling, &none), TaskState::Working);
    assert_eq!(of(RunStatus::Completed, &none), TaskState::Completed);
    assert_eq!(of(RunStatus::Completed, &asks("?")), TaskState::InputRequired);
    let call = json!({"pendingToolCalls": [{"id": "c", "name": "f", "arguments": "{}"}]});
    assert_eq!(of(RunStatus::Completed, &call), TaskState::InputRequired);
    assert_eq!(of(RunStatus::Failed, &none), TaskState::Failed);
    assert_eq!(of(RunStatus::Cancelled, &none), TaskState::Canceled);
}

#[test]
fn the_status_says_the_question_or_the_error_and_nothing_for_an_offline_agent() {
    let text = |status: TaskStatus| {
        status
            .message
            .map(|message| message.parts.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("|"))
    };
    let waiting = run("r", RunStatus::Completed, &json!([]), &asks("Go on?"));
    assert_eq!(text(status(&waiting, None)).as_deref(), Some("Go on?"));
    let failed = run("r", RunStatus::Failed, &json!([]), &json!({}));
    assert_eq!(text(status(&failed, Some("no luck"))).as_deref(), Some("no luck"));
    assert_eq!(text(status(&failed, None)), None);
    let offline = run("r", RunStatus::Failed, &json!([]), &json!({"failureReason": "agent_offline"}));
    assert_eq!(text(status(&offline, Some("the agent is offline"))), None);
    let cancelled = run("r", RunStatus::Cancelled, &json!([]), &json!({}));
    assert_eq!(text(status(&cancelled, Some("cancelled"))), None);
}

#[test]
fn history_is_what_was_new_in_each_run_with_the_questions_between() {
    let old = json!([user("0"), {"id": "a", "role": "assistant", "content": "x"}, user("1"), user("2")]);
    let runs = [
        run("root", RunStatus::Completed, &old, &asks("Go on?")),
        run("r2", RunStatus::Completed, &json!([user("3")]), &asks("Sure?")),
    ];
    let ids =
        |length| history(&runs, length).into_iter().map(|message| message.message_id).collect::<Vec<_>>();
    assert_eq!(ids(None), ["1", "2", "root-ask", "3"]);
    assert_eq!(ids(Some(0)), [""; 0]);
    assert_eq!(ids(Some(2)), ["root-ask", "3"]);
    assert_eq!(ids(Some(9)), ["1", "2", "root-ask", "3"]);
    let whole = history(&runs, None);
    assert!(whole.iter().all(|message| message.task_id.as_deref() == Some("root")));
    assert_eq!((&whole[2].role, &whole[3].role), (&Role::Agent, &Role::User));
}

#[test]
fn what_a_user_said_in_ag_ui_reads_in_a2a() {
    let said = json!([{"id": "m", "role": "user", "metadata": {"k": 1.50}, "content": [
        {"type": "text", "text": "see", "metadata": {"p": 1}},
        {"type": "image", "source": {"type": "url", "value": "https://example.org/a.png"}}
    ]}]);
    let message = history(&[run("root", RunStatus::Running, &said, &json!({}))], None).remove(0);
    let json = serde_json::to_value(&message).unwrap();
    assert_eq!(json["metadata"], json!({"k": 1.5}));
    assert_eq!(json["parts"][0], json!({"text": "see", "metadata": {"p": 1}}));
    assert_eq!(json["parts"][1]["data"]["source"]["value"], "https://example.org/a.png");
}

#[test]
fn funduq_says_everything_under_its_one_key_and_nothing_where_it_has_nothing_to_say() {
    assert_eq!(Said::default().recorded(&RunMetadata::default()).metadata(), None);
    let event = RelayedEvent::parse("{\"type\":\"CUSTOM\",\n\"name\":\"c\",\"value\":1}").unwrap();
    let metadata = RunMetadata { cancel_requested: true, ..RunMetadata::default() };
    let said = Said::default().recorded(&metadata).event(&event).metadata().unwrap();
    assert_eq!(
        serde_json::to_string(&said).unwrap(),
        r#"{"funduq":{"cancelRequested":true,"agui_event":{"type":"CUSTOM","name":"c","value":1}}}"#
    );
    let mut fold = Fold::default();
    fold.push(&event, &mut Vec::new());
    let said = Said::default().events(&fold).metadata().unwrap();
    assert_eq!(
        serde_json::to_string(&said).unwrap(),
        r#"{"funduq":{"agui_events":[{"type":"CUSTOM","name":"c","value":1}]}}"#
    );
}
