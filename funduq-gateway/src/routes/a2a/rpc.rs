//! The JSON-RPC binding over HTTP (A2A 1.0 §9).

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use funduq_a2a::json_rpc::{self, Call, Id, Refusal};
use funduq_a2a::{A2aError, Version};
use funduq_contract::{AgentAddress, PublicKey};
use funduq_core::A2aReply;
use http::StatusCode;
use http::header::ACCEPT;
use http::request::Parts;

use super::refusal::{Refused, noted, unread_rpc};
use super::stream::{self, Framing};
use super::{carry_out, check_agent, echo_extensions, read, read_body, read_refused, version_parameter};
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::extract::Agent;
use crate::http::{json, presenter};

pub(super) async fn call(
    State(app): State<Arc<App>>,
    Agent(agent): Agent,
    parts: Parts,
    body: Body,
) -> Result<Response, ApiError> {
    check_agent(&app, &agent).await?;
    let claim = match app.presenters.read(&parts) {
        Ok(claim) => claim,
        Err(error) => {
            let body = read_refused(&app, &parts, body).await.unwrap_or_default();
            return Ok(Refused::from(error).into_rpc(&json_rpc::id_of(&body)));
        }
    };
    let body = match read_body(&app, &parts, body).await {
        Ok(body) => body,
        Err(error) => return Ok(unread_rpc(error)),
    };
    let presenter = match presenter::settle(&app, claim, &body) {
        Ok(presenter) => presenter,
        Err(error) => return Ok(Refused::from(error).into_rpc(&json_rpc::id_of(&body))),
    };
    let version = Version::from_parameter(version_parameter(&parts).as_deref());
    let is_v03 = version == Ok(Version::V0_3);
    let call = match read(body, move |body| json_rpc::parse(body, version)).await? {
        Ok(call) => call,
        Err(Refusal { id, error }) => {
            return Ok(refuse(id.as_ref(), error.into(), is_v03 && wants_stream(&parts)));
        }
    };
    let mut answer = answer(&app, &agent, &parts, presenter, call).await;
    echo_extensions(&app, &agent, &parts, &mut answer).await;
    Ok(answer)
}

async fn answer(
    app: &Arc<App>,
    agent: &AgentAddress,
    parts: &Parts,
    presenter: Option<PublicKey>,
    call: Call,
) -> Response {
    let dialect = call.dialect();
    let in_stream = call.version == Version::V0_3 && call.request.operation().is_streaming();
    let Call { id, request, .. } = call;
    match (carry_out(app, agent, parts, presenter, request).await, &id) {
        (Err(refused), id) => refuse(id.as_ref(), refused, in_stream),
        // A notification is carried out and gets no answer.
        (Ok(_), None) => StatusCode::NO_CONTENT.into_response(),
        (Ok((A2aReply::Response(response), _)), Some(id)) => {
            json::text(StatusCode::OK, json_rpc::success(id, &response, dialect))
        }
        (Ok((A2aReply::Stream(stream), permit)), Some(id)) => {
            stream::answer(app, *stream, permit, Framing::Rpc { id: id.clone(), dialect })
        }
    }
}

/// A refusal under the request's id, and none for a notification.
///
/// A 0.3 client that asked for a stream reads nothing but one, so its error is a stream's only event; a 1.0 client reads
/// the error best when it comes as it is.
fn refuse(id: Option<&Id>, refused: Refused, in_stream: bool) -> Response {
    match id {
        None => StatusCode::NO_CONTENT.into_response(),
        Some(id) => match refused {
            Refused::A2a(error) if in_stream => {
                noted(&error, stream::only(&json_rpc::failure(id, &error.to_json_rpc())))
            }
            refused => refused.into_rpc(id),
        },
    }
}

fn wants_stream(parts: &Parts) -> bool {
    let accepted = parts.headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.into_iter().any(|value| value.contains("text/event-stream"))
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        A2aError::into(refusal.error)
    }
}
