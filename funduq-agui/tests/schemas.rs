//! The JSON Schema of each wire type is the one that was last agreed on.

use std::collections::BTreeMap;

use funduq_agui::event::*;
use funduq_agui::message::*;
use funduq_agui::patch::*;
use funduq_agui::*;
use schemars::{JsonSchema, Schema, SchemaGenerator};

fn own<T: JsonSchema>() -> (String, Schema) {
    // Types within it stay references: each has its own entry.
    (T::schema_name().into_owned(), T::json_schema(&mut SchemaGenerator::default()))
}

macro_rules! assert_schemas {
    ($name:literal: $($type:ty),+ $(,)?) => {
        let schemas: BTreeMap<String, Schema> = [$(own::<$type>()),+].into();
        insta::with_settings!({ sort_maps => true }, { insta::assert_json_snapshot!($name, schemas) });
    };
}

#[test]
fn events_have_their_schemas() {
    assert_schemas!(
        "events": Event, TextMessageStart, TextMessageContent, TextMessageEnd, TextMessageChunk, TextMessageRole,
        ToolCallStart, ToolCallArgs, ToolCallEnd, ToolCallChunk, ToolCallResult, StateSnapshot, StateDelta,
        MessagesSnapshot, ActivitySnapshot, ActivityDelta, Raw, Custom, RunStarted, RunFinished, RunError,
        StepStarted, StepFinished, ReasoningStart, ReasoningMessageStart, ReasoningMessageContent,
        ReasoningMessageEnd, ReasoningMessageChunk, ReasoningEnd, ReasoningEncryptedValue, EncryptedValueSubtype,
        SubagentStarted, SubagentFinished, SubagentError,
    );
}

#[test]
fn outcomes_and_usage_have_their_schemas() {
    assert_schemas!(
        "outcomes": RunFinishedOutcome, SuccessOutcome, InterruptOutcome, CancelledOutcome, SubagentFinishedOutcome,
        SubagentSuccessOutcome, SubagentSuspendedOutcome, TokenUsage,
    );
}

#[test]
fn messages_have_their_schemas() {
    assert_schemas!(
        "messages": Message, Role, DeveloperMessage, SystemMessage, AssistantMessage, UserMessage, ToolMessage,
        ActivityMessage, ReasoningMessage, ToolCall, FunctionCall, Content, ContentPart, TextPart, ImagePart,
        AudioPart, VideoPart, DocumentPart, PartSource, DataSource, UrlSource, FileSource,
    );
}

#[test]
fn inputs_have_their_schemas() {
    assert_schemas!(
        "inputs": RunAgentInput, Tool, Context, Interrupt, ResumeEntry, ResumeStatus,
    );
}

#[test]
fn patch_operations_have_their_schemas() {
    assert_schemas!(
        "patch": JsonPatchOperation, AddOperation, RemoveOperation, ReplaceOperation, MoveOperation, CopyOperation,
        TestOperation,
    );
}

#[test]
fn capabilities_have_their_schemas() {
    assert_schemas!(
        "capabilities": AgentCapabilities, IdentityCapabilities, TransportCapabilities, ToolsCapabilities,
        OutputCapabilities, StateCapabilities, MultiAgentCapabilities, SubagentInfo, ReasoningCapabilities,
        MultimodalCapabilities, MultimodalInputCapabilities, MultimodalOutputCapabilities, ExecutionCapabilities,
        HumanInTheLoopCapabilities,
    );
}

#[test]
fn relayed_types_have_their_schemas() {
    assert_schemas!("relayed": RelayedEvent, RawObject, Json, ForwardedProps);
}

#[test]
fn relayed_messages_inputs_and_answers_publish_the_typed_schemas() {
    fn same<A: JsonSchema, B: JsonSchema>() {
        let (a, b) = (own::<A>(), own::<B>());
        assert_eq!((a.0, a.1.to_value()), (b.0, b.1.to_value()));
    }
    same::<RelayedInput, RunAgentInput>();
    same::<RelayedMessage, Message>();
    same::<RelayedResume, ResumeEntry>();
}
