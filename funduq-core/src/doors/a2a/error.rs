//! What the A2A door refuses: in A2A's words where it has one, in funduq's where it has none.

use funduq_a2a::A2aError;

use crate::error::DoorError;
use crate::record::StoreError;

/// Why an A2A request was refused, or a stream ended early.
///
/// The split is the contract page's: a caller's mistakes are A2A's own errors, so that a transport needs no table of
/// funduq's. What A2A has no word for stays funduq's: an unknown agent, a full queue, a missing presenter, an invalid
/// chain, resolution or cancel, a bound thread's membership, and a relay that does not work right now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum A2aDoorError {
    /// One of A2A's own (A2A 1.0 §3.3.2).
    #[error(transparent)]
    A2a(#[from] A2aError),
    /// One of funduq's own.
    #[error(transparent)]
    Door(DoorError),
}

impl From<DoorError> for A2aDoorError {
    fn from(error: DoorError) -> Self {
        let message = error.to_string();
        Self::A2a(match error {
            DoorError::RunNotFound(task) => A2aError::TaskNotFound { task_id: task.as_str().to_owned() },
            DoorError::ThreadNotFound(_) | DoorError::ThreadOfAnotherAgent(_) => {
                A2aError::invalid_field("message.contextId", message)
            }
            DoorError::UnknownOffering { .. } => A2aError::invalid_field("metadata.kyok", message),
            DoorError::InvalidInput { field, problem } => A2aError::invalid_field(field, problem),
            DoorError::StreamTaken(_) | DoorError::AlreadyAnswered(_) => {
                A2aError::UnsupportedOperation(message)
            }
            other => return Self::Door(other),
        })
    }
}

impl From<StoreError> for A2aDoorError {
    fn from(error: StoreError) -> Self {
        Self::Door(error.into())
    }
}

/// A task id that names nothing.
pub(super) fn unknown_task(id: &str) -> A2aDoorError {
    A2aError::TaskNotFound { task_id: id.to_owned() }.into()
}
