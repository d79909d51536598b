//! Refusals that no other file is about, each error by its name; and that a refusal leaves nothing behind.

use funduq_a2a::{SendMessageRequest, WireMessage};
use funduq_agui::RawObject;
use funduq_contract::{RunId, ThreadId};
use funduq_core::DoorError;
use serde_json::json;

use crate::bench::{input_with_bag, on_every_store};

fn run_id(id: &str) -> RunId {
    RunId::new(id).unwrap()
}

#[test]
fn thread_not_found_is_said_of_a_context_that_funduq_never_gave_out() {
    on_every_store(|bench| async move {
        let (_, _, agent) = bench.serving(None).await;
        let parts = json!([{"text": "x"}]);
        let message = json!({"messageId": "m", "role": "ROLE_USER", "contextId": "mine", "parts": parts});
        let request = json!({"message": message}).to_string();
        let request = SendMessageRequest::from_json(request.as_bytes()).unwrap();
        let error = bench.funduq.a2a().send_task(&agent, request, None).await.unwrap_err();
        let thread = ThreadId::new("mine").unwrap();
        assert!(
            error.to_string().contains(&DoorError::ThreadNotFound(thread.clone()).to_string()),
            "{error}"
        );
        assert_eq!(bench.funduq.thread(&thread).await.unwrap(), None);
    });
}

#[test]
fn run_not_found_is_said_of_no_run_and_of_another_agents_run() {
    on_every_store(|bench| async move {
        let (_, link, agent) = bench.serving(None).await;
        bench.register(link, &["echo", "other"]).await;
        let theirs = bench.ask(&agent, "t", "x").await.unwrap().run_id().clone();
        let other = funduq_contract::AgentAddress { name: "other".parse().unwrap(), ..agent.clone() };
        for (agent, run) in [(&agent, run_id("nothing")), (&other, theirs.clone())] {
            let refused = DoorError::RunNotFound(run.clone());
            let cancel = bench.funduq.cancel_run(agent, &run, RawObject::default()).await;
            assert_eq!(cancel.unwrap_err(), refused);
            assert_eq!(bench.funduq.agui().replay(agent, &run, 0).await.unwrap_err(), refused);
            assert_eq!(bench.funduq.run_stream(agent, &run, 0).await.unwrap_err(), refused);
        }
        let run = bench.funduq.run(&theirs).await.unwrap().unwrap();
        assert_eq!(
            run.metadata.cancel_requested_by, None,
            "the run of the one is not stopped through the other"
        );
    });
}

#[test]
fn invalid_input_names_the_member_of_the_bag_that_is_wrong() {
    on_every_store(|bench| async move {
        let (provider, _, agent) = bench.serving(None).await;
        for (bag, field) in [
            (json!({"actorChain": 7}), "forwardedProps.actorChain"),
            (json!({"kyok": {"llmProvider": "gpt"}}), "forwardedProps.kyok"),
            (json!({"resolution": []}), "forwardedProps.resolution"),
        ] {
            let error =
                bench.funduq.agui().run(&agent, input_with_bag("t", "x", bag), None).await.unwrap_err();
            assert!(
                matches!(&error, DoorError::InvalidInput { field: found, .. } if found.starts_with(field)),
                "{error:?}"
            );
        }
        assert!(provider.heard().is_empty());
    });
}
