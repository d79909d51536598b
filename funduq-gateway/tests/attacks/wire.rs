//! A client of HTTP/2 that sends what it likes, frame by frame (RFC 9113).

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::SOON;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

pub(crate) const END_STREAM: u8 = 1;
const ACK: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;

/// A frame as it came.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    pub(crate) fn ends(&self, stream: u32) -> bool {
        self.stream == stream && matches!(self.kind, DATA | HEADERS) && self.flags & END_STREAM != 0
    }
}

pub(crate) struct Wire {
    socket: TcpStream,
}

impl Wire {
    /// Opens a connection, without asking for anything.
    pub(crate) async fn open(url: &str, settings: &[(u16, u32)]) -> Self {
        let host = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        let mut wire = Self { socket: TcpStream::connect(host).await.unwrap() };
        wire.socket.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
        let settings: Vec<u8> = settings
            .iter()
            .flat_map(|(name, value)| [&name.to_be_bytes()[..], &value.to_be_bytes()].concat())
            .collect();
        wire.say(SETTINGS, 0, 0, &settings).await;
        wire
    }

    pub(crate) async fn say(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = &u32::try_from(payload.len()).unwrap().to_be_bytes()[1..];
        let head = [length, &[kind, flags], &stream.to_be_bytes()].concat();
        // Who has closed it takes nothing more, which shows where it is read.
        let _ = self.socket.write_all(&[&head, payload].concat()).await;
    }

    /// Asks, with a body or without.
    pub(crate) async fn ask(&mut self, stream: u32, method: &str, path: &str, body: &str) {
        let flags = if body.is_empty() { END_HEADERS | END_STREAM } else { END_HEADERS };
        self.say(HEADERS, flags, stream, &head(method, path)).await;
        if !body.is_empty() {
            self.say(DATA, END_STREAM, stream, body.as_bytes()).await;
        }
    }

    /// Says that so many more bytes of a stream would be taken.
    pub(crate) async fn take(&mut self, stream: u32, bytes: u32) {
        self.say(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes()).await;
    }

    /// The next frame that is about more than the connection's being there, which is confirmed; `None` where it is closed.
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        let reading = async {
            loop {
                let frame = self.read().await?;
                match (frame.kind, frame.flags & ACK) {
                    (SETTINGS, 0) => self.say(SETTINGS, ACK, 0, &[]).await,
                    (PING, 0) => self.say(PING, ACK, 0, &frame.payload).await,
                    (SETTINGS | PING, _) => {}
                    _ => return Some(frame),
                }
            }
        };
        timeout(SOON, reading).await.expect("a frame, or the end")
    }

    async fn read(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.socket.read_exact(&mut head).await.ok()?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.socket.read_exact(&mut payload).await.ok()?;
        Some(Frame { kind, flags, stream: u32::from_be_bytes(stream), payload })
    }

    /// Reads until a frame is what is waited for.
    pub(crate) async fn until(&mut self, what: &str, is_it: impl Fn(&Frame) -> bool) -> Frame {
        loop {
            let frame = self.next().await.unwrap_or_else(|| panic!("it is closed before {what}"));
            if is_it(&frame) {
                return frame;
            }
        }
    }

    /// Reads to the end; says whether it was announced.
    pub(crate) async fn closed(&mut self) -> bool {
        let mut is_announced = false;
        while let Some(frame) = self.next().await {
            is_announced |= frame.kind == GOAWAY;
        }
        is_announced
    }
}

/// A request's head, as fields that no table has to remember (RFC 7541, section 6.2.2).
pub(crate) fn head(method: &str, path: &str) -> Vec<u8> {
    let http = 0x86;
    let fields = [(0x02, method), (0x04, path), (0x01, "gateway.test")];
    let literals = fields.iter().flat_map(|(name, value)| {
        let length = u8::try_from(value.len()).ok().filter(|length| *length < 0x7f).unwrap();
        [&[*name, length][..], value.as_bytes()].concat()
    });
    std::iter::once(http).chain(literals).collect()
}
