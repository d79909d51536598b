//! The names of the 31 event types.

use std::fmt;

/// Declares the event types in the order of [`super::Event`]'s members.
macro_rules! event_types {
    ($( $variant:ident = $name:literal, )+) => {
        /// An event's `type`: one of the 31 of AG-UI 1.0, or one that 1.0 does not know.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum EventType {
            $( #[doc = concat!("`", $name, "`")] $variant, )+
            /// A type that AG-UI 1.0 does not know.
            Unknown,
        }

        impl EventType {
            /// The types that AG-UI 1.0 knows.
            pub const KNOWN: &[Self] = &[$(Self::$variant),+];

            /// The type of that name; [`EventType::Unknown`] for any name but the 31.
            #[must_use]
            pub fn from_name(name: &str) -> Self {
                match name {
                    $( $name => Self::$variant, )+
                    _ => Self::Unknown,
                }
            }

            /// The name on the wire; empty for [`EventType::Unknown`], whose name is the event's.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $name, )+
                    Self::Unknown => "",
                }
            }
        }
    };
}

event_types! {
    TextMessageStart = "TEXT_MESSAGE_START",
    TextMessageContent = "TEXT_MESSAGE_CONTENT",
    TextMessageEnd = "TEXT_MESSAGE_END",
    TextMessageChunk = "TEXT_MESSAGE_CHUNK",
    ToolCallStart = "TOOL_CALL_START",
    ToolCallArgs = "TOOL_CALL_ARGS",
    ToolCallEnd = "TOOL_CALL_END",
    ToolCallChunk = "TOOL_CALL_CHUNK",
    ToolCallResult = "TOOL_CALL_RESULT",
    StateSnapshot = "STATE_SNAPSHOT",
    StateDelta = "STATE_DELTA",
    MessagesSnapshot = "MESSAGES_SNAPSHOT",
    ActivitySnapshot = "ACTIVITY_SNAPSHOT",
    ActivityDelta = "ACTIVITY_DELTA",
    Raw = "RAW",
    Custom = "CUSTOM",
    RunStarted = "RUN_STARTED",
    RunFinished = "RUN_FINISHED",
    RunError = "RUN_ERROR",
    StepStarted = "STEP_STARTED",
    StepFinished = "STEP_FINISHED",
    ReasoningStart = "REASONING_START",
    ReasoningMessageStart = "REASONING_MESSAGE_START",
    ReasoningMessageContent = "REASONING_MESSAGE_CONTENT",
    ReasoningMessageEnd = "REASONING_MESSAGE_END",
    ReasoningMessageChunk = "REASONING_MESSAGE_CHUNK",
    ReasoningEnd = "REASONING_END",
    ReasoningEncryptedValue = "REASONING_ENCRYPTED_VALUE",
    SubagentStarted = "SUBAGENT_STARTED",
    SubagentFinished = "SUBAGENT_FINISHED",
    SubagentError = "SUBAGENT_ERROR",
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Unknown { "unknown" } else { self.as_str() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Event;

    #[test]
    fn the_types_are_the_event_unions_members_in_order() {
        let members = Event::UNION.members;
        assert_eq!(members.len(), 31);
        assert_eq!(EventType::KNOWN.len(), members.len());
        for (known, (name, _)) in EventType::KNOWN.iter().zip(members) {
            let name = name.as_str();
            assert_eq!(known.as_str(), name);
            assert_eq!(EventType::from_name(name), *known);
        }
    }

    #[test]
    fn another_name_is_unknown() {
        assert_eq!(EventType::from_name("THINKING_START"), EventType::Unknown);
        assert_eq!(EventType::from_name("text_message_start"), EventType::Unknown);
        assert_eq!(EventType::from_name(""), EventType::Unknown);
    }
}
