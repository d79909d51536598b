//! What funduq has not recorded is sent again, exactly that, whatever happened in between.

use std::sync::Arc;
use std::time::Duration;

use funduq_provider_sdk::contract::{LinkClosed, PortError, Verdict};
use funduq_provider_sdk::{RunContext, ServedAgent, agent_fn};
use tokio::sync::Semaphore;

use crate::support::{builder, check_order, linked, offer, run_id, text};

/// Says a word for each permit, ends when the gate is closed.
fn stepwise(gate: &Arc<Semaphore>) -> ServedAgent {
    let gate = gate.clone();
    let agent = agent_fn(move |run: RunContext| {
        let gate = gate.clone();
        async move {
            let said = run.events().open_text().await?;
            let mut word = 0;
            while let Ok(permit) = run.or_cancelled(gate.acquire()).await? {
                permit.forget();
                said.push(&format!("{word} ")).await?;
                word += 1;
            }
            Ok(())
        }
    });
    ServedAgent::new("a", agent).unwrap()
}

#[tokio::test(start_paused = true)]
async fn after_a_new_link_a_run_goes_on_where_funduq_stands() {
    let gate = Arc::new(Semaphore::new(3));
    let (runtime, _link, funduq) = linked(builder().agent(stepwise(&gate))).await;
    funduq.silent(true);
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    funduq.until(|funduq| text(&funduq.events("1")) == "0 1 2 ").await;
    funduq.drop_link(LinkClosed::ShuttingDown);
    // funduq has lost the end of what it was told, and the agent goes on meanwhile.
    funduq.forget_after("1", 3);
    gate.add_permits(2);
    tokio::time::sleep(Duration::from_secs(5)).await;
    let reports = funduq.recorded("1").reports;
    funduq.silent(false);
    funduq.held("1", 3);
    let _link = funduq.link(&runtime).await.unwrap();
    funduq.until(|funduq| text(&funduq.events("1")) == "0 1 2 3 4 ").await;
    assert_eq!(funduq.recorded("1").reports - reports, 4, "exactly what was not recorded");
    gate.close();
    check_order(&funduq.finished("1").await, "t", "1");
    assert_eq!(runtime.held_runs(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_ended_without_a_link_is_told_to_the_next_one() {
    let gate = Arc::new(Semaphore::new(1));
    let (runtime, _link, funduq) = linked(builder().agent(stepwise(&gate))).await;
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    funduq.until(|funduq| text(&funduq.events("1")) == "0 ").await;
    funduq.drop_link(LinkClosed::ShuttingDown);
    gate.close();
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(runtime.held_runs(), 1, "kept until it is recorded");
    funduq.held("1", 3);
    let _link = funduq.link(&runtime).await.unwrap();
    check_order(&funduq.finished("1").await, "t", "1");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_funduq_has_settled_meanwhile_is_stopped() {
    let gate = Arc::new(Semaphore::new(1));
    let (runtime, _link, funduq) = linked(builder().agent(stepwise(&gate))).await;
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    funduq.until(|funduq| text(&funduq.events("1")) == "0 ").await;
    funduq.drop_link(LinkClosed::ShuttingDown);
    let _link = funduq.link(&runtime).await.unwrap();
    while runtime.held_runs() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(text(&funduq.events("1")), "0 ");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_only_funduq_knows_is_finished() {
    let gate = Arc::new(Semaphore::new(0));
    let (runtime, _link, funduq) = linked(builder().agent(stepwise(&gate))).await;
    funduq.drop_link(LinkClosed::ShuttingDown);
    funduq.held("of an earlier process", 7);
    let _link = funduq.link(&runtime).await.unwrap();
    assert_eq!(funduq.finished("of an earlier process").await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_came_too_late_costs_nothing_when_the_run_is_offered_again() {
    let gate = Arc::new(Semaphore::new(2));
    let (runtime, _link, funduq) = linked(builder().agent(stepwise(&gate))).await;
    funduq.lose_answers(true);
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    funduq.until(|funduq| funduq.verdict("1").is_some()).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(funduq.events("1").is_empty());
    funduq.lose_answers(false);
    let mut again = offer("a", "t", "1", "x");
    again.attempt = 2;
    funduq.offer(again).unwrap();
    funduq.until(|funduq| text(&funduq.events("1")) == "0 1 ").await;
    gate.close();
    check_order(&funduq.finished("1").await, "t", "1");
    assert!(runtime.held_runs() == 0 && funduq.verdicts().len() == 2);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_never_offered_again_is_given_up() {
    let gate = Arc::new(Semaphore::new(2));
    let (runtime, _link, funduq) = linked(builder().agent(stepwise(&gate))).await;
    funduq.lose_answers(true);
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    funduq.until(|funduq| funduq.verdict("1") == Some(Verdict::Accepted)).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(runtime.held_runs(), 1);
    tokio::time::sleep(Duration::from_secs(40)).await;
    assert_eq!(runtime.held_runs(), 0, "its agent was stopped");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_was_about_an_earlier_offer_does_not_silence_the_run() {
    let gate = Arc::new(Semaphore::new(0));
    let (_runtime, _link, funduq) = linked(builder().agent(stepwise(&gate))).await;
    funduq.silent(true);
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    funduq.until(|funduq| funduq.events("1").len() == 2).await;
    funduq.silent(false);
    // It had judged something before it took the answer, and says so now.
    funduq.refuse("1", PortError::NotHeld(run_id("1")));
    gate.add_permits(2);
    funduq.until(|funduq| text(&funduq.events("1")) == "0 1 ").await;
}

#[tokio::test(start_paused = true)]
async fn missing_events_are_sent_again() {
    let gate = Arc::new(Semaphore::new(3));
    let (_runtime, _link, funduq) = linked(builder().agent(stepwise(&gate))).await;
    funduq.silent(true);
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    funduq.until(|funduq| text(&funduq.events("1")) == "0 1 2 ").await;
    funduq.forget_after("1", 2);
    for got in [3, 4, 5] {
        funduq.refuse("1", PortError::Gap { expected: 3, got });
    }
    funduq.until(|funduq| text(&funduq.events("1")) == "0 1 2 ").await;
    assert_eq!(funduq.recorded("1").reports, 5 + 3);
}

#[tokio::test(start_paused = true)]
async fn an_offer_while_there_is_no_link_is_told_so() {
    let gate = Arc::new(Semaphore::new(0));
    let (_runtime, link, funduq) = linked(builder().agent(stepwise(&gate))).await;
    let provider = funduq.hold_provider();
    link.close().await;
    assert!(provider.deliver(offer("a", "t", "1", "x")).is_err());
}
