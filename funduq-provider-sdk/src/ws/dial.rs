//! From an address to an open WebSocket: TCP, the proxy's tunnel, TLS, the upgrade.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{Connector, MaybeTlsStream, WebSocketStream, client_async_tls_with_config};

use super::address::Address;
use super::proxy::Proxy;

const TIMEOUT: Duration = Duration::from_secs(15);

/// The largest message taken: a run's input may have 16 MiB, and escapes and the frame add to that.
const MAX_MESSAGE: usize = 34 << 20;

pub(super) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// How a link gets to funduq.
#[derive(Clone)]
pub(super) struct Dialer {
    pub(super) address: Address,
    pub(super) proxy: Option<Proxy>,
    pub(super) tls: Arc<rustls::ClientConfig>,
}

impl Dialer {
    /// Opens a WebSocket at a path below the base. What went wrong is told as text: there is nothing
    /// to do about it but to try again.
    pub(super) async fn dial(&self, path: &str) -> Result<Socket, String> {
        match timeout(TIMEOUT, self.open(path)).await {
            Ok(opened) => opened,
            Err(_) => Err(format!("no connection within {} seconds", TIMEOUT.as_secs())),
        }
    }

    async fn open(&self, path: &str) -> Result<Socket, String> {
        let (host, port) = match &self.proxy {
            Some(proxy) => (proxy.host(), proxy.port()),
            None => (self.address.host(), self.address.port()),
        };
        let mut stream =
            TcpStream::connect((host, port)).await.map_err(|error| format!("{host}:{port}: {error}"))?;
        // Events are small and each is awaited by somebody.
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        if let Some(proxy) = &self.proxy {
            let authority = self.address.authority();
            proxy.tunnel(&mut stream, &authority).await.map_err(|error| error.to_string())?;
        }
        let connector =
            if self.address.is_tls() { Connector::Rustls(self.tls.clone()) } else { Connector::Plain };
        let (socket, _response) = client_async_tls_with_config(
            self.address.websocket(path),
            stream,
            Some(websocket_config()),
            Some(connector),
        )
        .await
        .map_err(|error| error.to_string())?;
        Ok(socket)
    }
}

pub(super) fn websocket_config() -> WebSocketConfig {
    // The buffers are allocated at once; an idle provider should weigh little.
    WebSocketConfig::default()
        .read_buffer_size(16 << 10)
        .write_buffer_size(64 << 10)
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE))
}
