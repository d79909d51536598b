//! The way out through a proxy, as the environment names it, and the tunnel through it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::address::Address;
use super::error::LinkError;

/// The most bytes that a proxy's answer may have.
const MAX_ANSWER: usize = 8 << 10;

/// An HTTP proxy that tunnels.
#[derive(Debug, Clone)]
pub(super) struct Proxy {
    url: Url,
}

/// Why a tunnel was not opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum TunnelError {
    #[error("the connection to the proxy failed: {0}")]
    Io(#[from] std::io::Error),
    #[error("the proxy's answer is not HTTP")]
    NotHttp,
    #[error("the proxy answered {0:?}")]
    Refused(String),
}

impl Proxy {
    /// The proxy for an address: `HTTPS_PROXY` or `HTTP_PROXY` by its scheme, else `ALL_PROXY`, unless
    /// `NO_PROXY` names the host or it is this machine. Lower-case names go first.
    pub(super) fn from_environment(address: &Address) -> Result<Option<Self>, LinkError> {
        Self::choose(address, |name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn choose(address: &Address, read: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, LinkError> {
        if is_loopback(address.host()) {
            return Ok(None);
        }
        let either = |lower: &str, upper: &str| read(lower).or_else(|| read(upper));
        if either("no_proxy", "NO_PROXY").is_some_and(|list| is_exempt(&list, address.host())) {
            return Ok(None);
        }
        let by_scheme = if address.is_tls() {
            either("https_proxy", "HTTPS_PROXY")
        } else {
            either("http_proxy", "HTTP_PROXY")
        };
        let Some(text) = by_scheme.or_else(|| either("all_proxy", "ALL_PROXY")) else { return Ok(None) };
        let with_scheme = if text.contains("://") { text } else { format!("http://{text}") };
        let bad = |proxy: String, problem| LinkError::BadProxy { proxy, problem };
        let url = Url::parse(&with_scheme).map_err(|_| bad(String::from("…"), "it is no URL"))?;
        if url.scheme() != "http" {
            let shown = format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default());
            return Err(bad(shown, "only http:// proxies are supported"));
        }
        Ok(Some(Self { url }))
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    pub(super) fn host(&self) -> &str {
        let host = self.url.host_str().unwrap_or_default();
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }

    pub(super) fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(80)
    }

    /// Asks the proxy at the other end of `stream` for a tunnel to `authority`.
    pub(super) async fn tunnel<S>(&self, stream: &mut S, authority: &str) -> Result<(), TunnelError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
        if !self.url.username().is_empty() {
            let pair = format!(
                "{}:{}",
                decoded(self.url.username()),
                decoded(self.url.password().unwrap_or_default())
            );
            request.push_str(&format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode(pair)));
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes()).await?;
        stream.flush().await?;

        // Byte by byte, so that nothing of what comes through the tunnel is swallowed.
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            if answer.len() == MAX_ANSWER {
                return Err(TunnelError::NotHttp);
            }
            answer.push(stream.read_u8().await?);
        }
        let answer = String::from_utf8_lossy(&answer);
        let status = answer.lines().next().unwrap_or_default();
        match status.split(' ').collect::<Vec<_>>()[..] {
            [version, code, ..]
                if version.starts_with("HTTP/1.") && code.len() == 3 && code.starts_with('2') =>
            {
                Ok(())
            }
            [version, ..] if version.starts_with("HTTP/") => Err(TunnelError::Refused(status.to_owned())),
            _ => Err(TunnelError::NotHttp),
        }
    }
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

/// Whether `NO_PROXY` names the host: a name stands for itself and everything below it, `*` for all.
fn is_exempt(list: &str, host: &str) -> bool {
    list.split(',').map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
        let entry = entry.trim_start_matches("*.").trim_start_matches('.');
        let below = host.len() > entry.len()
            && host.is_char_boundary(host.len() - entry.len())
            && host[host.len() - entry.len()..].eq_ignore_ascii_case(entry)
            && host.as_bytes()[host.len() - entry.len() - 1] == b'.';
        entry == "*" || host.eq_ignore_ascii_case(entry) || below
    })
}

/// Undoes percent encoding.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(url: &str, variables: &[(&str, &str)]) -> Option<String> {
        let address = Address::parse(url).unwrap();
        let read = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Proxy::choose(&address, read).unwrap().map(|proxy| format!("{}:{}", proxy.host(), proxy.port()))
    }

    #[test]
    fn the_environment_names_the_proxy_by_the_scheme() {
        let both = [("HTTPS_PROXY", "http://tls.corp:3128"), ("http_proxy", "plain.corp:8080")];
        assert_eq!(chosen("https://relay.example", &both).unwrap(), "tls.corp:3128");
        assert_eq!(chosen("http://relay.example", &both).unwrap(), "plain.corp:8080");
        assert_eq!(
            chosen("http://relay.example", &[("ALL_PROXY", "http://all.corp")]).unwrap(),
            "all.corp:80"
        );
        assert_eq!(chosen("http://relay.example", &[]), None);
        assert_eq!(chosen("http://127.0.0.1:8787", &both), None);
    }

    #[test]
    fn hosts_that_are_named_go_without() {
        let with = |list| chosen("https://relay.corp.example", &[("https_proxy", "p:1"), ("no_proxy", list)]);
        for list in ["*", "relay.corp.example", ".example", "corp.example", "x, Corp.Example"] {
            assert_eq!(with(list), None, "{list}");
        }
        for list in ["", "other.example", "p.example", "y.corp.example"] {
            assert!(with(list).is_some(), "{list}");
        }
    }

    #[test]
    fn a_proxy_that_is_none_is_said_without_its_password() {
        let address = Address::parse("http://relay.example").unwrap();
        let socks = |_: &str| Some("socks5://me:secret@p".to_owned());
        let error = Proxy::choose(&address, |name| socks(name).filter(|_| name == "all_proxy")).unwrap_err();
        assert!(!error.to_string().contains("secret") && error.to_string().contains("socks5"), "{error}");
    }

    #[tokio::test]
    async fn a_tunnel_is_asked_for_and_nothing_behind_the_answer_is_swallowed() {
        let url = Url::parse("http://m%65:p%40ss@proxy").unwrap();
        let (mut here, mut there) = tokio::io::duplex(1024);
        there.write_all(b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\nhello").await.unwrap();
        Proxy { url }.tunnel(&mut here, "relay.example:443").await.unwrap();
        let mut rest = [0; 5];
        here.read_exact(&mut rest).await.unwrap();
        assert_eq!(&rest, b"hello");
        let mut asked = vec![0; 256];
        let length = there.read(&mut asked).await.unwrap();
        let asked = String::from_utf8_lossy(&asked[..length]);
        assert!(
            asked.starts_with("CONNECT relay.example:443 HTTP/1.1\r\nHost: relay.example:443\r\n"),
            "{asked}"
        );
        assert!(asked.contains(&format!("Basic {}", STANDARD.encode("me:p@ss"))), "{asked}");
    }

    #[tokio::test]
    async fn a_proxy_that_refuses_is_quoted() {
        let (mut here, mut there) = tokio::io::duplex(1024);
        there.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n").await.unwrap();
        let proxy = Proxy { url: Url::parse("http://proxy").unwrap() };
        let error = proxy.tunnel(&mut here, "relay.example:443").await.unwrap_err();
        assert!(error.to_string().contains("407"), "{error}");
    }
}
