//! Which LLM offerings there are, and which of them somebody serves right now.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use funduq_agui::RawObject;
use funduq_contract::{AgentName, Fingerprint, PublicKey};
use http::StatusCode;
use serde::Serialize;

use crate::app::App;
use crate::http::error::ApiError;
use crate::http::json;
use crate::http::presenter::Reader;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Roster {
    llm_offerings: Vec<OfferingView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OfferingView {
    provider_key: PublicKey,
    fingerprint: Fingerprint,
    name: AgentName,
    online: bool,
    /// What its provider says about its offerings, while it serves them.
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<RawObject>,
}

pub(super) async fn list(State(app): State<Arc<App>>, _: Reader) -> Result<Response, ApiError> {
    let mut served: BTreeMap<_, _> = app.funduq.served_llm().into_iter().collect();
    let known = app.funduq.llm_offerings().await?;
    let llm_offerings = known
        .into_iter()
        .map(|offering| {
            let serving = served.remove(&offering);
            OfferingView {
                provider_key: offering.provider,
                fingerprint: offering.provider.fingerprint(),
                name: offering.name,
                online: serving.is_some(),
                metadata: serving.flatten(),
            }
        })
        .collect();
    Ok(json::answer(StatusCode::OK, &Roster { llm_offerings }))
}
