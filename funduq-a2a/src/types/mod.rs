//! The messages of the A2A 1.0 proto file, apart from the agent card's.

mod artifact;
mod events;
mod message;
mod part;
mod push;
mod send;
mod task;
mod task_requests;

pub use self::artifact::Artifact;
pub use self::events::{StreamResponse, TaskArtifactUpdateEvent, TaskStatusUpdateEvent};
pub use self::message::{Message, Role};
pub use self::part::{Part, PartContent};
pub use self::push::{
    AuthenticationInfo, DeleteTaskPushNotificationConfigRequest, GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    TaskPushNotificationConfig,
};
pub use self::send::{SendMessageConfiguration, SendMessageRequest, SendMessageResponse};
pub use self::task::{Task, TaskState, TaskStatus};
pub use self::task_requests::{
    CancelTaskRequest, GetExtendedAgentCardRequest, GetTaskRequest, ListTasksRequest, ListTasksResponse,
    SubscribeToTaskRequest,
};
