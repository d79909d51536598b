//! A connection on which nothing is said is closed. Until it is known which HTTP it will be, nothing else watches over it.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// What HTTP/2 begins with (RFC 9113, section 3.4). With anything else, or all of it, it is known which HTTP it is, and from
/// there on that has its own patience.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A connection that fails when its first words take too long.
pub(crate) struct FirstWords<S> {
    inner: S,
    /// How long it may still take, and how much of the preface has come; `None` once it is known what it will be.
    waiting: Option<(Pin<Box<Sleep>>, usize)>,
}

impl<S> FirstWords<S> {
    pub(crate) fn new(inner: S, patience: Duration) -> Self {
        Self { inner, waiting: Some((Box::pin(sleep(patience)), 0)) }
    }

    fn heard(&mut self, bytes: &[u8]) {
        let Some((_, seen)) = &mut self.waiting else { return };
        let rest = &PREFACE[*seen..];
        if bytes.len() < rest.len() && rest.starts_with(bytes) {
            *seen += bytes.len();
        } else {
            self.waiting = None;
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
            Some((patience, _)) => patience
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
        let mut near = FirstWords::new(near, PATIENCE);
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
        let error = FirstWords::new(near, PATIENCE).read_u8().await.unwrap_err();
        assert_eq!((error.kind(), began.elapsed()), (io::ErrorKind::TimedOut, PATIENCE));
    }

    #[tokio::test(start_paused = true)]
    async fn the_beginning_of_a_preface_is_no_beginning_of_a_talk() {
        for pieces in [&[&b"P"[..]][..], &[b"PRI *", b" HTTP/2.0\r\n\r\nSM\r\n\r"]] {
            assert_eq!(after(pieces).await.unwrap_err().kind(), io::ErrorKind::TimedOut, "{pieces:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn once_it_is_known_what_it_is_nobody_waits_here() {
        for first in [&b"G"[..], b"POST", PREFACE, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nmore"] {
            assert_eq!(after(&[first, b"x"]).await.unwrap(), [first, b"x"].concat());
        }
    }
}
