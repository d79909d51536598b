//! How runs end: by themselves, by a cancel, by an error, by a panic; none of them another's affair.

use std::time::Duration;

use funduq_provider_sdk::agui::Event;
use funduq_provider_sdk::agui::event::RunFinishedOutcome;
use funduq_provider_sdk::{AgentError, RunContext, ServedAgent, agent_fn};

use crate::support::{builder, check_order, linked, offer, text, typed, types};

/// Does what the user's text says.
fn agent() -> ServedAgent {
    let agent = agent_fn(|run: RunContext| async move {
        let events = run.events();
        match run.user_text().unwrap().as_str() {
            "fail" => {
                let _open = events.open_text().await?;
                return Err(AgentError::new("no luck").with_code("luck"));
            }
            "panic" => {
                let _open = events.open_text().await?;
                panic!("secret words");
            }
            "wait" => {
                let said = events.open_text().await?;
                said.push("waiting").await?;
                run.cancellation().cancelled().await;
            }
            "wait with ?" => {
                events.text("waiting").await?;
                run.or_cancelled(std::future::pending::<()>()).await?;
            }
            "finish all the same" => {
                events.text("waiting").await?;
                run.cancellation().cancelled().await;
                events.finish().await?;
            }
            "fail when cancelled" => {
                events.text("waiting").await?;
                run.cancellation().cancelled().await;
                return Err(AgentError::new("could not stop"));
            }
            other => {
                events.text(other).await?;
            }
        }
        Ok(())
    });
    ServedAgent::new("a", agent).unwrap()
}

fn outcome(events: &[String]) -> Option<RunFinishedOutcome> {
    match typed(events.last().unwrap()) {
        Event::RunFinished(finished) => finished.outcome,
        other => panic!("{other:?}"),
    }
}

fn error(events: &[String]) -> (String, Option<String>) {
    match typed(events.last().unwrap()) {
        Event::RunError(error) => (error.message, error.code),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_agent_returns_is_finished() {
    let (runtime, _link, funduq) = linked(builder().agent(agent())).await;
    funduq.offer(offer("a", "t", "1", "hello")).unwrap();
    let events = funduq.finished("1").await;
    check_order(&events, "t", "1");
    assert_eq!(
        types(&events),
        ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"]
    );
    assert!(outcome(&events).is_none());
    assert_eq!(runtime.held_runs(), 0, "nothing is kept of a run that is recorded");
}

#[tokio::test(start_paused = true)]
async fn an_error_or_a_panic_ends_its_run_with_run_error_and_touches_no_other() {
    let (_runtime, _link, funduq) = linked(builder().agent(agent().all_at_once())).await;
    funduq.offer(offer("a", "t", "beside", "wait")).unwrap();
    funduq.offer(offer("a", "t", "fails", "fail")).unwrap();
    funduq.offer(offer("a", "t", "panics", "panic")).unwrap();
    let failed = funduq.finished("fails").await;
    check_order(&failed, "t", "fails");
    assert_eq!(error(&failed), ("no luck".into(), Some("luck".into())));
    let panicked = funduq.finished("panics").await;
    check_order(&panicked, "t", "panics");
    assert_eq!(error(&panicked), ("the agent panicked".into(), Some("agent_panicked".into())));
    assert!(!panicked.concat().contains("secret words"));

    funduq.offer(offer("a", "t", "after", "still here")).unwrap();
    assert_eq!(text(&funduq.finished("after").await), "still here");
    funduq.cancel("beside");
    check_order(&funduq.finished("beside").await, "t", "beside");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_returns_after_a_cancel_has_its_run_end_as_cancelled() {
    let (_runtime, _link, funduq) = linked(builder().agent(agent())).await;
    for (run, does) in [("1", "wait"), ("2", "wait with ?")] {
        funduq.offer(offer("a", run, run, does)).unwrap();
        funduq.until(|funduq| text(&funduq.events(run)) == "waiting").await;
        funduq.cancel(run);
        let events = funduq.finished(run).await;
        check_order(&events, run, run);
        assert!(matches!(outcome(&events), Some(RunFinishedOutcome::Cancelled(_))), "{does}");
    }
    assert!(funduq.acks().iter().all(|ack| ack.held) && funduq.acks().len() == 2);
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_makes_of_a_cancel_is_what_is_said() {
    let (_runtime, _link, funduq) = linked(builder().agent(agent())).await;
    for run in ["finish all the same", "fail when cancelled"] {
        funduq.offer(offer("a", run, run, run)).unwrap();
        funduq.until(|funduq| text(&funduq.events(run)) == "waiting").await;
        funduq.cancel(run);
        funduq.finished(run).await;
    }
    assert!(outcome(&funduq.events("finish all the same")).is_none());
    assert_eq!(error(&funduq.events("fail when cancelled")).0, "could not stop");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_before_its_turn_ends_a_run_that_its_agent_never_sees() {
    let (_runtime, _link, funduq) = linked(builder().agent(agent())).await;
    funduq.offer(offer("a", "t", "1", "wait")).unwrap();
    funduq.offer(offer("a", "t", "2", "never said")).unwrap();
    funduq.offer(offer("a", "t", "3", "third")).unwrap();
    funduq.until(|funduq| funduq.verdicts().len() == 3).await;
    funduq.cancel("2");
    let events = funduq.finished("2").await;
    check_order(&events, "t", "2");
    assert_eq!(types(&events), ["RUN_STARTED", "RUN_FINISHED"]);
    assert!(matches!(outcome(&events), Some(RunFinishedOutcome::Cancelled(_))));
    funduq.cancel("1");
    assert_eq!(text(&funduq.finished("3").await), "third");
}

#[tokio::test(start_paused = true)]
async fn the_receipt_of_a_cancel_says_whether_the_run_is_held() {
    let (_runtime, _link, funduq) = linked(builder().agent(agent())).await;
    funduq.cancel("nobody's");
    funduq.until(|funduq| !funduq.acks().is_empty()).await;
    assert!(!funduq.acks()[0].held);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_heed_a_cancel_goes_on() {
    let stubborn = agent_fn(|run: RunContext| async move {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        run.events().text("done anyway").await?;
        run.events().finish().await?;
        Ok(())
    });
    let (_runtime, _link, funduq) = linked(builder().agent(ServedAgent::new("a", stubborn).unwrap())).await;
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    funduq.until(|funduq| funduq.verdict("1").is_some()).await;
    funduq.cancel("1");
    let events = funduq.finished("1").await;
    assert_eq!(text(&events), "done anyway");
    assert!(outcome(&events).is_none());
}
