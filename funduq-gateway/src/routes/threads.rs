//! The record by thread: what it is, its messages, its runs, and the threads that hang off it.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use funduq_contract::ThreadId;
use funduq_core::{DoorError, Run, Thread, ThreadMessage};
use http::StatusCode;
use serde::{Deserialize, Serialize};

use super::page::{self, Item};
use super::view::{RunView, ThreadView};
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::extract::{Id, Page};
use crate::http::presenter::{self, Reader};
use crate::http::{json, requests};

/// The most threads of a tree that are told.
const MAX_TREE: usize = 1000;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/threads/{thread}", get(thread))
        .route("/threads/{thread}/messages", get(messages))
        .route("/threads/{thread}/runs", get(runs))
        .route("/threads/{thread}/tree", get(tree))
}

#[derive(Debug, Deserialize)]
struct ThreadPath {
    thread: ThreadId,
}

/// The thread, if it is there for this reader.
async fn readable(app: &App, id: ThreadId, reader: Reader) -> Result<Thread, ApiError> {
    let thread = app.funduq.thread(&id).await?;
    let thread = thread.filter(|thread| presenter::is_there(app, thread, reader.0));
    let Some(thread) = thread else {
        let error = ApiError::from(DoorError::ThreadNotFound(id));
        return Err(error.message("there is no such thread here"));
    };
    requests::about_thread(&thread.id);
    requests::about_provider(&thread.agent.provider);
    Ok(thread)
}

async fn thread(
    State(app): State<Arc<App>>,
    Id(path): Id<ThreadPath>,
    reader: Reader,
) -> Result<Response, ApiError> {
    let thread = readable(&app, path.thread, reader).await?;
    Ok(json::answer(StatusCode::OK, &ThreadView::from(thread)))
}

impl Item for ThreadMessage {
    fn position(&self, _before: u64) -> u64 {
        self.position
    }

    fn write(&self, json: &mut String) {
        json.push_str(self.message.json());
    }
}

async fn messages(
    State(app): State<Arc<App>>,
    Id(path): Id<ThreadPath>,
    reader: Reader,
    page: Page,
) -> Result<Response, ApiError> {
    let thread = readable(&app, path.thread, reader).await?;
    page::answer("messages", page, |after, limit| app.funduq.thread_messages(&thread.id, after, limit)).await
}

impl Item for Run {
    fn position(&self, before: u64) -> u64 {
        before + 1
    }

    fn write(&self, json: &mut String) {
        json.push_str(&json::string(&RunView::from(self)));
    }
}

async fn runs(
    State(app): State<Arc<App>>,
    Id(path): Id<ThreadPath>,
    reader: Reader,
    page: Page,
) -> Result<Response, ApiError> {
    let thread = readable(&app, path.thread, reader).await?;
    let skip = |after: u64| usize::try_from(after).unwrap_or(usize::MAX);
    page::answer("runs", page, |after, limit| app.funduq.thread_runs(&thread.id, skip(after), limit)).await
}

/// A thread and all that hangs off it: the thread first, each other one after its parent, which it names.
#[derive(Serialize)]
struct Tree {
    threads: Vec<ThreadView>,
    /// Whether there are more threads than are told.
    truncated: bool,
}

async fn tree(
    State(app): State<Arc<App>>,
    Id(path): Id<ThreadPath>,
    reader: Reader,
) -> Result<Response, ApiError> {
    let mut found = vec![readable(&app, path.thread, reader).await?];
    let mut truncated = false;
    // Level by level, so that what is left out is what is farthest.
    let mut next = 0;
    while next < found.len() {
        let room = MAX_TREE - found.len();
        let children = app.funduq.thread_children(&found[next].id, room + 1).await?;
        truncated |= children.len() > room;
        let children = children.into_iter().take(room);
        found.extend(children.filter(|child| presenter::is_there(&app, child, reader.0)));
        next += 1;
    }
    let threads = found.into_iter().map(ThreadView::from).collect();
    Ok(json::answer(StatusCode::OK, &Tree { threads, truncated }))
}
