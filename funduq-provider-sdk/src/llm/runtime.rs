//! Which completions are being answered, how many may be, and their orderly end. It knows no wire.

use std::collections::HashMap;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use funduq_contract::{CompletionId, LlmRegistration};
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{LlmHandler, LlmOfferings};
use crate::identity::ProviderIdentity;
use crate::runtime::Stuck;

/// How many completions beyond the allowed ones may be waiting to be told so.
const MAX_REFUSALS: usize = 4096;
/// How long the last words of completions that were stopped may take to be sent.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Answers completions for one identity. A link joins it to a funduq, one at a time. Cloning is cheap and means the same
/// runtime. It must live inside a tokio runtime.
#[derive(Clone)]
pub struct LlmRuntime {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    identity: ProviderIdentity,
    offerings: LlmOfferings,
    state: Mutex<State>,
    /// A completion has ended.
    quieter: Notify,
    /// Fired when whatever still runs is to be handed back.
    pub(super) abort: CancellationToken,
}

#[derive(Default)]
struct State {
    /// Each completion's own signal that nobody reads it any more.
    running: HashMap<CompletionId, CancellationToken>,
    stopping: bool,
}

/// Whether a completion is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    Yes,
    Busy,
    Stopping,
}

impl LlmRuntime {
    /// A runtime of the provider with this identity.
    pub fn new(identity: ProviderIdentity, offerings: LlmOfferings) -> Self {
        let inner = Inner {
            identity,
            offerings,
            state: Mutex::default(),
            quieter: Notify::new(),
            abort: CancellationToken::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Whose runtime this is.
    pub fn identity(&self) -> &ProviderIdentity {
        &self.inner.identity
    }

    /// What to publish: nothing once [`stop`](Self::stop) was called.
    pub fn registration(&self) -> LlmRegistration {
        let mut registration = self.inner.offerings.registration();
        if self.inner.state().stopping {
            registration.names.clear();
        }
        registration
    }

    /// How many completions are being answered.
    pub fn running(&self) -> usize {
        self.inner.state().running.len()
    }

    /// Answers no new completion, then waits until those that are under way have ended. Those that have not by
    /// `deadline` are dropped where they stand and fail with the code `provider_stopped`. Answers whether all had ended by
    /// themselves. The link has to stay open meanwhile.
    pub async fn stop(&self, deadline: Duration) -> bool {
        self.inner.state().stopping = true;
        if timeout(deadline, self.inner.quiet()).await.is_ok() {
            return true;
        }
        tracing::warn!(
            completions = self.running(),
            "the deadline passed; handing back what is still answered"
        );
        self.abandon();
        // What cannot be told to funduq by now it finds out by the link's end.
        let _in_time = timeout(LAST_WORDS, self.inner.quiet()).await;
        false
    }

    /// Stops every completion where it stands, without waiting.
    pub(crate) fn abandon(&self) {
        self.inner.state().stopping = true;
        self.inner.abort.cancel();
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing under this lock leaves it half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn handler(&self) -> &dyn LlmHandler {
        &*self.offerings.handler
    }

    /// Notes a completion, until [`left`](Self::left), with the signal that `gone` fires too.
    pub(super) fn enter(
        &self,
        id: &CompletionId,
        gone: &CancellationToken,
    ) -> Result<(Admission, CancellationToken), Stuck> {
        let mut state = self.state();
        let max = self.offerings.max_concurrent;
        let admission = match state.running.len() {
            running if running >= max.saturating_add(MAX_REFUSALS) => return Err(Stuck),
            _ if state.stopping => Admission::Stopping,
            running if running >= max => Admission::Busy,
            _ => Admission::Yes,
        };
        let cancelled = gone.child_token();
        state.running.insert(id.clone(), cancelled.clone());
        Ok((admission, cancelled))
    }

    pub(super) fn left(&self, id: &CompletionId) {
        self.state().running.remove(id);
        self.quieter.notify_waiters();
    }

    pub(super) fn cancel(&self, id: &CompletionId) {
        if let Some(running) = self.state().running.get(id) {
            running.cancel();
        }
    }

    /// Waits until no completion is being answered.
    async fn quiet(&self) {
        loop {
            let mut quieter = pin!(self.quieter.notified());
            quieter.as_mut().enable();
            if self.state().running.is_empty() {
                return;
            }
            quieter.await;
        }
    }
}

impl fmt::Debug for LlmRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmRuntime")
            .field("identity", &self.inner.identity)
            .field("offerings", &self.inner.offerings)
            .finish_non_exhaustive()
    }
}
