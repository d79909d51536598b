//! An HTTP/2 stream whose peer takes nothing of its answer is given up: a connection has many, and takes its packets
//! whether or not each of them is read (RFC 9113, section 5.2).

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use axum::body::Body;
use bytes::{Buf, Bytes};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, sleep};

tokio::task_local! {
    /// That of the stream whose task this is.
    static FLOW: Arc<Flow>;
}

/// Drives a stream until it ends, or until something of its answer has waited for so long and nothing of it was taken. Its
/// peer is told by a reset; the connection and its other streams go on.
pub(super) async fn drive(stream: impl Future<Output = ()>, patience: Duration) {
    let flow = Arc::new(Flow::new());
    let stream = FLOW.scope(Arc::clone(&flow), stream);
    let timer = sleep(patience);
    tokio::pin!(stream, timer);
    let mut is_set = false;
    poll_fn(|cx| {
        if stream.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        while let Some(since) = flow.waiting_since() {
            // It is not set anew with each piece that is taken, but once it is over.
            if !is_set {
                timer.as_mut().reset(since + patience);
                is_set = true;
            }
            ready!(timer.as_mut().poll(cx));
            is_set = false;
            if since + patience <= Instant::now() {
                tracing::debug!("a stream is given up whose peer takes nothing of it");
                return Poll::Ready(());
            }
        }
        Poll::Pending
    })
    .await;
}

/// What has been handed over of one answer and is not on its way yet.
#[derive(Debug)]
struct Flow {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    waiting: usize,
    /// Since when nothing was taken, if something waits.
    since: Instant,
    until_taken: Option<Waker>,
}

impl Flow {
    fn new() -> Self {
        Self { state: Mutex::new(State { waiting: 0, since: Instant::now(), until_taken: None }) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting_since(&self) -> Option<Instant> {
        let state = self.lock();
        (state.waiting > 0).then_some(state.since)
    }

    fn hand_over(&self, bytes: usize) {
        let mut state = self.lock();
        if state.waiting == 0 {
            state.since = Instant::now();
        }
        state.waiting += bytes;
    }

    fn take(&self, bytes: usize) {
        let mut state = self.lock();
        state.waiting -= bytes;
        state.since = Instant::now();
        let waker = if state.waiting == 0 { state.until_taken.take() } else { None };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn poll_taken(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.waiting == 0 {
            return Poll::Ready(());
        }
        state.until_taken = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// An answer's body, which on HTTP/2 ends only once all of it was taken: so long there is a stream to give up.
pub(super) struct Answer {
    body: Body,
    is_over: bool,
    flow: Option<Arc<Flow>>,
}

impl Answer {
    /// The body of the answer to the request whose task this is.
    pub(super) fn new(body: Body) -> Self {
        Self { body, is_over: false, flow: FLOW.try_with(Arc::clone).ok() }
    }
}

impl hyper::body::Body for Answer {
    type Data = Piece;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Piece>, axum::Error>>> {
        if !self.is_over {
            if let Some(frame) = ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                let flow = &self.flow;
                return Poll::Ready(Some(frame.map(|frame| frame.map_data(|data| Piece::new(data, flow)))));
            }
            self.is_over = true;
        }
        match &self.flow {
            Some(flow) => flow.poll_taken(cx).map(|()| None),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream() && self.flow.as_ref().is_none_or(|flow| flow.waiting_since().is_none())
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A piece of a body, which says when it is taken.
pub(super) struct Piece {
    bytes: Bytes,
    flow: Option<Arc<Flow>>,
}

impl Piece {
    fn new(bytes: Bytes, flow: &Option<Arc<Flow>>) -> Self {
        if let Some(flow) = flow {
            flow.hand_over(bytes.len());
        }
        Self { bytes, flow: flow.clone() }
    }
}

impl Buf for Piece {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        if let Some(flow) = &self.flow {
            flow.take(count);
        }
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        // What is left of it nobody waits for.
        if let Some(flow) = self.flow.take()
            && self.bytes.has_remaining()
        {
            flow.take(self.bytes.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);
    const TEXT: &[u8] = b"hello";

    /// Drives a reader of one answer; says for how long.
    async fn driven<F: Future<Output = ()>>(read: impl FnOnce(Answer) -> F) -> Duration {
        let began = Instant::now();
        let driving = drive(async move { read(Answer::new(Body::from(TEXT))).await }, PATIENCE);
        tokio::time::timeout(PATIENCE * 100, driving).await.expect("it ends some time");
        began.elapsed()
    }

    async fn piece(answer: &mut Answer) -> Piece {
        answer.frame().await.unwrap().unwrap().into_data().unwrap_or_else(|_| panic!("it is data"))
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_of_which_nothing_is_taken_is_given_up() {
        let after = driven(async |mut answer| {
            let _kept = piece(&mut answer).await;
            std::future::pending::<()>().await;
        });
        assert_eq!(after.await.as_secs(), PATIENCE.as_secs());
        // Nor does it end while it waits.
        let after = driven(async |mut answer| {
            let _kept = piece(&mut answer).await;
            assert!(!hyper::body::Body::is_end_stream(&answer));
            assert!(answer.frame().await.is_none());
            unreachable!("it was taken by nobody");
        });
        assert_eq!(after.await.as_secs(), PATIENCE.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_is_read_slowly_is_waited_for() {
        let after = driven(async |mut answer| {
            let mut piece = piece(&mut answer).await;
            while piece.has_remaining() {
                sleep(PATIENCE * 2 / 3).await;
                piece.advance(1);
            }
            assert!(answer.frame().await.is_none());
        });
        assert_eq!(after.await, PATIENCE * 2 / 3 * TEXT.len() as u32);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_has_nothing_to_say_is_nobodys_fault() {
        let after = driven(async |mut answer| {
            drop(piece(&mut answer).await);
            sleep(PATIENCE * 3).await;
        });
        assert_eq!(after.await, PATIENCE * 3);
    }

    #[tokio::test]
    async fn elsewhere_than_on_a_stream_an_answer_is_its_body() {
        let mut answer = Answer::new(Body::from(TEXT));
        let kept = piece(&mut answer).await;
        assert!(hyper::body::Body::is_end_stream(&answer));
        assert!(answer.frame().await.is_none());
        assert_eq!(kept.chunk(), TEXT);
    }
}
