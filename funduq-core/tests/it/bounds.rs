//! What is read back is bounded in bytes, however much was said.

use funduq_agui::RelayedInput;
use funduq_contract::{AgentAddress, FunduqPort, ThreadId, Verdict};
use funduq_core::{EVENT_PAGE_BYTES, PAGE_BYTES, TaskQuery};

use crate::bench::{Bench, FINISHED, json, on_every_store, rest};

/// How much one message has.
const LARGE: usize = 3 << 20;

fn input(thread: &str, id: &str) -> RelayedInput {
    let json = serde_json::json!({
        "threadId": thread, "runId": "r", "messages": [{"id": id, "role": "user", "content": "x".repeat(LARGE)}],
    });
    RelayedInput::parse(json.to_string().as_bytes()).unwrap()
}

/// A thread with so many runs, each over, each with one large message; and who holds one more.
async fn large_thread(bench: &Bench, runs: usize) -> (AgentAddress, ThreadId) {
    let (provider, link, agent) = bench.serving(None).await;
    let mut thread = "t".to_owned();
    for at in 0..runs {
        let mut stream =
            bench.funduq.agui().run(&agent, input(&thread, &at.to_string()), None).await.unwrap();
        thread = stream.thread_id().to_string();
        let run = provider.offer().await.run.run_id;
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        bench.report(link, &run, 1, FINISHED).await;
        assert_eq!(rest(&mut stream).await.len(), 1);
    }
    (agent, ThreadId::new(thread).unwrap())
}

/// How many large items a page has: it ends with the one that fills it.
const ON_A_PAGE: usize = PAGE_BYTES / LARGE + 1;

#[test]
fn a_page_of_the_record_ends_when_it_is_full_and_the_next_goes_on() {
    on_every_store(|bench| async move {
        let (_, thread) = large_thread(&bench, ON_A_PAGE + 2).await;
        let mut runs = Vec::new();
        let mut messages = Vec::new();
        for expected in [ON_A_PAGE, 2, 0] {
            let page = bench.funduq.thread_runs(&thread, runs.len(), 100).await.unwrap();
            assert_eq!(page.len(), expected);
            runs.extend(page.into_iter().map(|run| run.id));
            let page = bench.funduq.thread_messages(&thread, messages.len() as u64, 100).await.unwrap();
            assert_eq!(page.len(), expected);
            messages.extend(page.into_iter().map(|stored| stored.message.id().unwrap().to_owned()));
        }
        let ids: Vec<_> = (0..ON_A_PAGE + 2).map(|at| at.to_string()).collect();
        assert_eq!(messages, ids);
        // And the lineages, from the newest on.
        let query =
            |after| TaskQuery { thread: thread.clone(), standing: None, since: None, after, limit: 100 };
        let page = bench.store.tasks(&query(None)).unwrap();
        assert_eq!((page.tails.len(), page.more, page.total), (ON_A_PAGE, true, ON_A_PAGE as u64 + 2));
        let page = bench.store.tasks(&query(page.tails.last().map(|(place, _)| *place))).unwrap();
        assert_eq!((page.tails.len(), page.more), (2, false));
    });
}

#[test]
fn the_latest_messages_are_those_that_fit() {
    on_every_store(|bench| async move {
        let (_, thread) = large_thread(&bench, 4).await;
        let latest = |limit: usize, bytes: usize| {
            let stored = bench.store.latest_messages(&thread, limit, bytes).unwrap();
            stored.iter().map(|stored| stored.position).collect::<Vec<_>>()
        };
        assert_eq!(latest(100, 100 << 20), [1, 2, 3, 4]);
        assert_eq!(latest(2, 100 << 20), [3, 4]);
        assert_eq!(latest(100, 2 * (LARGE + 100)), [3, 4]);
        assert_eq!(latest(100, LARGE), [0; 0], "not even the newest");
        // What a provider is sent at once fits into a frame.
        let held = large_message_count(&bench, &thread).await;
        assert_eq!(held, (8 << 20) / LARGE);
    });
}

/// How many messages the provider of the thread gets, while it holds a run on it.
async fn large_message_count(bench: &Bench, thread: &ThreadId) -> usize {
    let (provider, link, agent) = bench.serving(None).await;
    bench.ask(&agent, thread.as_str(), "short").await.unwrap();
    let run = provider.offer().await.run.run_id;
    bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
    let messages = FunduqPort::thread_messages(&bench.funduq, link, &run, u32::MAX).await.unwrap();
    assert_eq!(messages.last().and_then(|message| message.text()).as_deref(), Some("short"));
    messages.iter().filter(|message| message.json().len() >= LARGE).count()
}

#[test]
fn a_refused_resume_is_answered_with_no_more_than_an_event_holds() {
    on_every_store(|bench| async move {
        let (agent, thread) = large_thread(&bench, 4).await;
        let resume = serde_json::json!({
            "threadId": thread.as_str(), "runId": "r", "messages": [],
            "resume": [{"interruptId": "stale", "status": "resolved"}],
        });
        let resume = RelayedInput::parse(resume.to_string().as_bytes()).unwrap();
        let events = rest(&mut bench.funduq.agui().run(&agent, resume, None).await.unwrap()).await;
        assert_eq!(events.len(), 3);
        assert!(events[1].json().len() <= funduq_agui::MAX_EVENT_BYTES);
        let told = json(&events[1]);
        let ids: Vec<_> = told["messages"].as_array().unwrap().iter().map(|message| &message["id"]).collect();
        assert_eq!(ids, ["2", "3"]);
    });
}

#[test]
fn events_are_read_a_mebibyte_at_a_time_and_none_is_missed() {
    on_every_store(|bench| async move {
        let (provider, link, agent) = bench.serving(None).await;
        let mut stream = bench.ask(&agent, "t", "x").await.unwrap();
        let run = provider.offer().await.run.run_id;
        bench.funduq.answer(link, &run, 1, Verdict::Accepted).await.unwrap();
        let padding = "x".repeat(EVENT_PAGE_BYTES * 2 / 3);
        for number in 1..=5 {
            let event = format!(r#"{{"type":"CUSTOM","name":"{number}","value":"{padding}"}}"#);
            bench.report(link, &run, number, &event).await;
            assert_eq!(stream.next().await.unwrap().unwrap().number, Some(number));
        }
        let mut read = 0;
        for expected in [2, 2, 1, 0] {
            let page = bench.funduq.run_events(&run, read, 100).await.unwrap();
            assert_eq!(page.len(), expected);
            read += page.len() as u64;
        }
        // Whoever has to read all of them goes on to the last: a reader that comes back, and a restart, which adds its own.
        drop(stream);
        let bench = bench.restart().await;
        let mut stream = bench.funduq.agui().replay(&agent, &run, 1).await.unwrap();
        let mut seen = Vec::new();
        while let Some(event) = stream.next().await.unwrap() {
            seen.push((event.number.unwrap(), event.event.type_name().to_owned()));
        }
        let last = seen.pop();
        assert_eq!(seen, (2..=5).map(|number| (number, "CUSTOM".to_owned())).collect::<Vec<_>>());
        assert_eq!(last, Some((6, "RUN_ERROR".to_owned())));
    });
}
