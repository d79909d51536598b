//! Where funduq is: its base address, and the addresses below it.

use reqwest::Url;

use super::error::LinkError;

/// The base address of a funduq, `http(s)://host[:port][/prefix]`.
#[derive(Debug, Clone)]
pub(super) struct Address {
    base: Url,
}

impl Address {
    pub(super) fn parse(text: &str) -> Result<Self, LinkError> {
        let bad = |problem: String| LinkError::BadUrl { url: text.to_owned(), problem };
        let base = Url::parse(text).map_err(|error| bad(error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(bad(format!("the scheme is {}, not http or https", base.scheme())));
        }
        if base.host_str().is_none_or(str::is_empty) {
            return Err(bad("no host".to_owned()));
        }
        if base.query().is_some() || base.fragment().is_some() {
            return Err(bad("nothing may follow the path".to_owned()));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(bad("it carries a name or a password, which funduq has no use for".to_owned()));
        }
        Ok(Self { base })
    }

    pub(super) fn is_tls(&self) -> bool {
        self.base.scheme() == "https"
    }

    /// The host as a connection takes it: an IPv6 address without its brackets.
    pub(super) fn host(&self) -> &str {
        let host = self.base.host_str().unwrap_or_default();
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }

    pub(super) fn port(&self) -> u16 {
        self.base.port_or_known_default().unwrap_or(if self.is_tls() { 443 } else { 80 })
    }

    /// Host and port as a proxy is told them.
    pub(super) fn authority(&self) -> String {
        format!("{}:{}", self.base.host_str().unwrap_or_default(), self.port())
    }

    /// The address of something below the base.
    pub(super) fn http(&self, path: &str) -> String {
        format!("{}{path}", self.base.as_str().trim_end_matches('/'))
    }

    /// The same for a WebSocket.
    pub(super) fn websocket(&self, path: &str) -> String {
        let http = self.http(path);
        let rest = http.split_once("://").map_or(http.as_str(), |(_, rest)| rest);
        format!("{}://{rest}", if self.is_tls() { "wss" } else { "ws" })
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.base.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_links_address_is_below_the_base() {
        for (base, link) in [
            ("http://127.0.0.1:8787", "ws://127.0.0.1:8787/link/agents"),
            ("https://relay.example/", "wss://relay.example/link/agents"),
            ("https://relay.example/funduq", "wss://relay.example/funduq/link/agents"),
        ] {
            assert_eq!(Address::parse(base).unwrap().websocket("/link/agents"), link);
        }
        let v6 = Address::parse("http://[::1]:9").unwrap();
        assert_eq!((v6.host(), v6.authority().as_str()), ("::1", "[::1]:9"));
        assert_eq!(Address::parse("https://relay.example").unwrap().authority(), "relay.example:443");
    }

    #[test]
    fn what_is_no_base_is_refused_with_the_reason() {
        for (text, problem) in [
            ("relay.example", "relative"),
            ("ws://relay.example", "not http"),
            ("https://relay.example/?a=b", "follow"),
            ("https://me:secret@relay.example", "password"),
        ] {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
