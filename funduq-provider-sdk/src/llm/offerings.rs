//! What is lent: the names that callers bind their runs to, one object about them all, and who answers.

use std::fmt;
use std::sync::Arc;

use funduq_agui::RawObject;
use funduq_contract::{AgentName, InvalidName, LlmRegistration};

use super::LlmHandler;

/// How many completions are answered at once by default.
const MAX_CONCURRENT: usize = 256;

/// The offerings of one LLM provider.
#[derive(Clone)]
pub struct LlmOfferings {
    names: Vec<AgentName>,
    metadata: Option<RawObject>,
    pub(super) handler: Arc<dyn LlmHandler>,
    pub(super) max_concurrent: usize,
}

impl LlmOfferings {
    /// Offers these names, all answered by `handler`; a completion says which one it means. A name given twice counts once.
    ///
    /// # Errors
    /// [`InvalidName`] when a name is empty, longer than 128 bytes or no path segment.
    pub fn new<'a>(
        names: impl IntoIterator<Item = &'a str>,
        handler: impl LlmHandler,
    ) -> Result<Self, InvalidName> {
        let mut names = names.into_iter().map(str::parse).collect::<Result<Vec<AgentName>, _>>()?;
        names.sort();
        names.dedup();
        Ok(Self { names, metadata: None, handler: Arc::new(handler), max_concurrent: MAX_CONCURRENT })
    }

    /// Anything that readers of the roster should know about these offerings; funduq does not read it.
    #[must_use]
    pub fn metadata(mut self, metadata: RawObject) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// How many completions are answered at once, at least 1; default 256. One more fails with the code
    /// `provider_busy`, and a stock client tries again.
    #[must_use]
    pub fn max_concurrent(mut self, max: usize) -> Self {
        self.max_concurrent = max.max(1);
        self
    }

    /// What is published.
    pub fn registration(&self) -> LlmRegistration {
        LlmRegistration { names: self.names.clone(), metadata: self.metadata.clone() }
    }
}

impl fmt::Debug for LlmOfferings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmOfferings").field("names", &self.names).finish_non_exhaustive()
    }
}
