//! `GET /agents` of the gateway: who is registered, and who is online.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::shell::LOOK_AGAIN;

/// How long one answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// An agent as the roster lists it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Agent {
    pub(crate) name: String,
    pub(crate) online: bool,
    pub(crate) agui_url: String,
    pub(crate) agent_card_url: String,
}

#[derive(Debug, Deserialize)]
struct Roster {
    agents: Vec<Agent>,
}

/// Asks until the agent of that name is `online` or not, as wanted; at most `limit`.
pub(crate) fn wait_for(url: &str, name: &str, online: bool, limit: Duration) -> Result<Agent> {
    let deadline = Instant::now() + limit;
    loop {
        let roster = read(url)?;
        if let Some(agent) = roster.agents.iter().find(|agent| agent.name == name && agent.online == online) {
            return Ok(agent.clone());
        }
        if Instant::now() >= deadline {
            let wanted = if online { "online" } else { "offline" };
            bail!("after {limit:?} the agent {name} is not {wanted} in GET {url}/agents: {roster:?}");
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

fn read(url: &str) -> Result<Roster> {
    let address =
        url.strip_prefix("http://").with_context(|| format!("{url} is not a plain HTTP address"))?;
    let body = get(address, "/agents").with_context(|| format!("GET {url}/agents"))?;
    serde_json::from_str(&body).with_context(|| format!("GET {url}/agents answered {body}"))
}

/// One GET over HTTP/1.0, whose answer ends where the connection does: all that a poll on loopback needs.
fn get(address: &str, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(ANSWER_LIMIT))?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("an answer without a head")?;
    let status = head.lines().next().unwrap_or_default();
    if status.split(' ').nth(1) != Some("200") {
        bail!("{status}: {body}");
    }
    Ok(body.to_owned())
}
