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
const LONG: usize = 20_000;
/// How many runs are asked for one after the other.
const TURNS: usize = 300;
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

/// The events a second of one run after the other, and the middle time to a first event.
async fn one_at_a_time(url: &str) -> (f64, f64) {
    client::post(url, &input(LONG)).await.events().await;
    let began = Instant::now();
    let mut seen = 0;
    for _ in 0..5 {
        seen += client::post(url, &input(LONG)).await.events().await;
    }
    let events = rate(seen, began);
    let mut times = Vec::new();
    for _ in 0..TURNS {
        let began = Instant::now();
        let mut answer = client::post(url, &input(5)).await;
        assert!(answer.event().await);
        times.push(began.elapsed());
        answer.events().await;
    }
    (events, p50(times))
}

/// The events a second of many runs at once.
async fn many_at_once(url: &str) -> f64 {
    let began = Instant::now();
    let callers: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let url = url.to_owned();
            tokio::spawn(async move {
                let mut seen = 0;
                for _ in 0..4 {
                    seen += client::post(&url, &input(LONG / 4)).await.events().await;
                }
                seen
            })
        })
        .collect();
    let mut seen = 0;
    for caller in callers {
        seen += caller.await.unwrap();
    }
    rate(seen, began)
}

/// The events a second of a caller that reads each of them into its type, one run after the other.
async fn read_one_at_a_time(url: &str) -> f64 {
    client::post(url, &input(LONG)).await.read_events().await;
    let began = Instant::now();
    let mut seen = 0;
    for _ in 0..5 {
        seen += client::post(url, &input(LONG)).await.read_events().await;
    }
    rate(seen, began)
}

pub(crate) async fn measure() -> Vec<Figure> {
    let (url, server) = direct().await;
    let (direct_events, direct_first) = one_at_a_time(&url).await;
    let direct_many = many_at_once(&url).await;
    let direct_read = read_one_at_a_time(&url).await;
    server.abort();
    let house = House::build().await;
    let url = house.agui();
    let (events, first) = one_at_a_time(&url).await;
    let many = many_at_once(&url).await;
    let read = read_one_at_a_time(&url).await;
    house.take_down().await;
    vec![
        Figure::new("agui_events_per_second", read),
        Figure::new("agui_events_per_second_direct", direct_read),
        Figure::new("agui_events_ratio", read / direct_read).at_least(0.6),
        Figure::new("agui_unread_events_per_second", events),
        Figure::new("agui_unread_events_per_second_direct", direct_events),
        Figure::new("agui_unread_events_ratio", events / direct_events),
        Figure::new("agui_unread_events_per_second_16_at_once", many),
        Figure::new("agui_unread_events_per_second_16_at_once_direct", direct_many),
        Figure::new("agui_unread_events_ratio_16_at_once", many / direct_many),
        Figure::new("agui_first_event_p50_ms", first),
        Figure::new("agui_first_event_p50_ms_direct", direct_first),
        Figure::new("agui_first_event_p50_ms_added", first - direct_first).at_most(1.5),
    ]
}
