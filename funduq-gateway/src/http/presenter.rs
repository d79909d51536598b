//! The key behind a request, and what the policy for reads makes of it.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use funduq_contract::{PublicKey, RunId};
use funduq_core::{Run, StoreError, Thread};
use http::request::Parts;

use super::error::ApiError;
use crate::app::App;
use crate::config::Reads;
use crate::presenters::Claim;

/// The key behind a claim, once the body has come whole.
///
/// # Errors
/// 401 where the proof does not hold for this body; 429 for a key that asks too often.
pub(crate) fn settle(app: &App, claim: Claim, body: &[u8]) -> Result<Option<PublicKey>, ApiError> {
    let key = app.presenters.settle(claim, body).inspect_err(|error| {
        if let Some(limit) = error.limit() {
            app.metrics.limited(limit);
        }
    })?;
    if let Some(key) = &key {
        app.limits.request_of_key(key)?;
    }
    Ok(key)
}

/// The key that a request without a body comes from, if it proves one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader(pub(crate) Option<PublicKey>);

impl FromRequestParts<Arc<App>> for Reader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let claim = app.presenters.read(parts)?;
        settle(app, claim, b"").map(Self)
    }
}

/// Whether a thread is there for this reader: an open thread for whoever knows its id; a bound one, where the policy says
/// so, for its parties alone.
pub(crate) fn is_there(app: &App, thread: &Thread, reader: Option<PublicKey>) -> bool {
    match app.config.reads {
        Reads::Open => true,
        Reads::Parties => thread.is_open_to(reader),
    }
}

/// A run that is there for this reader: on a thread that is, or one that was asked for through its hands.
pub(crate) async fn run(app: &App, id: &RunId, reader: Option<PublicKey>) -> Result<Option<Run>, StoreError> {
    let Some(run) = app.funduq.run(id).await? else { return Ok(None) };
    match app.config.reads {
        Reads::Open => Ok(Some(run)),
        Reads::Parties => {
            let thread = app.funduq.thread(&run.thread_id).await?;
            let there = thread.is_some_and(|thread| thread.is_open_to(reader))
                || reader.is_some_and(|reader| run.went_through(reader));
            Ok(there.then_some(run))
        }
    }
}
