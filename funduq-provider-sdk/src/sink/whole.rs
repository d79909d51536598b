//! What an agent says in one go.

use funduq_agui::event::{
    ActivityDelta, ActivitySnapshot, Custom, MessagesSnapshot, RunError, StateDelta, StateSnapshot,
    ToolCallResult,
};
use funduq_agui::{Content, Json, JsonPatchOperation, Message, RawObject, RelayedEvent, TokenUsage};
use serde::Serialize;

use super::{EmitError, EventSink, new_id};

impl EventSink {
    /// A whole text message of the agent's. Answers its id.
    ///
    /// # Errors
    /// [`EmitError::RunOver`] or [`EmitError::TakenOver`], as for everything that is said.
    pub async fn text(&self, text: &str) -> Result<String, EmitError> {
        let writer = self.open_text().await?;
        writer.push(text).await?;
        let id = writer.id().to_owned();
        writer.end().await?;
        Ok(id)
    }

    /// A whole tool call of the agent's, with its arguments as JSON. Answers its id.
    ///
    /// # Errors
    /// [`EmitError::NoJson`] for arguments without a JSON form; else as [`text`](Self::text).
    pub async fn tool_call<A>(&self, tool: &str, arguments: &A) -> Result<String, EmitError>
    where
        A: Serialize + Sync + ?Sized,
    {
        let arguments = json(arguments)?;
        let writer = self.open_tool_call(tool).await?;
        writer.push(arguments.get()).await?;
        let id = writer.id().to_owned();
        writer.end().await?;
        Ok(id)
    }

    /// What a tool returned that the agent ran itself. Answers the id of the tool's message.
    ///
    /// # Errors
    /// [`EmitError::Malformed`] for parts that are not what AG-UI says; else as [`text`](Self::text).
    pub async fn tool_result(
        &self,
        tool_call_id: &str,
        content: impl Into<Content>,
    ) -> Result<String, EmitError> {
        let id = new_id();
        self.say_whole(ToolCallResult::new(&*id, tool_call_id, content)).await?;
        Ok(id)
    }

    /// A whole span of reasoning. Answers its id.
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub async fn reasoning(&self, text: &str) -> Result<String, EmitError> {
        let writer = self.open_reasoning().await?;
        writer.push(text).await?;
        let id = writer.id().to_owned();
        writer.end().await?;
        Ok(id)
    }

    /// The whole state, in place of the one before.
    ///
    /// # Errors
    /// [`EmitError::NoJson`] for a state without a JSON form, [`EmitError::Malformed`] for one that is nested too
    /// deep; else as [`text`](Self::text).
    pub async fn state<S>(&self, state: &S) -> Result<(), EmitError>
    where
        S: Serialize + Sync + ?Sized,
    {
        let state = json(state)?;
        self.say_whole(StateSnapshot::new(state)).await
    }

    /// A change of the state, as a JSON Patch.
    ///
    /// # Errors
    /// [`EmitError::Malformed`] for a path that is no JSON Pointer; else as [`text`](Self::text).
    pub async fn state_delta(&self, patch: Vec<JsonPatchOperation>) -> Result<(), EmitError> {
        self.say_whole(StateDelta::new(patch)).await
    }

    /// The whole content of an activity: progress that is not conversation. Answers the activity's id.
    ///
    /// # Errors
    /// [`EmitError::Malformed`] for content that is nested too deep; else as [`text`](Self::text).
    pub async fn activity(&self, kind: &str, content: RawObject) -> Result<String, EmitError> {
        let id = new_id();
        self.say_whole(ActivitySnapshot::new(&*id, kind, content)).await?;
        Ok(id)
    }

    /// A change of an activity's content, as a JSON Patch.
    ///
    /// # Errors
    /// As [`state_delta`](Self::state_delta).
    pub async fn activity_delta(
        &self,
        id: &str,
        kind: &str,
        patch: Vec<JsonPatchOperation>,
    ) -> Result<(), EmitError> {
        self.say_whole(ActivityDelta::new(id, kind, patch)).await
    }

    /// The whole conversation as the agent has it.
    ///
    /// # Errors
    /// [`EmitError::Malformed`] for messages that are not what AG-UI says; else as [`text`](Self::text).
    pub async fn messages(&self, messages: Vec<Message>) -> Result<(), EmitError> {
        self.say_whole(MessagesSnapshot::new(messages)).await
    }

    /// An event of the application's own.
    ///
    /// # Errors
    /// [`EmitError::NoJson`] for a value without a JSON form, [`EmitError::Malformed`] for one that is nested too
    /// deep; else as [`text`](Self::text).
    pub async fn custom<V>(&self, name: &str, value: &V) -> Result<(), EmitError>
    where
        V: Serialize + Sync + ?Sized,
    {
        let value = json(value)?;
        self.say_whole(Custom::new(name, value)).await
    }

    /// Adds what a model call cost; it goes out with the run's last event.
    ///
    /// # Errors
    /// [`EmitError::Malformed`] for a count above [`MAX_SAFE_INTEGER`](funduq_agui::MAX_SAFE_INTEGER), or further
    /// members that are nested too deep; [`EmitError::TooMuchUsage`] beyond 1 MiB of JSON in all. Then it is not added.
    pub fn usage(&self, usage: TokenUsage) -> Result<(), EmitError> {
        // Checked now and in its place, so that it cannot spoil the end.
        let json = super::json_of(&RunError::new("").usage(vec![usage.clone()]).into())?;
        RelayedEvent::parse(json.clone())?;
        self.order().add_usage(usage, json.len())
    }
}

fn json<T: Serialize + ?Sized>(value: &T) -> Result<Json, EmitError> {
    Json::of(value).map_err(|error| EmitError::NoJson(error.to_string()))
}
