//! The AG-UI door over HTTP: a run input in, its events out; threads beforehand; a run's stream again.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use funduq_agui::RelayedInput;
use funduq_contract::{RunId, ThreadId};
use funduq_core::{AguiStream, DoorError, read_place};
use http::request::Parts;
use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::http::error::ApiError;
use crate::http::extract::{Agent, Id};
use crate::http::presenter::{self, Reader};
use crate::http::{body, json, requests};
use crate::limits::Permit;
use crate::sse;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/agui/{provider}/{agent}", post(run))
        .route("/agui/{provider}/{agent}/threads", post(create_thread))
        .route("/agui/{provider}/{agent}/runs/{run}", get(replay))
}

/// Above this many bytes an input is read where it holds up nobody.
const READ_ASIDE: usize = 256 << 10;

async fn run(
    State(app): State<Arc<App>>,
    Agent(agent): Agent,
    parts: Parts,
    body: Body,
) -> Result<Response, ApiError> {
    let permit = app.limits.stream(&parts)?;
    let claim = app.presenters.read(&parts)?;
    let body = body::read(&app, &parts, body, app.config.body_limit.get()).await?;
    let presenter = presenter::settle(&app, claim, &body)?;
    let input = input(body).await?;
    let stream = app.funduq.agui().run(&agent, input, presenter).await?;
    Ok(stream_out(&app, stream, permit))
}

async fn input(body: Bytes) -> Result<RelayedInput, ApiError> {
    if body.len() < READ_ASIDE {
        return Ok(RelayedInput::parse(&body)?);
    }
    match tokio::task::spawn_blocking(move || RelayedInput::parse(&body)).await {
        Ok(input) => Ok(input?),
        Err(error) => {
            tracing::error!(%error, "a run input was not read");
            Err(ApiError::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal",
                "the run input could not be read",
            ))
        }
    }
}

fn stream_out(app: &App, stream: AguiStream, permit: Permit) -> Response {
    requests::about_run(stream.run_id(), stream.thread_id());
    let place = app.readers.enter(stream.run_id());
    sse::answer(stream, place, permit, app.config.keep_alive.get())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    thread_id: ThreadId,
}

/// A request for a thread says nothing in its body, and some clients send an empty object all the same.
const MAX_THREAD_BODY: usize = 4 << 10;

async fn create_thread(
    State(app): State<Arc<App>>,
    Agent(agent): Agent,
    parts: Parts,
    body: Body,
) -> Result<Response, ApiError> {
    let claim = app.presenters.read(&parts)?;
    let body = body::read(&app, &parts, body, MAX_THREAD_BODY).await?;
    presenter::settle(&app, claim, &body)?;
    let thread_id = app.funduq.agui().create_thread(&agent).await?;
    Ok(json::answer(StatusCode::CREATED, &Created { thread_id }))
}

#[derive(Debug, Deserialize)]
struct RunPath {
    run: RunId,
}

/// A run's stream again, after the event that `Last-Event-ID` names. Where nothing is left to send, the answer is 204, by
/// which a browser's event source knows to stop asking.
async fn replay(
    State(app): State<Arc<App>>,
    Agent(agent): Agent,
    Id(RunPath { run }): Id<RunPath>,
    Reader(reader): Reader,
    parts: Parts,
) -> Result<Response, ApiError> {
    let permit = app.limits.stream(&parts)?;
    let unknown = || DoorError::RunNotFound(run.clone());
    let recorded = presenter::run(&app, &run, reader).await?;
    let recorded = recorded.filter(|recorded| recorded.agent == agent).ok_or_else(unknown)?;
    // An event source that has nothing may say so with an empty header.
    let given = parts.headers.get("last-event-id").filter(|id| !id.is_empty());
    let after = match given {
        Some(id) => Some(last_event(&app, &run, id.to_str().unwrap_or_default()).await?),
        None => None,
    };
    let has_ended = recorded.status.is_terminal();
    if has_ended && after == Some(recorded.last_event) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    if parts.method == Method::HEAD {
        // The run's one stream is for whoever reads it.
        return match after.is_none() && !has_ended && app.readers.is_read(&run) {
            true => Err(DoorError::StreamTaken(run).into()),
            false => Ok(sse::head()),
        };
    }
    match after {
        // It names what it has, so the rest is its to have: the connection that had it is lost.
        Some(_) => app.readers.take_over(&run).await,
        None => app.readers.wait_for(&run).await,
    }
    let stream = app.funduq.agui().replay(&agent, &run, after.unwrap_or_default()).await?;
    Ok(stream_out(&app, stream, permit))
}

/// The number in `{run}:{number}`, which has to be of this run and of an event that it has.
async fn last_event(app: &App, run: &RunId, id: &str) -> Result<u64, ApiError> {
    let invalid = |message: String| ApiError::bad_request("invalid_last_event_id", "Last-Event-ID", message);
    let place = read_place(id).filter(|(of, number)| *of == run.as_str() && *number > 0);
    let Some((_, number)) = place else {
        return Err(invalid(format!("an event of this run is named {run}:{{number}}")));
    };
    if app.funduq.run_events(run, number - 1, 1).await?.is_empty() {
        return Err(invalid(format!("the run has no event {number} yet")));
    }
    Ok(number)
}
