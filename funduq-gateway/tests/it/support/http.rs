//! Callers: one that is made of a library, and one that sees the bytes.

use std::sync::LazyLock;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::SOON;

/// A client that speaks to nobody but whom it is told.
pub(crate) fn client() -> reqwest::Client {
    clients().build().unwrap()
}

/// Makes clients of this crate's tests.
pub(crate) fn clients() -> reqwest::ClientBuilder {
    static TLS: LazyLock<()> = LazyLock::new(|| {
        // Another test may have been first.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    LazyLock::force(&TLS);
    reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(60))
}

/// An answer as its bytes come.
pub(crate) struct Raw {
    pub(crate) status: u16,
    pub(crate) head: String,
    stream: BufReader<TcpStream>,
}

impl Raw {
    /// Sends a request as it stands and reads the head of its answer.
    pub(crate) async fn send(url: &str, request: &str, body: &[u8]) -> Self {
        let host = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        let mut stream = TcpStream::connect(host).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.write_all(body).await.unwrap();
        Self::read_head(BufReader::new(stream)).await
    }

    async fn read_head(mut stream: BufReader<TcpStream>) -> Self {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = timeout(SOON, stream.read_line(&mut head)).await.expect("an answer").unwrap();
            assert_ne!(read, 0, "the connection ended within the head: {head:?}");
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head, stream }
    }

    /// Posts JSON, as one write.
    pub(crate) async fn post(url: &str, body: &Value) -> Self {
        let body = body.to_string();
        let request = request("POST", url, &format!("content-length: {}\r\n", body.len()));
        Self::send(url, &request, body.as_bytes()).await
    }

    pub(crate) async fn get(url: &str, headers: &str) -> Self {
        Self::send(url, &request("GET", url, headers), b"").await
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    /// The next chunk of a chunked body; `None` at its clean end.
    pub(crate) async fn chunk(&mut self) -> Option<String> {
        let mut size = String::new();
        timeout(SOON, self.stream.read_line(&mut size)).await.expect("a chunk").unwrap();
        assert!(size.ends_with("\r\n"), "the body was cut: {size:?}");
        let size = usize::from_str_radix(size.trim_end(), 16).unwrap();
        let mut chunk = vec![0; size + 2];
        self.stream.read_exact(&mut chunk).await.unwrap();
        assert!(chunk.ends_with(b"\r\n"));
        chunk.truncate(size);
        // Each chunk is text of its own: no character is split.
        (size != 0).then(|| String::from_utf8(chunk).unwrap())
    }

    /// The body from here to its clean end.
    pub(crate) async fn rest(&mut self) -> String {
        let mut body = String::new();
        while let Some(chunk) = self.chunk().await {
            body.push_str(&chunk);
        }
        body
    }

    /// The body of an answer that says how long it is, as JSON.
    pub(crate) async fn json(&mut self) -> Value {
        let length: usize = self.header("content-length").unwrap().parse().unwrap();
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await.unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    /// The body of an answer that says how long it is.
    pub(crate) async fn body(&mut self) -> String {
        let length: usize = self.header("content-length").unwrap().parse().unwrap();
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await.unwrap();
        String::from_utf8(body).unwrap()
    }

    /// Waits until the other side has closed the connection.
    pub(crate) async fn closed(&mut self) {
        let mut rest = Vec::new();
        timeout(SOON, self.stream.read_to_end(&mut rest)).await.expect("an end").unwrap();
        assert_eq!(rest, b"");
    }

    /// The next event of a stream, with its id, leaving signs of life out.
    pub(crate) async fn event(&mut self) -> Option<(String, Value)> {
        loop {
            let chunk = self.chunk().await?;
            let frame = chunk.trim_start_matches(":\n");
            if frame.is_empty() {
                continue;
            }
            assert_eq!(frame.matches("\n\n").count(), 1, "one event was expected: {frame:?}");
            return Some(events(frame).pop().unwrap());
        }
    }
}

/// The head of a request.
pub(crate) fn request(method: &str, url: &str, headers: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    format!("{method} /{path} HTTP/1.1\r\nhost: {host}\r\n{headers}\r\n")
}

/// The events of a stream's text, each with its id.
pub(crate) fn events(body: &str) -> Vec<(String, Value)> {
    let frames = body.split("\n\n").filter(|frame| !frame.is_empty());
    let read = frames.map(|frame| {
        let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        (field("id: ").to_owned(), serde_json::from_str(field("data: ")).unwrap())
    });
    read.collect()
}
