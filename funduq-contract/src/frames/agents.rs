//! The frames of an agent link, both directions.

use super::tagged::frames;
use crate::ids::{AgentName, RunId};
use crate::ports::{PortError, PortErrorCode};
use crate::raw::RawJson;
use crate::shapes::{Ack, Cancel, Connect, ConnectErr, ConnectOk, Offer, Registration, Verdict};
use crate::shapes::{VerdictFields, VerdictWord, verdict_schema};
use funduq_agui::RelayedMessage;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

frames! {
    /// What a provider says on its link.
    UpFrame {
        /// Opens the link; the first frame, and the only one before `connectOk`.
        "connect" => Connect(Connect),
        /// Publishes the link's agents. Answered by `ok` or `err` with the same id.
        "register" => Register(RegisterFrame),
        /// Deletes an agent's record. Answered by `ok` or `err` with the same id.
        "delete" => Delete(DeleteFrame),
        /// Asks for a thread's messages. Answered by `messages` or `err` with the same id.
        "threadMessages" => ThreadMessages(ThreadMessagesFrame),
        /// Answers an offer.
        "verdict" => Verdict(VerdictFrame),
        /// Reports one event of a run.
        "event" => Event(EventFrame),
        /// Says that nothing more will come of a run.
        "finish" => Finish(FinishFrame),
        /// The receipt of a cancel.
        "ack" => Ack(Ack),
    }
}

frames! {
    /// What funduq says on an agent link.
    DownFrame {
        /// The link is open.
        "connectOk" => ConnectOk(ConnectOk),
        /// The link is not opened; the connection closes.
        "connectErr" => ConnectErr(ConnectErr),
        /// What was asked under this id is done.
        "ok" => Ok(OkFrame),
        /// What was asked under this id is not done; without an id, something that carried none was wrong.
        "err" => Err(ErrFrame),
        /// The messages that were asked for.
        "messages" => Messages(MessagesFrame),
        /// Offers a run.
        "offer" => Offer(Offer),
        /// Asks for a run to be stopped.
        "cancel" => Cancel(Cancel),
        /// The run's events up to this number are in the record.
        "received" => Received(ReceivedFrame),
    }
}

impl UpFrame {
    /// Writes one message; an event's bytes go in as they are, without being read again.
    pub fn to_text(&self) -> String {
        match self {
            Self::Event(event) => EventFrame::text(&event.run_id, event.number, event.event.get()),
            other => serde_json::to_string(other).expect("a frame's fields all have a JSON form"),
        }
    }
}

impl DownFrame {
    /// Writes one message.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a frame's fields all have a JSON form")
    }
}

/// Publishes the link's agents: exactly these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RegisterFrame {
    /// The provider's own number for this request; the answer repeats it.
    pub id: u64,
    /// The agents.
    pub agents: Vec<Registration>,
}

/// Deletes the record of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeleteFrame {
    /// The provider's own number for this request; the answer repeats it.
    pub id: u64,
    /// The agent.
    pub name: AgentName,
}

/// Asks for the newest messages of the thread of a run that the provider holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ThreadMessagesFrame {
    /// The provider's own number for this request; the answer repeats it.
    pub id: u64,
    /// The run.
    pub run_id: RunId,
    /// The most messages that are wanted.
    pub limit: u32,
}

/// Answers an offer: the verdict's word, and on a refusal its reason, beside the run and the attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "VerdictFrameFields", try_from = "VerdictFrameFields")]
pub struct VerdictFrame {
    /// The run that was offered.
    pub run_id: RunId,
    /// The offer's attempt.
    pub attempt: u32,
    /// The answer.
    pub verdict: Verdict,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct VerdictFrameFields {
    run_id: RunId,
    #[serde(deserialize_with = "crate::shapes::at_least_one")]
    attempt: u32,
    verdict: VerdictWord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl From<VerdictFrame> for VerdictFrameFields {
    fn from(frame: VerdictFrame) -> Self {
        let VerdictFields { verdict, reason } = frame.verdict.into();
        Self { run_id: frame.run_id, attempt: frame.attempt, verdict, reason }
    }
}

impl TryFrom<VerdictFrameFields> for VerdictFrame {
    type Error = &'static str;

    fn try_from(fields: VerdictFrameFields) -> Result<Self, Self::Error> {
        let VerdictFrameFields { run_id, attempt, verdict, reason } = fields;
        Ok(Self { run_id, attempt, verdict: VerdictFields { verdict, reason }.try_into()? })
    }
}

impl JsonSchema for VerdictFrame {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "VerdictFrame".into()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        concat!(module_path!(), "::VerdictFrame").into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        #[derive(JsonSchema)]
        #[schemars(rename_all = "camelCase")]
        #[expect(dead_code, reason = "only its schema is used")]
        struct Beside {
            /// The run that was offered.
            run_id: RunId,
            /// The offer's attempt.
            #[schemars(range(min = 1))]
            attempt: u32,
        }
        verdict_schema(&Beside::json_schema(generator))
    }
}

/// Reports one event of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EventFrame {
    /// The run.
    pub run_id: RunId,
    /// Which event of the run it is, from 1.
    #[serde(deserialize_with = "crate::shapes::at_least_one")]
    #[schemars(range(min = 1))]
    pub number: u64,
    /// The AG-UI event, as the bytes that the agent made. funduq judges it at intake: one that is malformed ends the
    /// run, not the link.
    pub event: RawJson,
}

impl EventFrame {
    const OPENING: &str = r#"{"type":"event","runId":"#;
    const NUMBER: &str = r#","number":"#;
    const EVENT: &str = r#","event":"#;

    /// Writes an `event` message around an event's own bytes; `event` is one JSON value.
    pub fn text(run_id: &RunId, number: u64, event: &str) -> String {
        use std::fmt::Write;
        let run_id = run_id.as_str();
        let fixed = Self::OPENING.len() + Self::NUMBER.len() + Self::EVENT.len() + 23;
        let mut text = String::with_capacity(fixed + run_id.len() + event.len());
        text.push_str(Self::OPENING);
        if run_id.bytes().any(|byte| matches!(byte, b'"' | b'\\')) {
            text.push_str(&serde_json::to_string(run_id).expect("a string always has a JSON form"));
        } else {
            // An id has no control characters, so it stands for itself.
            text.extend(["\"", run_id, "\""]);
        }
        text.push_str(Self::NUMBER);
        write!(text, "{number}").expect("writing into a String does not fail");
        text.extend([Self::EVENT, event, "}"]);
        text
    }

    /// Run id, number and event of a message as [`EventFrame::text`] writes it; `None` for any other, which may be an
    /// `event` message all the same.
    ///
    /// What stands for the event is not read. Where it is one JSON value, the whole is that message and no other;
    /// where it is not, [`UpFrame::from_text`] says what the whole is.
    pub fn parts(text: &str) -> Option<(&str, u64, &str)> {
        let (run_id, rest) = text.strip_prefix(Self::OPENING)?.strip_prefix('"')?.split_once('"')?;
        let rest = rest.strip_prefix(Self::NUMBER)?;
        let (number, rest) = rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count());
        let event = rest.strip_prefix(Self::EVENT)?.strip_suffix('}')?;
        // An escape is not read here, and no number begins like that.
        if run_id.contains('\\') || number.starts_with('0') {
            return None;
        }
        Some((run_id, number.parse().ok()?, event))
    }
}

/// Says that nothing more will come of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FinishFrame {
    /// The run.
    pub run_id: RunId,
}

/// What was asked is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OkFrame {
    /// The request's number.
    pub id: u64,
}

/// What was asked is not done, or a frame was no frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ErrFrame {
    /// The request's number; left out where what was wrong carried none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// The run that it is about, where it answers a frame that carried no number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// Why, for a machine.
    pub code: PortErrorCode,
    /// The event to send on from, where the code is `gap`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<u64>,
    /// Why, for a person.
    pub message: String,
}

impl ErrFrame {
    /// Says a port's error in answer to a request.
    pub fn to_request(id: u64, error: &PortError) -> Self {
        Self { id: Some(id), ..Self::saying(error) }
    }

    /// Says a port's error about a run, in answer to a frame without a number.
    pub fn about_run(run_id: RunId, error: &PortError) -> Self {
        Self { run_id: Some(run_id), ..Self::saying(error) }
    }

    fn saying(error: &PortError) -> Self {
        let expected = match error {
            PortError::Gap { expected, .. } => Some(*expected),
            _ => None,
        };
        Self { id: None, run_id: None, code: error.code(), expected, message: error.to_string() }
    }
}

impl From<&super::MalformedFrame> for ErrFrame {
    fn from(malformed: &super::MalformedFrame) -> Self {
        Self {
            id: None,
            run_id: None,
            code: PortErrorCode::MalformedFrame,
            expected: None,
            message: malformed.to_string(),
        }
    }
}

/// The messages that were asked for, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessagesFrame {
    /// The request's number.
    pub id: u64,
    /// The messages, as they are in the record.
    pub messages: Vec<RelayedMessage>,
}

/// The run's events up to this number are in the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReceivedFrame {
    /// The run.
    pub run_id: RunId,
    /// The number of the last event that is in the record.
    pub number: u64,
}
