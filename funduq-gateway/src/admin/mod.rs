//! The operator's door: a socket in the data folder that nobody but the folder's owner can open. It is never on a network.

pub(crate) mod providers;

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::CONTENT_TYPE;
use tokio::net::UnixListener;

use crate::app::App;
use crate::http::requests;
use crate::metrics;

/// The socket's name in the data folder.
pub(crate) const SOCKET: &str = "admin.sock";

/// Refuses a path that no socket can have, and says why: the system has room for about a hundred bytes (`sun_path`).
pub(crate) fn check_length(path: &Path) -> io::Result<()> {
    match std::os::unix::net::SocketAddr::from_pathname(path) {
        Ok(_) => Ok(()),
        Err(_) => Err(io::Error::other(format!(
            "the path {} has {} bytes, more than a socket's may have: give --data-dir a shorter one, such as one relative \
             to where funduq runs",
            path.display(),
            path.as_os_str().len()
        ))),
    }
}

/// Makes the socket, in place of one that an earlier process left. The folder is this process's alone by its lock.
pub(crate) fn bind(path: &Path) -> io::Result<UnixListener> {
    check_length(path)?;
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Serves until the gateway is told to stop.
pub(crate) async fn serve(listener: UnixListener, app: Arc<App>) {
    let router = Router::new()
        .merge(providers::routes())
        .route("/metrics", get(page))
        .fallback(requests::not_found)
        .with_state(Arc::clone(&app));
    let stopped = async move { app.ending.stop.cancelled().await };
    if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(stopped).await {
        tracing::error!(%error, "the admin socket is closed");
    }
}

async fn page(State(app): State<Arc<App>>) -> Response {
    ([(CONTENT_TYPE, metrics::CONTENT_TYPE)], app.metrics.page()).into_response()
}
