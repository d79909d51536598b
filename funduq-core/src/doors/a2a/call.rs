//! Any operation in one call, for transports that serve several bindings: both then do the same by construction.

use funduq_a2a::{A2aError, Request, Response, SendMessageResponse};
use funduq_contract::{AgentAddress, PublicKey};

use super::A2aAdapter;
use super::error::{A2aDoorError, unknown_task};
use super::stream::TaskStream;

/// What an operation answers.
#[derive(Debug)]
pub enum A2aReply {
    /// One result.
    Response(Box<Response>),
    /// A stream, whose events are [`StreamResponse`](funduq_a2a::StreamResponse)s.
    Stream(Box<TaskStream>),
}

impl A2aAdapter {
    /// Carries out an operation. `presenter` is the key that the transport authenticated, if any; `after` the place of
    /// the last event that a subscriber has, if it says so (SSE's `Last-Event-ID`).
    ///
    /// There are no push notifications and no extended card here, whatever task is named (A2A 1.0 §3.3.4).
    ///
    /// # Errors
    /// As the operation's own method; [`A2aError::TaskNotFound`] for a task of another agent too.
    pub async fn call(
        &self,
        agent: &AgentAddress,
        request: Request,
        presenter: Option<PublicKey>,
        after: Option<&str>,
    ) -> Result<A2aReply, A2aDoorError> {
        let response = match request {
            Request::SendMessage(request) => {
                let task = self.send_task(agent, request, presenter).await?;
                Response::SendMessage(SendMessageResponse::Task(task))
            }
            Request::SendStreamingMessage(request) => {
                let stream = self.send_task_streaming(agent, request, presenter).await?;
                return Ok(A2aReply::Stream(Box::new(stream)));
            }
            Request::SubscribeToTask(request) => {
                let id = request.id.clone();
                let stream = self.resubscribe_task(agent, request, after).await?;
                return Ok(A2aReply::Stream(Box::new(stream.ok_or_else(|| unknown_task(&id))?)));
            }
            Request::GetTask(request) => {
                let id = request.id.clone();
                Response::Task(self.get_task(agent, request).await?.ok_or_else(|| unknown_task(&id))?)
            }
            Request::CancelTask(request) => {
                let id = request.id.clone();
                Response::Task(self.cancel_task(agent, request).await?.ok_or_else(|| unknown_task(&id))?)
            }
            Request::ListTasks(request) => Response::Tasks(self.list_tasks(agent, request, presenter).await?),
            Request::CreateTaskPushNotificationConfig(_)
            | Request::GetTaskPushNotificationConfig(_)
            | Request::ListTaskPushNotificationConfigs(_)
            | Request::DeleteTaskPushNotificationConfig(_) => {
                self.context.check_agent(agent).await?;
                return Err(A2aError::PushNotificationNotSupported.into());
            }
            Request::GetExtendedAgentCard(_) => {
                self.context.check_agent(agent).await?;
                let message = "this agent declares no extended card; its card is all there is";
                return Err(A2aError::UnsupportedOperation(message.to_owned()).into());
            }
        };
        Ok(A2aReply::Response(Box::new(response)))
    }
}
