//! A message as A2A sends it, checked and turned into what the agent gets: AG-UI's run input (A2A 1.0 §3.1.1).

use funduq_a2a::{A2aError, JsonObject, Message, Part, PartContent, Role, SendMessageRequest, media_type};
use funduq_agui::{ForwardedProps, PROTOCOL_VERSION, RelayedInput, RelayedMessage};
use funduq_contract::RESERVED_KEY;
use serde::Serialize;
use serde_json::value::RawValue;

/// The one media type that goes in and comes out.
pub(super) const TEXT: &str = "text/plain";

/// A request whose own words are in order; what it refers to was not looked at yet.
#[derive(Debug)]
pub(super) struct Intake {
    /// The message for the agent.
    pub(super) message: RelayedMessage,
    /// The bag.
    pub(super) bag: ForwardedProps,
    /// The context to go on with.
    pub(super) context: Option<String>,
    /// The task to answer.
    pub(super) task: Option<String>,
    /// The task whose thread a new thread hangs off.
    pub(super) reference: Option<String>,
    /// How many messages of history the answer has.
    pub(super) history_length: Option<usize>,
    /// Answer once the task exists, instead of when it has ended or waits.
    pub(super) return_immediately: bool,
}

/// Checks a request as far as that needs nothing but the request.
pub(super) fn read(request: SendMessageRequest) -> Result<Intake, A2aError> {
    let configuration = request.configuration.unwrap_or_default();
    if configuration.task_push_notification_config.is_some() {
        return Err(A2aError::PushNotificationNotSupported);
    }
    let history_length = history_length("configuration.historyLength", configuration.history_length)?;
    let accepted = configuration.accepted_output_modes;
    if !accepted.is_empty() && !media_type::is_accepted(TEXT, &accepted) {
        return Err(A2aError::ContentTypeNotSupported(format!(
            "configuration.acceptedOutputModes: this agent answers in {TEXT}, which is not among them"
        )));
    }
    let message = message(&request.message)?;
    let Message { context_id, task_id, reference_task_ids, .. } = request.message;
    Ok(Intake {
        message,
        bag: ForwardedProps::Object(request.metadata.unwrap_or_default().into_iter().collect()),
        context: context_id.filter(|id| !id.is_empty()),
        task: task_id.filter(|id| !id.is_empty()),
        reference: reference_task_ids.into_iter().next(),
        history_length,
        return_immediately: configuration.return_immediately,
    })
}

/// A history length: absent all, 0 none, n the newest n (A2A 1.0 §3.2.4).
pub(super) fn history_length(field: &str, length: Option<i32>) -> Result<Option<usize>, A2aError> {
    let read = |length: i32| {
        usize::try_from(length).map_err(|_| A2aError::invalid_field(field, "must not be negative"))
    };
    length.map(read).transpose()
}

/// The run input that a message becomes. funduq's ids are put in later.
///
/// # Errors
/// A message that fits as A2A may not fit as a run input: its parts have longer names there, and its metadata lies deeper.
pub(super) fn input(
    message: RelayedMessage,
    bag: ForwardedProps,
    parent_run_id: Option<String>,
) -> Result<RelayedInput, A2aError> {
    let json = |text: &str| RawValue::from_string(text.to_owned()).ok();
    let input = RelayedInput {
        protocol_version: Some(PROTOCOL_VERSION.to_owned()),
        parent_run_id,
        state: json("{}"),
        tools: json("[]"),
        context: json("[]"),
        forwarded_props: Some(bag),
        ..RelayedInput::new("", "", vec![message])
    };
    match RelayedInput::parse(input.to_json().as_bytes()) {
        Ok(_) => Ok(input),
        Err(error) => Err(A2aError::invalid_field("message", format!("as a run input, {}", error.problem()))),
    }
}

/// A message of AG-UI's role `user`.
#[derive(Serialize)]
struct UserMessage<'a> {
    id: &'a str,
    role: &'static str,
    content: Content<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a JsonObject>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Parts(Vec<TextPart<'a>>),
}

#[derive(Serialize)]
struct TextPart<'a> {
    r#type: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a JsonObject>,
}

/// The message in AG-UI's words: the id as it was given, the text, and the message's own metadata. One part of text
/// alone is AG-UI's plain content; more of them, or one with metadata of its own, are its parts. A part of another
/// kind is refused rather than lost.
fn message(message: &Message) -> Result<RelayedMessage, A2aError> {
    if message.role != Role::User {
        return Err(A2aError::invalid_field(
            "message.role",
            "must be ROLE_USER: a caller speaks as the user",
        ));
    }
    let parts = message.parts.iter().enumerate().map(text_part).collect::<Result<Vec<_>, _>>()?;
    let content = match parts.as_slice() {
        [TextPart { text, metadata: None, .. }] => Content::Text(text),
        _ => Content::Parts(parts),
    };
    // The one key is funduq's here too: a task's history must not show funduq saying what a caller said.
    let metadata = message.metadata.clone().map(|mut metadata| {
        metadata.remove(RESERVED_KEY);
        metadata
    });
    let metadata = metadata.as_ref();
    let user = UserMessage { id: &message.message_id, role: "user", content, metadata };
    let json = serde_json::to_string(&user)
        .map_err(|error| A2aError::invalid_field("message", error.to_string()))?;
    RelayedMessage::parse(&json).map_err(|error| {
        // Of a message whose shape is ours, its depth is what can be wrong.
        A2aError::invalid_field("message", format!("{} {}", error.path(), error.problem()).trim())
    })
}

fn text_part((at, part): (usize, &Part)) -> Result<TextPart<'_>, A2aError> {
    let found = match (&part.content, part.media_type.as_deref()) {
        (PartContent::Text(text), None) => return Ok(as_text(text, part)),
        (PartContent::Text(text), Some(media)) if media_type::is_accepted(media, &[TEXT]) => {
            return Ok(as_text(text, part));
        }
        (PartContent::Text(_), Some(_)) => "text of another media type",
        (PartContent::Raw(_), _) => "the bytes of a file",
        (PartContent::Url(_), _) => "the URL of a file",
        (PartContent::Data(_), _) => "data",
    };
    Err(A2aError::ContentTypeNotSupported(format!(
        "message.parts[{at}]: this agent takes text parts of {TEXT}, not {found}"
    )))
}

fn as_text<'a>(text: &'a str, part: &'a Part) -> TextPart<'a> {
    TextPart { r#type: "text", text, metadata: part.metadata.as_ref() }
}

#[cfg(test)]
#[path = "intake_tests.rs"]
mod tests;
