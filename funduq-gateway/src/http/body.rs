//! A request's body, read whole within its limits.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::header::{CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, EXPECT};
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout, timeout_at};

use super::error::ApiError;

/// How long a body over the limit is still read, and how many limits of it: a caller that is still sending hears no
/// answer, and a connection that is closed on what was sent loses the answer on its way.
const DISCARD_FOR: Duration = Duration::from_secs(5);
const DISCARD_LIMITS: usize = 8;

/// Reads a body of at most `limit` bytes from a caller that pauses for less than `pause`.
///
/// # Errors
/// 413 over the limit, 408 over the pause, 415 for a compressed body, 400 for one that breaks off.
pub(crate) async fn read(
    headers: &HeaderMap,
    mut body: Body,
    limit: usize,
    pause: Duration,
) -> Result<Bytes, ApiError> {
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
    let mut read = BytesMut::new();
    loop {
        let frame = match timeout(pause, body.frame()).await {
            Ok(None) => return Ok(read.freeze()),
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(_))) => {
                return Err(ApiError::new(
                    StatusCode::BAD_REQUEST,
                    "body_cut",
                    "the body ended before its end",
                ));
            }
            Err(_) => {
                let message = format!("nothing of the body came for {} s", pause.as_secs_f32());
                return Err(closing(ApiError::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", message)));
            }
        };
        let Ok(data) = frame.into_data() else { continue };
        if data.len() > limit - read.len() {
            drop(read);
            discard(&mut body, limit).await;
            return Err(too_large(limit));
        }
        if read.is_empty() {
            read = announced
                .map_or_else(BytesMut::new, |length| BytesMut::with_capacity(length.min(MAX_RESERVE)));
        }
        read.extend_from_slice(&data);
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
