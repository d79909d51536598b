//! From a request to a WebSocket (RFC 6455, section 4.2).

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::header::{
    CONNECTION, HeaderName, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::activity::{Activity, Watched};
use super::socket::Stream;
use super::threshold::Threshold;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::peer::Peer;

/// What each link holds to read into. Ten thousand idle links hold this much each.
const READ_BUFFER: usize = 8 << 10;
/// How much gathers before it is written, if nobody flushes earlier.
const WRITE_BUFFER: usize = 16 << 10;
/// How much longer than its event an event's frame may be: its type, its run's id, its number.
const ENVELOPE: usize = 4 << 10;

/// The longest opening. It is a key, a ticket, a nonce and a signature; who it is from shows only once it is read.
const OPENING: usize = 16 << 10;

/// A connection that has become a WebSocket, and when it was last heard of.
pub(super) struct Socket {
    pub(super) stream: Stream,
    /// What holds once the link is open.
    pub(super) open: WebSocketConfig,
    pub(super) activity: Arc<Activity>,
    pub(super) peer: Option<IpAddr>,
}

/// Answers the handshake, and serves the link once the connection is one.
///
/// # Errors
/// 426 for a request that is no handshake, in the gateway's own words.
pub(super) fn accept<F>(
    app: Arc<App>,
    mut request: Request,
    serve: impl FnOnce(Arc<App>, Socket) -> F + Send + 'static,
) -> Result<Response, ApiError>
where
    F: Future<Output = ()> + Send + 'static,
{
    // The route for GET takes HEAD too.
    if request.method() != Method::GET {
        return Err(refusal("a WebSocket begins with GET"));
    }
    let key = handshake_key(request.version(), request.headers())?;
    let permit = app.limits.link()?;
    let accept = HeaderValue::from_str(&derive_accept_key(key.as_bytes()))
        .expect("base64 is made of characters that a header may have");
    let peer = request.extensions().get::<Peer>().map(|peer| peer.ip);
    let upgrade = request
        .extensions_mut()
        .remove::<OnUpgrade>()
        .ok_or_else(|| refusal("this connection cannot become a WebSocket"))?;
    let tasks = app.ending.tasks.clone();
    tasks.spawn(async move {
        match upgrade.await {
            Ok(upgraded) => {
                let activity = Arc::new(Activity::new());
                let watched = Watched::new(TokioIo::new(upgraded), Arc::clone(&activity));
                let threshold = Threshold::new(watched);
                let stream =
                    WebSocketStream::from_raw_socket(threshold, Role::Server, Some(config(OPENING))).await;
                let open = config(app.config.link_event_limit.get() + ENVELOPE);
                serve(app, Socket { stream, open, activity, peer }).await;
                drop(permit);
            }
            Err(error) => tracing::debug!(%error, "a connection did not become a WebSocket"),
        }
    });
    let headers = [
        (CONNECTION, HeaderValue::from_static("upgrade")),
        (UPGRADE, HeaderValue::from_static("websocket")),
        (SEC_WEBSOCKET_ACCEPT, accept),
    ];
    Ok((StatusCode::SWITCHING_PROTOCOLS, headers, Body::empty()).into_response())
}

fn config(limit: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .max_message_size(Some(limit))
        .max_frame_size(Some(limit))
}

fn handshake_key(version: Version, headers: &HeaderMap) -> Result<&HeaderValue, ApiError> {
    if version != Version::HTTP_11 {
        return Err(refusal("a WebSocket begins over HTTP/1.1 here"));
    }
    if !has_token(headers, &CONNECTION, "upgrade") || !has_token(headers, &UPGRADE, "websocket") {
        return Err(refusal("this is a WebSocket: ask with Connection: Upgrade and Upgrade: websocket"));
    }
    if headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        let supported = HeaderValue::from_static("13");
        return Err(refusal("only version 13 of the WebSocket protocol is spoken here")
            .with(SEC_WEBSOCKET_VERSION, supported));
    }
    headers.get(SEC_WEBSOCKET_KEY).ok_or_else(|| refusal("the header Sec-WebSocket-Key is missing"))
}

fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|value| value.trim().eq_ignore_ascii_case(token))
}

fn refusal(message: &'static str) -> ApiError {
    ApiError::new(StatusCode::UPGRADE_REQUIRED, "upgrade_required", message)
        .with(UPGRADE, HeaderValue::from_static("websocket"))
}
