//! Requests and links that want to cost more than they may: too large, too deep, too slow, too many.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use tokio_tungstenite::tungstenite::Message;

use crate::ground::Ground;
use crate::measure::{LOOK_AGAIN, memory_of};
use crate::support::{Closed, Heard, Provider, Raw, SOON, client, input, post, request};

/// What this process holds in memory, in MiB.
fn memory() -> u64 {
    memory_of(std::process::id())
}

#[tokio::test]
async fn a_body_bomb_is_refused_however_it_is_sent_and_leaves_nothing_behind() {
    let ground = Ground::configured(|config| config.body_limit = "1KiB".parse().unwrap()).await;
    let url = ground.agui_url();
    let before = memory();
    let refused = |body: reqwest::Body| {
        let request = client().post(&url).body(body);
        async move { assert_eq!(Heard::of(request).await.refusal(), (413, "body_too_large".to_owned())) }
    };
    // Of known length, all of it sent before anybody listens; the answer arrives nevertheless.
    refused(vec![b' '; 4 << 20].into()).await;
    // Of unknown length, and again and again.
    for _ in 0..16 {
        let pieces =
            futures_util::stream::iter((0..64).map(|_| Ok::<_, std::io::Error>(vec![b' '; 16 << 10])));
        refused(reqwest::Body::wrap_stream(pieces)).await;
    }
    // Announced, and held back until asked for.
    let headers = "content-length: 999999\r\nexpect: 100-continue\r\n";
    let mut answer = Raw::send(&url, &request("POST", &url, headers), b"").await;
    assert_eq!(answer.status, 413);
    assert_eq!(answer.json().await["error"]["code"], "body_too_large");
    answer.closed().await;
    // Compressed, which could be anything.
    let zipped = client().post(&url).header("content-encoding", "gzip").body("x");
    assert_eq!(Heard::of(zipped).await.refusal(), (415, "content_encoding".to_owned()));
    let after = memory();
    assert!(after < before + 64, "{before} MiB before, {after} MiB after");
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn deep_json_is_refused_at_every_door() {
    let ground = Ground::new().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let agui = format!(r#"{{"threadId":"t","runId":"r","messages":[],"state":{deep}}}"#);
    let (status, code) = post(&ground.agui_url(), &agui, &Vec::new()).await.refusal();
    assert_eq!((status, code.as_str()), (400, "invalid_input"));
    let version = vec![("a2a-version", "1.0".to_owned())];
    let params =
        format!(r#"{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{{"data":{deep}}}]}}}}"#);
    let a2a = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{params}}}"#);
    let heard = post(&ground.a2a_url(), &a2a, &version).await.json();
    assert!([-32700, -32600, -32602].contains(&heard["error"]["code"].as_i64().unwrap()), "{heard}");
    let small = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let heard = post(&ground.url_of("/tickets"), &small, &Vec::new()).await;
    assert_eq!(heard.refusal(), (400, "invalid_input".to_owned()));
    let mut provider = Provider::serving(&ground, &["echo"]).await;
    provider.say_text(&format!(r#"{{"type":"register","id":3,"agents":{deep}}}"#)).await;
    provider.refusal().await;
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_huge_header_is_refused() {
    let ground = Ground::new().await;
    let url = ground.agui_url();
    let head = request("POST", &url, &format!("x-huge: {}\r\ncontent-length: 0\r\n", "x".repeat(200 << 10)));
    let answer = Raw::send(&url, &head, b"").await;
    assert_eq!(answer.status, 431);
    // A signature as long as that is not even read.
    let long = vec![
        ("signature-input", format!("x=({})", "\"a\" ".repeat(3000))),
        ("signature", "x=:AAAA:".to_owned()),
    ];
    assert_eq!(post(&url, "{}", &long).await.refusal(), (401, "invalid_signature".to_owned()));
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_slow_sender_is_not_waited_for() {
    let ground = Ground::configured(|config| {
        config.body_timeout = "50ms".parse().unwrap();
        config.header_timeout = "50ms".parse().unwrap();
    })
    .await;
    let url = ground.agui_url();
    let mut answer = Raw::send(&url, &request("POST", &url, "content-length: 100\r\n"), b"{").await;
    assert_eq!(answer.status, 408);
    assert_eq!(answer.json().await["error"]["code"], "body_timeout");
    // One that is slow with its head is let go without a word.
    let host = ground.url().strip_prefix("http://").unwrap().to_owned();
    let mut slow = TcpStream::connect(host).await.unwrap();
    slow.write_all(b"POST /agui").await.unwrap();
    let mut heard = Vec::new();
    let reading = slow.read_to_end(&mut heard);
    timeout(SOON, reading).await.unwrap().unwrap();
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_sender_that_trickles_is_not_waited_for() {
    let ground = Ground::configured(|config| config.body_timeout = "200ms".parse().unwrap()).await;
    let url = ground.agui_url();
    let mut slow = TcpStream::connect(ground.url().strip_prefix("http://").unwrap()).await.unwrap();
    slow.write_all(request("POST", &url, "content-length: 100000\r\n").as_bytes()).await.unwrap();
    let (mut hearing, mut saying) = slow.split();
    // It never pauses for long, and never comes to an end.
    let trickling = async {
        loop {
            let _ = saying.write_all(b" ").await;
            sleep(LOOK_AGAIN).await;
        }
    };
    let mut status = [0; 12];
    tokio::select! {
        heard = timeout(SOON, hearing.read_exact(&mut status)) => drop(heard.expect("an answer").unwrap()),
        () = trickling => {}
    }
    assert_eq!(&status, b"HTTP/1.1 408");
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn bodies_that_never_end_count_for_their_peer_until_it_lets_go() {
    let ground = Ground::configured(|config| {
        config.limit_exempt = "".parse().unwrap();
        config.peer_body_bytes_limit = "512KiB".parse().unwrap();
    })
    .await;
    let url = ground.agui_url();
    // Nothing but blanks is no JSON, which shows that it was read.
    let whole = async || post(&url, &" ".repeat(400_000), &Vec::new()).await.refusal();
    let read = (400, "invalid_json".to_owned());
    assert_eq!(whole().await, read);
    let until = Instant::now() + SOON;
    let held = loop {
        let mut unfinished = TcpStream::connect(ground.url().strip_prefix("http://").unwrap()).await.unwrap();
        let head = request("POST", &url, "content-length: 300000\r\n");
        unfinished.write_all(head.as_bytes()).await.unwrap();
        unfinished.write_all(&[b' '; 200_000]).await.unwrap();
        match whole().await {
            (429, code) => {
                assert_eq!(code, "too_many_body_bytes");
                break unfinished;
            }
            // What is unfinished came later.
            other => assert_eq!(other, read),
        }
        assert!(Instant::now() < until, "it does not count");
    };
    drop(held);
    while whole().await != read {
        assert!(Instant::now() < until, "it counts for ever");
        sleep(LOOK_AGAIN).await;
    }
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_half_open_websocket_is_let_go() {
    let ground = Ground::configured(|config| {
        config.link_handshake = "50ms".parse().unwrap();
        config.link_ping = "20ms".parse().unwrap();
        config.link_silence = "100ms".parse().unwrap();
    })
    .await;
    // One that opens the socket and says nothing.
    let mut silent = Provider::dial(&ground).await;
    assert_eq!(silent.closed().await, Closed { code: 4000, reason: "noOpening".to_owned() });
    // One that opens its link and is gone without a word: nothing reads its socket, so nothing answers.
    let gone = Provider::serving(&ground, &["gone"]).await;
    ground.until_online_is(&gone.agent("gone"), false).await;
    drop(gone);
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_frame_flood_harms_its_own_link_alone() {
    let ground = Ground::configured(|config| config.link_event_limit = "64KiB".parse().unwrap()).await;
    let before = memory();
    let mut flood = Provider::serving(&ground, &["flood"]).await;
    // Frames that mean nothing, faster than anybody could read the answers.
    for _ in 0..20_000 {
        flood.try_send(Message::text("{}")).await;
    }
    let heard = post(&ground.agui_url(), &input("hello").to_string(), &Vec::new()).await;
    assert_eq!(heard.last_event(), "RUN_FINISHED");
    // And one over the limit, which ends it.
    let mut large = Provider::serving(&ground, &["large"]).await;
    large.try_send(Message::text("x".repeat(4 << 20))).await;
    assert_eq!(large.closed().await, Closed { code: 1009, reason: "messageTooLarge".to_owned() });
    drop(flood);
    let after = memory();
    assert!(after < before + 64, "{before} MiB before, {after} MiB after");
    ground.ends_unharmed().await;
}
