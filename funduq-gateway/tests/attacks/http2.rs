//! The same over HTTP/2: connections that lie there, heads that never end, answers that nobody takes.

use crate::ground::Ground;
use crate::measure::Page;
use crate::support::{Provider, TestGateway, finished, input, started};
use crate::wire::{DATA, END_STREAM, HEADERS, INITIAL_WINDOW_SIZE, RST_STREAM, Wire, head};

/// The path of an agent.
fn path_of(gateway: &TestGateway, url: &str) -> String {
    url.strip_prefix(gateway.url()).unwrap().to_owned()
}

#[tokio::test]
async fn an_http2_connection_on_which_nothing_is_asked_is_let_go() {
    let ground = Ground::configured(|config| config.header_timeout = "100ms".parse().unwrap()).await;
    let mut silent = Wire::open(ground.url(), &[]).await;
    let mut answered = Wire::open(ground.url(), &[]).await;
    answered.ask(1, "GET", "/healthz", "").await;
    answered.until("the answer", |frame| frame.ends(1)).await;
    // A head of which the rest never comes.
    let mut half = Wire::open(ground.url(), &[]).await;
    half.say(HEADERS, END_STREAM, 1, &head("GET", "/healthz")).await;
    assert!(silent.closed().await && answered.closed().await);
    half.closed().await;
    Page::of(ground.url()).until_figure_is("funduq_connections", 1).await;
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn an_http2_stream_on_which_nothing_is_said_is_no_idle_connection_and_no_deaf_reader() {
    let gateway = TestGateway::configured(|config| {
        config.header_timeout = "50ms".parse().unwrap();
        config.write_timeout = "50ms".parse().unwrap();
        config.keep_alive = "150ms".parse().unwrap();
    })
    .await;
    let mut provider = Provider::serving(&gateway, &["slow"]).await;
    let path = path_of(&gateway, &gateway.agui(&provider.agent("slow")));
    let mut wire = Wire::open(gateway.url(), &[]).await;
    wire.ask(1, "POST", &path, &input("hello").to_string()).await;
    let offer = provider.accept().await;
    // Nothing but signs of life, of which each comes after more silence than is borne elsewhere.
    for _ in 0..3 {
        let sign = wire.until("a sign of life", |frame| frame.kind == DATA && frame.stream == 1).await;
        assert_eq!(sign.payload, b":\n");
    }
    let run = &offer.run.run_id;
    provider.event(run, 1, &started(&offer)).await;
    provider.event(run, 2, &finished(&offer)).await;
    wire.until("the end of the stream", |frame| frame.ends(1)).await;
    assert!(wire.closed().await, "and now it is idle");
    gateway.stop().await;
}

#[tokio::test]
async fn an_http2_stream_that_is_never_read_is_reset_and_no_other_is() {
    let ground = Ground::configured(|config| config.write_timeout = "200ms".parse().unwrap()).await;
    let page = Page::of(ground.url());
    let path = path_of(&ground, &ground.agui_url());
    let mut wire = Wire::open(ground.url(), &[(INITIAL_WINDOW_SIZE, 0)]).await;
    wire.ask(1, "POST", &path, &input("hello").to_string()).await;
    // All of it is taken that is written to the socket, and nothing of this stream is asked for.
    let reset = wire.until("a reset", |frame| frame.kind == RST_STREAM).await;
    assert_eq!(reset.stream, 1);
    page.until_figure_is("funduq_streams", 0).await;
    page.until_figure_is("funduq_runs_ended_total{outcome=\"completed\",reason=\"\"}", 1).await;
    // One that is read is served on the same connection, however long ago it was.
    for stream in [3, 5] {
        wire.ask(stream, "POST", &path, &input("hello").to_string()).await;
        wire.until("a head", |frame| frame.kind == HEADERS && frame.stream == stream).await;
        wire.take(stream, 1 << 20).await;
        wire.until("an end", |frame| frame.ends(stream)).await;
    }
    // Whoever takes less than all of it holds the rest no longer than whoever takes nothing.
    wire.ask(7, "GET", "/metrics", "").await;
    wire.until("a head", |frame| frame.kind == HEADERS && frame.stream == 7).await;
    wire.take(7, 100).await;
    wire.until("a reset", |frame| frame.kind == RST_STREAM && frame.stream == 7).await;
    ground.ends_unharmed().await;
}
