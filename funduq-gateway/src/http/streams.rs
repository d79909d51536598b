//! The streams of one HTTP/2 connection: each a task, counted, so that a connection without one is known for idle.

use std::future::Future;
use std::time::Duration;

use hyper::rt::Executor;
use tokio::sync::watch;
use tokio::time::timeout;

use super::flow;

/// Runs the streams of one connection.
#[derive(Debug, Clone)]
pub(super) struct Streams {
    under_way: watch::Sender<usize>,
    /// With one whose peer takes nothing.
    patience: Duration,
}

impl Streams {
    pub(super) fn new(patience: Duration) -> Self {
        Self { under_way: watch::Sender::new(0), patience }
    }

    /// Waits until no request has been under way for so long. One whose head has not come whole is none yet.
    pub(super) async fn idle_for(&self, patience: Duration) {
        let mut under_way = self.under_way.subscribe();
        // It fails when there are no senders, and this is one.
        while under_way.wait_for(|count| *count == 0).await.is_ok() {
            if timeout(patience, under_way.changed()).await.is_err() {
                return;
            }
        }
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Streams {
    fn execute(&self, stream: F) {
        let place = Place::take(self.under_way.clone());
        let patience = self.patience;
        tokio::spawn(async move {
            flow::drive(stream, patience).await;
            drop(place);
        });
    }
}

/// One that is under way.
struct Place(watch::Sender<usize>);

impl Place {
    fn take(under_way: watch::Sender<usize>) -> Self {
        under_way.send_modify(|count| *count += 1);
        Self(under_way)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_so_long_after_its_last_stream() {
        let second = Duration::from_secs(1);
        let (streams, began) = (Streams::new(second), Instant::now());
        let asking = async {
            for _ in 0..3 {
                sleep(9 * second).await;
                streams.execute(sleep(20 * second));
                // Shorter than anybody looks.
                streams.execute(std::future::ready(()));
                sleep(29 * second).await;
                streams.execute(std::future::ready(()));
            }
        };
        tokio::join!(streams.idle_for(10 * second), asking);
        assert_eq!(began.elapsed(), (3 * (9 + 29) + 10) * second);
    }
}
