//! Connections that are opened and left to lie, all of them at the same time.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::ground::Ground;
use crate::measure::{Page, descriptors_of, falls_to, make_room, memory_of};
use crate::support::{Raw, SOON, Serving, end, input, post};

/// How many lie there at once.
const IDLE: usize = 10_000;
/// How many more connections are taken, beside the one that asks.
const ROOM: usize = 8;
/// What one may cost, in KiB.
const COST: u64 = 24;
/// By how much memory may differ afterwards, in MiB: tables keep some of the room that they once had.
const KEPT: u64 = 12;

/// As much as each of them says: nothing, what could become anything, half a head, a whole request that gets its answer.
const WORDS: [&str; 4] =
    ["", "PRI * HT", "POST /agui HTTP/1.1\r\nhost: ", "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"];

/// Waits until the gateway has so many connections beside the one that asks.
async fn until_connections_are(page: &Page, wanted: usize) {
    page.until_figure_is("funduq_connections", wanted + 1).await;
}

async fn lie(host: &str, number: usize) -> TcpStream {
    let mut connection = TcpStream::connect(host).await.unwrap();
    connection.write_all(WORDS[number % WORDS.len()].as_bytes()).await.unwrap();
    connection
}

/// The gateway is a process of its own, so that its memory and its descriptors are its own.
#[tokio::test]
async fn ten_thousand_idle_connections_at_once_are_borne_and_leave_nothing_behind() {
    make_room(IDLE as u64 + 1_000);
    let folder = tempfile::tempdir().unwrap();
    let limit = (IDLE + ROOM + 1).to_string();
    // However long it takes this machine to open them, none is let go before all of them are there.
    let arguments = ["--demo", "--connection-limit", &limit, "--header-timeout", "10m"];
    let mut gateway = Serving::start(folder.path(), &arguments).await;
    let process = gateway.child.id().unwrap();
    let [url, agent] = ["url", "aguiUrl"].map(|name| gateway.ready[name].as_str().unwrap().to_owned());
    let host = url.strip_prefix("http://").unwrap();
    let served = async || {
        let heard = post(&agent, &input("hello").to_string(), &Vec::new()).await;
        assert_eq!(heard.last_event(), "RUN_FINISHED");
    };
    let page = Page::of(&url);
    // The link of its agents is none of its connections; links have a limit of their own.
    served().await;
    until_connections_are(&page, 0).await;
    let (memory, descriptors) = (memory_of(process), descriptors_of(process));

    let mut idle = Vec::with_capacity(IDLE + ROOM);
    for number in 0..IDLE {
        idle.push(lie(host, number).await);
    }
    until_connections_are(&page, IDLE).await;
    assert!(descriptors_of(process) >= descriptors + IDLE);
    let most = memory + IDLE as u64 * COST / 1024;
    let held = memory_of(process);
    assert!(held <= most, "{memory} MiB before, {held} MiB with {IDLE} idle connections");
    served().await;

    // Over the limit there is a word, and health and metrics as ever.
    until_connections_are(&page, IDLE).await;
    for number in IDLE..IDLE + ROOM {
        idle.push(lie(host, number).await);
    }
    until_connections_are(&page, IDLE + ROOM).await;
    let refused = post(&agent, &input("hello").to_string(), &Vec::new()).await;
    assert_eq!(refused.refusal(), (503, "busy".to_owned()));
    assert_eq!(Raw::get(&format!("{url}/healthz"), "").await.status, 200);

    drop(idle);
    until_connections_are(&page, 0).await;
    served().await;
    until_connections_are(&page, 0).await;
    falls_to("descriptors", descriptors, || descriptors_of(process)).await;
    falls_to("MiB", memory + KEPT, || memory_of(process)).await;
    assert_eq!(end(&mut gateway.child, "-TERM").await, Some(0));
}

#[tokio::test]
async fn idle_connections_are_let_go_whatever_they_have_said() {
    let ground = Ground::configured(|config| config.header_timeout = "100ms".parse().unwrap()).await;
    let host = ground.url().strip_prefix("http://").unwrap().to_owned();
    let mut idle = Vec::new();
    for number in 0..10 * WORDS.len() {
        idle.push(lie(&host, number).await);
    }
    for mut connection in idle {
        let mut said = Vec::new();
        // With an end or with a reset, as the system has it where something had come that nobody read.
        let closed = timeout(SOON, connection.read_to_end(&mut said)).await.expect("it is closed");
        assert!(closed.is_err() || said.is_empty() || said.starts_with(b"HTTP/1.1 "), "{said:?}");
    }
    ground.ends_unharmed().await;
}
