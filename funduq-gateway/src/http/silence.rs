//! A connection on which nothing is said is closed. Until it is known which HTTP it will be, nothing else watches over it.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;
use tokio::time::{Sleep, sleep};

/// What HTTP/2 begins with (RFC 9113, section 3.4). With anything else, or all of it, it is known which HTTP it is, and from
/// there on that has its own patience.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A connection that fails when its first words take too long.
pub(crate) struct FirstWords<S> {
    inner: S,
    /// `None` once it is known what it will be.
    waiting: Option<Waiting>,
}

struct Waiting {
    /// How long it may still take.
    patience: Pin<Box<Sleep>>,
    /// How much of the preface has come.
    seen: usize,
    is_http2: oneshot::Sender<()>,
}

impl<S> FirstWords<S> {
    /// Beside the connection, something that comes true once it is known for HTTP/2, and fails once it is known for anything
    /// else.
    pub(crate) fn new(inner: S, patience: Duration) -> (Self, oneshot::Receiver<()>) {
        let (is_http2, known) = oneshot::channel();
        let waiting = Waiting { patience: Box::pin(sleep(patience)), seen: 0, is_http2 };
        (Self { inner, waiting: Some(waiting) }, known)
    }

    fn heard(&mut self, bytes: &[u8]) {
        let Some(mut waiting) = self.waiting.take() else { return };
        let rest = &PREFACE[waiting.seen..];
        if bytes.len() < rest.len() && rest.starts_with(bytes) {
            waiting.seen += bytes.len();
            self.waiting = Some(waiting);
        } else if bytes.starts_with(rest) {
            // Whoever does not want to know it has nothing to do.
            let _ = waiting.is_http2.send(());
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FirstWords<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let poll = Pin::new(&mut self.inner).poll_read(cx, buf);
        if poll.is_ready() {
            self.heard(&buf.filled()[before..]);
            return poll;
        }
        match &mut self.waiting {
            Some(waiting) => waiting
                .patience
                .as_mut()
                .poll(cx)
                .map(|()| Err(io::Error::new(io::ErrorKind::TimedOut, "the peer says nothing"))),
            None => Poll::Pending,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for FirstWords<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
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
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    /// Sends pieces with a pause before each, and reads until something is wrong or the pieces are over.
    async fn after(pieces: &[&[u8]]) -> io::Result<Vec<u8>> {
        let (near, mut far) = tokio::io::duplex(64);
        let (mut near, _) = FirstWords::new(near, PATIENCE);
        let saying = async {
            for piece in pieces {
                sleep(PATIENCE * 2 / 3).await;
                far.write_all(piece).await?;
            }
            sleep(PATIENCE).await;
            far.shutdown().await
        };
        let mut heard = Vec::new();
        let (said, read) = tokio::join!(saying, near.read_to_end(&mut heard));
        said?;
        read.map(|_| heard)
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_says_nothing_ends() {
        let began = Instant::now();
        let (near, _far) = tokio::io::duplex(64);
        let error = FirstWords::new(near, PATIENCE).0.read_u8().await.unwrap_err();
        assert_eq!((error.kind(), began.elapsed()), (io::ErrorKind::TimedOut, PATIENCE));
    }

    #[tokio::test(start_paused = true)]
    async fn the_beginning_of_a_preface_is_no_beginning_of_a_talk() {
        for pieces in [&[&b"P"[..]][..], &[b"PRI *", b" HTTP/2.0\r\n\r\nSM\r\n\r"]] {
            assert_eq!(after(pieces).await.unwrap_err().kind(), io::ErrorKind::TimedOut, "{pieces:?}");
        }
    }

    #[tokio::test]
    async fn the_whole_preface_makes_it_http2_and_nothing_else_does() {
        let after = async |pieces: &[&[u8]]| {
            let (near, mut far) = tokio::io::duplex(64);
            let (mut near, is_http2) = FirstWords::new(near, PATIENCE);
            for piece in pieces {
                far.write_all(piece).await.unwrap();
                near.read_exact(&mut vec![0; piece.len()]).await.unwrap();
            }
            is_http2.await.is_ok()
        };
        for whole in [&[PREFACE][..], &[b"P", &PREFACE[1..]], &[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nmore"]] {
            assert!(after(whole).await, "{whole:?}");
        }
        for other in [&[&b"GET "[..]][..], &[b"P", b"OST"], &[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\rX"]] {
            assert!(!after(other).await, "{other:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn once_it_is_known_what_it_is_nobody_waits_here() {
        for first in [&b"G"[..], b"POST", PREFACE, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nmore"] {
            assert_eq!(after(&[first, b"x"]).await.unwrap(), [first, b"x"].concat());
        }
    }
}
