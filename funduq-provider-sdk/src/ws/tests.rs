//! The link's clocks, on a paused one: pings, silence, a peer that takes nothing.

use std::time::Duration;

use funduq_contract::ConnectOk;
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, DuplexStream};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{Bytes, Message};
use tokio_util::sync::CancellationToken;

use super::dial::websocket_config;
use super::opening::Opened;
use super::serve::{Surroundings, serve};
use super::service::End;
use super::socket::{Lost, split};
use crate::{ProviderIdentity, Runtime};

/// Serves one end of a pipe that holds so many bytes; the other end is the test's. Answers why the link
/// ended and after how many seconds.
async fn served(pipe: usize, peer: impl AsyncFnOnce(DuplexStream)) -> (String, u64) {
    let (near, far) = tokio::io::duplex(pipe);
    let near = WebSocketStream::from_raw_socket(near, Role::Client, Some(websocket_config())).await;
    let ok = ConnectOk { funduq_public_key: None, answer: None, held_runs: Vec::new(), revision: 1 };
    let (reader, writer) = split(near);
    let runtime = Runtime::builder(ProviderIdentity::generate()).build();
    let (stopping, closing) = (CancellationToken::new(), CancellationToken::new());
    let online = watch::Sender::new(false);
    let surroundings =
        Surroundings { service: &runtime, stopping: &stopping, closing: &closing, online: &online };
    let began = Instant::now();
    let link = async {
        match serve(Opened { reader, writer, ok }, &surroundings).await {
            End::Lost(Lost::Broken(problem)) => (problem, began.elapsed().as_secs()),
            other => panic!("{other:?}"),
        }
    };
    tokio::select! {
        ended = link => ended,
        () = async { peer(far).await; std::future::pending().await } => unreachable!("it waits for ever"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_says_nothing_is_found_dead_within_thirty_seconds() {
    let (problem, seconds) = served(1 << 16, async |mut far| {
        let mut taken = [0; 1024];
        while far.read(&mut taken).await.is_ok_and(|read| read > 0) {}
    })
    .await;
    assert!(problem.contains("nothing heard") && seconds < 30, "{problem} after {seconds} s");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_takes_nothing_is_found_dead_within_thirty_seconds() {
    let (problem, seconds) = served(8, async |far| {
        let mut far = WebSocketStream::from_raw_socket(far, Role::Server, None).await;
        while far.send(Message::Ping(Bytes::new())).await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    })
    .await;
    assert!(problem.contains("nothing taken") && seconds < 30, "{problem} after {seconds} s");
}

#[tokio::test(start_paused = true)]
async fn a_quiet_peer_that_answers_pings_is_kept() {
    let (problem, seconds) = served(1 << 16, async |far| {
        let mut far = WebSocketStream::from_raw_socket(far, Role::Server, None).await;
        let mut pings = 0;
        let listening = async {
            while let Some(Ok(message)) = far.next().await {
                pings += u32::from(message.is_ping());
            }
        };
        let _passed = timeout(Duration::from_secs(600), listening).await;
        assert!((58..=60).contains(&pings), "{pings} pings in ten minutes");
        drop(far);
    })
    .await;
    assert!(seconds == 600 && !problem.contains("nothing"), "{problem} after {seconds} s");
}
