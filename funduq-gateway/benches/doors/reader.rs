//! A caller that reads what it is told, as each AG-UI client does: a stock HTTP client, the stream cut into frames, each
//! frame's data decoded into a typed event.

use bytes::{Buf, BytesMut};
use funduq_agui::Event;

/// A client that speaks to nobody but whom it is told.
pub(crate) fn client() -> reqwest::Client {
    // Whoever was first chose the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().tcp_nodelay(true).build().unwrap()
}

/// Asks, reads the events of the answer, and says how many they were.
pub(crate) async fn read(client: &reqwest::Client, url: &str, body: String) -> usize {
    let mut answer = client.post(url).body(body).send().await.unwrap().error_for_status().unwrap();
    let mut buffer = BytesMut::new();
    let mut count = 0;
    while let Some(chunk) = answer.chunk().await.unwrap() {
        buffer.extend_from_slice(&chunk);
        while let Some(end) = memchr::memmem::find(&buffer, b"\n\n") {
            count += usize::from(event(&buffer[..end]).is_some());
            buffer.advance(end + 2);
        }
    }
    count
}

/// The event of a frame; a frame may be a sign of life alone.
fn event(frame: &[u8]) -> Option<Event> {
    let mut lines = frame.split(|byte| *byte == b'\n');
    let data = lines.find_map(|line| line.strip_prefix(b"data: "))?;
    Some(serde_json::from_slice(data).unwrap())
}
