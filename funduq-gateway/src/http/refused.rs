//! What a request was refused for, on the answer's way out: the log has its word, whatever shape the body has.

use axum::response::Response;

use crate::limits::Limit;

/// Why there is no better answer. The word comes from a list in the code, so that a line with it can be searched for and holds
/// nothing of what was sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refused {
    pub(crate) code: &'static str,
    /// The limit that it is because of.
    pub(crate) limit: Option<Limit>,
}

impl Refused {
    /// By this word alone.
    pub(crate) fn by(code: &'static str) -> Self {
        Self { code, limit: None }
    }

    /// Notes it on an answer.
    pub(crate) fn note(self, answer: &mut Response) {
        answer.extensions_mut().insert(self);
    }
}
