//! The Rust A2A client over both bindings: card, turns, questions, cancel, list, subscribe, refusals.

use a2a::{
    CancelTaskRequest, GetTaskRequest, ListTasksRequest, Part, SendMessageResponse, SubscribeToTaskRequest,
    TaskState, error_code,
};
use funduq_interop_rust::{
    BINDINGS, Client, Turn, artifact_text, bounded, card, client, request, send, text_of,
};

const TEXT: &str = "the quick brown fox jumps over the lazy dog";

/// The same test over each binding.
fn over_both<F: Future<Output = ()>>(test: impl Fn(Client) -> F) {
    bounded(async {
        let card = card("FUNDUQ_CARD_URL").await;
        for binding in BINDINGS {
            println!("over {binding}");
            test(client(&card, binding).await).await;
        }
    });
}

fn by_id(id: &str) -> GetTaskRequest {
    GetTaskRequest { id: id.to_owned(), history_length: None, tenant: None }
}

#[test]
fn a_turn_comes_back_word_by_word_and_whole() {
    over_both(async |client| {
        let turn = send(&client, &request(TEXT)).await.unwrap();
        assert_eq!(turn.task().status.state, TaskState::Completed);
        assert_eq!(turn.text(), TEXT);
        assert_eq!(turn.deltas.len(), TEXT.split(' ').count());
        let task = client.get_task(&by_id(&turn.task().id)).await.unwrap();
        assert_eq!(task.status, turn.task().status);
        assert_eq!(artifact_text(&task), TEXT);
    });
}

#[test]
fn a_turn_without_a_stream_comes_back_whole() {
    over_both(async |client| {
        let SendMessageResponse::Task(task) = client.send_message(&request(TEXT)).await.unwrap() else {
            panic!("an agent behind funduq answers with tasks")
        };
        assert_eq!(task.status.state, TaskState::Completed);
        assert_eq!(artifact_text(&task), TEXT);
    });
}

#[test]
fn a_second_turn_in_the_same_context_is_a_task_of_its_own() {
    over_both(async |client| {
        let first = send(&client, &request("first things first")).await.unwrap();
        let mut next = request("and then the second");
        next.message.context_id = Some(first.task().context_id.clone());
        let second = send(&client, &next).await.unwrap();
        assert_eq!(second.task().context_id, first.task().context_id);
        assert_ne!(second.task().id, first.task().id);
        assert_eq!(second.text(), "and then the second");
    });
}

#[test]
fn a_question_makes_the_task_wait_and_its_answer_goes_on_with_the_same_task() {
    over_both(async |client| {
        let asked = send(&client, &request("ask me something")).await.unwrap();
        assert_eq!(asked.task().status.state, TaskState::InputRequired);
        let question = asked.task().status.message.as_ref().expect("the question can be shown");
        assert!(!text_of(&question.parts).is_empty());

        let mut answer = request("cobalt");
        answer.message.task_id = Some(asked.task().id.clone());
        let answered = send(&client, &answer).await.unwrap();
        assert_eq!(answered.task().id, asked.task().id);
        assert_eq!(answered.task().status.state, TaskState::Completed);
        assert!(answered.text().contains("cobalt"), "{}", answered.text());
    });
}

#[test]
fn a_slow_task_stops_when_it_is_cancelled() {
    over_both(async |client| {
        let mut turn = Turn::default();
        let mut stream = client.send_streaming_message(&request("slow and steady")).await.unwrap();
        while turn.deltas.len() < 2 && turn.take_next(&mut stream).await.unwrap() {}
        let cancel = CancelTaskRequest { id: turn.task().id.clone(), metadata: None, tenant: None };
        assert_eq!(client.cancel_task(&cancel).await.unwrap().id, cancel.id);
        while turn.take_next(&mut stream).await.unwrap() {}
        assert_eq!(turn.task().status.state, TaskState::Canceled);
        assert_eq!(client.cancel_task(&cancel).await.unwrap_err().code, error_code::TASK_NOT_CANCELABLE);
    });
}

#[test]
fn a_task_that_runs_is_subscribed_to_from_elsewhere() {
    over_both(async |client| {
        let mut at_once = request("slow and steady");
        at_once.configuration = serde_json::from_str(r#"{"returnImmediately": true}"#).unwrap();
        let SendMessageResponse::Task(task) = client.send_message(&at_once).await.unwrap() else {
            panic!("an agent behind funduq answers with tasks")
        };
        let subscribe = SubscribeToTaskRequest { id: task.id.clone(), tenant: None };
        let mut stream = client.subscribe_to_task(&subscribe).await.unwrap();
        let mut turn = Turn::default();
        while turn.take_next(&mut stream).await.unwrap() {}
        assert_eq!(turn.task().status.state, TaskState::Completed);
        let task = client.get_task(&by_id(&task.id)).await.unwrap();
        assert_eq!(turn.text(), artifact_text(&task), "neither gap nor double");
    });
}

#[test]
fn a_context_is_listed_in_pages_newest_first() {
    over_both(async |client| {
        let first = send(&client, &request("one")).await.unwrap();
        let context_id = Some(first.task().context_id.clone());
        let mut ids = vec![first.task().id.clone()];
        for text in ["two", "three"] {
            let mut next = request(text);
            next.message.context_id = context_id.clone();
            ids.insert(0, send(&client, &next).await.unwrap().task().id.clone());
        }
        let mut listed = Vec::new();
        let mut page_token = None;
        loop {
            let page = ListTasksRequest {
                context_id: context_id.clone(),
                status: None,
                page_size: Some(2),
                page_token: page_token.take(),
                history_length: None,
                status_timestamp_after: None,
                include_artifacts: None,
                tenant: None,
            };
            let page = client.list_tasks(&page).await.unwrap();
            assert_eq!(page.total_size, 3);
            listed.extend(page.tasks.into_iter().map(|task| task.id));
            if page.next_page_token.is_empty() {
                break;
            }
            page_token = Some(page.next_page_token);
        }
        assert_eq!(listed, ids);
    });
}

#[test]
fn what_is_refused_is_refused_by_its_code() {
    over_both(async |client| {
        let ended = send(&client, &request("all said")).await.unwrap();
        let unknown = "00000000-0000-4000-8000-000000000000".to_owned();

        let refusal = client.get_task(&by_id(&unknown)).await.unwrap_err();
        assert_eq!(refusal.code, error_code::TASK_NOT_FOUND);

        let mut to_nothing = request("x");
        to_nothing.message.task_id = Some(unknown.clone());
        let mut to_nowhere = request("x");
        to_nowhere.message.context_id = Some(unknown);
        let mut to_the_past = request("x");
        to_the_past.message.task_id = Some(ended.task().id.clone());
        let mut picture = request("");
        picture.message.parts = vec![Part::raw(b"PNG".to_vec()).with_media_type("image/png")];
        for (refused, code) in [
            (to_nothing, error_code::TASK_NOT_FOUND),
            (to_nowhere, error_code::INVALID_PARAMS),
            (to_the_past, error_code::UNSUPPORTED_OPERATION),
            (picture, error_code::CONTENT_TYPE_NOT_SUPPORTED),
        ] {
            assert_eq!(send(&client, &refused).await.unwrap_err().code, code, "streamed: {refused:?}");
            assert_eq!(client.send_message(&refused).await.unwrap_err().code, code, "unary: {refused:?}");
        }
    });
}

#[test]
fn an_agent_that_is_offline_is_a_failed_task_without_a_message() {
    bounded(async {
        let card = card("FUNDUQ_OFFLINE_CARD_URL").await;
        for binding in BINDINGS {
            let turn = send(&client(&card, binding).await, &request("anybody home?")).await.unwrap();
            assert_eq!(turn.task().status.state, TaskState::Failed);
            assert_eq!(turn.task().status.message, None);
        }
    });
}
