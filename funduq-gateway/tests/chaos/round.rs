//! One round: a gateway, a provider behind the proxy, a hundred callers.

use std::sync::Arc;
use std::time::Duration;

use funduq_contract::{AgentAddress, RunId, ThreadId};
use funduq_core::{Quality, RunStatus};
use funduq_provider_sdk::ws::{self, Backoff, Link};
use funduq_provider_sdk::{
    Agent, BufferLimits, Capacity, ProviderIdentity, RunContext, ServedAgent, agent_fn,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use crate::prng::Rng;
use crate::proxy::Proxy;
use crate::script::{End, texts};
use crate::support::{Raw, SOON, TestGateway};
use crate::weather::{Happened, Tally, Weather};

/// How many runs flow at the same time.
const RUNS: usize = 100;
/// How many of them share a thread with another.
const PAIRED: usize = 20;
/// How many connections meet with something.
const TROUBLES: u32 = 28;

/// Goes through one seed, and says what happened.
pub(crate) async fn round(seed: u64) -> Tally {
    let mut rng = Rng::new(seed);
    let gateway = Arc::new(gateway().await);
    let proxy = Proxy::before(gateway.url(), Weather::new(rng.fork(), TROUBLES)).await;
    let mut link = provider(&proxy, &gateway, &mut rng);
    assert!(link.online().await);
    let agent = AgentAddress::new(link.runtime().identity().public_key(), "says".parse().unwrap());
    let mut threads = Vec::new();
    for _ in 0..PAIRED / 2 {
        threads.push(gateway.funduq().agui().create_thread(&agent).await.unwrap());
    }
    let callers = (0..RUNS).map(|run| {
        let (gateway, agent) = (Arc::clone(&gateway), agent.clone());
        // Two callers of each of these threads; each of the others begins one.
        let thread = threads.get(run / 2).cloned();
        tokio::spawn(async move { call(&gateway, &agent, run, thread).await })
    });
    let callers: Vec<_> = callers.collect();
    let mut happened = Tally::default();
    for caller in callers {
        let told = tokio::select! {
            told = caller => told.unwrap(),
            ended = link.ended() => panic!("the provider gave up: {ended:?}"),
        };
        happened.extend(told);
    }
    until_nothing_is_held(&link).await;
    link.stop().await.unwrap();
    happened.extend(proxy.happened());
    drop(proxy);
    Arc::into_inner(gateway).expect("no caller is left").stop().await;
    happened
}

/// A gateway that notices a lost link soon.
pub(crate) async fn gateway() -> TestGateway {
    TestGateway::configured(|config| {
        config.link_ping = "100ms".parse().unwrap();
        config.link_silence = "1s".parse().unwrap();
    })
    .await
}

/// A provider whose waits are short, so that a round is.
pub(crate) fn connection(proxy: &Proxy, gateway: &TestGateway, identity: ProviderIdentity) -> ws::Connection {
    let backoff = Backoff { shortest: Duration::from_millis(2), longest: Duration::from_millis(20) };
    ws::connect(&proxy.url, identity).pin(gateway.public_key()).backoff(backoff)
}

fn provider(proxy: &Proxy, gateway: &TestGateway, rng: &mut Rng) -> Link {
    // Now and then its agents wait for the record, and funduq for a place.
    let events = if rng.percent(50) { rng.within(4, 40) as usize } else { BufferLimits::default().events };
    let capacity = if rng.percent(30) { Capacity::max_concurrent_runs(30) } else { Capacity::unlimited() };
    connection(proxy, gateway, ProviderIdentity::generate())
        .agent(ServedAgent::new("says", agent(rng.next())).unwrap())
        .buffer(BufferLimits { events, ..BufferLimits::default() })
        .capacity(capacity)
        .start()
        .unwrap()
}

/// Says what the script has for the run that the caller names.
fn agent(seed: u64) -> impl Agent {
    agent_fn(move |context: RunContext| async move {
        let run: usize = context.user_text().unwrap().parse().unwrap();
        let mut rng = Rng::new(seed ^ run as u64);
        let stream = context.events().take_over()?;
        for text in texts(run, context.thread_id(), context.run_id()) {
            if rng.percent(3) {
                sleep(Duration::from_millis(rng.within(1, 4))).await;
            }
            stream.send(text).await?;
        }
        Ok(())
    })
}

/// Asks for one run and checks everything that it is told.
async fn call(gateway: &TestGateway, agent: &AgentAddress, run: usize, thread: Option<ThreadId>) -> Tally {
    let mut happened = Tally::default();
    let thread = thread.as_ref().map_or("new", ThreadId::as_str);
    let message = json!({ "id": format!("m{run}"), "role": "user", "content": run.to_string() });
    let input = json!({ "threadId": thread, "runId": "new", "messages": [message] });
    let seen = loop {
        let mut answer = Raw::post(&gateway.agui(agent), &input).await;
        assert_eq!(answer.status, 200, "run {run}");
        let seen = frames(&answer.rest().await);
        if !is_offline(&seen) {
            break seen;
        }
        // Nobody served the agent at that moment; that is an answer, and asking again is the caller's.
        happened.note(Happened::ToldOffline);
        gateway.until_online_is(agent, true).await;
    };
    check(gateway, run, &seen).await;
    happened
}

async fn check(gateway: &TestGateway, run: usize, seen: &[(String, String)]) {
    let (run_id, _) = seen.first().and_then(|(id, _)| id.rsplit_once(':')).expect("an event with its id");
    for (at, (id, _)) in seen.iter().enumerate() {
        assert_eq!(*id, format!("{run_id}:{}", at + 1), "run {run}");
    }
    let run_id = RunId::new(run_id).unwrap();
    let recorded = gateway.funduq().run(&run_id).await.unwrap().unwrap();
    let faults = gateway.funduq().quality(&recorded.agent.provider);
    assert_eq!(faults, Quality::default(), "run {run}: bad weather is no fault of the provider");
    let mut told: Vec<&str> = seen.iter().map(|(_, text)| text.as_str()).collect();
    if End::of(run) == End::Silent {
        let last: Value = serde_json::from_str(told.pop().unwrap()).unwrap();
        assert_eq!(last["code"], "provider_stream_ended_without_finishing", "run {run}");
    }
    let expected = texts(run, &recorded.thread_id, &run_id);
    let differs = expected.iter().zip(&told).position(|(expected, told)| expected != told);
    assert_eq!(differs, None, "run {run}: {:?}", differs.map(|at| (&expected[at], told[at])));
    assert_eq!(told.len(), expected.len(), "run {run}: {:?}", told.last());
    assert_eq!(recorded.status, End::of(run).status(), "run {run}");
}

/// The id and the data of each frame.
pub(crate) fn frames(body: &str) -> Vec<(String, String)> {
    let mut frames = Vec::new();
    let mut id = String::new();
    for line in body.lines() {
        if let Some(value) = line.strip_prefix("id: ") {
            id = value.to_owned();
        } else if let Some(value) = line.strip_prefix("data: ") {
            frames.push((std::mem::take(&mut id), value.to_owned()));
        }
    }
    frames
}

fn is_offline(seen: &[(String, String)]) -> bool {
    seen.len() == 2 && seen[1].1.contains(r#""code":"agent_offline""#)
}

/// Waits until the provider has forgotten every run: all that it said is recorded.
pub(crate) async fn until_nothing_is_held(link: &Link) {
    let began = Instant::now();
    let waiting = async {
        while link.runtime().held_runs() > 0 {
            sleep(Duration::from_millis(2)).await;
        }
    };
    let held = timeout(SOON, waiting).await;
    assert!(held.is_ok(), "{} runs are held after {:?}", link.runtime().held_runs(), began.elapsed());
}

/// Waits until so many runs of these stand so.
pub(crate) async fn until_runs_are(gateway: &TestGateway, runs: &[RunId], wanted: RunStatus) {
    for run in runs {
        gateway.until_run_is(run.as_str(), wanted).await;
    }
}
