//! Calls a tool of the application and leaves the call open; the run that brings the result says it back.

use std::collections::BTreeMap;

use funduq_agui::Tool;
use funduq_agui::message::ToolMessage;
use serde::Deserialize;

use super::echo;
use crate::agent::AgentResult;
use crate::context::RunContext;

/// As much of a tool's JSON Schema as it takes to fill its text arguments in.
#[derive(Deserialize)]
struct Parameters {
    #[serde(default)]
    properties: BTreeMap<String, Property>,
}

#[derive(Deserialize)]
struct Property {
    #[serde(rename = "type")]
    kind: Option<serde_json::Value>,
}

pub(super) async fn call(run: &RunContext, text: &str) -> AgentResult {
    let about = text.trim_start().trim_start_matches("tool").trim();
    let about = if about.is_empty() { "here" } else { about };
    let offered = run.input().tools.as_deref().unwrap_or_default().first();
    let (name, arguments) = match offered {
        Some(tool) => (tool.name.as_str(), arguments(tool, about)),
        None => ("get_weather", BTreeMap::from([("location".to_owned(), about)])),
    };
    run.events().tool_call(name, &arguments).await?;
    Ok(())
}

/// Every text argument that the tool declares, set to the same text.
fn arguments<'a>(tool: &Tool, about: &'a str) -> BTreeMap<String, &'a str> {
    let Some(Ok(Parameters { properties })) = tool.parameters.as_ref().map(|schema| schema.to()) else {
        return BTreeMap::new();
    };
    let texts = properties
        .into_iter()
        .filter(|(_, property)| property.kind.as_ref().and_then(serde_json::Value::as_str) == Some("string"));
    texts.map(|(name, _)| (name, about)).collect()
}

pub(super) async fn answered(run: &RunContext, result: &ToolMessage) -> AgentResult {
    echo::echo(run, &format!("The tool says: {}", result.content.text())).await
}
