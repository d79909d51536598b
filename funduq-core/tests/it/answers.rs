//! Asks and their answers on the AG-UI door: which resume or tool message makes the next run of which lineage.

use funduq_agui::RelayedInput;
use funduq_contract::{AgentAddress, FunduqPort, LinkId, RunId, ThreadId, Verdict};
use funduq_core::AguiStream;

use crate::bench::{Bench, json, on_every_store, rest, types};
use crate::scripted::Scripted;

fn asking(ids: &[&str]) -> String {
    let interrupts: Vec<_> = ids
        .iter()
        .map(|id| serde_json::json!({"id": id, "reason": "confirmation", "message": "Go on?"}))
        .collect();
    serde_json::json!({
        "type": "RUN_FINISHED", "threadId": "t", "runId": "r",
        "outcome": {"type": "interrupt", "interrupts": interrupts},
    })
    .to_string()
}

/// Has a run end asking for `ids`, and returns its thread and id.
async fn ask(
    bench: &Bench,
    provider: &Scripted,
    link: LinkId,
    agent: &AgentAddress,
    ids: &[&str],
) -> (ThreadId, RunId) {
    let mut stream = bench.ask(agent, "t", "x").await.unwrap();
    let run = provider.offer().await.run.run_id;
    bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
    bench.report(link, &run, 1, &asking(ids)).await;
    assert_eq!(types(&mut stream).await, ["RUN_FINISHED"]);
    (stream.thread_id().clone(), run)
}

async fn send(bench: &Bench, agent: &AgentAddress, thread: &ThreadId, more: serde_json::Value) -> AguiStream {
    let mut json = serde_json::json!({"threadId": thread.as_str(), "runId": "c", "messages": []});
    json.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let input = RelayedInput::parse(json.to_string().as_bytes()).unwrap();
    bench.funduq.agui().run(agent, input, None).await.unwrap()
}

fn resume(ids: &[&str]) -> serde_json::Value {
    let entries: Vec<_> = ids
        .iter()
        .map(|id| serde_json::json!({"interruptId": id, "status": "resolved", "payload": {"ok": true}}))
        .collect();
    serde_json::json!({"resume": entries})
}

#[test]
fn a_resume_that_covers_all_asks_is_the_next_run_of_the_lineage() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let (thread, asked) = ask(&bench, &provider, link, &agent, &["a", "b"]).await;
        let run = bench.funduq.run(&asked).await.unwrap().unwrap();
        assert_eq!(run.metadata.ask_ids(), ["a", "b"]);
        let stream = send(&bench, &agent, &thread, resume(&["a", "b"])).await;
        let offer = provider.offer().await;
        assert_eq!(offer.run.run_id, *stream.run_id());
        assert!(
            offer.run.input.to_json().contains(r#""interruptId":"b""#),
            "the resume reaches the agent as sent"
        );
        let answer = bench.funduq.run(stream.run_id()).await.unwrap().unwrap();
        assert_eq!(answer.answers_run_id, Some(asked.clone()));
        assert_eq!(answer.root_run_id, asked);
        let lineage = bench.funduq.lineage(&asked).await.unwrap();
        let later = bench.funduq.lineage(&answer.id).await.unwrap();
        assert!(later.is_empty(), "a lineage goes by its root's id");
        assert_eq!(lineage.iter().map(|run| run.id.clone()).collect::<Vec<_>>(), [asked, answer.id]);
    });
}

#[test]
fn a_resume_of_nothing_open_dispatches_nothing_and_says_so_in_three_events() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let (thread, _) = ask(&bench, &provider, link, &agent, &["a"]).await;
        for (ids, code) in [(&["z"][..], "no_pending_ask")] {
            let mut stream = send(&bench, &agent, &thread, resume(ids)).await;
            assert_eq!(*stream.thread_id(), thread);
            let events = rest(&mut stream).await;
            let types: Vec<_> = events.iter().map(|event| event.type_name()).collect();
            assert_eq!(types, ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_ERROR"]);
            assert_eq!(json(&events[0])["threadId"], thread.as_str());
            assert_eq!(json(&events[1])["messages"][0]["content"], "x");
            assert_eq!(json(&events[2])["code"], code);
        }
        assert_eq!(bench.funduq.thread_runs(&thread, 0, 10).await.unwrap().len(), 1);
    });
}

#[test]
fn a_resume_that_covers_only_some_asks_names_the_missing_ones() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let (thread, _) = ask(&bench, &provider, link, &agent, &["a", "b"]).await;
        let events = rest(&mut send(&bench, &agent, &thread, resume(&["a"])).await).await;
        assert_eq!(json(&events[2])["code"], "asks_not_covered");
        assert!(json(&events[2])["message"].as_str().unwrap().contains('b'));
        // The ask is as open as before.
        send(&bench, &agent, &thread, resume(&["b", "a"])).await;
        provider.offer().await;
    });
}

#[test]
fn a_resume_twice_finds_the_ask_answered() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let (thread, _) = ask(&bench, &provider, link, &agent, &["a"]).await;
        send(&bench, &agent, &thread, resume(&["a"])).await;
        let events = rest(&mut send(&bench, &agent, &thread, resume(&["a"])).await).await;
        assert_eq!(json(&events[2])["code"], "no_pending_ask");
        provider.offer().await;
    });
}

#[test]
fn a_tool_result_answers_the_call_that_waits_and_an_old_one_answers_nothing() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut stream = bench.ask(&agent, "t", "x").await.unwrap();
        let thread = stream.thread_id().clone();
        let run = provider.offer().await.run.run_id;
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        for (number, event) in (1..).zip([
            r#"{"type":"TOOL_CALL_START","toolCallId":"call","toolCallName":"get_weather"}"#,
            r#"{"type":"TOOL_CALL_ARGS","toolCallId":"call","delta":"{}"}"#,
            r#"{"type":"TOOL_CALL_END","toolCallId":"call"}"#,
            crate::bench::FINISHED,
        ]) {
            bench.report(link, &run, number, event).await;
        }
        assert_eq!(types(&mut stream).await.len(), 4);
        let asked = bench.funduq.run(&run).await.unwrap().unwrap();
        assert_eq!(asked.metadata.pending_tool_calls[0].name, "get_weather");
        let result = serde_json::json!({"messages": [
            {"id": "res", "role": "tool", "toolCallId": "call", "content": "sunny"}
        ]});
        let answer = send(&bench, &agent, &thread, result.clone()).await;
        let answer = bench.funduq.run(answer.run_id()).await.unwrap().unwrap();
        assert_eq!(answer.answers_run_id, Some(run));
        let offer = provider.offer().await;
        bench.funduq.answer(link, &offer.run.run_id, 1, Verdict::Accepted).await.unwrap();
        bench.report(link, &offer.run.run_id, 1, crate::bench::FINISHED).await;
        // The whole history again, with a new question: an ordinary turn.
        let again = send(&bench, &agent, &thread, result).await;
        let again = bench.funduq.run(again.run_id()).await.unwrap().unwrap();
        assert_eq!(again.answers_run_id, None);
    });
}

#[test]
fn an_answer_is_exempt_from_the_queue_limit() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(Some(1)).await;
        let (thread, _) = ask(&bench, &provider, link, &agent, &["a"]).await;
        bench.ask(&agent, thread.as_str(), "0").await.unwrap();
        provider.offer().await;
        for at in 1..8 {
            bench.ask(&agent, thread.as_str(), &at.to_string()).await.unwrap();
        }
        assert!(bench.ask(&agent, thread.as_str(), "full").await.is_err());
        let answer = send(&bench, &agent, &thread, resume(&["a"])).await;
        assert!(bench.funduq.run(answer.run_id()).await.unwrap().unwrap().answers_run_id.is_some());
    });
}

#[test]
fn a_refused_resume_takes_no_message_away() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let local = serde_json::json!({"messages": [
            {"id": "x", "role": "user", "content": "as the client has it"},
            {"id": "new", "role": "user", "content": "just typed"},
        ]});
        let mut stale = resume(&["stale"]);
        stale.as_object_mut().unwrap().extend(local.as_object().unwrap().clone());
        // Minted beforehand, with nothing in the record yet.
        let minted = bench.funduq.agui().create_thread(&agent).await.unwrap();
        let (asked, _) = ask(&bench, &provider, link, &agent, &["a"]).await;
        for (thread, content) in [(minted, "as the client has it"), (asked, "x")] {
            let events = rest(&mut send(&bench, &agent, &thread, stale.clone()).await).await;
            let told = json(&events[1])["messages"].clone();
            assert_eq!(told[0], serde_json::json!({"id": "x", "role": "user", "content": content}));
            assert_eq!(told[1]["id"], "new");
            assert_eq!(told.as_array().unwrap().len(), 2);
        }
    });
}

#[test]
fn of_resumes_that_come_at_once_one_is_dispatched_and_the_others_find_nothing_open() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let (thread, _) = ask(&bench, &provider, link, &agent, &["a"]).await;
        let at_once = (0..4).map(|_| send(&bench, &agent, &thread, resume(&["a"])));
        let mut refused = 0;
        for mut stream in futures_util::future::join_all(at_once).await {
            if bench.funduq.run(stream.run_id()).await.unwrap().is_some() {
                continue;
            }
            let events = rest(&mut stream).await;
            assert_eq!(json(&events[2])["code"], "no_pending_ask");
            refused += 1;
        }
        assert_eq!(refused, 3);
        assert_eq!(bench.funduq.thread_runs(&thread, 0, 10).await.unwrap().len(), 2);
        provider.offer().await;
    });
}

#[test]
fn of_two_lineages_that_wait_the_one_that_is_meant_goes_on() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let (thread, old) = ask(&bench, &provider, link, &agent, &["z"]).await;
        let mut stream = bench.ask(&agent, thread.as_str(), "y").await.unwrap();
        let new = provider.offer().await.run.run_id;
        bench.funduq.answer(link, &new, 1, Verdict::Accepted).await.unwrap();
        bench.report(link, &new, 1, &asking(&["p", "q"])).await;
        assert_eq!(types(&mut stream).await, ["RUN_FINISHED"]);

        // An entry for the one would be lost on the other.
        let events = rest(&mut send(&bench, &agent, &thread, resume(&["z", "p"])).await).await;
        assert_eq!(json(&events[2])["code"], "asks_not_covered");
        assert!(json(&events[2])["message"].as_str().unwrap().ends_with("missing: q"));
        // A tool message is nobody's word on an interrupt of the same id.
        let result =
            serde_json::json!({"messages": [{"id": "m", "role": "tool", "toolCallId": "z", "content": ""}]});
        let turn = send(&bench, &agent, &thread, result).await;
        assert_eq!(bench.funduq.run(turn.run_id()).await.unwrap().unwrap().answers_run_id, None);

        for (ids, asked) in [(&["z"][..], old), (&["q", "p"], new)] {
            let stream = send(&bench, &agent, &thread, resume(ids)).await;
            let answer = bench.funduq.run(stream.run_id()).await.unwrap().unwrap();
            assert_eq!(answer.answers_run_id, Some(asked));
        }
    });
}
