//! Whose turn it is: per thread, under a capacity, beside a run in flight; and an answer that waits for nobody.

use std::sync::Arc;
use std::time::Duration;

use funduq_provider_sdk::contract::Verdict;
use funduq_provider_sdk::{Capacity, InFlight, RunContext, ServedAgent, agent_fn};
use tokio::sync::Semaphore;

use crate::support::{builder, linked, offer, offer_with, text};

/// Says that it runs, and ends when the test lets it.
fn held(name: &str, gate: &Arc<Semaphore>) -> ServedAgent {
    let gate = gate.clone();
    let agent = agent_fn(move |run: RunContext| {
        let gate = gate.clone();
        async move {
            run.events().text(&run.user_text().unwrap()).await?;
            gate.acquire().await?.forget();
            Ok(())
        }
    });
    ServedAgent::new(name, agent).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_thread_has_one_turn_at_a_time_and_other_threads_do_not_wait() {
    let gate = Arc::new(Semaphore::new(0));
    let (_runtime, _link, funduq) = linked(builder().agent(held("a", &gate))).await;
    for (thread, run) in [("t", "1"), ("t", "2"), ("u", "3")] {
        funduq.offer(offer("a", thread, run, run)).unwrap();
    }
    funduq.until(|funduq| !funduq.events("1").is_empty() && !funduq.events("3").is_empty()).await;
    assert_eq!(funduq.verdict("2"), Some(Verdict::Accepted), "it is held, only its turn is not there");
    // Time passes and nothing else is to happen.
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(funduq.events("2").is_empty());
    gate.add_permits(1);
    gate.add_permits(1);
    funduq.until(|funduq| !funduq.events("2").is_empty()).await;
    gate.add_permits(1);
    assert_eq!(text(&funduq.finished("2").await), "2");
}

#[tokio::test(start_paused = true)]
async fn two_agents_on_one_thread_id_do_not_wait_for_each_other() {
    let gate = Arc::new(Semaphore::new(0));
    let (_runtime, _link, funduq) = linked(builder().agents([held("a", &gate), held("b", &gate)])).await;
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    funduq.offer(offer("b", "t", "2", "x")).unwrap();
    funduq.until(|funduq| !funduq.events("1").is_empty() && !funduq.events("2").is_empty()).await;
}

#[tokio::test(start_paused = true)]
async fn all_at_once_means_that_no_turn_waits() {
    let gate = Arc::new(Semaphore::new(0));
    let (_runtime, _link, funduq) = linked(builder().agent(held("a", &gate).all_at_once())).await;
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    funduq.offer(offer("a", "t", "2", "x")).unwrap();
    funduq.until(|funduq| !funduq.events("1").is_empty() && !funduq.events("2").is_empty()).await;
}

#[tokio::test(start_paused = true)]
async fn a_full_provider_declines_and_has_room_the_moment_a_run_is_over() {
    let gate = Arc::new(Semaphore::new(0));
    let capacity = Capacity::max_concurrent_runs(1).queue(1);
    let (runtime, _link, funduq) = linked(builder().agent(held("a", &gate)).capacity(capacity)).await;
    assert_eq!(runtime.capacity().declared(), Some(2));
    for run in ["1", "2", "3"] {
        funduq.offer(offer("a", run, run, "x")).unwrap();
    }
    funduq.until(|funduq| funduq.verdicts().len() == 3).await;
    assert_eq!(funduq.verdict("1"), Some(Verdict::Accepted));
    assert_eq!(funduq.verdict("2"), Some(Verdict::Accepted), "it waits here");
    assert_eq!(funduq.verdict("3"), Some(Verdict::Declined));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(funduq.events("2").is_empty(), "one runs at a time");

    gate.add_permits(1);
    funduq.until(|funduq| funduq.events("1").last().is_some_and(|last| last.contains("RUN_FINISHED"))).await;
    funduq.offer(offer("a", "3", "3", "x")).unwrap();
    funduq.until(|funduq| funduq.verdicts().len() == 4).await;
    assert_eq!(funduq.verdict("3"), Some(Verdict::Accepted));
    funduq.until(|funduq| !funduq.events("2").is_empty()).await;
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_nothing_is_ever_declined() {
    let gate = Arc::new(Semaphore::new(0));
    let (runtime, _link, funduq) = linked(builder().agent(held("a", &gate))).await;
    assert_eq!(runtime.capacity().declared(), None);
    for run in 0..500 {
        funduq.offer(offer("a", &format!("t{}", run % 7), &run.to_string(), "x")).unwrap();
        tokio::task::yield_now().await;
    }
    funduq.until(|funduq| funduq.verdicts().len() == 500).await;
    assert!(funduq.verdicts().iter().all(|(.., verdict)| *verdict == Verdict::Accepted));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_held_already_is_accepted_again_and_runs_once() {
    let gate = Arc::new(Semaphore::new(0));
    let (runtime, _link, funduq) = linked(builder().agent(held("a", &gate))).await;
    funduq.offer(offer("a", "t", "1", "once")).unwrap();
    funduq.until(|funduq| !funduq.events("1").is_empty()).await;
    let mut again = offer("a", "t", "1", "once");
    again.attempt = 2;
    funduq.offer(again).unwrap();
    funduq.until(|funduq| funduq.verdicts().len() == 2).await;
    assert!(funduq.verdicts().contains(&("1".parse().unwrap(), 2, Verdict::Accepted)));
    assert_eq!(runtime.held_runs(), 1);
    gate.add_permits(1);
    assert_eq!(text(&funduq.finished("1").await), "once");
}

#[tokio::test(start_paused = true)]
async fn what_can_never_be_served_is_refused_with_the_reason() {
    let gate = Arc::new(Semaphore::new(0));
    let (runtime, _link, funduq) = linked(builder().agent(held("a", &gate))).await;
    funduq.offer(offer("nobody", "t", "1", "x")).unwrap();
    let bad = offer_with("a", "t", "2", "x", r#""forwardedProps":{"funduq":{"unheardOf":1}},"#);
    funduq.offer(bad).unwrap();
    funduq.until(|funduq| funduq.verdicts().len() == 2).await;
    for (run, reason) in [("1", "unknown_agent"), ("2", "invalid_input: forwardedProps.funduq")] {
        match funduq.verdict(run) {
            Some(Verdict::Refused { reason: said }) => assert!(said.starts_with(reason), "{said}"),
            other => panic!("{run}: {other:?}"),
        }
    }
    assert_eq!(runtime.held_runs(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_answer_is_on_its_way_before_the_agent_has_done_anything() {
    // The agent never yields a single event and would block its task; the answer comes all the same.
    let busy = agent_fn(|_run| std::future::pending());
    let (_runtime, _link, funduq) = linked(builder().agent(ServedAgent::new("a", busy).unwrap())).await;
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    funduq.until(|funduq| funduq.verdict("1").is_some()).await;
    assert_eq!(funduq.verdict("1"), Some(Verdict::Accepted));
}

/// Answers with everything that it was told while it ran; ends on `stop`.
fn listener() -> ServedAgent {
    let agent = agent_fn(|run: RunContext| async move {
        let said = run.events().open_text().await?;
        said.push("listening ").await?;
        loop {
            let input = run.interjection().await;
            let funduq_provider_sdk::agui::Message::User(message) = &input.messages[0] else { continue };
            let text = message.content.text().into_owned();
            said.push(&text).await?;
            if text == "stop" {
                return Ok(());
            }
        }
    });
    let hook = |run: RunContext, target: InFlight| async move {
        let taken = target.tell(run.input().clone());
        run.events().text(if taken { "told" } else { "too late" }).await?;
        Ok(())
    };
    ServedAgent::new("a", agent).unwrap().on_interjection(hook)
}

fn addressed(run: &str, target: &str, text: &str) -> funduq_provider_sdk::contract::Offer {
    let props = format!(r#""forwardedProps":{{"funduq":{{"addressedRunId":"{target}"}}}},"#);
    offer_with("a", "t", run, text, &props)
}

#[tokio::test(start_paused = true)]
async fn an_interjection_reaches_the_run_in_flight_and_is_a_run_of_its_own() {
    let (runtime, _link, funduq) = linked(builder().agent(listener())).await;
    assert!(runtime.registrations()[0].takes_interjections, "derived from the hook");
    funduq.offer(offer("a", "t", "1", "go")).unwrap();
    funduq.until(|funduq| text(&funduq.events("1")) == "listening ").await;
    funduq.offer(addressed("2", "1", "and ")).unwrap();
    assert_eq!(text(&funduq.finished("2").await), "told");
    funduq.offer(addressed("3", "1", "stop")).unwrap();
    assert_eq!(text(&funduq.finished("1").await), "listening and stop");
}

#[tokio::test(start_paused = true)]
async fn an_interjection_for_a_run_that_has_ended_is_an_ordinary_next_turn() {
    let (_runtime, _link, funduq) = linked(builder().agent(listener())).await;
    funduq.offer(offer("a", "t", "1", "go")).unwrap();
    funduq.until(|funduq| text(&funduq.events("1")) == "listening ").await;
    funduq.offer(addressed("2", "1", "stop")).unwrap();
    funduq.finished("1").await;
    funduq.offer(addressed("3", "1", "late")).unwrap();
    funduq.until(|funduq| text(&funduq.events("3")) == "listening ").await;
}

#[tokio::test(start_paused = true)]
async fn without_a_hook_an_interjection_waits_for_its_turn() {
    let gate = Arc::new(Semaphore::new(0));
    let (runtime, _link, funduq) = linked(builder().agent(held("a", &gate))).await;
    assert!(!runtime.registrations()[0].takes_interjections);
    funduq.offer(offer("a", "t", "1", "go")).unwrap();
    funduq.until(|funduq| !funduq.events("1").is_empty()).await;
    funduq.offer(addressed("2", "1", "x")).unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(funduq.events("2").is_empty());
}
