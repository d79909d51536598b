//! The gateway as a whole: started from a configuration, stopped in order.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use funduq_contract::{AgentAddress, PublicKey};
use funduq_core::{Funduq, SqliteStore, StoreError};
use funduq_provider_sdk::ws::{Link, LinkError};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::admin;
use crate::app::App;
use crate::config::{Config, ConfigError, Durability};
use crate::data_dir::{DataDir, DataDirError, warn_of_open_key};
use crate::demo;
use crate::directory::Directory;
use crate::enrolment::Admission;
use crate::files::FileError;
use crate::health::HealthCheck;
use crate::http::server::{self, Door, Ending, Patience};
use crate::http::tls::{Certificate, CertificateError};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::presenters::Presenters;
use crate::routes;
use crate::sse::Readers;

/// How long connections may take to end once every run has.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Why the gateway does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration does not fit together.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The data folder cannot be used.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// A list of keys or tokens cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The record cannot be opened or taken up.
    #[error(transparent)]
    Record(#[from] StoreError),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is no TLS certificate to serve with.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The demo provider did not come online.
    #[error("the demo provider did not come online: {0}")]
    Demo(#[from] LinkError),
}

/// A gateway that serves. It is to be stopped with [`Gateway::shutdown`]; dropped, it ends at once and cuts streams.
#[derive(Debug)]
pub struct Gateway {
    app: Arc<App>,
    demo: Option<Demo>,
    accepting: JoinHandle<()>,
    following: JoinHandle<()>,
    certificate: Option<Arc<Certificate>>,
    watching: Option<JoinHandle<()>>,
    /// Held until everything is written.
    _data: DataDir,
}

#[derive(Debug)]
struct Demo {
    link: Link,
    echo: AgentAddress,
}

impl Gateway {
    /// Makes what is missing in the data folder, takes up the record, listens, and brings the demo provider online if
    /// there is to be one. When it returns, everything works.
    ///
    /// # Errors
    /// [`StartError`]; nothing is left running then.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        config.check()?;
        let certificate = match (config.tls_certificate.get(), config.tls_key.get()) {
            (Some(certificate), Some(key)) => Some(Arc::new(Certificate::load(certificate, key)?)),
            _ => None,
        };
        if let Some(key) = config.tls_key.get() {
            warn_of_open_key(key);
        }
        let data = DataDir::open(&config.data_dir)?;
        let identity = data.identity()?;
        let secret = data.token_secret()?;
        let durability = match config.durability {
            Durability::Power => funduq_core::Durability::Power,
            Durability::Process => funduq_core::Durability::Process,
        };
        let store = SqliteStore::open(data.record()?, durability)?;
        let funduq = Funduq::with_token_secret(config.core(), Some(identity), Arc::new(store), secret);

        let listening = |source| StartError::Listen { address: config.listen.get(), source };
        let listener = server::listen(config.listen.get()).map_err(listening)?;
        let address = listener.local_addr().map_err(listening)?;
        let presenters = Presenters::new(&config, address, &data.signatures())?;
        let admission = Admission::new(&config)?;
        funduq.start().await?;
        let directory = Directory::load(&funduq).await?;

        let patience = Patience { header: config.header_timeout.get(), write: config.write_timeout.get() };
        let with_demo = config.demo;
        let metrics = Arc::new(Metrics::new(funduq.clone()));
        let scheme = if certificate.is_some() { "https" } else { "http" };
        let app = Arc::new(App {
            listening: format!("{scheme}://{}", reachable(address)),
            limits: Arc::new(Limits::new(&config, Arc::clone(&metrics))),
            metrics,
            directory: directory.clone(),
            presenters,
            admission,
            readers: Arc::new(Readers::default()),
            health: HealthCheck::default(),
            ending: Ending::new(),
            funduq: funduq.clone(),
            config,
        });
        let door = Door {
            router: routes::router(Arc::clone(&app)),
            patience,
            h2_streams: app.config.http2_streams,
            trusted: Arc::new(app.config.trusted_proxies.clone()),
            limits: Arc::clone(&app.limits),
            certificate: certificate.clone(),
            ending: app.ending.clone(),
        };
        let accepting = tokio::spawn(server::accept(listener, door));
        let following = tokio::spawn(directory.follow(funduq));
        let socket = data.admin_socket();
        match admin::bind(&socket) {
            Ok(listener) => drop(app.ending.tasks.spawn(admin::serve(listener, Arc::clone(&app)))),
            // All else works without it.
            Err(error) => tracing::error!(socket = %socket.display(), %error, "there is no admin socket"),
        }
        let watching = certificate.clone().map(|certificate| {
            let metrics = Arc::clone(&app.metrics);
            tokio::spawn(async move {
                loop {
                    note_certificate(&metrics, certificate.changed().await);
                }
            })
        });
        let mut gateway = Self { app, demo: None, accepting, following, certificate, watching, _data: data };
        if with_demo && let Err(error) = gateway.bring_demo_online().await {
            gateway.shutdown().await;
            return Err(error);
        }
        Ok(gateway)
    }

    async fn bring_demo_online(&mut self) -> Result<(), StartError> {
        let identity = self._data.demo_identity()?;
        let echo = demo::echo_address(&identity);
        // A certificate is for a name, which the address need not have.
        let (url, trusted) = match self.app.config.tls_certificate.get() {
            Some(certificate) => (self.public_url(), Some(certificate)),
            None => (self.url(), None),
        };
        let link = demo::connect(url, identity, self.public_key(), trusted).await?;
        self.demo = Some(Demo { link, echo });
        Ok(())
    }

    /// Where the gateway listens: `http://address:port`.
    pub fn url(&self) -> &str {
        &self.app.listening
    }

    /// The address that callers are given where a request does not say how it came here.
    pub fn public_url(&self) -> &str {
        self.app.config.public_url.get().unwrap_or(self.url())
    }

    /// funduq's own key, for providers to pin.
    pub fn public_key(&self) -> PublicKey {
        self.app.funduq.public_key().expect("the gateway gives its funduq an identity")
    }

    /// The demo agent `echo`, if the demo provider is connected.
    pub fn demo_agent(&self) -> Option<&AgentAddress> {
        self.demo.as_ref().map(|demo| &demo.echo)
    }

    /// The relay behind the sockets.
    pub fn funduq(&self) -> &Funduq {
        &self.app.funduq
    }

    /// What `/metrics` says now.
    pub fn metrics(&self) -> String {
        self.app.metrics.page()
    }

    /// Reads again what may change while the gateway runs: the TLS certificate, and the lists of keys and tokens, which are
    /// also read when they change. What cannot be read is logged, and what was in force stays so.
    pub async fn reload(&self) {
        self.app.presenters.reload();
        self.app.admission.reload();
        if let Some(key) = self.app.config.tls_key.get() {
            warn_of_open_key(key);
        }
        if let Some(certificate) = &self.certificate {
            note_certificate(&self.app.metrics, certificate.reload().await);
        }
    }

    /// Stops: takes no new connections and requests, lets runs end for as long as the configuration says, ends the
    /// streams of those that are left with `RUN_ERROR`, tells the links, and returns when everything is written.
    pub async fn shutdown(self) {
        let Ending { stop, kill, tasks } = self.app.ending.clone();
        stop.cancel();
        self.app.funduq.shutdown(self.app.config.drain.get()).await;
        if let Some(Demo { link, .. }) = self.demo {
            // funduq has let go of it, and it would come back.
            drop(link);
        }
        tasks.close();
        if timeout(LAST_ANSWERS, tasks.wait()).await.is_err() {
            tracing::warn!(connections = tasks.len(), "connections are cut that did not end in time");
            kill.cancel();
        }
        self.following.abort();
        if let Some(watching) = self.watching {
            watching.abort();
        }
        // It ended when it was told to stop.
        let _ = self.accepting.await;
    }
}

fn note_certificate(metrics: &Metrics, loaded: Result<(), CertificateError>) {
    metrics.certificate_loaded(loaded.is_ok());
    match loaded {
        Ok(()) => tracing::info!("the TLS certificate was read again"),
        Err(error) => {
            tracing::error!(%error, "the TLS certificate cannot be read again; the old one stays in use");
        }
    }
}

/// The address at which this machine reaches what listens on `address`.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
