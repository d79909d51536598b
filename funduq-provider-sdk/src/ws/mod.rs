//! The link over a WebSocket: found again after every cut, with nothing lost that can be helped (feature `ws`).
//!
//! ```no_run
//! use funduq_provider_sdk::{ProviderIdentity, ServedAgent, agent_fn, ws};
//!
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! let identity = ProviderIdentity::load_or_create("provider.key")?;
//! let hello = agent_fn(async |run| {
//!     run.events().text("Hello!").await?;
//!     Ok(())
//! });
//! ws::connect("https://relay.example", identity)
//!     .pin("29e5833a915a6429a4e3a7948475c338ef436eb82be89c92f059704403db9d55".parse()?)
//!     .agent(ServedAgent::new("hello", hello)?)
//!     .run()
//!     .await?;
//! # Ok(())
//! # }
//! ```

mod address;
mod agents;
mod backoff;
mod dial;
mod error;
mod http;
mod keep;
mod opening;
mod proxy;
mod socket;
mod tls;

#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use funduq_contract::PublicKey;
use tokio::sync::{OnceCell, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use error::LinkError;

use crate::identity::ProviderIdentity;
use crate::runtime::{BufferLimits, Capacity, Runtime, RuntimeBuilder};
use crate::served::ServedAgent;
use address::Address;
use agents::Surroundings;
use dial::Dialer;
use http::Http;
use opening::Opener;
use proxy::Proxy;

/// How long running agents have by default to end when the provider stops.
const DRAIN: Duration = Duration::from_secs(30);

/// Begins a link to the funduq at `url`, `http(s)://host[:port][/prefix]`.
pub fn connect(url: impl Into<String>, identity: ProviderIdentity) -> Connection {
    Connection {
        url: url.into(),
        runtime: Runtime::builder(identity.clone()),
        identity,
        pinned: None,
        bearer: None,
        certificates: Vec::new(),
        drain: DRAIN,
    }
}

/// A link to be: where to, what to serve, whom to trust.
#[must_use = "nothing is served before run or start"]
pub struct Connection {
    url: String,
    identity: ProviderIdentity,
    runtime: RuntimeBuilder,
    pinned: Option<PublicKey>,
    bearer: Option<String>,
    certificates: Vec<PathBuf>,
    drain: Duration,
}

impl Connection {
    /// The key that funduq has to prove before anything is published. Without it, the key that this funduq names
    /// first is what it is held to for as long as the process lives.
    pub fn pin(mut self, funduq: PublicKey) -> Self {
        self.pinned = Some(funduq);
        self
    }

    /// Serves this agent too; a second one of the same name takes the first one's place.
    pub fn agent(mut self, agent: ServedAgent) -> Self {
        self.runtime = self.runtime.agent(agent);
        self
    }

    /// Serves these agents too.
    pub fn agents(mut self, agents: impl IntoIterator<Item = ServedAgent>) -> Self {
        self.runtime = self.runtime.agents(agents);
        self
    }

    /// How many runs to take on. Default: no limit.
    pub fn capacity(mut self, capacity: Capacity) -> Self {
        self.runtime = self.runtime.capacity(capacity);
        self
    }

    /// How much of each run may wait to be recorded before its agent is slowed: what a run can say
    /// while there is no link.
    pub fn buffer(mut self, limits: BufferLimits) -> Self {
        self.runtime = self.runtime.buffer(limits);
        self
    }

    /// The bearer token with which tickets are asked for, where funduq admits providers by one.
    pub fn bearer(mut self, token: impl Into<String>) -> Self {
        self.bearer = Some(token.into());
        self
    }

    /// Trusts the certificates in this PEM file beside the public roots: those of a house's own authority, or
    /// of a proxy that opens TLS.
    pub fn trust(mut self, pem: impl Into<PathBuf>) -> Self {
        self.certificates.push(pem.into());
        self
    }

    /// How long running agents have to end when the provider stops. Default 30 s.
    pub fn drain(mut self, deadline: Duration) -> Self {
        self.drain = deadline;
        self
    }

    /// Serves until something happens that no further attempt can heal.
    ///
    /// # Errors
    /// [`LinkError`]; a network that fails is none, it is tried again for ever.
    pub async fn run(self) -> Result<(), LinkError> {
        self.run_until(std::future::pending()).await
    }

    /// Serves until `stop` is ready, then stops in order: nothing is published any more, running
    /// agents end or are handed back by the [`drain`](Self::drain) deadline, the link is closed.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn run_until(self, stop: impl Future<Output = ()>) -> Result<(), LinkError> {
        let mut link = self.start()?;
        tokio::select! {
            ended = link.ended() => return ended,
            () = stop => {}
        }
        link.stop().await
    }

    /// Serves in the background.
    ///
    /// # Errors
    /// [`LinkError::BadUrl`], [`LinkError::BadProxy`] and [`LinkError::BadCertificates`].
    pub fn start(self) -> Result<Link, LinkError> {
        let address = Address::parse(&self.url)?;
        let proxy = Proxy::from_environment(&address)?;
        let tls = tls::client_config(&self.certificates)?;
        let http = Http::new(address.clone(), tls.clone(), proxy.as_ref(), self.bearer)?;
        let runtime = self.runtime.build();
        let opener = Arc::new(Opener {
            identity: self.identity,
            pinned: self.pinned,
            concurrency: runtime.capacity().declared(),
            dialer: Dialer { address, proxy, tls: Arc::new(tls) },
            http,
            first_seen: OnceCell::new(),
        });
        let stopping = CancellationToken::new();
        let closing = CancellationToken::new();
        let online = watch::Sender::new(false);
        let link = Link {
            runtime: runtime.clone(),
            stopping: stopping.clone(),
            online: online.subscribe(),
            drain: self.drain,
            task: tokio::spawn(serve(opener, runtime, stopping, closing, online, self.drain)),
            told: false,
        };
        Ok(link)
    }
}

/// A provider that serves in the background. Dropping it ends the link at once and stops nothing in order.
#[derive(Debug)]
pub struct Link {
    runtime: Runtime,
    stopping: CancellationToken,
    online: watch::Receiver<bool>,
    drain: Duration,
    task: JoinHandle<Result<(), LinkError>>,
    told: bool,
}

impl Link {
    /// What runs behind the link.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Whether the link is open and funduq has taken the roster.
    pub fn is_online(&self) -> bool {
        *self.online.borrow()
    }

    /// Waits until the link is open and funduq has taken the roster. Answers `false` when it has ended
    /// for good before.
    pub async fn online(&mut self) -> bool {
        self.online.wait_for(|online| *online).await.is_ok()
    }

    /// Waits until the link has ended for good. The reason is told once; after that the answer is `Ok`.
    ///
    /// # Errors
    /// Why it ended, if it was not stopped.
    pub async fn ended(&mut self) -> Result<(), LinkError> {
        if self.told {
            return Ok(());
        }
        let joined = (&mut self.task).await;
        self.told = true;
        match joined {
            Ok(ended) => ended,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_aborted) => Ok(()),
        }
    }

    /// Stops in order: nothing is published any more, running agents end or are handed back by the
    /// deadline given to the [`Connection`], what they said is recorded, the link is closed.
    ///
    /// # Errors
    /// As [`ended`](Self::ended).
    pub async fn stop(mut self) -> Result<(), LinkError> {
        tracing::info!(deadline_s = self.drain.as_secs(), runs = self.runtime.held_runs(), "stopping");
        self.stopping.cancel();
        self.ended().await
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    opener: Arc<Opener>,
    runtime: Runtime,
    stopping: CancellationToken,
    closing: CancellationToken,
    online: watch::Sender<bool>,
    drain: Duration,
) -> Result<(), LinkError> {
    let surroundings =
        Surroundings { runtime: &runtime, stopping: &stopping, closing: &closing, online: &online };
    // When this ends, in whatever way, nobody hears what is still running.
    let _abandoned = Abandon(&runtime);
    let stop = async {
        stopping.cancelled().await;
        runtime.stop(drain).await;
        closing.cancel();
        // The link closes itself now.
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        ended = keep::keep(opener, surroundings) => ended,
        never = stop => match never {},
    }
}

struct Abandon<'a>(&'a Runtime);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("url", &self.url)
            .field("runtime", &self.runtime)
            .finish_non_exhaustive()
    }
}
