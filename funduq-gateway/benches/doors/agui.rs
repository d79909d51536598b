//! The AG-UI door beside an agent that is its own SSE server.

use std::convert::Infallible;
use std::time::Instant;

use axum::body::Bytes;
use axum::response::sse::{Event, Sse};
use axum::routing::post;
use axum::serve::ListenerExt;
use funduq_agui::RunAgentInput;
use futures_util::stream;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::house::{House, input, texts};
use crate::{Figure, client, p50, rate};

/// How many events each of the long runs has.
const LONG: usize = 50_000;
/// How many of them follow each other.
const RUNS: usize = 2;
/// How many short runs are asked for one after the other.
const TURNS: usize = 50;
/// How often both servers are measured.
const ROUNDS: usize = 15;
/// How many at once in the figure of many.
const AT_ONCE: usize = 16;

/// An agent with no relay before it: reads the run input, and a task of its own says the same events one after the other, as
/// the provider's does, while the answer goes out.
async fn direct() -> (String, tokio::task::JoinHandle<()>) {
    let answer = |body: Bytes| async move {
        let input: RunAgentInput = serde_json::from_slice(&body).unwrap();
        let asked = serde_json::to_value(&input.messages[0]).unwrap();
        let events = asked["content"].as_str().unwrap().parse().unwrap();
        let texts: Vec<_> = texts(events, &input.thread_id, &input.run_id).collect();
        let (said, heard) = mpsc::channel(64);
        tokio::spawn(async move {
            for text in texts {
                // Whoever does not listen any more is told nothing more.
                if said.send(Ok::<_, Infallible>(Event::default().data(text))).await.is_err() {
                    return;
                }
            }
        });
        Sse::new(stream::unfold(heard, async |mut heard| heard.recv().await.map(|event| (event, heard))))
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let listener = listener.tap_io(|connection| connection.set_nodelay(true).unwrap());
    let router = axum::Router::new().route("/", post(answer));
    (url, tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }))
}

/// What one server does with long runs, all of it within a second: events a second.
struct Round {
    /// One run after the other, to a caller that counts events.
    one: f64,
    /// The same to a caller that reads each into its type.
    read: f64,
    /// Many runs at once, to callers that count.
    many: f64,
}

impl Round {
    async fn of(url: &str) -> Self {
        let began = Instant::now();
        let mut seen = 0;
        for _ in 0..RUNS {
            seen += client::post(url, &input(LONG)).await.events().await;
        }
        let one = rate(seen, began);
        let began = Instant::now();
        let mut seen = 0;
        for _ in 0..RUNS {
            seen += client::post(url, &input(LONG)).await.read_events().await;
        }
        Self { one, read: rate(seen, began), many: many_at_once(url).await }
    }
}

/// The middle time to the first event of a short run with nothing beside it, in milliseconds.
async fn first_event(url: &str) -> f64 {
    let mut times = Vec::new();
    for _ in 0..TURNS {
        let began = Instant::now();
        let mut answer = client::post(url, &input(5)).await;
        assert!(answer.event().await);
        times.push(began.elapsed());
        answer.events().await;
    }
    p50(times)
}

/// The events a second of many runs at once.
async fn many_at_once(url: &str) -> f64 {
    let began = Instant::now();
    let callers: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let url = url.to_owned();
            tokio::spawn(async move { client::post(&url, &input(LONG / 10)).await.events().await })
        })
        .collect();
    let mut seen = 0;
    for caller in callers {
        seen += caller.await.unwrap();
    }
    rate(seen, began)
}

/// The two take turns, and what counts is the middle of each and of their ratios: what else the machine does for a
/// while then shows in few of them.
pub(crate) async fn measure() -> Vec<Figure> {
    let (direct_url, server) = direct().await;
    let house = House::build().await;
    let url = house.agui();
    let mut firsts = Vec::new();
    for _ in 0..ROUNDS {
        firsts.push((first_event(&direct_url).await, first_event(&url).await));
    }
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push((Round::of(&direct_url).await, Round::of(&url).await));
    }
    server.abort();
    house.take_down().await;
    let first = middle(firsts.iter().map(|(_, through)| *through));
    let direct_first = middle(firsts.iter().map(|(direct, _)| *direct));
    let of = |figure: fn(&Round) -> f64| {
        let direct = middle(rounds.iter().map(|(direct, _)| figure(direct)));
        let through = middle(rounds.iter().map(|(_, through)| figure(through)));
        let ratio = middle(rounds.iter().map(|(direct, through)| figure(through) / figure(direct)));
        (through, direct, ratio)
    };
    let (one, direct_one, one_ratio) = of(|round| round.one);
    let (read, direct_read, read_ratio) = of(|round| round.read);
    let (many, direct_many, many_ratio) = of(|round| round.many);
    vec![
        Figure::new("agui_events_per_second", one),
        Figure::new("agui_events_per_second_direct", direct_one),
        Figure::new("agui_events_ratio", one_ratio).at_least(0.6),
        Figure::new("agui_read_events_per_second", read),
        Figure::new("agui_read_events_per_second_direct", direct_read),
        Figure::new("agui_read_events_ratio", read_ratio),
        Figure::new("agui_events_per_second_16_at_once", many),
        Figure::new("agui_events_per_second_16_at_once_direct", direct_many),
        Figure::new("agui_events_ratio_16_at_once", many_ratio),
        Figure::new("agui_first_event_p50_ms", first),
        Figure::new("agui_first_event_p50_ms_direct", direct_first),
        Figure::new("agui_first_event_p50_ms_added", first - direct_first).at_most(1.5),
    ]
}

fn middle(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
