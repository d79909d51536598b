//! The HTTP+JSON binding (A2A 1.0 §11), and that of 0.3 below `/v1/`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use funduq_a2a::{Dialect, rest};
use funduq_core::A2aReply;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderValue, StatusCode};

use super::refusal::{Refused, missed, unread_rest};
use super::stream::{self, Framing};
use super::{carry_out, check_agent, echo_extensions, read, read_body, version_parameter};
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
    let method = parts.method.as_str();
    let route = match rest::find(method, below_agent(parts.uri.path())) {
        Ok(route) => route,
        Err(miss) => return Ok(missed(&miss)),
    };
    let claim = match app.presenters.read(&parts) {
        Ok(claim) => claim,
        Err(error) => return Ok(Refused::from(error).into_rest()),
    };
    let body = match read_body(&app, &parts, body).await {
        Ok(body) => body,
        Err(error) => return Ok(unread_rest(error)),
    };
    let presenter = match presenter::settle(&app, claim, &body) {
        Ok(presenter) => presenter,
        Err(error) => return Ok(Refused::from(error).into_rest()),
    };
    let dialect = route.dialect();
    let version = version_parameter(&parts);
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let request = match read(body, move |body| route.read(version.as_deref(), &query, body)).await? {
        Ok(request) => request,
        Err(error) => return Ok(Refused::from(error).into_rest()),
    };
    let mut answer = match carry_out(&app, &agent, &parts, presenter, request).await {
        Ok((A2aReply::Response(response), _)) => success(response.to_json_in(dialect), dialect),
        Ok((A2aReply::Stream(stream), permit)) => {
            stream::answer(&app, *stream, permit, Framing::Rest { dialect })
        }
        Err(refused) => refused.into_rest(),
    };
    echo_extensions(&app, &agent, &parts, &mut answer).await;
    Ok(answer)
}

fn success(body: String, dialect: Dialect) -> Response {
    let mut answer = json::text(StatusCode::OK, body);
    if dialect == Dialect::V1 {
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(rest::MEDIA_TYPE));
    }
    answer
}

/// What follows the agent's address in a path, as it was sent.
fn below_agent(path: &str) -> &str {
    // The path begins with a slash, and the address is `a2a`, the provider, the agent.
    path.match_indices('/').nth(3).map_or("", |(at, _)| &path[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_the_address_stays_encoded() {
        assert_eq!(below_agent("/a2a/key/agent/tasks/a%2Fb:cancel"), "/tasks/a%2Fb:cancel");
        assert_eq!(below_agent("/a2a/key/agent/"), "/");
        assert_eq!(below_agent("/a2a/key/agent"), "");
    }
}
