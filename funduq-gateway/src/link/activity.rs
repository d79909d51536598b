//! Whether the other end of a connection is still there: noted wherever it shows.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// When a peer was last heard of.
#[derive(Debug)]
pub(super) struct Activity {
    began: Instant,
    last: AtomicU64,
    /// Set while nobody listens, so that silence says nothing about the peer.
    deaf: AtomicBool,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), last: AtomicU64::new(0), deaf: AtomicBool::new(false) }
    }

    fn note(&self) {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(now, Ordering::Relaxed);
    }

    /// Nobody listens until what is returned is dropped.
    pub(super) fn deaf(&self) -> Deaf<'_> {
        self.deaf.store(true, Ordering::Relaxed);
        Deaf(self)
    }

    /// Waits until the peer has been silent for so long.
    pub(super) async fn silent_for(&self, limit: Duration) {
        loop {
            if self.deaf.load(Ordering::Relaxed) {
                self.note();
            }
            let last = self.began + Duration::from_millis(self.last.load(Ordering::Relaxed));
            if last.elapsed() >= limit {
                return;
            }
            tokio::time::sleep_until(last + limit).await;
        }
    }
}

/// While it lives, nobody listens.
pub(super) struct Deaf<'a>(&'a Activity);

impl Drop for Deaf<'_> {
    fn drop(&mut self) {
        self.0.note();
        self.0.deaf.store(false, Ordering::Relaxed);
    }
}

/// A connection that notes signs of life: bytes that arrive, and a write that had to wait and goes on, since only a
/// peer that has taken something makes room. So neither a large frame on a slow line nor many pings into a dead one deceive.
#[derive(Debug)]
pub(super) struct Watched<S> {
    inner: S,
    activity: Arc<Activity>,
    has_waited: bool,
}

impl<S> Watched<S> {
    pub(super) fn new(inner: S, activity: Arc<Activity>) -> Self {
        Self { inner, activity, has_waited: false }
    }

    fn wrote<T>(&mut self, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        match &poll {
            Poll::Pending => self.has_waited = true,
            Poll::Ready(Ok(_)) if self.has_waited => {
                self.has_waited = false;
                self.activity.note();
            }
            Poll::Ready(_) => {}
        }
        poll
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let poll = Pin::new(&mut self.inner).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.activity.note();
        }
        poll
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.inner).poll_write(cx, buf);
        self.wrote(poll)
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
    use tokio::time::sleep;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    fn pair() -> (Watched<tokio::io::DuplexStream>, tokio::io::DuplexStream, Arc<Activity>) {
        let activity = Arc::new(Activity::new());
        let (near, far) = tokio::io::duplex(8);
        (Watched::new(near, Arc::clone(&activity)), far, activity)
    }

    async fn silence(activity: &Activity) -> u64 {
        let began = Instant::now();
        activity.silent_for(LIMIT).await;
        began.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn what_arrives_is_a_sign_of_life() {
        let (mut near, mut far, activity) = pair();
        let talking = async {
            sleep(Duration::from_secs(20)).await;
            far.write_all(b"x").await.unwrap();
            near.read_u8().await.unwrap();
        };
        let (silent, ()) = tokio::join!(silence(&activity), talking);
        assert_eq!(silent, 50);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_sent_into_the_void_is_none() {
        let (mut near, _far, activity) = pair();
        let sending = async {
            sleep(Duration::from_secs(20)).await;
            near.write_all(b"ping").await.unwrap();
        };
        let (silent, ()) = tokio::join!(silence(&activity), sending);
        assert_eq!(silent, 30);
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_a_large_frame_slowly_lives() {
        let (mut near, mut far, activity) = pair();
        let taking = async {
            let mut taken = [0; 8];
            for _ in 0..4 {
                sleep(Duration::from_secs(20)).await;
                far.read_exact(&mut taken).await.unwrap();
            }
        };
        let sending = async { near.write_all(&[0; 40]).await.unwrap() };
        let (silent, (), ()) = tokio::join!(silence(&activity), taking, sending);
        assert_eq!(silent, 110);
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_not_listen_hears_no_silence() {
        let (_near, _far, activity) = pair();
        let busy = async {
            let _deaf = activity.deaf();
            sleep(Duration::from_secs(100)).await;
        };
        let (silent, ()) = tokio::join!(silence(&activity), busy);
        assert_eq!(silent, 130);
    }
}
