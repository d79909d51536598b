//! A run from the door to its end: order, verdicts, events, cancels, and what the record says after.

use std::time::Duration;

use funduq_agui::MAX_EVENT_BYTES;
use funduq_contract::{FunduqPort, PortError, Verdict};
use funduq_core::{CancelAnswer, CoreSettings, DoorError, RunStatus};
use serde_json::Value;

use crate::bench::{FINISHED, input, input_with_bag, json, on_every_store, rest, started, types};
use crate::scripted::Heard;

#[test]
fn a_turn_is_relayed_as_the_bytes_that_came_and_kept() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut stream = bench.ask(&agent, "mine", "hello").await.unwrap();
        let offer = provider.offer().await;
        assert_eq!(offer.run.run_id, *stream.run_id());
        assert_eq!(offer.run.input.thread_id, stream.thread_id().as_str());
        assert_eq!(offer.run.input.run_id, stream.run_id().as_str());
        let run = offer.run.run_id;
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        let sent = [
            started("r"),
            r#"{"type":"TEXT_MESSAGE_START" ,"messageId":"m","role":"assistant"}"#.to_owned(),
            r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"h\u00e9llo","extra":1e400}"#
                .to_owned(),
            r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#.to_owned(),
            r#"{"type":"A_LATER_EVENT","with":["anything"]}"#.to_owned(),
            FINISHED.to_owned(),
        ];
        for (number, event) in (1..).zip(&sent) {
            bench.report(link, &run, number, event).await;
        }
        let seen: Vec<_> = rest(&mut stream).await.iter().map(|event| event.json().to_owned()).collect();
        assert_eq!(seen, sent);
        let kept = bench.funduq.run_events(&run, 0, 100).await.unwrap();
        assert_eq!(kept.iter().map(|event| event.event.json()).collect::<Vec<_>>(), sent);
        assert_eq!(bench.funduq.run_events(&run, 4, 1).await.unwrap()[0].number, 5);
        let stored = bench.funduq.run(&run).await.unwrap().unwrap();
        assert_eq!((stored.status, stored.last_event), (RunStatus::Completed, 6));
        let messages = bench.funduq.thread_messages(stream.thread_id(), 0, 10).await.unwrap();
        let texts: Vec<_> = messages.iter().map(|message| message.message.text().unwrap()).collect();
        assert_eq!(texts, ["hello", "héllo"]);
    });
}

#[test]
fn a_resent_history_adds_nothing_twice() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let first = bench.ask(&agent, "mine", "one").await.unwrap();
        let thread = first.thread_id().clone();
        for text in ["one", "two"] {
            bench.ask(&agent, thread.as_str(), text).await.unwrap();
        }
        for _ in 0..3 {
            let run = provider.offer().await.run.run_id;
            bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        }
        let messages = bench.funduq.thread_messages(&thread, 0, 10).await.unwrap();
        assert_eq!(messages.iter().map(|m| m.message.id().unwrap()).collect::<Vec<_>>(), ["one", "two"]);
    });
}

#[test]
fn an_event_that_goes_on_with_an_earlier_message_changes_that_message_of_the_thread() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let play = async |stream: &mut funduq_core::AguiStream, event: &str| {
            let run = provider.offer().await.run.run_id;
            bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
            bench.report(link, &run, 1, event).await;
            bench.report(link, &run, 2, FINISHED).await;
            assert_eq!(rest(stream).await.len(), 2);
        };
        let mut first = bench.ask(&agent, "t", "x").await.unwrap();
        let plan =
            r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"p","activityType":"PLAN","content":{"steps":1}}"#;
        play(&mut first, plan).await;
        let history = bench.funduq.thread_messages(first.thread_id(), 0, 10).await.unwrap();
        let kept: Vec<Value> =
            history.iter().map(|kept| serde_json::from_str(kept.message.json()).unwrap()).collect();
        let mut input = input(first.thread_id().as_str(), "y");
        input.messages = history.into_iter().map(|kept| kept.message).collect();
        let mut second = bench.funduq.agui().run(&agent, input, None).await.unwrap();
        let patch = r#"[{"op":"replace","path":"/steps","value":2}]"#;
        let delta =
            format!(r#"{{"type":"ACTIVITY_DELTA","messageId":"p","activityType":"PLAN","patch":{patch}}}"#);
        play(&mut second, &delta).await;
        let changed = bench.funduq.thread_messages(first.thread_id(), 0, 10).await.unwrap();
        let changed: Vec<Value> =
            changed.iter().map(|kept| serde_json::from_str(kept.message.json()).unwrap()).collect();
        assert_eq!((&changed[0], changed.len()), (&kept[0], 2), "one message once per id");
        assert_eq!(changed[1]["content"], serde_json::json!({"steps": 2}));
    });
}

#[test]
fn an_agent_that_was_never_registered_is_not_found_and_an_offline_one_fails_the_run() {
    on_every_store(|bench| async move {
        let (_, link, agent) = bench.serving(None).await;
        let mut nobody = agent.clone();
        nobody.name = "nobody".parse().unwrap();
        let error = bench.ask(&nobody, "t", "x").await.unwrap_err();
        assert_eq!(error, DoorError::AgentNotFound(nobody));
        bench.funduq.detach_provider(&agent.provider, link);
        let mut stream = bench.ask(&agent, "t", "x").await.unwrap();
        let events = rest(&mut stream).await;
        let [start, error] = &events[..] else { panic!("{events:?}") };
        assert_eq!(json(start)["protocolVersion"], "1.0");
        assert_eq!(json(start)["runId"], stream.run_id().as_str());
        assert_eq!(json(error)["code"], "agent_offline");
        let run = bench.funduq.run(stream.run_id()).await.unwrap().unwrap();
        assert_eq!(run.status, RunStatus::Failed);
        assert_eq!(run.metadata.failure_reason.as_deref(), Some("agent_offline"));
    });
}

#[test]
fn a_refusal_keeps_the_providers_own_words() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut stream = bench.ask(&agent, "t", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        let verdict = Verdict::Refused { reason: "not on a Monday".into() };
        bench.funduq.answer(link, &run, 1, verdict).await.unwrap();
        let events = rest(&mut stream).await;
        assert_eq!(json(&events[1])["message"], "not on a Monday");
        let run = bench.funduq.run(&run).await.unwrap().unwrap();
        assert_eq!(run.metadata.failure_reason.as_deref(), Some("not on a Monday"));
        // Never again.
        tokio::time::sleep(Duration::from_secs(600)).await;
        assert!(!provider.heard().iter().any(|heard| matches!(heard, Heard::Offer(_))));
    });
}

#[test]
fn a_decline_is_offered_again_and_only_delays() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(Some(4)).await;
        let mut stream = bench.ask(&agent, "t", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        bench.funduq.answer(link, &run, 1, Verdict::Declined).await.unwrap();
        let again = provider.offer().await;
        assert_eq!((again.run.run_id.clone(), again.attempt), (run.clone(), 2));
        assert_eq!(bench.funduq.quality(&agent.provider).misdeclared, 1);
        bench.funduq.answer(link, &run, 2, Verdict::Accepted).await.unwrap();
        bench.report(link, &run, 1, FINISHED).await;
        assert_eq!(types(&mut stream).await, ["RUN_FINISHED"]);
    });
}

#[test]
fn a_verdict_and_the_events_behind_it_are_judged_in_the_order_of_arrival() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut stream = bench.ask(&agent, "t", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        // Nothing is awaited between them but the calls themselves.
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        bench.report(link, &run, 1, &started("r")).await;
        bench.report(link, &run, 2, FINISHED).await;
        bench.funduq.finish(link, &run).await.ok();
        assert_eq!(types(&mut stream).await, ["RUN_STARTED", "RUN_FINISHED"]);
    });
}

#[test]
fn an_event_before_the_verdict_is_refused_and_told() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let _stream = bench.ask(&agent, "t", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        bench.report(link, &run, 1, &started("r")).await;
        let refused = provider
            .expect(|heard| match heard {
                Heard::Refused(_, error) => Some(error.clone()),
                _ => None,
            })
            .await;
        assert_eq!(refused, PortError::NotHeld(run));
    });
}

#[test]
fn a_gap_is_refused_a_duplicate_dropped_and_nothing_is_lost_or_doubled() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut stream = bench.ask(&agent, "t", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        bench.report(link, &run, 1, &started("r")).await;
        bench.report(link, &run, 3, FINISHED).await;
        let refused = provider
            .expect(|heard| match heard {
                Heard::Refused(_, error) => Some(error.clone()),
                _ => None,
            })
            .await;
        assert_eq!(refused, PortError::Gap { expected: 2, got: 3 });
        bench.report(link, &run, 1, &started("r")).await;
        bench.report(link, &run, 2, r#"{"type":"STEP_STARTED","stepName":"s"}"#).await;
        bench.report(link, &run, 3, FINISHED).await;
        assert_eq!(types(&mut stream).await, ["RUN_STARTED", "STEP_STARTED", "RUN_FINISHED"]);
    });
}

#[test]
fn events_that_are_reported_together_are_judged_one_by_one() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut stream = bench.ask(&agent, "t", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        let step = |name: &str| format!(r#"{{"type":"STEP_STARTED","stepName":"{name}"}}"#);
        let report = async |first: u64, events: &[String]| {
            let events = events.iter().map(|json| funduq_agui::RelayedEvent::parse(json.as_str()).unwrap());
            bench.funduq.report_events(link, &run, first, events.collect()).await
        };
        let refused = || {
            provider.expect(|heard| match heard {
                Heard::Refused(_, error) => Some(error.clone()),
                _ => None,
            })
        };
        report(1, &[started("r")]).await.unwrap();
        assert_eq!(refused().await, PortError::NotHeld(run.clone()), "before the verdict");
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        report(1, &[started("r"), step("2")]).await.unwrap();
        report(2, &[step("again"), step("3")]).await.unwrap();
        report(5, &[step("too early")]).await.unwrap();
        assert_eq!(refused().await, PortError::Gap { expected: 4, got: 5 });
        report(4, &[FINISHED.to_owned(), step("too late")]).await.unwrap();
        let events = rest(&mut stream).await;
        let steps: Vec<_> = events.iter().map(|event| json(event)["stepName"].clone()).collect();
        assert_eq!(steps, [Value::Null, "2".into(), "3".into(), Value::Null]);
        assert_eq!(refused().await, PortError::NotHeld(run));
    });
}

#[test]
fn another_keys_reports_are_not_heard() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut stream = bench.ask(&agent, "t", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        let stranger = std::sync::Arc::new(crate::scripted::Scripted::new(crate::bench::identity(2), None));
        let other = bench.attach(&stranger).await;
        let not_held = Err(PortError::NotHeld(run.clone()));
        assert_eq!(bench.funduq.answer(other, &run, 1, Verdict::Accepted).await, not_held);
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        assert_eq!(bench.funduq.report_event(other, &run, 1, FINISHED.into()).await, not_held);
        assert_eq!(bench.funduq.finish(other, &run).await, not_held);
        bench.report(link, &run, 1, FINISHED).await;
        assert_eq!(types(&mut stream).await, ["RUN_FINISHED"]);
    });
}

#[test]
fn a_malformed_event_ends_its_run_and_no_other() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut bad = bench.ask(&agent, "a", "x").await.unwrap();
        let mut good = bench.ask(&agent, "b", "y").await.unwrap();
        for _ in 0..2 {
            let run = provider.offer().await.run.run_id;
            bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
            bench.report(link, &run, 1, &started("r")).await;
        }
        let (bad_run, good_run) = (bad.run_id().clone(), good.run_id().clone());
        bench.report(link, &bad_run, 2, r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":7,"delta":"x"}"#).await;
        let events = rest(&mut bad).await;
        assert_eq!(json(events.last().unwrap())["code"], "malformed_event");
        bench.report(link, &good_run, 2, FINISHED).await;
        assert_eq!(types(&mut good).await, ["RUN_STARTED", "RUN_FINISHED"]);
        let deep = format!(
            "{{\"type\":\"CUSTOM\",\"name\":\"n\",\"value\":{}{}}}",
            "[".repeat(500),
            "]".repeat(500)
        );
        let large = r#"{"type":"CUSTOM","name":"n","value":"@"}"#.replace('@', &"x".repeat(MAX_EVENT_BYTES));
        for event in [deep, large] {
            let mut stream = bench.ask(&agent, "c", "z").await.unwrap();
            let run = provider.offer().await.run.run_id;
            bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
            bench.report(link, &run, 1, &event).await;
            assert_eq!(json(rest(&mut stream).await.last().unwrap())["code"], "malformed_event");
        }
    });
}

#[test]
fn a_finish_without_a_terminal_event_fails_the_run() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut stream = bench.ask(&agent, "t", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        bench.report(link, &run, 1, &started("r")).await;
        bench.funduq.finish(link, &run).await.unwrap();
        let events = rest(&mut stream).await;
        assert_eq!(json(&events[1])["code"], "provider_stream_ended_without_finishing");
        assert_eq!(events.len(), 2);
    });
}

#[test]
fn a_cancel_of_an_unclaimed_run_settles_it_and_of_a_claimed_one_is_a_request() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(Some(1)).await;
        let mut held = bench.ask(&agent, "a", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        let mut waiting = bench.ask(&agent, "b", "y").await.unwrap();
        let second = waiting.run_id().clone();
        let cancel = |run| bench.funduq.cancel_run(&agent, run, Default::default());
        assert_eq!(cancel(&second).await.unwrap(), CancelAnswer::Settled);
        let events = rest(&mut waiting).await;
        assert_eq!(json(&events[1])["outcome"]["type"], "cancelled");
        assert_eq!(cancel(&run).await.unwrap(), CancelAnswer::Asked);
        provider.expect(|heard| (*heard == Heard::Cancel(run.clone())).then_some(())).await;
        assert_eq!(bench.funduq.run(&run).await.unwrap().unwrap().status, RunStatus::Cancelling);
        // It finishes all the same, and that is what is recorded.
        bench.report(link, &run, 1, FINISHED).await;
        assert_eq!(types(&mut held).await, ["RUN_FINISHED"]);
        let run = bench.funduq.run(&run).await.unwrap().unwrap();
        assert_eq!(run.status, RunStatus::Completed);
        assert!(run.metadata.cancel_requested);
        assert_eq!(cancel(&run.id).await.unwrap(), CancelAnswer::NotLive);
    });
}

#[test]
fn an_answer_to_nothing_within_the_limit_is_offered_three_times() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut stream = bench.ask(&agent, "t", "x").await.unwrap();
        for attempt in 1..=3 {
            assert_eq!(provider.offer().await.attempt, attempt);
        }
        let events = rest(&mut stream).await;
        assert_eq!(json(&events[1])["code"], "provider_did_not_answer");
        assert_eq!(bench.funduq.quality(&agent.provider).unanswered, 3);
        // At the tolerance the key's names go, until it registers again.
        assert!(!bench.funduq.is_online(&agent));
        bench.register(link, &["echo"]).await;
        assert!(bench.funduq.is_online(&agent));
        assert_eq!(bench.funduq.places_taken(&agent.provider), 0);
    });
}

#[test]
fn the_ninth_waiting_run_of_a_thread_is_refused_and_not_recorded() {
    on_every_store(|bench| async move {
        let (provider, _, agent) = bench.serving(Some(1)).await;
        let first = bench.ask(&agent, "t", "0").await.unwrap();
        provider.offer().await;
        let thread = first.thread_id().clone();
        let mut waiting = Vec::new();
        for at in 1..8 {
            waiting.push(bench.ask(&agent, thread.as_str(), &at.to_string()).await.unwrap());
        }
        let error = bench.ask(&agent, thread.as_str(), "9").await.unwrap_err();
        assert_eq!(error, DoorError::ThreadQueueFull { thread: thread.clone(), limit: 8 });
        assert_eq!(error.code(), "thread_queue_full");
        assert_eq!(bench.funduq.thread_runs(&thread, 0, 100).await.unwrap().len(), 8);
    });
}

#[test]
fn a_thread_of_another_agent_is_refused() {
    on_every_store(|bench| async move {
        let (_, link, agent) = bench.serving(None).await;
        bench.register(link, &["echo", "other"]).await;
        let stream = bench.ask(&agent, "t", "x").await.unwrap();
        let mut other = agent.clone();
        other.name = "other".parse().unwrap();
        let error = bench.ask(&other, stream.thread_id().as_str(), "y").await.unwrap_err();
        assert_eq!(error, DoorError::ThreadOfAnotherAgent(stream.thread_id().clone()));
    });
}

#[test]
fn the_bag_reaches_the_agent_as_sent_less_the_reserved_key() {
    on_every_store(|bench| async move {
        let (provider, _, agent) = bench.serving(None).await;
        let bag = serde_json::json!({
            "voucher": {"n": 1.0, "deep": [null]},
            "funduq": {"failureReason": "planted"},
            "failureReason": "the caller's own",
            "https://github.com/hukaichun/funduq/ext/interjection/v1/addressedRunId": "target",
        });
        bench.funduq.agui().run(&agent, input_with_bag("t", "x", bag), None).await.unwrap();
        let offer = provider.offer().await;
        let delivered: Value = serde_json::from_str(&offer.run.input.to_json()).unwrap();
        assert_eq!(
            delivered["forwardedProps"],
            serde_json::json!({
                "voucher": {"n": 1.0, "deep": [null]},
                "failureReason": "the caller's own",
                "https://github.com/hukaichun/funduq/ext/interjection/v1/addressedRunId": "target",
                "funduq": {"addressedRunId": "target"},
            })
        );
        bench.ask(&agent, "t2", "y").await.unwrap();
        let plain = provider.offer().await.run.input.to_json();
        assert!(!plain.contains("funduq"), "the key is absent when there is nothing to say: {plain}");
    });
}

#[test]
fn a_stream_starts_at_any_event_and_a_run_has_one_live_stream() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let stream = bench.ask(&agent, "t", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        bench.report(link, &run, 1, &started("r")).await;
        let taken = bench.funduq.agui().replay(&agent, &run, 0).await.unwrap_err();
        assert_eq!(taken, DoorError::StreamTaken(run.clone()));
        // The caller goes away; the run goes on.
        drop(stream);
        let mut again = bench.funduq.agui().replay(&agent, &run, 1).await.unwrap();
        bench.report(link, &run, 2, r#"{"type":"STEP_STARTED","stepName":"s"}"#).await;
        bench.report(link, &run, 3, FINISHED).await;
        assert_eq!(types(&mut again).await, ["STEP_STARTED", "RUN_FINISHED"]);
        let mut whole = bench.funduq.agui().replay(&agent, &run, 0).await.unwrap();
        assert_eq!(types(&mut whole).await, ["RUN_STARTED", "STEP_STARTED", "RUN_FINISHED"]);
    });
}

#[test]
fn a_slow_caller_reads_the_record_and_holds_nobody() {
    let settings = CoreSettings { hot_events: 2, hot_unread_events: 4, ..CoreSettings::default() };
    crate::bench::on_every_store_with(settings, |bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut stream = bench.ask(&agent, "t", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        for number in 1..=999 {
            bench
                .report(link, &run, number, &format!(r#"{{"type":"CUSTOM","name":"n","value":{number}}}"#))
                .await;
        }
        bench.report(link, &run, 1000, FINISHED).await;
        let recorded = |heard: &Heard| matches!(heard, Heard::Received(_, 1000)).then_some(());
        provider.expect(recorded).await;
        let events = rest(&mut stream).await;
        assert_eq!(events.len(), 1000);
        assert!(events[..999].iter().enumerate().all(|(at, event)| json(event)["value"] == at + 1));
    });
}

#[test]
fn work_before_the_start_is_an_error() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let store = std::sync::Arc::new(funduq_core::MemoryStore::new());
        let funduq = funduq_core::Funduq::new(CoreSettings::default(), None, store);
        let agent = format!("{}/echo", crate::bench::identity(1).public_key()).parse().unwrap();
        let error = funduq.agui().run(&agent, input("t", "x"), None).await.unwrap_err();
        assert_eq!(error, DoorError::NotServing(funduq_core::NotServing::NotStarted));
    });
}

#[test]
fn two_first_runs_on_a_minted_thread_are_both_accepted() {
    on_every_store(|bench| async move {
        let (_, _, agent) = bench.serving(None).await;
        let thread = bench.funduq.agui().create_thread(&agent).await.unwrap();
        let (one, two) =
            tokio::join!(bench.ask(&agent, thread.as_str(), "1"), bench.ask(&agent, thread.as_str(), "2"));
        // Which of two at once comes first is nobody's promise.
        let mut runs = [one.unwrap().run_id().clone(), two.unwrap().run_id().clone()];
        let recorded = bench.funduq.thread_runs(&thread, 0, 10).await.unwrap();
        let mut recorded: Vec<_> = recorded.into_iter().map(|run| run.id).collect();
        runs.sort_unstable();
        recorded.sort_unstable();
        assert_eq!(recorded, runs);
    });
}
