//! Streams: the whole task first, then every update, one stream a task, and an end that says what the record says.

use funduq_a2a::{A2aError, TaskState};
use serde_json::json;

use crate::desk::*;

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
        assert_eq!(sum(&events), end.artifacts, "the stored artifacts are the sum of the pieces");
    });
}

#[test]
fn an_event_that_is_no_text_rides_a_status_update_and_the_whole_task() {
    at_every_desk(|desk| async move {
        let mut stream = desk.stream(text_message("m-1", "hello")).await;
        let new = json!({"type": "OF_TOMORROW", "payload": {"deep": [1.0, null]}});
        desk.play(&[started(), new.clone(), finished()]).await;
        let events = rest(&mut stream).await;
        let update = &as_json(&events[2].event)["statusUpdate"];
        assert_eq!(update["status"]["state"], "TASK_STATE_WORKING");
        assert_eq!(update["metadata"], json!({"funduq": {"agui_event": new}}));
        let task = desk.get(&whole(&events[0]).id).await;
        assert_eq!(serde_json::to_value(&task.metadata).unwrap()["funduq"]["agui_events"][1], new);
    });
}

#[test]
fn a_subscription_begins_with_all_that_was_and_goes_on_without_gap_or_double() {
    at_every_desk(|desk| async move {
        let task = desk.post(text_message("m-1", "hello")).await;
        let offer = desk.take().await;
        let events = turn("a", &["1", "2", "3", "4"]);
        for said in 0..events.len() - 1 {
            let mut stream = desk.subscribe(&task.id, None).await.unwrap();
            let first = stream.next().await.unwrap().unwrap();
            desk.say(&offer.run.run_id, said as u64, &events[said..=said]).await;
            // Of the event that opens a text message nothing is seen.
            if said != 1 {
                stream.next().await.unwrap().unwrap();
            }
            let expected: String = "1234".chars().take(said.saturating_sub(2)).collect();
            let text = texts(whole(&first)).pop().map_or_else(String::new, |(_, text)| text);
            assert_eq!(text, expected, "after {said} events");
        }
        let mut stream = desk.subscribe(&task.id, None).await.unwrap();
        desk.say(&offer.run.run_id, events.len() as u64 - 1, &events[events.len() - 1..]).await;
        let seen = rest(&mut stream).await;
        assert_eq!(seen.len(), 2);
        assert_eq!(last_state(&seen), TaskState::Completed);
    });
}

#[test]
fn one_stream_a_task_and_when_it_ends_another_may_come() {
    at_every_desk(|desk| async move {
        let stream = desk.stream(text_message("m-1", "hello")).await;
        let task = stream.task_id().as_str().to_owned();
        let error = a2a(desk.subscribe(&task, None).await.unwrap_err());
        assert!(matches!(error, A2aError::UnsupportedOperation(_)), "{error:?}");
        drop(stream);
        let second = desk.subscribe(&task, None).await.unwrap();
        assert!(desk.subscribe(&task, None).await.is_err());
        drop(second);
        let mut third = desk.subscribe(&task, None).await.unwrap();
        desk.play(&turn("a", &["x"])).await;
        assert_eq!(last_state(&rest(&mut third).await), TaskState::Completed);
    });
}

#[test]
fn a_task_that_has_ended_cannot_be_subscribed_to_and_one_that_waits_says_so_and_closes() {
    at_every_desk(|desk| async move {
        let waiting = desk.ask("ask", "Go on?").await;
        let events = rest(&mut desk.subscribe(&waiting.id, None).await.unwrap()).await;
        assert_eq!(events.len(), 1);
        assert_eq!(whole(&events[0]), &waiting);
        desk.cancel(&waiting.id).await.unwrap();
        let error = a2a(desk.subscribe(&waiting.id, None).await.unwrap_err());
        assert!(matches!(error, A2aError::UnsupportedOperation(_)), "{error:?}");
    });
}

#[test]
fn an_answers_events_are_missed_by_nobody_who_subscribes_to_the_task() {
    at_every_desk(|desk| async move {
        let task = desk.ask("ask", "Go on?").await;
        desk.post(message_with("m-2", "yes", json!({"taskId": task.id}))).await;
        let mut stream = desk.subscribe(&task.id, None).await.unwrap();
        desk.play(&turn("b", &["done"])).await;
        let events = rest(&mut stream).await;
        assert_eq!(whole(&events[0]).id, task.id);
        assert_eq!(last_state(&events), TaskState::Completed);
        assert_eq!(sum(&events), desk.get(&task.id).await.artifacts);
    });
}

#[test]
fn what_needs_no_waiting_can_be_had_at_once() {
    at_every_desk(|desk| async move {
        let mut stream = desk.stream(text_message("m-1", "hello")).await;
        assert!(stream.next_ready().is_some(), "the whole task");
        assert!(stream.next_ready().is_none());
        desk.play(&turn("a", &["x", "y"])).await;
        desk.later().await;
        let mut seen = 0;
        while stream.next_ready().is_some() {
            seen += 1;
        }
        assert_eq!(seen, 4, "all but the end, whose status has to be read");
        assert_eq!(last_state(&rest(&mut stream).await), TaskState::Completed);
    });
}

#[test]
fn a_stream_of_a_queued_task_ends_with_an_error_when_funduq_stops() {
    at_every_desk(|desk| async move {
        let mut stream = desk.stream(text_message("m-1", "hello")).await;
        stream.next().await.unwrap();
        let funduq = desk.bench.funduq.clone();
        let stopping = tokio::spawn(async move { funduq.shutdown(std::time::Duration::ZERO).await });
        let end = loop {
            match stream.next().await {
                Ok(Some(_)) => {}
                end => break end,
            }
        };
        stopping.await.unwrap();
        // Offered, it is failed by the stop; queued, it goes on after the restart and only its stream ends.
        assert!(matches!(end, Ok(None) | Err(funduq_core::A2aDoorError::Door(_))), "{end:?}");
    });
}
