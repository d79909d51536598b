//! The names by which this gateway knows itself. A signature is for one of them: a request's own word for its host is
//! whatever its sender wrote, and a signature meant for another host would hold for it.

use std::net::{IpAddr, SocketAddr};

use funduq_contract::http_signature::RequestTarget;
use http::Uri;
use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;

use crate::config::PublicUrl;
use crate::http::peer::Peer;

/// The names.
#[derive(Debug)]
pub(super) struct Names {
    /// The address under which callers reach this gateway.
    public: Option<Public>,
    /// Where it listens, in each spelling that means this machine.
    listening: Vec<String>,
}

#[derive(Debug)]
struct Public {
    scheme: String,
    authority: String,
    /// What a proxy takes off the path before it passes a request on.
    prefix: String,
}

impl Names {
    pub(super) fn new(public: &PublicUrl, listening: SocketAddr) -> Self {
        Self { public: public.get().and_then(Public::read), listening: spellings(listening) }
    }

    /// What a request's signature may be for, the likeliest first: the public address; else what a trusted proxy says that
    /// the caller called it; else the address that this gateway listens on, if the request names that.
    pub(super) fn targets(&self, parts: &Parts) -> Vec<RequestTarget> {
        let method = parts.method.as_str();
        let (path, query) = (parts.uri.path(), parts.uri.query());
        let peer = parts.extensions.get::<Peer>();
        let scheme = if peer.is_some_and(|peer| peer.is_https) { "https" } else { "http" };
        let named = |host: &Authority| RequestTarget::new(method, scheme, host.as_str(), path, query);
        let first = match &self.public {
            Some(Public { scheme, authority, prefix }) => {
                Some(RequestTarget::new(method, scheme, authority, &format!("{prefix}{path}"), query))
            }
            None => peer.and_then(|peer| peer.host.as_ref()).map(named),
        };
        let direct = host(parts).as_ref().map(named).filter(|target| self.is_here(target.authority()));
        let direct = direct.filter(|direct| first.as_ref() != Some(direct));
        first.into_iter().chain(direct).collect()
    }

    fn is_here(&self, authority: &str) -> bool {
        self.listening.iter().any(|spelling| spelling == authority)
    }
}

/// What a request calls this host.
pub(super) fn host(parts: &Parts) -> Option<Authority> {
    parts.uri.authority().cloned().or_else(|| parts.headers.get(HOST)?.to_str().ok()?.parse().ok())
}

impl Public {
    fn read(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        Some(Self {
            scheme: uri.scheme_str()?.to_owned(),
            authority: uri.authority()?.as_str().to_owned(),
            prefix: uri.path().trim_end_matches('/').to_owned(),
        })
    }
}

/// An address in each spelling, the default ports left out where they are.
fn spellings(address: SocketAddr) -> Vec<String> {
    let ip = address.ip();
    let mut hosts = vec![SocketAddr::new(ip, address.port()).to_string()];
    if ip.is_loopback() || ip.is_unspecified() {
        let local = [IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])];
        hosts.extend(local.map(|ip| SocketAddr::new(ip, address.port()).to_string()));
        hosts.push(format!("localhost:{}", address.port()));
    }
    let without_port = |scheme: &str, host: &String| {
        RequestTarget::new("GET", scheme, host, "/", None).authority().to_owned()
    };
    let mut spellings: Vec<_> =
        hosts.iter().flat_map(|host| ["http", "https"].map(|scheme| without_port(scheme, host))).collect();
    spellings.sort();
    spellings.dedup();
    spellings
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn targets(public: &str, listening: &str, host: &str, forwarded: Option<&str>) -> Vec<RequestTarget> {
        let names = Names::new(&public.parse().unwrap(), listening.parse().unwrap());
        let mut request = Request::post("/a?b").header(HOST, host).body(()).unwrap();
        request.extensions_mut().insert(Peer {
            connection: "192.0.2.1:5".parse().unwrap(),
            is_trusted_proxy: forwarded.is_some(),
            is_named: true,
            ip: "192.0.2.1".parse().unwrap(),
            is_https: forwarded.is_some(),
            host: forwarded.map(|host| host.parse().unwrap()),
        });
        names.targets(&request.into_parts().0)
    }

    fn target(scheme: &str, authority: &str, path: &str) -> RequestTarget {
        RequestTarget::new("POST", scheme, authority, path, Some("b"))
    }

    #[test]
    fn a_request_for_the_address_that_it_listens_on_is_for_it() {
        for host in ["127.0.0.1:8787", "localhost:8787", "LOCALHOST:8787", "[::1]:8787"] {
            assert_eq!(targets("", "127.0.0.1:8787", host, None), [target("http", host, "/a")], "{host}");
        }
        assert_eq!(targets("", "192.0.2.9:80", "192.0.2.9", None), [target("http", "192.0.2.9", "/a")]);
    }

    #[test]
    fn a_host_that_nobody_configured_is_none_of_its_names() {
        for host in ["relay.example", "127.0.0.1:8788", "localhost", "127.0.0.1.evil.example:8787"] {
            assert_eq!(targets("", "127.0.0.1:8787", host, None), [], "{host}");
        }
        assert_eq!(targets("", "192.0.2.9:8787", "localhost:8787", None), []);
    }

    #[test]
    fn behind_a_proxy_the_public_address_counts_and_the_path_that_the_proxy_took_off() {
        let public = target("https", "relay.example", "/funduq/a");
        let asked = |host| targets("https://relay.example/funduq", "127.0.0.1:8787", host, None);
        assert_eq!(asked("relay.example"), std::slice::from_ref(&public));
        assert_eq!(asked("127.0.0.1:8787"), [public, target("http", "127.0.0.1:8787", "/a")]);
    }

    #[test]
    fn a_trusted_proxy_names_the_host_where_no_public_address_is_configured() {
        let seen = targets("", "127.0.0.1:8787", "upstream", Some("relay.example"));
        assert_eq!(seen, [target("https", "relay.example", "/a")]);
        let seen = targets("https://relay.example", "127.0.0.1:8787", "upstream", Some("evil.example"));
        assert_eq!(seen, [target("https", "relay.example", "/a")]);
    }
}
