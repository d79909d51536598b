//! The frames of the WebSocket link: one JSON text per message, a shape's fields beside the word in `type`.
//!
//! The words and shapes here are one spelling of the link, the one that this project's SDK and gateway share; another
//! transport may spell the same shapes its own way. `type` may stand anywhere in the object, but a frame that begins
//! with it is read in one pass, and everything that this crate writes begins with it.

mod agents;
mod llm;
mod tagged;

pub use agents::{
    DeleteFrame, DownFrame, ErrFrame, EventFrame, FinishFrame, MessagesFrame, OkFrame, ReceivedFrame,
    RegisterFrame, ThreadMessagesFrame, UpFrame, VerdictFrame,
};
pub use llm::{LlmDownFrame, LlmRegisterFrame, LlmUpFrame};

/// A text is no frame of this link and direction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct MalformedFrame {
    /// The word in `type`, where there is one.
    pub kind: Option<String>,
    /// What is wrong, for the log and for the `err` frame that answers it.
    pub problem: String,
}

#[cfg(test)]
mod tests;
