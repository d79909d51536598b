//! The 31 event types of AG-UI 1.0, typed: what funduq and SDK authors emit.
//!
//! Each type serialises with its `type` first; optional members are omitted when
//! they are not set. Every event may carry `timestamp`, `rawEvent` and `metadata`;
//! those that can come from a subagent may carry `subagentRunId`.

mod activity;
mod event_type;
mod outcome;
mod passthrough;
mod reasoning;
mod run;
mod snapshot;
mod step;
mod subagent;
mod text;
mod tool;

pub use activity::{ActivityDelta, ActivitySnapshot};
pub use event_type::EventType;
pub use outcome::{
    CancelledOutcome, InterruptOutcome, RunFinishedOutcome, SubagentFinishedOutcome, SubagentSuccessOutcome,
    SubagentSuspendedOutcome, SuccessOutcome,
};
pub use passthrough::{Custom, Raw};
pub use reasoning::{
    EncryptedValueSubtype, ReasoningEncryptedValue, ReasoningEnd, ReasoningMessageChunk,
    ReasoningMessageContent, ReasoningMessageEnd, ReasoningMessageStart, ReasoningStart,
};
pub use run::{RunError, RunFinished, RunStarted};
pub use snapshot::{MessagesSnapshot, StateDelta, StateSnapshot};
pub use step::{StepFinished, StepStarted};
pub use subagent::{SubagentError, SubagentFinished, SubagentStarted};
pub use text::{TextMessageChunk, TextMessageContent, TextMessageEnd, TextMessageRole, TextMessageStart};
pub use tool::{ToolCallArgs, ToolCallChunk, ToolCallEnd, ToolCallResult, ToolCallStart};

use crate::wire::wire_union;

/// Declares an event: `of_run` events belong to the run as a whole, `attributed`
/// ones may name the subagent they come from.
macro_rules! wire_event {
    (
        $(#[doc = $doc:literal])+
        of_run $name:ident {
            fixed { $($fixed:tt)+ }
            required { $($required:tt)* }
            optional { $($optional:tt)* }
        }
    ) => {
        $crate::wire::wire_object! {
            $(#[doc = $doc])+
            $name {
                fixed { $($fixed)+ }
                required { $($required)* }
                optional {
                    $($optional)*
                    /// When the event was made, in milliseconds since the Unix epoch; absent when not told.
                    timestamp: i64 = "timestamp",
                    /// The producer's own event that this one was made from; absent when not told.
                    raw_event: $crate::Json = "rawEvent",
                    /// Further information for those who know its keys; absent means none.
                    metadata: $crate::RawObject = "metadata",
                }
            }
        }
    };
    (
        $(#[doc = $doc:literal])+
        attributed $name:ident {
            fixed { $($fixed:tt)+ }
            required { $($required:tt)* }
            optional { $($optional:tt)* }
        }
    ) => {
        $crate::event::wire_event! {
            $(#[doc = $doc])+
            of_run $name {
                fixed { $($fixed)+ }
                required { $($required)* }
                optional {
                    $($optional)*
                    /// The subagent invocation it comes from; absent means the run's own agent.
                    subagent_run_id: String = "subagentRunId",
                }
            }
        }
    };
}
use wire_event;

wire_union! {
    /// An AG-UI event, told apart by `type`.
    Event by "type", untagged refused {
        /// A text message begins.
        TextMessageStart(TextMessageStart) = "TEXT_MESSAGE_START",
        /// A piece of a text message.
        TextMessageContent(TextMessageContent) = "TEXT_MESSAGE_CONTENT",
        /// A text message is complete.
        TextMessageEnd(TextMessageEnd) = "TEXT_MESSAGE_END",
        /// Start, content and end of a text message in short form.
        TextMessageChunk(TextMessageChunk) = "TEXT_MESSAGE_CHUNK",
        /// A tool call begins.
        ToolCallStart(ToolCallStart) = "TOOL_CALL_START",
        /// A piece of a tool call's arguments.
        ToolCallArgs(ToolCallArgs) = "TOOL_CALL_ARGS",
        /// A tool call is complete.
        ToolCallEnd(ToolCallEnd) = "TOOL_CALL_END",
        /// Start, arguments and end of a tool call in short form.
        ToolCallChunk(ToolCallChunk) = "TOOL_CALL_CHUNK",
        /// What a tool returned.
        ToolCallResult(ToolCallResult) = "TOOL_CALL_RESULT",
        /// The whole state.
        StateSnapshot(StateSnapshot) = "STATE_SNAPSHOT",
        /// A change of the state.
        StateDelta(StateDelta) = "STATE_DELTA",
        /// The whole conversation.
        MessagesSnapshot(MessagesSnapshot) = "MESSAGES_SNAPSHOT",
        /// The whole content of an activity.
        ActivitySnapshot(ActivitySnapshot) = "ACTIVITY_SNAPSHOT",
        /// A change of an activity's content.
        ActivityDelta(ActivityDelta) = "ACTIVITY_DELTA",
        /// Another system's event, passed on.
        Raw(Raw) = "RAW",
        /// An event of the application's own.
        Custom(Custom) = "CUSTOM",
        /// The run begins.
        RunStarted(RunStarted) = "RUN_STARTED",
        /// The run ended without failing.
        RunFinished(RunFinished) = "RUN_FINISHED",
        /// The run failed.
        RunError(RunError) = "RUN_ERROR",
        /// A step begins.
        StepStarted(StepStarted) = "STEP_STARTED",
        /// A step ended.
        StepFinished(StepFinished) = "STEP_FINISHED",
        /// A span of reasoning begins.
        ReasoningStart(ReasoningStart) = "REASONING_START",
        /// A reasoning message begins.
        ReasoningMessageStart(ReasoningMessageStart) = "REASONING_MESSAGE_START",
        /// A piece of a reasoning message.
        ReasoningMessageContent(ReasoningMessageContent) = "REASONING_MESSAGE_CONTENT",
        /// A reasoning message is complete.
        ReasoningMessageEnd(ReasoningMessageEnd) = "REASONING_MESSAGE_END",
        /// Start, content and end of a reasoning message in short form.
        ReasoningMessageChunk(ReasoningMessageChunk) = "REASONING_MESSAGE_CHUNK",
        /// A span of reasoning ended.
        ReasoningEnd(ReasoningEnd) = "REASONING_END",
        /// A model provider's encrypted reasoning for a message or tool call.
        ReasoningEncryptedValue(ReasoningEncryptedValue) = "REASONING_ENCRYPTED_VALUE",
        /// A subagent begins.
        SubagentStarted(SubagentStarted) = "SUBAGENT_STARTED",
        /// A subagent ended without failing.
        SubagentFinished(SubagentFinished) = "SUBAGENT_FINISHED",
        /// A subagent failed.
        SubagentError(SubagentError) = "SUBAGENT_ERROR",
    }
}
