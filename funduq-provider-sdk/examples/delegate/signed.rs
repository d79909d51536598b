//! A binding for the stock client that signs what it sends: JSON-RPC, over a client of the SDK's middleware.

use a2a::{
    A2AError, AgentCard, AgentInterface, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest, JsonRpcId,
    JsonRpcRequest, JsonRpcResponse, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, ListTasksRequest, ListTasksResponse, SendMessageRequest,
    SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, TaskPushNotificationConfig, methods,
};
use a2a_client::{ServiceParams, Transport, TransportFactory};
use funduq_provider_sdk::ProviderIdentity;
use funduq_provider_sdk::http_signatures::HttpSignatures;
use futures_util::stream::{self, BoxStream, StreamExt};
use reqwest::{Client, Response};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Makes the client speak JSON-RPC as this provider.
pub(crate) struct SignedJsonRpc(pub(crate) ProviderIdentity);

#[async_trait::async_trait]
impl TransportFactory for SignedJsonRpc {
    fn protocol(&self) -> &str {
        "JSONRPC"
    }

    async fn create(&self, _: &AgentCard, to: &AgentInterface) -> Result<Box<dyn Transport>, A2AError> {
        let client = ClientBuilder::new(Client::new()).with(HttpSignatures::new(self.0.clone())).build();
        Ok(Box::new(Signed { client, url: to.url.clone() }))
    }
}

struct Signed {
    client: ClientWithMiddleware,
    url: String,
}

impl Signed {
    async fn post(
        &self,
        params: &ServiceParams,
        method: &str,
        request: &impl Serialize,
    ) -> Result<Response, A2AError> {
        let request = serde_json::to_value(request).map_err(failed)?;
        let call = JsonRpcRequest::new(JsonRpcId::String("1".to_owned()), method, Some(request));
        let body = serde_json::to_vec(&call).map_err(failed)?;
        let mut post = self.client.post(&self.url).header("content-type", "application/json").body(body);
        for (name, value) in
            params.iter().flat_map(|(name, values)| values.iter().map(move |value| (name, value)))
        {
            post = post.header(name, value);
        }
        post.send().await.map_err(failed)
    }

    async fn call<T: DeserializeOwned>(
        &self,
        params: &ServiceParams,
        method: &str,
        request: &impl Serialize,
    ) -> Result<T, A2AError> {
        result(&self.post(params, method, request).await?.bytes().await.map_err(failed)?)
    }

    async fn stream(
        &self,
        params: &ServiceParams,
        method: &str,
        request: &impl Serialize,
    ) -> Result<BoxStream<'static, Result<StreamResponse, A2AError>>, A2AError> {
        let answer = self.post(params, method, request).await?;
        let media = answer.headers().get("content-type").map(|media| media.as_bytes().to_owned());
        if media.is_none_or(|media| !media.starts_with(b"text/event-stream")) {
            // It was refused, which is no stream.
            return Err(result::<StreamResponse>(&answer.bytes().await.map_err(failed)?)
                .err()
                .unwrap_or_else(|| A2AError::internal("a stream was asked for, and something else came")));
        }
        Ok(stream::unfold((answer, Vec::new()), next_event).boxed())
    }
}

/// Reads on to the end of the next event's `data` line.
async fn next_event(
    (mut answer, mut read): (Response, Vec<u8>),
) -> Option<(Result<StreamResponse, A2AError>, (Response, Vec<u8>))> {
    loop {
        while let Some(end) = read.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = read.drain(..=end).collect();
            if let Some(data) = line.strip_prefix(b"data: ") {
                return Some((result(data), (answer, read)));
            }
        }
        match answer.chunk().await {
            Ok(Some(chunk)) => read.extend_from_slice(&chunk),
            Ok(None) => return None,
            Err(error) => return Some((Err(failed(error)), (answer, read))),
        }
    }
}

fn result<T: DeserializeOwned>(body: &[u8]) -> Result<T, A2AError> {
    let response: JsonRpcResponse = serde_json::from_slice(body).map_err(failed)?;
    if let Some(error) = response.error {
        return Err(A2AError::new(error.code, error.message));
    }
    serde_json::from_value(response.result.unwrap_or_default()).map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> A2AError {
    A2AError::internal(error.to_string())
}

fn unused<T>() -> Result<T, A2AError> {
    Err(A2AError::unsupported_operation("this example does not ask for it"))
}

#[async_trait::async_trait]
impl Transport for Signed {
    async fn send_message(
        &self,
        params: &ServiceParams,
        request: &SendMessageRequest,
    ) -> Result<SendMessageResponse, A2AError> {
        self.call(params, methods::SEND_MESSAGE, request).await
    }

    async fn send_streaming_message(
        &self,
        params: &ServiceParams,
        request: &SendMessageRequest,
    ) -> Result<BoxStream<'static, Result<StreamResponse, A2AError>>, A2AError> {
        self.stream(params, methods::SEND_STREAMING_MESSAGE, request).await
    }

    async fn get_task(&self, params: &ServiceParams, request: &GetTaskRequest) -> Result<Task, A2AError> {
        self.call(params, methods::GET_TASK, request).await
    }

    async fn list_tasks(
        &self,
        params: &ServiceParams,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, A2AError> {
        self.call(params, methods::LIST_TASKS, request).await
    }

    async fn cancel_task(
        &self,
        params: &ServiceParams,
        request: &CancelTaskRequest,
    ) -> Result<Task, A2AError> {
        self.call(params, methods::CANCEL_TASK, request).await
    }

    async fn subscribe_to_task(
        &self,
        params: &ServiceParams,
        request: &SubscribeToTaskRequest,
    ) -> Result<BoxStream<'static, Result<StreamResponse, A2AError>>, A2AError> {
        self.stream(params, methods::SUBSCRIBE_TO_TASK, request).await
    }

    async fn create_push_config(
        &self,
        _: &ServiceParams,
        _: &TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, A2AError> {
        unused()
    }

    async fn get_push_config(
        &self,
        _: &ServiceParams,
        _: &GetTaskPushNotificationConfigRequest,
    ) -> Result<TaskPushNotificationConfig, A2AError> {
        unused()
    }

    async fn list_push_configs(
        &self,
        _: &ServiceParams,
        _: &ListTaskPushNotificationConfigsRequest,
    ) -> Result<ListTaskPushNotificationConfigsResponse, A2AError> {
        unused()
    }

    async fn delete_push_config(
        &self,
        _: &ServiceParams,
        _: &DeleteTaskPushNotificationConfigRequest,
    ) -> Result<(), A2AError> {
        unused()
    }

    async fn get_extended_agent_card(
        &self,
        _: &ServiceParams,
        _: &GetExtendedAgentCardRequest,
    ) -> Result<AgentCard, A2AError> {
        unused()
    }

    async fn destroy(&self) -> Result<(), A2AError> {
        Ok(())
    }
}
