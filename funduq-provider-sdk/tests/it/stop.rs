//! An orderly stop: nothing new, what runs ends by itself or is handed back.

use std::sync::Arc;
use std::time::Duration;

use funduq_provider_sdk::contract::Verdict;
use funduq_provider_sdk::{RunContext, ServedAgent, agent_fn};
use tokio::sync::Semaphore;

use crate::support::{builder, check_order, linked, offer, text};

fn waiting(gate: &Arc<Semaphore>) -> ServedAgent {
    let gate = gate.clone();
    let agent = agent_fn(move |run: RunContext| {
        let gate = gate.clone();
        async move {
            let said = run.events().open_text().await?;
            said.push("begun").await?;
            gate.acquire().await?.forget();
            Ok(())
        }
    });
    ServedAgent::new("a", agent).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_what_runs_and_takes_nothing_new() {
    let gate = Arc::new(Semaphore::new(0));
    let (runtime, link, funduq) = linked(builder().agent(waiting(&gate))).await;
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    funduq.until(|funduq| text(&funduq.events("1")) == "begun").await;
    let stopping = tokio::spawn({
        let runtime = runtime.clone();
        async move { runtime.stop(Duration::from_secs(30)).await }
    });
    tokio::task::yield_now().await;
    funduq.offer(offer("a", "u", "2", "x")).unwrap();
    funduq.until(|funduq| funduq.verdict("2").is_some()).await;
    assert_eq!(funduq.verdict("2"), Some(Verdict::Declined));
    link.register().await.unwrap();
    assert_eq!(funduq.roster().unwrap().len(), 0, "nothing is published any more");
    gate.add_permits(1);
    assert!(stopping.await.unwrap());
    check_order(&funduq.events("1"), "t", "1");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_end_by_the_deadline_is_handed_back() {
    let gate = Arc::new(Semaphore::new(0));
    let (runtime, _link, funduq) = linked(builder().agent(waiting(&gate))).await;
    for run in ["1", "2"] {
        funduq.offer(offer("a", "t", run, "x")).unwrap();
    }
    funduq.until(|funduq| text(&funduq.events("1")) == "begun").await;
    let began = tokio::time::Instant::now();
    assert!(!runtime.stop(Duration::from_secs(30)).await);
    assert_eq!(began.elapsed().as_secs(), 30);
    for run in ["1", "2"] {
        let events = funduq.finished(run).await;
        check_order(&events, "t", run);
        assert!(events.last().unwrap().contains(r#""code":"provider_stopped""#), "{events:?}");
    }
    assert_eq!(runtime.held_runs(), 0);
}
