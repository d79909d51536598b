//! Sending messages: which ids come back, what continues what, and what is refused.

use funduq_a2a::TaskState;
use serde_json::json;

use crate::desk::*;

#[test]
fn a_message_makes_a_task_whose_ids_are_funduqs() {
    at_every_desk(|desk| async move {
        let answer = turn("answer", &["he", "llo"]);
        let (task, offer) = tokio::join!(desk.send(text_message("m-1", "hello")), desk.play(&answer));
        let task = task.unwrap();
        assert_eq!(task.id, offer.run.run_id.as_str());
        assert_eq!(task.context_id.as_deref(), Some(offer.run.thread_id.as_str()));
        assert_eq!(task.status.state, TaskState::Completed);
        assert_eq!(texts(&task), [("answer".to_owned(), "hello".to_owned())]);
        assert_eq!(task.history.len(), 1);
        assert_eq!(task.history[0].message_id, "m-1");
        assert_eq!(desk.get(&task.id).await, task);
    });
}

#[test]
fn the_agent_gets_the_call_as_ag_ui() {
    at_every_desk(|desk| async move {
        let mut request = message_with("m-1", "hello", json!({"metadata": {"mine": [1.50]}}));
        request["metadata"] = json!({"voucher": {"a": 1}, "funduq": {"planted": true}});
        desk.post(request).await;
        let offer = desk.take().await;
        let input: serde_json::Value = serde_json::from_str(&offer.run.input.to_json()).unwrap();
        assert_eq!(
            input,
            json!({
                "threadId": offer.run.thread_id, "runId": offer.run.run_id, "protocolVersion": "1.0", "state": {},
                "messages": [{"id": "m-1", "role": "user", "content": "hello", "metadata": {"mine": [1.5]}}],
                "tools": [], "context": [], "forwardedProps": {"voucher": {"a": 1}},
            })
        );
    });
}

#[test]
fn a_stream_is_the_whole_task_then_every_update() {
    at_every_desk(|desk| async move {
        let mut stream = desk.stream(text_message("m-1", "hello")).await;
        desk.play(&turn("answer", &["he", "llo"])).await;
        let events = rest(&mut stream).await;
        let task = whole(&events[0]);
        assert_eq!(task.status.state, TaskState::Submitted);
        let json: Vec<_> = events[1..].iter().map(|event| as_json(&event.event)).collect();
        assert_eq!(json[0]["statusUpdate"]["status"]["state"], "TASK_STATE_WORKING");
        let pieces = [("he", false, false), ("llo", true, false), ("", true, true)];
        for (update, (text, append, last)) in json[1..4].iter().zip(pieces) {
            let update = &update["artifactUpdate"];
            assert_eq!(update["artifact"], json!({"artifactId": "answer", "parts": [{"text": text}]}));
            assert_eq!(update["append"].as_bool().unwrap_or_default(), append);
            assert_eq!(update["lastChunk"].as_bool().unwrap_or_default(), last);
            assert_eq!((&update["taskId"], &update["contextId"]), (&json!(task.id), &json!(task.context_id)));
        }
        let end = desk.get(&task.id).await;
        assert_eq!(json[4]["statusUpdate"]["status"], serde_json::to_value(&end.status).unwrap());
        assert_eq!(last_state(&events), TaskState::Completed);
        assert_eq!(events.len(), 6);
    });
}
