//! The addresses that the gateway hands out: of its agents, under the name by which a caller knows this host.

use funduq_contract::AgentAddress;
use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::peer::Peer;
use crate::config::PublicUrl;

/// What a path segment may hold as it is (RFC 3986 unreserved).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The beginning of every address in an answer to this request: the configured one, else what the request calls
/// this host (or called it where a trusted proxy took it), else the address that the gateway listens on.
pub(crate) fn base(request: &Parts, configured: &PublicUrl, listening: &str) -> String {
    if let Some(configured) = configured.get() {
        return configured.to_owned();
    }
    let named = request.uri.authority().cloned().or_else(|| {
        let host = request.headers.get(HOST)?.to_str().ok()?;
        host.parse::<Authority>().ok()
    });
    let peer = request.extensions.get::<Peer>();
    let named = peer.and_then(|peer| peer.host.clone()).or(named);
    let scheme = if peer.is_some_and(|peer| peer.is_https) { "https" } else { "http" };
    match named.filter(|named| !named.as_str().contains('@')) {
        Some(named) => format!("{scheme}://{named}"),
        None => listening.to_owned(),
    }
}

/// An agent's AG-UI address.
pub(crate) fn agui(base: &str, agent: &AgentAddress) -> String {
    format!("{base}/agui/{}/{}", agent.provider, segment(agent))
}

/// An agent's A2A address, of every binding.
pub(crate) fn a2a(base: &str, agent: &AgentAddress) -> String {
    format!("{base}/a2a/{}/{}", agent.provider, segment(agent))
}

/// The address of an agent's A2A card.
pub(crate) fn agent_card(base: &str, agent: &AgentAddress) -> String {
    format!("{}/.well-known/agent-card.json", a2a(base, agent))
}

fn segment(agent: &AgentAddress) -> impl std::fmt::Display + '_ {
    utf8_percent_encode(agent.name.as_str(), SEGMENT)
}

#[cfg(test)]
mod tests {
    use funduq_contract::{AgentName, Identity};
    use http::Request;

    use super::*;

    fn asked(host: &str, configured: &str) -> String {
        let (parts, ()) = Request::get("/agents").header(HOST, host).body(()).unwrap().into_parts();
        base(&parts, &configured.parse().unwrap(), "http://127.0.0.1:1")
    }

    #[test]
    fn an_address_begins_with_what_the_caller_calls_this_host() {
        assert_eq!(asked("relay.local:8787", ""), "http://relay.local:8787");
        assert_eq!(asked("relay.local", "https://example.org/funduq"), "https://example.org/funduq");
        assert_eq!(asked("user@relay.local", ""), "http://127.0.0.1:1");
        assert_eq!(asked("a b", ""), "http://127.0.0.1:1");
    }

    #[test]
    fn an_agents_name_is_one_segment_whatever_is_in_it() {
        let provider = Identity::from_seed(&[1; 32]).public_key();
        let agent = AgentAddress::new(provider, AgentName::new("für alle %").unwrap());
        assert_eq!(agui("http://h", &agent), format!("http://h/agui/{provider}/f%C3%BCr%20alle%20%25"));
    }
}
