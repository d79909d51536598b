//! The record by run: what it is, and its events.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use funduq_contract::RunId;
use funduq_core::{DoorError, NumberedEvent, Run};
use http::StatusCode;
use serde::Deserialize;

use super::page::{self, Item};
use super::view::WholeRun;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::extract::{Id, Page};
use crate::http::presenter::{self, Reader};
use crate::http::{json, requests};

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/runs/{run}", get(run)).route("/runs/{run}/events", get(events))
}

#[derive(Debug, Deserialize)]
struct RunPath {
    run: RunId,
}

/// The run, if it is there for this reader.
async fn readable(app: &App, id: RunId, reader: Reader) -> Result<Run, ApiError> {
    let run = presenter::run(app, &id, reader.0).await?;
    let Some(run) = run else {
        return Err(ApiError::from(DoorError::RunNotFound(id)).message("there is no such run here"));
    };
    requests::about_run(&run.id, &run.thread_id);
    requests::about_provider(&run.agent.provider);
    Ok(run)
}

async fn run(
    State(app): State<Arc<App>>,
    Id(path): Id<RunPath>,
    reader: Reader,
) -> Result<Response, ApiError> {
    let run = readable(&app, path.run, reader).await?;
    Ok(json::answer(StatusCode::OK, &WholeRun::from(&run)))
}

impl Item for NumberedEvent {
    fn position(&self, _before: u64) -> u64 {
        self.number
    }

    fn write(&self, json: &mut String) {
        json.push_str(self.event.json());
    }
}

async fn events(
    State(app): State<Arc<App>>,
    Id(path): Id<RunPath>,
    reader: Reader,
    page: Page,
) -> Result<Response, ApiError> {
    let run = readable(&app, path.run, reader).await?;
    page::answer("events", page, |after, limit| app.funduq.run_events(&run.id, after, limit)).await
}
