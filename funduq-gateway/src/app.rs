//! What every route holds: the relay, the configuration, and what the gateway itself keeps beside them.

use std::sync::Arc;

use funduq_core::Funduq;

use crate::config::Config;
use crate::directory::Directory;
use crate::enrolment::Admission;
use crate::health::HealthCheck;
use crate::http::server::Ending;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::presenters::Presenters;
use crate::sse::Readers;

/// The gateway's shared state.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) funduq: Funduq,
    pub(crate) config: Config,
    /// Where the gateway listens, as a URL.
    pub(crate) listening: String,
    pub(crate) directory: Directory,
    /// How callers prove a key.
    pub(crate) presenters: Presenters,
    /// Who may serve.
    pub(crate) admission: Admission,
    /// Who reads which run's stream.
    pub(crate) readers: Arc<Readers>,
    pub(crate) health: HealthCheck,
    pub(crate) ending: Ending,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) limits: Arc<Limits>,
}
