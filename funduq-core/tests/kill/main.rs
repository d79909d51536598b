//! What a caller has seen is in the record, also when the process is killed at full speed. The parent starts itself as a
//! child that relays into a file and prints each event that its callers see, kills it with SIGKILL, starts a relay on the
//! file, and compares. Without libtest, because the child must be this binary and nothing else.

#![expect(
    clippy::unwrap_used,
    reason = "a measurement or a test that cannot go on has nothing better to do than to stop"
)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use funduq_agui::RelayedInput;
use funduq_contract::{AgentAddress, FunduqPort, Identity, RunId};
use funduq_core::{CoreSettings, Durability, Funduq, RunStatus, SqliteStore, Store};
use funduq_provider_sdk::{Capacity, InProcessLink, Runtime, ServedAgent, agent_fn};

const ROUNDS: u64 = 50;
const CALLERS: usize = 8;
/// The variable that makes this binary the child, with the record's path.
const CHILD: &str = "FUNDUQ_KILL_TEST_RECORD";

fn main() {
    let async_runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if let Some(file) = std::env::var_os(CHILD) {
        async_runtime.block_on(relay(Path::new(&file)));
        return;
    }
    println!("\nrunning 1 test");
    let began = Instant::now();
    let (mut seen, mut unfinished, mut midway) = (0, 0, 0);
    for round in 0..ROUNDS {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("record.sqlite");
        let events = kill_at_random(&file, round);
        seen += events.values().map(Vec::len).sum::<usize>();
        let (hit, begun) = async_runtime.block_on(check(&file, &events, round));
        unfinished += hit;
        midway += begun;
    }
    assert!(seen > 1_000, "the children got too little done to prove anything: {seen} events");
    assert!(
        unfinished > midway && midway > 0,
        "the kills hit {unfinished} live runs, {midway} of them begun"
    );
    println!(
        "test what_a_caller_saw_survives_a_kill ... ok ({seen} events seen, {unfinished} runs hit alive)"
    );
    let took = began.elapsed().as_secs_f64();
    println!(
        "\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in {took:.2}s\n"
    );
}

/// The child: relays as fast as it can, and prints what each caller sees when it sees it.
async fn relay(file: &Path) {
    let store = Arc::new(SqliteStore::open(file, Durability::default()).unwrap());
    let funduq = Funduq::new(CoreSettings::default(), Some(Identity::generate()), store);
    funduq.start().await.unwrap();
    let talker = agent_fn(|run| async move {
        let text = run.events().open_text().await?;
        for word in 0..40 {
            text.push(&format!("word {word} ")).await?;
            // Slow enough that a kill finds runs with some of their events written.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        text.end().await?;
        Ok(())
    });
    let served = ServedAgent::new("talker", talker).unwrap().all_at_once();
    let runtime =
        Runtime::builder(Identity::generate().into()).agent(served).capacity(Capacity::unlimited()).build();
    let agent = AgentAddress::new(runtime.identity().public_key(), "talker".parse().unwrap());
    let ticket = funduq.issue_ticket(&agent.provider);
    let port = Arc::new(funduq.clone()) as Arc<dyn FunduqPort>;
    InProcessLink::open(&runtime, port, ticket, funduq.public_key()).await.unwrap();
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..CALLERS {
        callers.spawn(call_for_ever(funduq.clone(), agent.clone()));
    }
    // None of them ends but by a panic, which ends the child.
    callers.join_next().await.unwrap().unwrap();
}

async fn call_for_ever(funduq: Funduq, agent: AgentAddress) {
    loop {
        let input = br#"{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":"x"}]}"#;
        let input = RelayedInput::parse(input).unwrap();
        let mut stream = funduq.agui().run(&agent, input, None).await.unwrap();
        let run = stream.run_id().clone();
        while let Some(event) = stream.next().await.unwrap() {
            let number = event.number.unwrap();
            let line = format!("{run} {number} {}\n", event.event.json());
            std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
        }
    }
}

/// Starts a child, kills it at some point, and returns what its callers saw: run, then events by number.
fn kill_at_random(file: &Path, round: u64) -> BTreeMap<String, Vec<(u64, String)>> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .env(CHILD, file)
        .stdout(Stdio::piped())
        .spawn()
        .expect("this binary can start itself");
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut seen: BTreeMap<String, Vec<(u64, String)>> = BTreeMap::new();
    // A different number of events each round, spread by a multiplicative hash.
    let enough = 1 + round.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 900;
    let mut lines = 0;
    let mut line = String::new();
    while output.read_line(&mut line).unwrap() > 0 {
        // A line that was cut by the kill is no event that anybody saw whole.
        let Some(whole) = line.strip_suffix('\n') else { break };
        let (run, rest) = whole.split_once(' ').unwrap();
        let (number, json) = rest.split_once(' ').unwrap();
        seen.entry(run.to_owned()).or_default().push((number.parse().unwrap(), json.to_owned()));
        lines += 1;
        if lines == enough {
            child.kill().unwrap();
        }
        line.clear();
    }
    child.wait().unwrap();
    seen
}

/// Starts a relay on what the child left, and returns how many runs the kill hit alive, and how many of them had events.
async fn check(file: &Path, seen: &BTreeMap<String, Vec<(u64, String)>>, round: u64) -> (usize, usize) {
    let integrity: String = rusqlite::Connection::open(file)
        .unwrap()
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(integrity, "ok", "round {round}");
    let store = Arc::new(SqliteStore::open(file, Durability::default()).unwrap());
    let unfinished = store.unfinished().unwrap();
    let hit = (unfinished.len(), unfinished.iter().filter(|run| run.last_event > 0).count());
    let funduq = Funduq::new(CoreSettings::default(), None, store.clone());
    funduq.start().await.unwrap();
    for (run, events) in seen {
        let id: RunId = run.parse().unwrap();
        let kept = funduq.run_events(&id, 0, usize::MAX >> 1).await.unwrap();
        for (number, json) in events {
            let stored = kept.get(*number as usize - 1);
            assert_eq!(
                stored.map(|event| event.event.json()),
                Some(json.as_str()),
                "round {round}, {run} {number}"
            );
        }
        let status = funduq.run(&id).await.unwrap().unwrap().status;
        assert!(status.is_terminal() || status == RunStatus::Queued, "round {round}: {run} is {status:?}");
        let terminals = kept
            .iter()
            .filter(|event| matches!(event.event.type_name(), "RUN_FINISHED" | "RUN_ERROR"))
            .count();
        assert_eq!(terminals, usize::from(status.is_terminal()), "round {round}: {run}");
    }
    assert!(store.unfinished().unwrap().iter().all(|run| run.status == RunStatus::Queued), "round {round}");
    funduq.shutdown(Duration::ZERO).await;
    hit
}
