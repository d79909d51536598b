//! What the gateway prints when it is ready: how to use it, for people; and where everything is, for programs.

use funduq_contract::PublicKey;
use serde::Serialize;

use crate::gateway::Gateway;
use crate::http::{json, urls};

/// What follows `ready ` on its line.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Ready<'a> {
    url: &'a str,
    funduq_key: PublicKey,
    #[serde(skip_serializing_if = "Option::is_none")]
    agui_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_card_url: Option<String>,
}

/// The lines, the last of them `ready {json}`.
pub(crate) fn lines(gateway: &Gateway) -> Vec<String> {
    let url = gateway.public_url();
    let agui_url = gateway.demo_agent().map(|agent| urls::agui(url, agent));
    let agent_card_url = gateway.demo_agent().map(|agent| urls::agent_card(url, agent));
    let mut lines = vec![
        format!("funduq {} at {url}, key {}", env!("CARGO_PKG_VERSION"), gateway.public_key()),
        String::new(),
    ];
    if let (Some(agui_url), Some(agent_card_url)) = (&agui_url, &agent_card_url) {
        lines.push(format!("AG-UI:      {agui_url}"));
        lines.push(format!("agent card: {agent_card_url}"));
        lines.push(String::new());
        let body = r#"{"threadId":"new","runId":"new","messages":[{"id":"1","role":"user","content":"hello funduq"}]}"#;
        lines.push(format!(
            "talk to it: curl -N '{agui_url}' -H 'content-type: application/json' -d '{body}'"
        ));
    }
    lines.push(format!("agents:     curl '{url}/agents'"));
    let ready = Ready { url, funduq_key: gateway.public_key(), agui_url, agent_card_url };
    lines.push(format!("ready {}", json::string(&ready)));
    lines
}
