//! How fast core relays: in-process provider to in-process caller, SQLite file, durable. Prints a table, or with `--json`
//! one object for `cargo xtask bench`. Every figure stands beside its ceiling of the same run: bare SQLite appends of the
//! same events, a row each, in the same group sizes.

#![expect(
    clippy::unwrap_used,
    reason = "a measurement or a test that cannot go on has nothing better to do than to stop"
)]

mod idle;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use funduq_agui::{RelayedEvent, RelayedInput};
use funduq_contract::{AgentAddress, AgentName, FunduqPort, Identity, PublicKey, RunId, ThreadId};
use funduq_core::{
    AgentRecord, AguiStream, CoreSettings, Durability, Funduq, Run, SqliteStore, Store, StoreError, Thread,
    ThreadMessage, WaitingRun, Write,
};
use funduq_provider_sdk::{Capacity, InProcessLink, Runtime, ServedAgent, agent_fn};

/// A record that notes how many rows of events each commit had.
struct Counting {
    inner: SqliteStore,
    groups: Mutex<Vec<u32>>,
    commits: AtomicU64,
}

impl Store for Counting {
    fn commit(&self, group: &[Write]) -> Vec<Result<(), StoreError>> {
        let rows: usize = group
            .iter()
            .map(|write| match write {
                Write::Append { events, .. } => events.len(),
                Write::Settle(settle) => settle.events.len() + settle.messages.len(),
                Write::OpenRun(open) => 1 + open.messages.len(),
                _ => 1,
            })
            .sum();
        self.groups.lock().unwrap().push(u32::try_from(rows).unwrap());
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.inner.commit(group)
    }
    fn health(&self) -> Result<(), StoreError> {
        self.inner.health()
    }
    fn thread(&self, id: &ThreadId) -> Result<Option<Thread>, StoreError> {
        self.inner.thread(id)
    }
    fn children(&self, id: &ThreadId, limit: usize) -> Result<Vec<Thread>, StoreError> {
        self.inner.children(id, limit)
    }
    fn run(&self, id: &RunId) -> Result<Option<Run>, StoreError> {
        self.inner.run(id)
    }
    fn runs(&self, thread: &ThreadId, skip: usize, limit: usize) -> Result<Vec<Run>, StoreError> {
        self.inner.runs(thread, skip, limit)
    }
    fn lineage(&self, root: &RunId) -> Result<Vec<Run>, StoreError> {
        self.inner.lineage(root)
    }
    fn waiting(&self, thread: &ThreadId) -> Result<Vec<WaitingRun>, StoreError> {
        self.inner.waiting(thread)
    }
    fn messages(
        &self,
        thread: &ThreadId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<ThreadMessage>, StoreError> {
        self.inner.messages(thread, after, limit)
    }
    fn latest_messages(
        &self,
        thread: &ThreadId,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<ThreadMessage>, StoreError> {
        self.inner.latest_messages(thread, limit, bytes)
    }
    fn events(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<RelayedEvent>, StoreError> {
        self.inner.events(run, after, limit)
    }
    fn agents(&self) -> Result<Vec<AgentRecord>, StoreError> {
        self.inner.agents()
    }
    fn agent(&self, address: &AgentAddress) -> Result<Option<AgentRecord>, StoreError> {
        self.inner.agent(address)
    }
    fn llm_offerings(&self) -> Result<Vec<(PublicKey, AgentName)>, StoreError> {
        self.inner.llm_offerings()
    }
    fn unfinished(&self) -> Result<Vec<Run>, StoreError> {
        self.inner.unfinished()
    }
}

struct World {
    funduq: Funduq,
    store: Arc<Counting>,
    agent: AgentAddress,
    folder: tempfile::TempDir,
}

/// A folder on the disk to measure: where `FUNDUQ_BENCH_DIR` says, else in the target folder.
fn scratch() -> tempfile::TempDir {
    let folder = std::env::var_os("FUNDUQ_BENCH_DIR").unwrap_or(env!("CARGO_TARGET_TMPDIR").into());
    tempfile::tempdir_in(folder).unwrap()
}

/// A relay on a file, and an agent that answers each run with `events` events.
async fn world(events: usize) -> World {
    let folder = scratch();
    let inner = SqliteStore::open(folder.path().join("record.sqlite"), Durability::Power).unwrap();
    let store = Arc::new(Counting { inner, groups: Mutex::default(), commits: AtomicU64::new(0) });
    let funduq = Funduq::new(CoreSettings::default(), Some(Identity::generate()), store.clone());
    funduq.start().await.unwrap();
    let delta = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"0d1f6c1e-4a53-4b7e-9a57-0b1c2d3e4f50","delta":"a few words of text "}"#;
    let delta: Arc<str> = delta.into();
    let answer = agent_fn(move |run| {
        let delta = delta.clone();
        async move {
            let (thread, id) = (run.thread_id().to_string(), run.run_id().to_string());
            let stream = run.events().take_over()?;
            let bracket = |kind: &str| format!(r#"{{"type":"{kind}","threadId":"{thread}","runId":"{id}"}}"#);
            let message = |kind: &str| {
                format!(r#"{{"type":"{kind}","messageId":"0d1f6c1e-4a53-4b7e-9a57-0b1c2d3e4f50"}}"#)
            };
            stream.send(bracket("RUN_STARTED")).await?;
            stream.send(message("TEXT_MESSAGE_START")).await?;
            for _ in 0..events - 4 {
                stream.send(delta.clone()).await?;
            }
            stream.send(message("TEXT_MESSAGE_END")).await?;
            stream.send(bracket("RUN_FINISHED")).await?;
            Ok(())
        }
    });
    let served = ServedAgent::new("bench", answer).unwrap().all_at_once();
    let runtime =
        Runtime::builder(Identity::generate().into()).agent(served).capacity(Capacity::unlimited()).build();
    let key = runtime.identity().public_key();
    let ticket = funduq.issue_ticket(&key);
    let port = Arc::new(funduq.clone()) as Arc<dyn FunduqPort>;
    InProcessLink::open(&runtime, port, ticket, funduq.public_key()).await.unwrap();
    World { funduq, store, agent: AgentAddress::new(key, "bench".parse().unwrap()), folder }
}

async fn ask(funduq: &Funduq, agent: &AgentAddress) -> AguiStream {
    let input = br#"{"threadId":"new","runId":"c","messages":[{"id":"m","role":"user","content":"hello"}]}"#;
    funduq.agui().run(agent, RelayedInput::parse(input).unwrap(), None).await.unwrap()
}

/// Runs `runs` runs, `at_once` at a time, and returns the events that callers saw and the time it took.
async fn drive(world: &Arc<World>, at_once: usize, runs: usize) -> (u64, Duration) {
    let left = Arc::new(AtomicU64::new(runs as u64));
    let seen = Arc::new(AtomicU64::new(0));
    let began = Instant::now();
    let callers: Vec<_> = (0..at_once)
        .map(|_| {
            let (world, left, seen) = (Arc::clone(world), Arc::clone(&left), Arc::clone(&seen));
            tokio::spawn(async move {
                while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok() {
                    let mut stream = ask(&world.funduq, &world.agent).await;
                    while stream.next().await.unwrap().is_some() {
                        seen.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    (seen.load(Ordering::Relaxed), began.elapsed())
}

/// Appends rows of the same size in the same group sizes with nothing around it; rows a second. The record puts what a
/// commit has of one run into one row.
fn ceiling(world: &World, groups: &[u32]) -> f64 {
    let mut db = rusqlite::Connection::open(world.folder.path().join("ceiling.sqlite")).unwrap();
    db.pragma_update(None, "journal_mode", "WAL").unwrap();
    db.pragma_update(None, "synchronous", "FULL").unwrap();
    db.execute_batch(
        "CREATE TABLE run_events (run_no INTEGER, number INTEGER, json TEXT, PRIMARY KEY (run_no, number)) WITHOUT ROWID",
    )
    .unwrap();
    let json = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"0d1f6c1e-4a53-4b7e-9a57-0b1c2d3e4f50","delta":"a few words of text "}"#;
    let (mut rows, began) = (0i64, Instant::now());
    for &group in groups {
        let transaction = db.transaction().unwrap();
        {
            let mut insert =
                transaction.prepare_cached("INSERT INTO run_events VALUES (?1, ?2, ?3)").unwrap();
            for _ in 0..group {
                rows += 1;
                insert.execute(rusqlite::params![rows / 100, rows, json]).unwrap();
            }
        }
        transaction.commit().unwrap();
    }
    rows as f64 / began.elapsed().as_secs_f64()
}

struct Figure {
    at_once: usize,
    events_a_run: usize,
    events: f64,
    runs: f64,
    ceiling: f64,
    rows: f64,
    commits: u64,
}

impl Figure {
    fn print(&self) {
        println!(
            "{:>7} {:>14} {:>10.0} {:>10.0} {:>10.0} {:>9} {:>16.0}",
            self.at_once, self.events_a_run, self.events, self.runs, self.rows, self.commits, self.ceiling
        );
    }
}

async fn measure(at_once: usize, events_a_run: usize, runs: usize) -> Figure {
    let world = Arc::new(world(events_a_run).await);
    drive(&world, at_once, (runs / 10).max(at_once)).await;
    world.store.groups.lock().unwrap().clear();
    world.store.commits.store(0, Ordering::Relaxed);
    let (events, took) = drive(&world, at_once, runs).await;
    let groups = world.store.groups.lock().unwrap().clone();
    let rows: u64 = groups.iter().map(|&rows| u64::from(rows)).sum();
    Figure {
        at_once,
        events_a_run,
        events: events as f64 / took.as_secs_f64(),
        runs: runs as f64 / took.as_secs_f64(),
        rows: rows as f64 / took.as_secs_f64(),
        commits: world.store.commits.load(Ordering::Relaxed),
        ceiling: ceiling(&world, &groups),
    }
}

/// The median time from the request to its first event, one run at a time, in milliseconds.
async fn first_event() -> f64 {
    let world = world(5).await;
    let mut times = Vec::new();
    for _ in 0..400 {
        let began = Instant::now();
        let mut stream = ask(&world.funduq, &world.agent).await;
        stream.next().await.unwrap();
        times.push(began.elapsed());
        while stream.next().await.unwrap().is_some() {}
    }
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

/// How many idle links, and how many open threads, are held at once.
const IDLE: usize = 10_000;

#[tokio::main]
async fn main() {
    let json = std::env::args().any(|arg| arg == "--json");
    let numbers: Vec<usize> = std::env::args().filter_map(|arg| arg.parse().ok()).collect();
    if let [at_once, events_a_run, runs] = numbers[..] {
        // One row alone, for a profiler to look at.
        return measure(at_once, events_a_run, runs).await.print();
    }
    // First of all, while the process holds nothing else.
    let idle = idle::hold(IDLE).await;
    if !json {
        println!("{IDLE} idle links: {:.0} MiB; {IDLE} open threads: {:.0} MiB", idle.links, idle.threads);
    }
    let long = [(1, 200), (10, 2_000), (16, 4_000), (100, 4_000), (1_000, 4_000)].map(|of| (of, 104));
    let short = [(1, 1_000), (10, 10_000), (16, 20_000), (100, 20_000), (1_000, 20_000)].map(|of| (of, 5));
    let mut figures = Vec::new();
    if !json {
        println!("at once  events a run   events/s     runs/s     rows/s   commits   ceiling rows/s");
    }
    for ((at_once, runs), events_a_run) in long.into_iter().chain(short) {
        let figure = measure(at_once, events_a_run, runs).await;
        if !json {
            figure.print();
        }
        figures.push(figure);
    }
    let first = first_event().await;
    if json {
        let of = |events_a_run| {
            figures.iter().find(|figure| figure.at_once == 16 && figure.events_a_run == events_a_run).unwrap()
        };
        let (long, short) = (of(104), of(5));
        let object = serde_json::json!({
            "in_process_events_per_second": long.events.round(),
            "in_process_events_ceiling_rows_per_second": long.ceiling.round(),
            "in_process_events_ratio": long.rows / long.ceiling,
            "in_process_runs_per_second": short.runs.round(),
            "in_process_runs_ceiling_rows_per_second": short.ceiling.round(),
            "in_process_runs_rows_ratio": short.rows / short.ceiling,
            "in_process_first_event_p50_ms": first,
            "idle_links_and_threads": IDLE,
            "idle_links_mebibytes": idle.links,
            "idle_threads_mebibytes": idle.threads,
            "table": figures.iter().map(|figure| serde_json::json!({
                "at_once": figure.at_once, "events_a_run": figure.events_a_run,
                "events_per_second": figure.events.round(), "runs_per_second": figure.runs.round(),
                "rows_per_second": figure.rows.round(), "commits": figure.commits,
                "ceiling_rows_per_second": figure.ceiling.round(),
            })).collect::<Vec<_>>(),
        });
        println!("{object}");
        return;
    }
    println!("first event, one at a time: p50 {first:.3} ms");
}
