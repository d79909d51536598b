//! A request's body, read whole within its limits.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::header::{CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, EXPECT};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout_at};

use super::error::ApiError;
use crate::app::App;
use crate::limits::Hold;

/// How long a body over the limit is still read, and how many limits of it: a caller that is still sending hears no
/// answer, and a connection that is closed on what was sent loses the answer on its way.
const DISCARD_FOR: Duration = Duration::from_secs(5);
const DISCARD_LIMITS: usize = 8;

/// Reads a body of at most `limit` bytes from a caller that pauses for less than `body-timeout` and is not slower than
/// `body-pace`. What has come of it counts in `body-bytes-limit` until the last of it is dropped.
///
/// # Errors
/// 413 over the limit, 408 over the pause or under the pace, 415 for a compressed body, 400 for one that breaks off, 429 and
/// 503 where too much of other bodies is under way.
pub(crate) async fn read(app: &App, parts: &Parts, mut body: Body, limit: usize) -> Result<Bytes, ApiError> {
    let headers = &parts.headers;
    let patience = Patience {
        began: Instant::now(),
        pause: app.config.body_timeout.get(),
        pace: app.config.body_pace.get(),
    };
    if headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        return Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "content_encoding",
            "compressed bodies are not taken; send it as it is",
        ));
    }
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        // Who asked first has sent nothing yet, and sends nothing once refused.
        if !headers.contains_key(EXPECT) {
            discard(&mut body, limit).await;
        }
        return Err(too_large(limit));
    }
    let mut hold = app.limits.body(parts);
    let mut read = BytesMut::new();
    loop {
        let until = patience.until(Instant::now(), read.len());
        let frame = match timeout_at(until, body.frame()).await {
            Ok(None) if read.is_empty() => return Ok(Bytes::new()),
            Ok(None) => return Ok(Bytes::from_owner(Whole { bytes: read.freeze(), _hold: hold })),
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(_))) => {
                return Err(ApiError::new(
                    StatusCode::BAD_REQUEST,
                    "body_cut",
                    "the body ended before its end",
                ));
            }
            Err(_) => {
                let (pause, pace) = (patience.pause.as_secs_f32(), patience.pace);
                let message =
                    format!("nothing of the body came for {pause} s, or less than {pace} bytes a second");
                return Err(closing(ApiError::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", message)));
            }
        };
        let Ok(data) = frame.into_data() else { continue };
        let refused = match data.len() > limit - read.len() {
            true => Some(too_large(limit)),
            false => app.limits.more_of_body(&mut hold, data.len()).err().map(closing),
        };
        if let Some(refusal) = refused {
            drop((read, hold));
            discard(&mut body, limit).await;
            return Err(refusal);
        }
        if read.is_empty() {
            read = announced
                .map_or_else(BytesMut::new, |length| BytesMut::with_capacity(length.min(MAX_RESERVE)));
        }
        read.extend_from_slice(&data);
    }
}

/// A body that has come whole, and what it counts for.
struct Whole {
    bytes: Bytes,
    _hold: Hold,
}

impl AsRef<[u8]> for Whole {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// How slow a caller may be.
struct Patience {
    began: Instant,
    pause: Duration,
    /// In bytes a second.
    pace: usize,
}

impl Patience {
    /// Until when something more has to come, if so many bytes have come by now.
    fn until(&self, now: Instant, come: usize) -> Instant {
        // Nothing of a body's size comes near the numbers that lose their last digits here.
        let owed = Duration::from_secs_f64(come as f64 / self.pace as f64);
        (now + self.pause).min(self.began + self.pause + owed)
    }
}

/// How much room is made on a caller's word alone.
const MAX_RESERVE: usize = 1 << 20;

async fn discard(body: &mut Body, limit: usize) {
    let until = Instant::now() + DISCARD_FOR;
    let mut left = limit.saturating_mul(DISCARD_LIMITS);
    while let Ok(Some(Ok(frame))) = timeout_at(until, body.frame()).await {
        left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        if left == 0 {
            return;
        }
    }
}

fn too_large(limit: usize) -> ApiError {
    let message = format!("the body is larger than {limit} bytes, which is the limit here");
    closing(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message))
}

/// What follows on this connection would be the rest of the body.
fn closing(error: ApiError) -> ApiError {
    error.with(CONNECTION, HeaderValue::from_static("close"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_may_pause_and_may_not_trickle() {
        let began = Instant::now();
        let second = Duration::from_secs(1);
        let patience = Patience { began, pause: 30 * second, pace: 1000 };
        // The time of a pause for nothing, so much more as there is, and never more than a pause from now on.
        for (now, come, until) in [(0, 0, 30), (20, 1, 30), (29, 5000, 35), (34, 9000, 39), (40, 100_000, 70)]
        {
            let found = patience.until(began + now * second, come) - began;
            assert_eq!(found.as_secs(), until, "{come} bytes after {now} s");
        }
    }
}
