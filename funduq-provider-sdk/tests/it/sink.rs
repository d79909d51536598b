//! What an agent may say, and that the order is right whatever it does.

use std::sync::{Arc, Mutex};

use funduq_provider_sdk::agui::event::{
    InterruptOutcome, RunError, RunFinished, RunStarted, StateDelta, TextMessageStart,
};
use funduq_provider_sdk::agui::message::AssistantMessage;
use funduq_provider_sdk::agui::patch::ReplaceOperation;
use funduq_provider_sdk::agui::{Content, Event, Interrupt, Json, RawObject, RelayedEvent, TokenUsage};
use funduq_provider_sdk::contract::Verdict;
use funduq_provider_sdk::{
    AgentError, AgentResult, BufferLimits, EmitError, EventSink, RunContext, ServedAgent, TextOpening,
    agent_fn,
};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, oneshot};

use crate::support::{FakeFunduq, builder, check_order, linked, offer, text, typed, types};

/// Runs a closure as an agent once, and answers the run's events. Fails when the closure panics, which the run
/// alone would not always show.
async fn said<F, R>(does: F) -> Vec<String>
where
    F: Fn(RunContext) -> R + Send + Sync + 'static,
    R: Future<Output = AgentResult> + Send + 'static,
{
    let (returned, has_returned) = oneshot::channel();
    let returned = Mutex::new(Some(returned));
    let agent = agent_fn(move |run| {
        let (does, returned) = (does(run), returned.lock().unwrap().take().unwrap());
        async move {
            let result = does.await;
            returned.send(()).unwrap();
            result
        }
    });
    let agent = ServedAgent::new("a", agent).unwrap();
    let (_runtime, _link, funduq) = linked(builder().agent(agent)).await;
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    let events = funduq.finished("1").await;
    has_returned.await.expect("the agent panicked");
    events
}

#[tokio::test(start_paused = true)]
async fn what_is_opened_is_closed_at_the_latest_before_the_finish() {
    let events = said(|run| async move {
        let events = run.events();
        let open = (
            events.open_text().await?,
            events.open_tool_call("search").await?,
            events.open_reasoning().await?,
            events.step("look").await?,
        );
        open.0.push("half ").await?;
        open.1.push("{}").await?;
        open.2.push("hm").await?;
        // The agent forgets all of it.
        events.finish().await?;
        assert_eq!(open.0.push("late").await, Err(EmitError::RunOver));
        assert_eq!(open.0.end().await, Err(EmitError::RunOver));
        Ok(())
    })
    .await;
    check_order(&events, "t", "1");
    assert_eq!(
        &types(&events)[9..],
        [
            "STEP_FINISHED",
            "REASONING_MESSAGE_END",
            "REASONING_END",
            "TOOL_CALL_END",
            "TEXT_MESSAGE_END",
            "RUN_FINISHED"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn dropping_a_writer_closes_what_it_writes() {
    let events = said(|run| async move {
        drop(run.events().open_text().await?);
        drop(run.events().open_reasoning().await?);
        run.events().custom("after", &1).await?;
        Ok(())
    })
    .await;
    check_order(&events, "t", "1");
    assert_eq!(
        types(&events)[1..8],
        [
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_END",
            "REASONING_START",
            "REASONING_MESSAGE_START",
            "REASONING_MESSAGE_END",
            "REASONING_END",
            "CUSTOM"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_is_taken_after_the_finish_whatever_says_it() {
    let events = said(|run| async move {
        let events = run.events();
        events.finish_with(&[1, 2]).await?;
        assert_eq!(events.text("late").await, Err(EmitError::RunOver));
        assert_eq!(events.emit(TextMessageStart::new("m")).await, Err(EmitError::RunOver));
        assert_eq!(events.emit_json(r#"{"type":"ANY"}"#).await, Err(EmitError::RunOver));
        assert_eq!(events.finish().await, Err(EmitError::RunOver));
        assert_eq!(events.fail("late", None).await, Err(EmitError::RunOver));
        assert!(events.take_over().is_err());
        // Neither does an error change the end that was said.
        Err(EmitError::RunOver.into())
    })
    .await;
    assert_eq!(types(&events), ["RUN_STARTED", "RUN_FINISHED"]);
    assert!(events[1].contains(r#""result":[1,2]"#));
}

#[tokio::test(start_paused = true)]
async fn any_event_can_be_said_and_the_runs_ids_are_filled_in() {
    let events = said(|run| async move {
        let events = run.events();
        events.emit(RunStarted::new("wrong", "wrong").protocol_version("1.0")).await?;
        assert_eq!(events.emit(RunStarted::new("t", "1")).await, Err(EmitError::AlreadyStarted));
        events.emit_json(r#"{"type":"UNHEARD_OF","x":1.50}"#).await?;
        let bad = vec![ReplaceOperation::new("no pointer", Json::of(&1)?).into()];
        assert!(matches!(events.emit(StateDelta::new(bad.clone())).await, Err(EmitError::Malformed(_))));
        assert!(matches!(events.state_delta(bad).await, Err(EmitError::Malformed(_))));
        assert!(matches!(events.emit_json(r#"{"no":"type"}"#).await, Err(EmitError::Malformed(_))));
        let other = |member, said: &str| Err(EmitError::OtherRun { member, said: said.to_owned() });
        for kind in ["RUN_STARTED", "RUN_FINISHED"] {
            let of = |thread, run| format!(r#"{{"type":"{kind}","threadId":"{thread}","runId":"{run}"}}"#);
            assert_eq!(events.emit_json(of("wrong", "1")).await, other("threadId", "wrong"));
            assert_eq!(events.emit_json(of("t", "wrong")).await, other("runId", "wrong"));
        }
        events.open_text_as(TextOpening { id: Some("m".into()), ..Default::default() }).await?;
        events.emit(RunFinished::new("wrong", "wrong")).await?;
        Ok(())
    })
    .await;
    check_order(&[&events[..1], &events[2..]].concat(), "t", "1");
    assert_eq!(events[1], r#"{"type":"UNHEARD_OF","x":1.50}"#, "byte for byte");
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_asks_and_usage_is_told_at_the_end() {
    let events = said(|run| async move {
        let events = run.events();
        events.usage(TokenUsage::new().model("m").input_tokens(7_u64))?;
        assert_eq!(events.interrupt([]).await, Err(EmitError::NothingAsked));
        events.interrupt([Interrupt::new("i", "approval").message("May I?")]).await?;
        Ok(())
    })
    .await;
    check_order(&events, "t", "1");
    let Event::RunFinished(finished) = typed(&events[1]) else { panic!() };
    assert_eq!(finished.usage.unwrap().len(), 1);
    assert!(events[1].contains(r#""outcome":{"type":"interrupt","interrupts":[{"id":"i""#), "{}", events[1]);
}

#[tokio::test(start_paused = true)]
async fn a_run_has_its_end_however_much_there_is_to_say_in_it() {
    let message = "\u{1}\u{e9}".repeat(4 << 20);
    let failure = AgentError::new(&message);
    let failure = Mutex::new(Some(failure));
    let events = said(move |run| {
        let failure = failure.lock().unwrap().take().unwrap();
        async move {
            let usage = || TokenUsage::new().model("m".repeat(100_000));
            let mut added = 0;
            while run.events().usage(usage()).is_ok() {
                added += 1;
            }
            assert_eq!((added, run.events().usage(usage())), (10, Err(EmitError::TooMuchUsage)));
            run.events().text("a").await?;
            Err(failure)
        }
    })
    .await;
    check_order(&events, "t", "1");
    let Event::RunError(error) = typed(events.last().unwrap()) else { panic!("{:?}", types(&events)) };
    assert_eq!(error.usage.unwrap().len(), 10);
    assert!(
        message.starts_with(&error.message) && error.message.len() > 1_000_000,
        "{}",
        error.message.len()
    );
}

#[tokio::test(start_paused = true)]
async fn two_interrupts_of_one_id_are_refused_however_they_are_asked() {
    let events = said(|run| async move {
        let events = run.events();
        let twice = || [Interrupt::new("i", "a"), Interrupt::new("j", "b"), Interrupt::new("i", "c")];
        let asked = Err(EmitError::AskedTwice { id: "i".into() });
        assert_eq!(events.interrupt(twice()).await, asked);
        let outcome = InterruptOutcome::new(twice());
        assert_eq!(events.emit(RunFinished::new("", "").outcome(outcome.clone())).await, asked);
        let json = serde_json::to_string(&Event::from(RunFinished::new("t", "1").outcome(outcome)))?;
        assert_eq!(events.emit_json(json).await, asked);
        events.interrupt([Interrupt::new("i", "a"), Interrupt::new("j", "b")]).await?;
        Ok(())
    })
    .await;
    check_order(&events, "t", "1");
    assert_eq!(types(&events), ["RUN_STARTED", "RUN_FINISHED"]);
}

#[tokio::test(start_paused = true)]
async fn an_end_that_funduq_would_not_take_is_refused_and_the_run_goes_on() {
    let events = said(|run| async move {
        let events = run.events();
        let malformed =
            |end: Result<(), EmitError>| assert!(matches!(end, Err(EmitError::Malformed(_))), "{end:?}");
        let open = events.open_text().await?;
        malformed(events.emit(RunFinished::new("", "").outcome(InterruptOutcome::new(Vec::new()))).await);
        malformed(events.emit(RunFinished::new("", "").timestamp(i64::MAX)).await);
        malformed(events.emit(RunError::new("x").timestamp(i64::MAX)).await);
        malformed(events.finish_with(&nested(128)).await);
        malformed(events.interrupt([Interrupt::new("i", "r").metadata(nested_object(128))]).await);
        malformed(events.usage(TokenUsage::new().input_tokens(1_u64 << 53)));
        events.usage(TokenUsage::new().input_tokens((1_u64 << 53) - 1))?;
        open.push("still open").await?;
        events.finish_with(&nested(127)).await?;
        Ok(())
    })
    .await;
    check_order(&events, "t", "1");
    assert_eq!(text(&events), "still open");
    let last = events.last().unwrap();
    RelayedEvent::parse(last.as_str()).unwrap();
    assert!(last.contains(r#""usage":[{"inputTokens":9007199254740991}]"#), "{last}");
}

#[tokio::test(start_paused = true)]
async fn what_an_author_gives_and_funduq_would_not_take_is_refused_to_the_author() {
    let events = said(|run| async move {
        let events = run.events();
        let malformed =
            |said: Result<(), EmitError>| assert!(matches!(said, Err(EmitError::Malformed(_))), "{said:?}");
        let deep = nested(128);
        malformed(events.state(&deep).await);
        malformed(events.custom("c", &deep).await);
        malformed(events.activity("A", nested_object(127)).await.map(drop));
        let mut message = AssistantMessage::new("m");
        message.metadata = Some(nested_object(126));
        malformed(events.messages(vec![message.into()]).await);
        let part = serde_json::from_value(json!({ "type": "text", "text": "x", "metadata": nested(126) }))?;
        malformed(events.tool_result("c", Content::Parts(vec![part])).await.map(drop));
        let role = Some("stranger".into());
        malformed(events.open_text_as(TextOpening { role, ..TextOpening::default() }).await.map(drop));

        events.state(&nested(127)).await?;
        events.custom("c", &nested(127)).await?;
        events.activity("A", nested_object(126)).await?;
        events.emit_json(json_of_custom(127)).await?;
        malformed(events.emit_json(json_of_custom(128)).await);
        Ok(())
    })
    .await;
    check_order(&events, "t", "1");
    assert_eq!(
        types(&events),
        ["RUN_STARTED", "STATE_SNAPSHOT", "CUSTOM", "ACTIVITY_SNAPSHOT", "CUSTOM", "RUN_FINISHED"]
    );
    for event in &events {
        RelayedEvent::parse(event.as_str()).unwrap();
    }
}

/// Arrays in one another, so many.
fn nested(depth: usize) -> Value {
    (0..depth).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
}

fn json_of_custom(depth: usize) -> String {
    format!(r#"{{"type":"CUSTOM","name":"c","value":{}}}"#, nested(depth))
}

/// An object that holds them.
fn nested_object(depth: usize) -> RawObject {
    RawObject::from_iter([("in", Json::from(nested(depth)).into())])
}

#[tokio::test(start_paused = true)]
async fn an_event_that_is_too_large_is_not_taken_and_long_text_is_split() {
    let events = said(|run| async move {
        let long = "x".repeat(9 << 20);
        let refused = run.events().custom("long", &long).await;
        assert!(matches!(refused, Err(EmitError::TooLarge { .. })), "{refused:?}");
        run.events().text(&long).await?;
        Ok(())
    })
    .await;
    check_order(&events, "t", "1");
    assert_eq!(text(&events).len(), 9 << 20);
    assert!(events.iter().all(|event| event.len() < 2 << 20));
}

#[tokio::test(start_paused = true)]
async fn tasks_that_write_at_once_keep_their_own_order() {
    async fn write(events: EventSink, word: &'static str) -> Result<(), EmitError> {
        let said = events.open_text().await?;
        for _ in 0..100 {
            said.push(word).await?;
            tokio::task::yield_now().await;
        }
        said.end().await
    }
    let events = said(|run| async move {
        let tasks = ["a", "b", "c"].map(|word| tokio::spawn(write(run.events().clone(), word)));
        for task in tasks {
            task.await??;
        }
        Ok(())
    })
    .await;
    check_order(&events, "t", "1");
    assert_eq!(events.len(), 2 + 3 * 102);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_was_taken_over_is_the_agents_alone() {
    let events = said(|run| async move {
        let stream = run.events().take_over()?;
        assert_eq!(run.events().text("x").await, Err(EmitError::TakenOver));
        stream.send(r#"{"type":"STEP_FINISHED","stepName":"s" }"#).await?;
        assert!(matches!(stream.send("no json").await, Err(EmitError::NoJson(_))));
        stream.send(r#"{"type":"UNHEARD_OF"}"#).await?;
        Ok(())
    })
    .await;
    let expected = [r#"{"type":"STEP_FINISHED","stepName":"s" }"#, r#"{"type":"UNHEARD_OF"}"#];
    assert_eq!(events, expected, "nothing is added, not even an end");
}

fn many(limit: usize) -> (ServedAgent, BufferLimits) {
    let agent = agent_fn(|run: RunContext| async move {
        let said = run.events().open_text().await?;
        for word in 0..100 {
            said.push(&format!("{word} ")).await?;
        }
        Ok(())
    });
    (ServedAgent::new("a", agent).unwrap(), BufferLimits { events: limit, ..BufferLimits::default() })
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_slowed_while_funduq_has_not_recorded_what_it_said() {
    let (agent, limits) = many(10);
    let (_runtime, _link, funduq) = linked(builder().agent(agent).buffer(limits)).await;
    funduq.silent(true);
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    let settled = |funduq: Arc<FakeFunduq>| async move {
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        funduq.events("1").len()
    };
    assert_eq!(settled(funduq.clone()).await, 11, "ten, and the one that waits");
    funduq.received("1", 5);
    assert_eq!(settled(funduq.clone()).await, 16);
    funduq.silent(false);
    funduq.received("1", 16);
    check_order(&funduq.finished("1").await, "t", "1");
}

#[tokio::test(start_paused = true)]
async fn what_was_said_goes_out_though_its_future_was_dropped() {
    let gate = Arc::new(Semaphore::new(0));
    let opened = gate.clone();
    let agent = agent_fn(move |run: RunContext| {
        let gate = gate.clone();
        async move {
            let said = run.events().open_text().await?;
            for word in ["a", "b", "c", "d"] {
                // The buffer is full, so this waits until it is dropped.
                let push = said.push(word);
                tokio::select! { biased; _ = push => {} _ = tokio::task::yield_now() => {} }
            }
            gate.acquire().await?.forget();
            Ok(())
        }
    });
    let limits = BufferLimits { events: 1, ..BufferLimits::default() };
    let agent = ServedAgent::new("a", agent).unwrap();
    let (_runtime, _link, funduq) = linked(builder().agent(agent).buffer(limits)).await;
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    funduq.until(|funduq| funduq.verdict("1") == Some(Verdict::Accepted)).await;
    opened.add_permits(1);
    let events = funduq.finished("1").await;
    check_order(&events, "t", "1");
    assert_eq!(text(&events), "abcd");
}
