//! The accept loop: sockets in, HTTP/1.1 and HTTP/2 out, until it is told to stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use super::peer::Peer;
use super::stall::StallGuard;
use crate::config::Networks;

/// How long the loop waits after the system has refused it a socket, for want of descriptors as a rule.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// What a connection holds at most of what it reads and of what it writes; no request's head is larger.
const MAX_BUFFER: usize = 64 << 10;

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
    /// With the head of a request, and between requests.
    pub(crate) header: Duration,
    /// With a peer that takes nothing.
    pub(crate) write: Duration,
}

/// What all connections of a listener have in common.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    pub(crate) router: Router,
    pub(crate) patience: Patience,
    /// Proxies whose word about a caller counts.
    pub(crate) trusted: Arc<Networks>,
    pub(crate) ending: Ending,
}

/// Takes connections until it is told to stop, and lets go of the socket then.
pub(crate) async fn accept(listener: TcpListener, door: Door) {
    loop {
        let accepted = tokio::select! {
            () = door.ending.stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                door.ending.tasks.spawn(serve(stream, peer, door.clone()));
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                tracing::error!(%error, "no connection can be taken");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn is_of_one_connection(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

async fn serve(stream: TcpStream, connection_from: SocketAddr, door: Door) {
    let Door { router, patience, trusted, ending } = door;
    // An event is worth a packet of its own; waiting for more to send with it is what a stream is not for.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection was gone at once");
        return;
    }
    let service = TowerToHyperService::new(router.map_request(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        let peer = Peer::of(&mut request, connection_from, false, &trusted);
        request.extensions_mut().insert(peer);
        request
    }));
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(patience.header).max_buf_size(MAX_BUFFER);
    builder.http2().timer(TokioTimer::new()).max_header_list_size(MAX_BUFFER as u32);
    let io = TokioIo::new(StallGuard::new(stream, patience.write));
    let connection = builder.serve_connection_with_upgrades(io, service);
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
    };
    if let Err(error) = result {
        tracing::debug!(peer = %connection_from, error = %causes(&*error), "a connection ended badly");
    }
}

/// An error with what is behind it, which the outermost words leave out.
fn causes(error: &dyn std::error::Error) -> String {
    let chain = std::iter::successors(error.source(), |cause| cause.source());
    chain.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
