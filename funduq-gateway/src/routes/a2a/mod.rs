//! The A2A door over HTTP: the card, JSON-RPC and HTTP+JSON, of A2A 1.0 and 0.3 (A2A 1.0 §3.6, §8, §9, §11).
//!
//! Both bindings take their names from one table, read into the same request and call the same method of core, so they
//! do the same.

mod card;
mod refusal;
mod rest;
mod rpc;
mod security;
mod stream;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::routing::{any, get, post};
use bytes::Bytes;
use funduq_a2a::{
    A2aError, EXTENSIONS_PARAMETER, EXTENSIONS_PARAMETER_V03, GetTaskRequest, Request, SendMessageResponse,
    SubscribeToTaskRequest, VERSION_PARAMETER, parse_extensions,
};
use funduq_contract::{AgentAddress, INTERJECTION_EXTENSION, PublicKey, RunId, ThreadId};
use funduq_core::{A2aReply, DoorError, read_place};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Response};

use self::refusal::Refused;
use crate::app::App;
use crate::config::Reads;
use crate::http::body;
use crate::http::error::ApiError;
use crate::http::{presenter, requests};
use crate::limits::Permit;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/a2a/{provider}/{agent}", post(rpc::call))
        // A client that resolves the card's address relative to the interface's needs the slash.
        .route("/a2a/{provider}/{agent}/", post(rpc::call))
        .route("/a2a/{provider}/{agent}/.well-known/agent-card.json", get(card::get))
        .route("/a2a/{provider}/{agent}/.well-known/agent-card.json/", get(card::get))
        .route("/a2a/{provider}/{agent}/{*rest}", any(rest::call))
}

/// Above this many bytes a request is read where it holds up nobody.
const READ_ASIDE: usize = 256 << 10;

/// Refuses an agent that was never registered, whatever is asked of it.
async fn check_agent(app: &App, agent: &AgentAddress) -> Result<(), ApiError> {
    if app.funduq.is_online(agent) || app.funduq.agent(agent).await?.is_some() {
        return Ok(());
    }
    Err(DoorError::AgentNotFound(agent.clone()).into())
}

async fn read_body(app: &App, parts: &Parts, body: Body) -> Result<Bytes, ApiError> {
    body::read(app, parts, body, app.config.body_limit.get()).await
}

/// Reads the body of a request that is refused already, for the id that the refusal goes under; a long one is let be.
async fn read_refused(app: &App, parts: &Parts, body: Body) -> Option<Bytes> {
    let limit = app.config.body_limit.get().min(READ_ASIDE);
    body::read(app, parts, body, limit).await.ok()
}

/// Reads a body into a request, aside if it is large.
async fn read<T: Send + 'static>(
    body: Bytes,
    read: impl FnOnce(&[u8]) -> T + Send + 'static,
) -> Result<T, ApiError> {
    if body.len() < READ_ASIDE {
        return Ok(read(&body));
    }
    tokio::task::spawn_blocking(move || read(&body)).await.map_err(|error| {
        tracing::error!(%error, "an A2A request was not read");
        ApiError::new(http::StatusCode::INTERNAL_SERVER_ERROR, "internal", "the request could not be read")
    })
}

/// The version that the request names, in the header or, for want of one, in the query (A2A 1.0 §3.6.1).
fn version_parameter(parts: &Parts) -> Option<String> {
    if let Some(header) = parts.headers.get(VERSION_PARAMETER) {
        return Some(String::from_utf8_lossy(header.as_bytes()).into_owned());
    }
    let pairs = parts.uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let mut named = pairs.filter(|(name, _)| name.eq_ignore_ascii_case(VERSION_PARAMETER));
    named
        .next()
        .map(|(_, value)| percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned())
}

/// Carries out a request. One for a stream comes with the place that the stream takes.
async fn carry_out(
    app: &App,
    agent: &AgentAddress,
    parts: &Parts,
    presenter: Option<PublicKey>,
    request: Request,
) -> Result<(A2aReply, Option<Permit>), Refused> {
    let permit = match request.operation().is_streaming() {
        true => Some(app.limits.stream(parts)?),
        false => None,
    };
    if let Request::GetTask(GetTaskRequest { id, .. })
    | Request::SubscribeToTask(SubscribeToTaskRequest { id, .. }) = &request
    {
        check_reader(app, id, presenter).await?;
    }
    let last_event = parts.headers.get("last-event-id").and_then(|id| id.to_str().ok());
    if let Request::SubscribeToTask(request) = &request {
        make_way(app, &request.id, last_event).await?;
    }
    let reply = app.funduq.a2a().call(agent, request, presenter, last_event).await?;
    if let A2aReply::Response(response) = &reply {
        note_task(response);
    }
    Ok((reply, permit))
}

/// Notes in the request's name which task it is about. Its stream says so itself.
fn note_task(response: &funduq_a2a::Response) {
    let task = match response {
        funduq_a2a::Response::SendMessage(SendMessageResponse::Task(task))
        | funduq_a2a::Response::Task(task) => task,
        _ => return,
    };
    let context = task.context_id.as_deref().unwrap_or_default();
    if let (Ok(run), Ok(thread)) = (RunId::new(task.id.as_str()), ThreadId::new(context)) {
        requests::about_run(&run, &thread);
    }
}

/// Refuses, as one that is not there, a task that is not for this reader.
async fn check_reader(app: &App, task: &str, reader: Option<PublicKey>) -> Result<(), Refused> {
    let (Reads::Parties, Ok(root)) = (app.config.reads, RunId::new(task)) else { return Ok(()) };
    let is_there = presenter::run(app, &root, reader).await.map_err(ApiError::from)?.is_some();
    // Of one that never was, core says so in its own words.
    match is_there || app.funduq.run(&root).await.map_err(ApiError::from)?.is_none() {
        true => Ok(()),
        false => Err(A2aError::TaskNotFound { task_id: task.to_owned() }.into()),
    }
}

/// Lets the connection that had a task's stream go first. One who names what it has of it takes the stream over: the
/// connection that had it is lost.
async fn make_way(app: &App, task: &str, last_event: Option<&str>) -> Result<(), Refused> {
    let Ok(root) = RunId::new(task) else { return Ok(()) };
    let lineage = app.funduq.lineage(&root).await.map_err(ApiError::from)?;
    let Some(tail) = lineage.last().filter(|tail| !tail.status.is_terminal()) else { return Ok(()) };
    let place = last_event.and_then(read_place);
    if place.is_some_and(|(of, _)| lineage.iter().any(|run| run.id.as_str() == of)) {
        app.readers.take_over(&tail.id).await;
    } else {
        app.readers.wait_for(&tail.id).await;
    }
    Ok(())
}

/// Says in the answer which of the extensions that the caller named are active (A2A 1.0 §3.2.6).
async fn echo_extensions(app: &App, agent: &AgentAddress, parts: &Parts, answer: &mut Response<Body>) {
    for parameter in [EXTENSIONS_PARAMETER, EXTENSIONS_PARAMETER_V03] {
        let values = parts.headers.get_all(parameter).iter().filter_map(|value| value.to_str().ok());
        if !parse_extensions(values).contains(&INTERJECTION_EXTENSION) {
            continue;
        }
        let known = app.funduq.agent(agent).await.ok().flatten();
        if known.is_some_and(|agent| agent.takes_interjections)
            && let Ok(name) = HeaderName::try_from(parameter)
        {
            answer.headers_mut().insert(name, HeaderValue::from_static(INTERJECTION_EXTENSION));
        }
    }
}
