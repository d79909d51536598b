//! The accept loop: sockets in, HTTP/1.1 and HTTP/2 out, in the clear or over TLS, until it is told to stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::header::CONNECTION;
use http::{HeaderValue, Request};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::util::MapResponse;
use tower::{ServiceExt, service_fn};

use super::flow::Answer;
use super::peer::Peer;
use super::requests::OverLimit;
use super::silence::FirstWords;
use super::stall::StallGuard;
use super::streams::Streams;
use super::tls::Certificate;
use crate::config::Networks;
use crate::limits::{Limit, Limits};

/// How long the loop waits after the system has refused it a socket, for want of descriptors as a rule.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// How many connections the system keeps ready until the loop takes them, if its own bound lets it. One more is not answered,
/// and tries again only after a second; after a restart every provider comes back at once.
const BACKLOG: u32 = 4096;

/// What a connection holds at most of what it reads and of what it writes; no request's head is larger.
const MAX_BUFFER: usize = 64 << 10;

/// How patient a connection is that is over a limit: its place is one of few.
const NO_PATIENCE: Duration = Duration::from_secs(5);

/// How often an HTTP/2 connection is asked for a sign of life, and how long it may take.
const H2_PING: Duration = Duration::from_secs(30);
const H2_PONG: Duration = Duration::from_secs(20);
/// How long an idle one that is told to end may take to do so.
const PARTING: Duration = Duration::from_secs(1);

/// How connections end.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    /// No new requests: each connection ends after the answer that is under way.
    pub(crate) stop: CancellationToken,
    /// Now, whatever is under way.
    pub(crate) kill: CancellationToken,
    /// Everything that lives on a connection.
    pub(crate) tasks: TaskTracker,
}

impl Ending {
    pub(crate) fn new() -> Self {
        Self { stop: CancellationToken::new(), kill: CancellationToken::new(), tasks: TaskTracker::new() }
    }
}

/// How patient connections are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// With the head of a request, and between requests; and with a TLS handshake.
    pub(crate) header: Duration,
    /// With a peer that takes nothing.
    pub(crate) write: Duration,
}

/// What all connections of a listener have in common.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    pub(crate) router: Router,
    pub(crate) patience: Patience,
    /// How many requests one HTTP/2 connection may have under way.
    pub(crate) h2_streams: u32,
    /// Proxies whose word about a caller counts.
    pub(crate) trusted: Arc<Networks>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) certificate: Option<Arc<Certificate>>,
    pub(crate) ending: Ending,
}

/// Listens on an address.
///
/// # Errors
/// What the system says against it.
pub(crate) fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // What is left of connections of the last process does not keep the address. (Elsewhere it would let others take it.)
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Takes connections until it is told to stop, and lets go of the socket then.
pub(crate) async fn accept(listener: TcpListener, door: Door) {
    loop {
        let accepted = tokio::select! {
            () = door.ending.stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, from)) => {
                // Without a place even to say so, the connection is closed unheard.
                if let Some(seat) = door.limits.connection(from.ip()) {
                    let mut door = door.clone();
                    door.ending.tasks.clone().spawn(async move {
                        if let Some(limit) = seat.over {
                            door.patience = Patience { header: NO_PATIENCE, write: NO_PATIENCE };
                            door.router = reserve(door.router, limit);
                        }
                        serve(stream, from, door).await;
                        drop(seat);
                    });
                }
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                tracing::error!(%error, "no connection can be taken");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Marks what comes on a connection over a limit, so that it is refused where it would be for any other limit.
fn reserve(router: Router, limit: Limit) -> Router {
    Router::new().fallback_service(service_fn(move |mut request: Request<Body>| {
        let router = router.clone();
        request.extensions_mut().insert(OverLimit(limit));
        async move {
            let mut answer: Response = router.oneshot(request).await?;
            // Its place is for the next one. On HTTP/2 the header has no place and no meaning.
            if answer.version() < http::Version::HTTP_2 {
                answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok(answer)
        }
    }))
}

fn is_of_one_connection(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

async fn serve(stream: TcpStream, from: SocketAddr, door: Door) {
    // An event is worth a packet of its own; waiting for more to send with it is what a stream is not for.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection was gone at once");
        return;
    }
    let stream = StallGuard::new(stream, door.patience.write);
    let Some(certificate) = &door.certificate else { return converse(stream, from, door).await };
    let handshake = TlsAcceptor::from(certificate.current()).accept(stream);
    let shaken = tokio::select! {
        shaken = timeout(door.patience.header, handshake) => shaken,
        () = door.ending.stop.cancelled() => return,
    };
    match shaken {
        Ok(Ok(stream)) => converse(stream, from, door).await,
        Ok(Err(error)) => tracing::debug!(peer = %from, %error, "a TLS handshake failed"),
        Err(_) => tracing::debug!(peer = %from, "a TLS handshake took too long"),
    }
}

async fn converse<S>(stream: S, from: SocketAddr, door: Door)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let Door { router, patience, h2_streams, trusted, certificate, ending, .. } = door;
    let is_https = certificate.is_some();
    let router = MapResponse::new(router, |response: Response| response.map(Answer::new));
    let service = TowerToHyperService::new(router.map_request(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        let peer = Peer::of(&mut request, from, is_https, &trusted);
        request.extensions_mut().insert(peer);
        request
    }));
    let streams = Streams::new(patience.write);
    let mut builder = auto::Builder::new(streams.clone());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(patience.header).max_buf_size(MAX_BUFFER);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(MAX_BUFFER as u32)
        .max_concurrent_streams(h2_streams)
        .keep_alive_interval(H2_PING)
        .keep_alive_timeout(H2_PONG);
    // Which HTTP it is, is read without a limit of time.
    let (stream, is_http2) = FirstWords::new(stream, patience.header);
    let idle = async {
        match is_http2.await {
            Ok(()) => streams.idle_for(patience.header).await,
            // HTTP/1.1 has its own patience.
            Err(_) => std::future::pending().await,
        }
    };
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = ending.stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                result = connection => result,
                () = ending.kill.cancelled() => Ok(()),
            }
        }
        () = idle => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                result = connection => result,
                // Its peer did not hear it, and no request of its has crossed it.
                () = streams.idle_for(PARTING) => Ok(()),
                () = ending.kill.cancelled() => Ok(()),
            }
        }
    };
    if let Err(error) = result {
        tracing::debug!(peer = %from, error = %causes(&*error), "a connection ended badly");
    }
}

/// An error with what is behind it, which the outermost words leave out.
fn causes(error: &dyn std::error::Error) -> String {
    let chain = std::iter::successors(error.source(), |cause| cause.source());
    chain.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
