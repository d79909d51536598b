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
mod kyok;
mod llm;
mod opening;
mod proxy;
mod serve;
mod service;
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

pub use backoff::Backoff;
pub use error::LinkError;
pub use kyok::{KyokCallError, KyokClient};

use crate::identity::ProviderIdentity;
use crate::llm::{LlmOfferings, LlmRuntime};
use crate::runtime::{BufferLimits, Capacity, Runtime, RuntimeBuilder};
use crate::served::ServedAgent;
use address::Address;
use dial::Dialer;
use http::Http;
use opening::Opener;
use proxy::Proxy;
use serve::Surroundings;
use service::{Serves, Service};

/// How long what is under way has by default to end when the provider stops.
const DRAIN: Duration = Duration::from_secs(30);

/// Begins a link to the funduq at `url`, `http(s)://host[:port][/prefix]`, that serves agents.
pub fn connect(url: impl Into<String>, identity: ProviderIdentity) -> Connection {
    Connection::to(url, Runtime::builder(identity))
}

/// Begins a link to the funduq at `url` that lends models: an LLM link, which is looked after as an agent link is. One
/// identity may have both.
pub fn serve_llm(
    url: impl Into<String>,
    identity: ProviderIdentity,
    offerings: LlmOfferings,
) -> Connection<LlmRuntime> {
    Connection::to(url, LlmRuntime::new(identity, offerings))
}

/// A link to be: where to, what to serve, whom to trust.
#[must_use = "nothing is served before run or start"]
pub struct Connection<S = RuntimeBuilder> {
    url: String,
    serves: S,
    pinned: Option<PublicKey>,
    bearer: Option<String>,
    certificates: Vec<PathBuf>,
    drain: Duration,
    backoff: Backoff,
}

impl Connection {
    /// Serves this agent too; a second one of the same name takes the first one's place.
    pub fn agent(mut self, agent: ServedAgent) -> Self {
        self.serves = self.serves.agent(agent);
        self
    }

    /// Serves these agents too.
    pub fn agents(mut self, agents: impl IntoIterator<Item = ServedAgent>) -> Self {
        self.serves = self.serves.agents(agents);
        self
    }

    /// How many runs to take on. Default: no limit.
    pub fn capacity(mut self, capacity: Capacity) -> Self {
        self.serves = self.serves.capacity(capacity);
        self
    }

    /// How much of each run may wait to be recorded before its agent is slowed: what a run can say
    /// while there is no link.
    pub fn buffer(mut self, limits: BufferLimits) -> Self {
        self.serves = self.serves.buffer(limits);
        self
    }
}

impl<S: Serves> Connection<S> {
    fn to(url: impl Into<String>, serves: S) -> Self {
        let url = url.into();
        Self {
            url,
            serves,
            pinned: None,
            bearer: None,
            certificates: Vec::new(),
            drain: DRAIN,
            backoff: Backoff::default(),
        }
    }

    /// The key that funduq has to prove before anything is published. Without it, the key that this funduq names
    /// first is what it is held to for as long as the process lives.
    pub fn pin(mut self, funduq: PublicKey) -> Self {
        self.pinned = Some(funduq);
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

    /// How long what is under way has to end when the provider stops. Default 30 s.
    pub fn drain(mut self, deadline: Duration) -> Self {
        self.drain = deadline;
        self
    }

    /// How long to wait between two attempts at a link. Default 0.5 s to 30 s.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// Serves until something happens that no further attempt can heal.
    ///
    /// # Errors
    /// [`LinkError`]; a network that fails is none, it is tried again for ever.
    pub async fn run(self) -> Result<(), LinkError> {
        self.run_until(std::future::pending()).await
    }

    /// Serves until `stop` is ready, then stops in order: nothing is published any more, what is under way
    /// ends or is handed back by the [`drain`](Self::drain) deadline, the link is closed.
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
    pub fn start(self) -> Result<Link<S::Service>, LinkError> {
        let address = Address::parse(&self.url)?;
        let proxy = Proxy::from_environment(&address)?;
        let tls = tls::client_config(&self.certificates)?;
        let http = Http::new(address.clone(), tls.clone(), proxy.as_ref(), self.bearer)?;
        let service = self.serves.service();
        let opener = Arc::new(Opener {
            identity: service.identity().clone(),
            pinned: self.pinned,
            concurrency: service.concurrency(),
            dialer: Dialer { address, proxy, tls: Arc::new(tls) },
            http,
            first_seen: OnceCell::new(),
        });
        let stopping = CancellationToken::new();
        let closing = CancellationToken::new();
        let online = watch::Sender::new(false);
        let link = Link {
            service: service.clone(),
            stopping: stopping.clone(),
            online: online.subscribe(),
            drain: self.drain,
            task: tokio::spawn(serve(opener, self.backoff, service, stopping, closing, online, self.drain)),
            told: false,
        };
        Ok(link)
    }
}

/// A provider that serves in the background. Dropping it ends the link at once and stops nothing in order.
#[derive(Debug)]
pub struct Link<S = Runtime> {
    service: S,
    stopping: CancellationToken,
    online: watch::Receiver<bool>,
    drain: Duration,
    task: JoinHandle<Result<(), LinkError>>,
    told: bool,
}

impl<S> Link<S> {
    /// What runs behind the link.
    pub fn runtime(&self) -> &S {
        &self.service
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
}

impl<S: Service> Link<S> {
    /// Stops in order: nothing is published any more, what is under way ends or is handed back by the
    /// deadline given to the [`Connection`], what was said is sent, the link is closed.
    ///
    /// # Errors
    /// As [`ended`](Self::ended).
    pub async fn stop(mut self) -> Result<(), LinkError> {
        tracing::info!(deadline_s = self.drain.as_secs(), under_way = self.service.under_way(), "stopping");
        self.stopping.cancel();
        self.ended().await
    }
}

impl<S> Drop for Link<S> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve<S: Service>(
    opener: Arc<Opener>,
    backoff: Backoff,
    service: S,
    stopping: CancellationToken,
    closing: CancellationToken,
    online: watch::Sender<bool>,
    drain: Duration,
) -> Result<(), LinkError> {
    let surroundings =
        Surroundings { service: &service, stopping: &stopping, closing: &closing, online: &online };
    // When this ends, in whatever way, nobody hears what is still running.
    let _abandoned = Abandon(&service);
    let stop = async {
        stopping.cancelled().await;
        service.stop(drain).await;
        closing.cancel();
        // The link closes itself now.
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        ended = keep::keep(opener, backoff, surroundings) => ended,
        never = stop => match never {},
    }
}

struct Abandon<'a, S: Service>(&'a S);

impl<S: Service> Drop for Abandon<'_, S> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl<S: fmt::Debug> fmt::Debug for Connection<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("url", &self.url)
            .field("serves", &self.serves)
            .finish_non_exhaustive()
    }
}
