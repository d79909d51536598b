//! Restarts and stops: what comes back, what is orphaned, and how streams end.

use std::sync::Arc;
use std::time::Duration;

use funduq_agui::{MAX_INPUT_BYTES, RelayedInput};
use funduq_contract::{FunduqPort, LinkClosed, Verdict};
use funduq_core::{DoorError, NotServing, RunStatus, StreamEnd};

use crate::bench::{FINISHED, input_with_bag, json, on_every_store, rest, started, types};
use crate::scripted::{Heard, Scripted};

#[test]
fn queued_runs_are_taken_back_in_order_and_an_interjection_is_an_ordinary_turn() {
    on_every_store(|bench| async move {
        let (provider, _, agent) = bench.serving(Some(1)).await;
        let blocking = bench.ask(&agent, "t", "0").await.unwrap();
        provider.offer().await;
        let thread = blocking.thread_id().clone();
        let mut queued = Vec::new();
        for at in 1..=3 {
            let bag = serde_json::json!({
                "https://github.com/hukaichun/funduq/ext/interjection/v1/addressedRunId": blocking.run_id().as_str(),
            });
            let input = input_with_bag(thread.as_str(), &at.to_string(), bag);
            queued.push(bench.funduq.agui().run(&agent, input, None).await.unwrap().run_id().clone());
        }
        drop(blocking);
        let bench = bench.restart().await;
        let (provider, link, _) = bench.serving(None).await;
        for expected in queued {
            let offer = provider.offer().await;
            assert_eq!(offer.run.run_id, expected);
            let props = offer.run.input.forwarded_props.clone().unwrap();
            assert!(props.as_object().unwrap().get("funduq").is_none(), "no longer addressed to anybody");
            bench.funduq.answer(link, &expected, 1, Verdict::Accepted).await.unwrap();
            bench.report(link, &expected, 1, FINISHED).await;
            let mut stream = bench.funduq.agui().replay(&agent, &expected, 0).await.unwrap();
            assert_eq!(types(&mut stream).await, ["RUN_FINISHED"]);
        }
    });
}

#[test]
fn the_largest_input_that_a_door_takes_is_read_back_and_delivered_whole() {
    on_every_store(|bench| async move {
        let (provider, _, agent) = bench.serving(Some(1)).await;
        let _blocking = bench.ask(&agent, "t", "0").await.unwrap();
        provider.offer().await;
        let padded = |pad: usize| {
            let pad = "x".repeat(pad);
            format!(r#"{{"threadId":"t","runId":"r","messages":[],"forwardedProps":{{"pad":"{pad}"}}}}"#)
        };
        let body = padded(MAX_INPUT_BYTES - padded(0).len());
        let input = RelayedInput::parse(body.as_bytes()).unwrap();
        let run = bench.funduq.agui().run(&agent, input, None).await.unwrap().run_id().clone();
        let bench = bench.restart().await;
        let (provider, _, _) = bench.serving(None).await;
        let offer = provider.offer().await;
        assert_eq!(offer.run.run_id, run);
        // funduq's own ids have made it larger than a door would take.
        let delivered = offer.run.input.to_json();
        assert!(delivered.len() > MAX_INPUT_BYTES);
        let read = serde_json::from_str::<RelayedInput>(&delivered).unwrap();
        assert_eq!(read.to_json(), delivered);
    });
}

#[test]
fn what_a_provider_may_have_had_is_orphaned_with_its_terminal_event() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let running = bench.ask(&agent, "a", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        bench.report(link, &run, 1, &started("r")).await;
        bench.report(link, &run, 2, r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"half"}"#).await;
        provider.expect(|heard| matches!(heard, Heard::Received(_, 2)).then_some(())).await;
        let offered = bench.ask(&agent, "b", "y").await.unwrap();
        let (thread, offered_id) = (running.thread_id().clone(), offered.run_id().clone());
        drop((running, offered));
        let bench = bench.restart().await;
        for (id, events) in [(&run, 3), (&offered_id, 2)] {
            let stored = bench.funduq.run(id).await.unwrap().unwrap();
            assert_eq!(stored.status, RunStatus::Failed);
            assert_eq!(stored.metadata.failure_reason.as_deref(), Some("orphaned_by_restart"));
            let kept = bench.funduq.run_events(id, 0, 10).await.unwrap();
            assert_eq!(kept.len(), events);
            assert_eq!(json(&kept.last().unwrap().event)["code"], "orphaned_by_restart");
        }
        let history = bench.funduq.thread_messages(&thread, 0, 10).await.unwrap();
        assert_eq!(history.last().unwrap().message.text().as_deref(), Some("half"));
    });
}

#[test]
fn a_shutdown_waits_for_live_runs_then_ends_them_and_leaves_queued_ones_queued() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(Some(1)).await;
        let mut held = bench.ask(&agent, "a", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        let mut queued = bench.ask(&agent, "b", "y").await.unwrap();
        let began = tokio::time::Instant::now();
        bench.funduq.shutdown(Duration::from_secs(30)).await;
        assert!(began.elapsed() >= Duration::from_secs(30));
        let events = rest(&mut held).await;
        assert_eq!(json(events.last().unwrap())["code"], "funduq_shutdown");
        let end = rest(&mut queued).await;
        assert_eq!(json(end.last().unwrap())["code"], "funduq_shutdown");
        let refused = bench.ask(&agent, "c", "z").await.unwrap_err();
        assert_eq!(refused, DoorError::NotServing(NotServing::Stopping));
        assert!(provider.heard().contains(&Heard::Closed(LinkClosed::ShuttingDown)));
        assert_eq!(bench.funduq.run(&run).await.unwrap().unwrap().status, RunStatus::Failed);
        let queued = queued.run_id().clone();
        let bench = bench.restart().await;
        assert_eq!(bench.funduq.run(&queued).await.unwrap().unwrap().status, RunStatus::Queued);
        let (provider, _, _) = bench.serving(None).await;
        assert_eq!(provider.offer().await.run.run_id, queued);
    });
}

#[test]
fn a_shutdown_with_nothing_held_is_done_at_once() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut stream = bench.ask(&agent, "a", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        bench.report(link, &run, 1, FINISHED).await;
        assert_eq!(types(&mut stream).await, ["RUN_FINISHED"]);
        let began = tokio::time::Instant::now();
        bench.funduq.shutdown(Duration::from_secs(30)).await;
        assert!(began.elapsed() < Duration::from_secs(1));
    });
}

#[test]
fn a_suspended_stream_says_that_its_run_has_not_ended() {
    on_every_store(|bench| async move {
        let (_, _, agent) = bench.serving(Some(1)).await;
        bench.ask(&agent, "a", "x").await.unwrap();
        let waiting = bench.ask(&agent, "b", "y").await.unwrap();
        let id = waiting.run_id().clone();
        drop(waiting);
        let mut stream = bench.funduq.run_stream(&agent, &id, 0).await.unwrap();
        bench.funduq.shutdown(Duration::ZERO).await;
        assert!(stream.next().await.unwrap().is_none());
        assert_eq!(stream.end(), Some(StreamEnd::Suspended));
        assert_eq!(bench.funduq.run(&id).await.unwrap().unwrap().last_event, 0);
    });
}

#[test]
fn a_provider_of_the_old_process_is_nobody_to_the_new_one() {
    on_every_store(|bench| async move {
        let (_, link, agent) = bench.serving(None).await;
        let bench = bench.restart().await;
        assert!(!bench.funduq.is_online(&agent));
        assert_eq!(bench.funduq.agents().await.unwrap().len(), 1, "known, and offline");
        let late = bench.funduq.register_agents(link, vec![]).await;
        assert!(late.is_err());
        let again = Arc::new(Scripted::new(crate::bench::identity(1), None));
        let link = bench.attach(&again).await;
        bench.register(link, &["echo"]).await;
        assert!(bench.funduq.is_online(&agent));
    });
}

#[test]
fn a_run_that_is_taken_back_can_be_followed_at_once() {
    on_every_store(|bench| async move {
        let (provider, _, agent) = bench.serving(Some(1)).await;
        bench.ask(&agent, "a", "x").await.unwrap();
        provider.offer().await;
        let queued = bench.ask(&agent, "b", "y").await.unwrap().run_id().clone();
        let bench = bench.restart().await;
        let mut stream = bench.funduq.run_stream(&agent, &queued, 0).await.unwrap();
        let early = tokio::time::timeout(Duration::from_secs(1), stream.next()).await;
        assert!(early.is_err(), "it has not ended");
        let (provider, link, _) = bench.serving(None).await;
        provider.offer().await;
        bench.funduq.answer(link, &queued, 1, Verdict::Accepted).await.unwrap();
        bench.report(link, &queued, 1, FINISHED).await;
        assert_eq!(stream.next().await.unwrap().unwrap().number, 1);
        assert!(stream.next().await.unwrap().is_none());
        assert_eq!(stream.end(), Some(StreamEnd::RunEnded));
    });
}

#[test]
fn a_stream_from_the_record_of_a_run_that_waits_for_the_restart_says_so() {
    on_every_store(|bench| async move {
        let (provider, _, agent) = bench.serving(Some(1)).await;
        bench.ask(&agent, "a", "x").await.unwrap();
        provider.offer().await;
        let queued = bench.ask(&agent, "b", "y").await.unwrap().run_id().clone();
        bench.funduq.shutdown(Duration::ZERO).await;
        let mut stream = bench.funduq.run_stream(&agent, &queued, 0).await.unwrap();
        assert!(stream.next().await.unwrap().is_none());
        assert_eq!(stream.end(), Some(StreamEnd::Suspended));
    });
}
