//! The client of every measurement: HTTP/1.1 by hand over one connection a request, so that it costs as little as it can
//! and the same on either side.

use std::hint::black_box;

use funduq_agui::Event;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// An answer that is being read.
pub(crate) struct Answer {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// Where the unread rest of `buffer` begins.
    at: usize,
    after_line_end: bool,
}

/// Posts a body.
pub(crate) async fn post(url: &str, body: &str) -> Answer {
    send(url, "POST", body, None).await
}

/// Posts a body on a connection that can hold no more than so many bytes unread.
pub(crate) async fn post_narrow(url: &str, body: &str, window: u32) -> Answer {
    send(url, "POST", body, Some(window)).await
}

async fn send(url: &str, method: &str, body: &str, window: Option<u32>) -> Answer {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    if let Some(window) = window {
        socket.set_recv_buffer_size(window).unwrap();
    }
    let mut stream = socket.connect(host.parse().unwrap()).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let request = format!(
        "{method} /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         a2a-version: 1.0\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let capacity = window.map_or(64 << 10, |window| window as usize);
    let mut answer = Answer { stream, buffer: Vec::with_capacity(capacity), at: 0, after_line_end: false };
    answer.head().await;
    answer
}

impl Answer {
    /// Reads more; `false` at the end.
    async fn more(&mut self) -> bool {
        self.buffer.clear();
        self.at = 0;
        self.stream.read_buf(&mut self.buffer).await.unwrap() > 0
    }

    async fn head(&mut self) {
        let mut head = Vec::new();
        loop {
            assert!(self.more().await, "the connection ended within the head");
            head.extend_from_slice(&self.buffer);
            if let Some(end) = head.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                self.at = self.buffer.len() - (head.len() - end - 4);
                break;
            }
        }
        assert!(head.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&head));
    }

    /// Reads up to the end of the next event: its frame's blank line. `false` when there is none.
    pub(crate) async fn event(&mut self) -> bool {
        loop {
            while self.at < self.buffer.len() {
                let is_line_end = self.buffer[self.at] == b'\n';
                self.at += 1;
                // A chunk's own line ends have a carriage return before them.
                if is_line_end && self.after_line_end {
                    self.after_line_end = false;
                    return true;
                }
                self.after_line_end = is_line_end;
            }
            if !self.more().await {
                return false;
            }
        }
    }

    /// Reads the rest of a stream and counts its events.
    pub(crate) async fn events(&mut self) -> usize {
        let mut count = 0;
        while self.event().await {
            count += 1;
        }
        count
    }

    /// Reads the rest of a stream as an AG-UI client does, each event into its type, and counts them. Whoever answers
    /// here puts whole frames into a chunk, so that a line is never cut by one.
    pub(crate) async fn read_events(&mut self) -> usize {
        let mut count = 0;
        let mut line = Vec::new();
        loop {
            let mut rest = &self.buffer[self.at..];
            while let Some(end) = memchr::memchr(b'\n', rest) {
                line.extend_from_slice(&rest[..end]);
                if let Some(event) = line.strip_prefix(b"data: ") {
                    black_box(serde_json::from_slice::<Event>(event).unwrap());
                    count += 1;
                }
                line.clear();
                rest = &rest[end + 1..];
            }
            line.extend_from_slice(rest);
            if !self.more().await {
                return count;
            }
        }
    }

    /// The rest, of an answer that is no stream.
    pub(crate) async fn body(mut self) -> String {
        let mut body = self.buffer.split_off(self.at);
        self.stream.read_to_end(&mut body).await.unwrap();
        String::from_utf8(body).unwrap()
    }
}
