//! What the gateway holds for those who are merely there: idle links of providers, and streams in which nothing happens.

use std::time::Duration;

use funduq_contract::{
    AgentName, Connect, DownFrame, EventFrame, Identity, Nonce, RawJson, RegisterFrame, Registration,
    TicketIssued, UpFrame, Verdict, VerdictFrame,
};
use futures_util::{SinkExt, StreamExt, stream};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use crate::gateway::Gateway;
use crate::watch::Figures;

const LINKS: usize = 10_000;
const STREAMS: usize = 2_000;
/// What all of them together may take.
const LIMIT: f64 = 400e6;
/// How many are opened at a time.
const AT_ONCE: usize = 64;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Opens all of them, and says what the process then holds.
pub(crate) async fn measure() {
    let gateway = Gateway::start().await;
    let resident = |figures: &Figures| figures.get("funduq_process_resident_memory_bytes");
    let empty = resident(&Figures::read(&gateway).await);

    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let holder = Identity::generate();
    let key = holder.public_key();
    let mut tasks = vec![serve(link(&gateway, &client, holder).await)];
    let mut opening = stream::iter(0..LINKS)
        .map(|_| link(&gateway, &client, Identity::generate()))
        .buffer_unordered(AT_ONCE);
    while let Some(socket) = opening.next().await {
        tasks.push(serve(socket));
    }
    drop(opening);
    let with_links = gateway.settled(|figures| figures.sum("funduq_links") > LINKS as f64).await;

    let mut reading = stream::iter(0..STREAMS).map(|_| open(&gateway, key)).buffer_unordered(AT_ONCE);
    let mut readers = Vec::with_capacity(STREAMS);
    while let Some(reader) = reading.next().await {
        readers.push(reader);
    }
    drop(reading);
    let with_streams = gateway.settled(|figures| figures.get("funduq_streams") == STREAMS as f64).await;
    // What a request leaves to be taken up later is taken up, and links are pinged meanwhile.
    tokio::time::sleep(Duration::from_secs(15)).await;
    let after = Figures::read(&gateway).await;
    assert_eq!(after.sum("funduq_links"), LINKS as f64 + 1.0, "links stay while nothing happens on them");
    assert_eq!(after.get("funduq_streams"), STREAMS as f64, "and so do streams");
    let mib = |bytes: f64| bytes / 1048576.0;
    println!(
        "idle: {:.0} MiB empty, {:.0} MiB with {LINKS} links, {:.0} MiB with {STREAMS} streams beside them, {:.0} MiB after a while",
        mib(empty),
        mib(resident(&with_links)),
        mib(resident(&with_streams)),
        mib(resident(&after)),
    );
    assert!(resident(&after) < LIMIT, "it holds more than {:.0} MiB", mib(LIMIT));
    tasks.into_iter().for_each(|task| task.abort());
}

async fn link(gateway: &Gateway, client: &reqwest::Client, identity: Identity) -> Socket {
    let key = identity.public_key();
    let asked = client.post(format!("{}/tickets", gateway.url)).json(&json!({ "publicKey": key }));
    let TicketIssued { ticket, .. } = asked.send().await.unwrap().json().await.unwrap();
    let url = format!("{}/link/agents", gateway.url.replacen("http", "ws", 1));
    // It is the other side that is measured, but this one has to hold as many.
    let config = WebSocketConfig::default().read_buffer_size(1 << 10).write_buffer_size(0);
    let (mut socket, _) = connect_async_with_config(url, Some(config), true).await.unwrap();
    let connect = Connect::sign(&identity, Some(&gateway.key), ticket, Nonce::generate(), None);
    say(&mut socket, &UpFrame::Connect(connect)).await;
    assert!(matches!(hear(&mut socket).await, Some(DownFrame::ConnectOk(_))));
    let agents = vec![Registration::new(AgentName::new("idle").unwrap())];
    say(&mut socket, &UpFrame::Register(RegisterFrame { id: 1, agents })).await;
    assert!(matches!(hear(&mut socket).await, Some(DownFrame::Ok(_))));
    socket
}

async fn say(socket: &mut Socket, frame: &UpFrame) {
    socket.send(Message::text(frame.to_text())).await.unwrap();
}

async fn hear(socket: &mut Socket) -> Option<DownFrame> {
    loop {
        if let Message::Text(text) = socket.next().await?.ok()? {
            return Some(DownFrame::from_text(&text).unwrap());
        }
    }
}

/// Answers pings, and begins each run that it is offered and does no more about it.
fn serve(mut socket: Socket) -> JoinHandle<()> {
    tokio::spawn(async move {
        while let Some(frame) = hear(&mut socket).await {
            let DownFrame::Offer(offer) = frame else { continue };
            let (run_id, attempt) = (offer.run.run_id.clone(), offer.attempt);
            let verdict = VerdictFrame { run_id: run_id.clone(), attempt, verdict: Verdict::Accepted };
            say(&mut socket, &UpFrame::Verdict(verdict)).await;
            let started = json!({ "type": "RUN_STARTED", "threadId": offer.run.thread_id, "runId": run_id });
            let event = RawJson::new(&*started.to_string()).unwrap();
            say(&mut socket, &UpFrame::Event(EventFrame { run_id, number: 1, event })).await;
        }
    })
}

/// Opens a stream and reads its first event.
async fn open(gateway: &Gateway, agent: funduq_contract::PublicKey) -> TcpStream {
    let host = gateway.url.strip_prefix("http://").unwrap();
    let body = json!({
        "threadId": "new", "runId": "new", "messages": [{ "id": "m", "role": "user", "content": "stay" }],
    })
    .to_string();
    let request = format!(
        "POST /agui/{agent}/idle HTTP/1.1\r\nhost: {host}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut connection = TcpStream::connect(host).await.unwrap();
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains("RUN_STARTED") {
        assert_ne!(connection.read_buf(&mut read).await.unwrap(), 0, "{}", String::from_utf8_lossy(&read));
    }
    connection
}
