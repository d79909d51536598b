//! Refusals that no other file is about, each error by its name; and that a refusal leaves nothing behind.

use std::sync::atomic::{AtomicBool, Ordering};

use funduq_a2a::{SendMessageRequest, WireMessage};
use funduq_agui::{RawObject, RelayedInput};
use funduq_contract::{FunduqPort, RunId, ThreadId, Verdict};
use funduq_core::DoorError;
use serde_json::json;

use crate::bench::{Bench, input_with_bag, on_every_store, types};

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

#[test]
fn already_answered_is_said_to_the_later_of_two_that_answer_an_ask_at_once() {
    let was_said = &AtomicBool::new(false);
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut stream = bench.ask(&agent, "t", "x").await.unwrap();
        let (thread, asked) = (stream.thread_id().clone(), provider.offer().await.run.run_id);
        bench.funduq.answer(link, &asked, 1, Verdict::Accepted).await.unwrap();
        let asking = json!({
            "type": "RUN_FINISHED", "threadId": "t", "runId": "r",
            "outcome": {"type": "interrupt", "interrupts": [{"id": "ask", "reason": "confirmation"}]},
        });
        bench.report(link, &asked, 1, &asking.to_string()).await;
        assert_eq!(types(&mut stream).await, ["RUN_FINISHED"]);
        let answer = |bench: &Bench| {
            let input = json!({
                "threadId": thread.as_str(), "runId": "c", "messages": [],
                "resume": [{"interruptId": "ask", "status": "resolved"}],
            });
            let input = RelayedInput::parse(input.to_string().as_bytes()).unwrap();
            let (funduq, agent) = (bench.funduq.clone(), agent.clone());
            async move { funduq.agui().run(&agent, input, None).await }
        };
        let (one, two) = tokio::join!(answer(&bench), answer(&bench));
        let answers = [one, two].map(|answer| answer.map(|stream| stream.run_id().clone()));
        let lineage = bench.funduq.lineage(&asked).await.unwrap();
        assert_eq!(lineage.len(), 2, "an ask has one answer");
        assert!(answers.iter().any(|answer| answer.as_ref() == Ok(&lineage[1].id)), "{answers:?}");
        // Whoever read the record before the other was written hears of it; whoever read it after finds nothing open.
        for answer in answers {
            match answer {
                Ok(run) => assert!(run == lineage[1].id || bench.funduq.run(&run).await.unwrap().is_none()),
                Err(error) => {
                    assert_eq!(error, DoorError::AlreadyAnswered(asked.clone()));
                    was_said.store(true, Ordering::Relaxed);
                }
            }
        }
    });
    assert!(was_said.load(Ordering::Relaxed));
}
