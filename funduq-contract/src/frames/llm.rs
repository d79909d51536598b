//! The frames of an LLM link, both directions.

use super::agents::{ErrFrame, OkFrame};
use super::tagged::frames;
use crate::shapes::{
    CancelCompletion, Chunk, Complete, CompletionEnd, CompletionFailed, Connect, ConnectErr, ConnectOk,
    LlmRegistration,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

frames! {
    /// What an LLM provider says on its link.
    LlmUpFrame {
        /// Opens the link; the first frame, and the only one before `connectOk`.
        "connect" => Connect(Connect),
        /// Publishes the link's offerings. Answered by `ok` or `err` with the same id.
        "register" => Register(LlmRegisterFrame),
        /// One chunk of a completion.
        "chunk" => Chunk(Chunk),
        /// A completion is whole.
        "end" => End(CompletionEnd),
        /// A completion was refused or failed.
        "failed" => Failed(CompletionFailed),
    }
}

frames! {
    /// What funduq says on an LLM link.
    LlmDownFrame {
        /// The link is open.
        "connectOk" => ConnectOk(ConnectOk),
        /// The link is not opened; the connection closes.
        "connectErr" => ConnectErr(ConnectErr),
        /// What was asked under this id is done.
        "ok" => Ok(OkFrame),
        /// What was asked under this id is not done; without an id, something that carried none was wrong.
        "err" => Err(ErrFrame),
        /// Hands a completion over.
        "complete" => Complete(Complete),
        /// Nobody reads a completion any more.
        "cancelCompletion" => CancelCompletion(CancelCompletion),
    }
}

impl LlmUpFrame {
    /// Writes one message.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a frame's fields all have a JSON form")
    }
}

impl LlmDownFrame {
    /// Writes one message.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a frame's fields all have a JSON form")
    }
}

/// Publishes the link's offerings: exactly these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LlmRegisterFrame {
    /// The provider's own number for this request; the answer repeats it.
    pub id: u64,
    /// The offerings.
    pub offerings: LlmRegistration,
}
