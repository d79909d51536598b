//! What comes before a link is open is read frame by frame and no further, so that the WebSocket can be made anew, with the
//! limits of an open link, and nothing is lost that came behind the opening.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connection whose every read ends where a WebSocket frame ends, if not before, until it is told to open.
#[derive(Debug)]
pub(super) struct Threshold<S> {
    inner: S,
    /// `None` once it is open.
    frames: Option<Frames>,
}

impl<S> Threshold<S> {
    pub(super) fn new(inner: S) -> Self {
        Self { inner, frames: Some(Frames::default()) }
    }

    /// From now on as much is read as there is.
    pub(super) fn open(mut self) -> Self {
        self.frames = None;
        self
    }
}

/// Where in its frames a connection is (RFC 6455, section 5.2).
#[derive(Debug, Default)]
struct Frames {
    /// What has come of a frame's head: two bytes, more of the length if those say so, and the mask.
    head: [u8; 14],
    come: usize,
    /// What is still to come of its payload.
    payload: u64,
}

impl Frames {
    /// How many bytes may be read at most.
    fn most(&self) -> usize {
        match self.payload {
            0 => self.head_length() - self.come,
            payload => usize::try_from(payload).unwrap_or(usize::MAX),
        }
    }

    fn length_bytes(&self) -> usize {
        match self.head[1] & 0x7f {
            126 => 2,
            127 => 8,
            _ => 0,
        }
    }

    fn head_length(&self) -> usize {
        match self.come {
            0 | 1 => 2,
            _ => 2 + self.length_bytes() + if self.head[1] & 0x80 != 0 { 4 } else { 0 },
        }
    }

    /// Notes what was read, which is no more than [`most`](Self::most).
    fn note(&mut self, bytes: &[u8]) {
        if self.payload > 0 {
            self.payload -= bytes.len() as u64;
            return;
        }
        self.head[self.come..][..bytes.len()].copy_from_slice(bytes);
        self.come += bytes.len();
        if self.come >= 2 && self.come == self.head_length() {
            let more = &self.head[2..2 + self.length_bytes()];
            self.payload = match more.is_empty() {
                true => u64::from(self.head[1] & 0x7f),
                false => more.iter().fold(0, |length, byte| length << 8 | u64::from(*byte)),
            };
            self.come = 0;
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Threshold<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let Some(frames) = &mut this.frames else { return Pin::new(&mut this.inner).poll_read(cx, buf) };
        let most = frames.most().min(buf.remaining());
        let mut part = ReadBuf::new(buf.initialize_unfilled_to(most));
        ready!(Pin::new(&mut this.inner).poll_read(cx, &mut part))?;
        frames.note(part.filled());
        let read = part.filled().len();
        buf.advance(read);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Threshold<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::{SinkExt, StreamExt};
    use tokio::io::AsyncReadExt;
    use tokio::time::timeout;
    use tokio_tungstenite::WebSocketStream;
    use tokio_tungstenite::tungstenite::Message;
    use tokio_tungstenite::tungstenite::protocol::Role;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_comes_behind_a_message_is_left_for_whoever_reads_next() {
        for role in [Role::Client, Role::Server] {
            let (near, far) = tokio::io::duplex(1 << 20);
            let mut far = WebSocketStream::from_raw_socket(far, role, None).await;
            let other = if role == Role::Client { Role::Server } else { Role::Client };
            // One of each way to write a length, and all of them there before anybody reads.
            let texts = [0, 1, 125, 126, 200, 70_000].map(|length| "x".repeat(length));
            for text in &texts {
                far.feed(Message::text(text.clone())).await.unwrap();
                far.feed(Message::Ping("ping".into())).await.unwrap();
            }
            far.flush().await.unwrap();
            let mut near = Threshold::new(near);
            for text in &texts {
                let mut read = WebSocketStream::from_raw_socket(near, other, None).await;
                loop {
                    let next = timeout(Duration::from_secs(60), read.next()).await;
                    match next.expect("a message").unwrap().unwrap() {
                        Message::Text(found) => break assert_eq!(found.as_str(), text),
                        other => assert!(other.is_ping()),
                    }
                }
                near = read.into_inner();
            }
            drop(far);
            let mut rest = Vec::new();
            near.open().read_to_end(&mut rest).await.unwrap();
            assert!(rest.ends_with(b"ping") || role == Role::Client && rest.len() == 2 + 4 + 4, "{rest:?}");
        }
    }
}
