//! What a proxy says of the request that it passes on: `Forwarded` (RFC 7239), else the older `X-Forwarded-*`.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use http::header::FORWARDED;
use http::uri::Authority;
use http::{HeaderMap, HeaderName};

static X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
static X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
static X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// Every header by which proxies say such things.
const ALL: [&str; 7] = [
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-server",
    "x-real-ip",
];

/// One step of the way: from whom a proxy had the request, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hop {
    /// Whom the proxy names; `None` where it keeps that to itself or says something else than an address.
    pub(super) from: Option<IpAddr>,
    /// Whether the request came to it over TLS, if it says so.
    pub(super) is_https: Option<bool>,
    /// What the request called the host, if it says so.
    pub(super) host: Option<Authority>,
}

/// The steps that the headers name, the nearest proxy's first. `Forwarded` is heard alone where there is one.
pub(super) fn hops(headers: &HeaderMap) -> Vec<Hop> {
    let lines = texts(headers, &FORWARDED);
    if !lines.is_empty() {
        let elements = lines.iter().rev().flat_map(|text| split_from_the_end(text, b','));
        return elements.map(|text| element(text.trim())).collect();
    }
    let lines = texts(headers, &X_FORWARDED_FOR);
    let nodes = lines.iter().rev().flat_map(|text| text.rsplit(','));
    let mut hops: Vec<Hop> = nodes.map(|node| Hop { from: address(node.trim()), ..Hop::default() }).collect();
    // These two say nothing of the hop that they belong to, and proxies set them anew: the nearest one's are the last.
    let last = |name| {
        let text = texts(headers, name).pop()?;
        text.rsplit(',').next().map(|text| text.trim().to_owned())
    };
    let is_https = last(&X_FORWARDED_PROTO).and_then(|proto| is_https(&proto));
    let host: Option<Authority> = last(&X_FORWARDED_HOST).and_then(|host| host.parse().ok());
    for hop in &mut hops {
        (hop.is_https, hop.host) = (is_https, host.clone());
    }
    hops
}

/// Whether somebody has passed this request on, and says so.
pub(super) fn are_in(headers: &HeaderMap) -> bool {
    ALL.iter().any(|name| headers.contains_key(*name))
}

/// Takes all of it out of a request, so that nothing behind the door believes it.
pub(super) fn strip(headers: &mut HeaderMap) {
    for name in ALL {
        headers.remove(name);
    }
}

/// The lines of a header. A byte that is no text spoils the word that it stands in and no other: a caller may have sent it,
/// and what a proxy has added to it still counts.
fn texts<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Vec<Cow<'a, str>> {
    headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect()
}

fn element(text: &str) -> Hop {
    let mut hop = Hop::default();
    for pair in split_from_the_end(text, b';').into_iter().rev() {
        let Some((name, value)) = pair.split_once('=') else { continue };
        let value = unquoted(value.trim());
        match name.trim().to_ascii_lowercase().as_str() {
            "for" => hop.from = address(&value),
            "proto" => hop.is_https = is_https(&value),
            "host" => hop.host = value.parse().ok(),
            _ => {}
        }
    }
    hop
}

/// The parts between separators that do not stand in a quoted text, the last one first. Quotes are told from the end: there
/// stands what the nearest proxy has added, and a quote that a caller has opened before it takes in nothing of it.
fn split_from_the_end(text: &str, separator: u8) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut parts, mut end, mut quoted) = (Vec::new(), text.len(), false);
    for at in (0..bytes.len()).rev() {
        match bytes[at] {
            b'"' if !(quoted && ends_with_escape(&bytes[..at])) => quoted = !quoted,
            byte if byte == separator && !quoted => {
                parts.push(&text[at + 1..end]);
                end = at;
            }
            _ => {}
        }
    }
    parts.push(&text[..end]);
    parts
}

fn ends_with_escape(text: &[u8]) -> bool {
    text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.map_or_else(|| text.to_owned(), |inner| inner.replace('\\', ""))
}

/// An address alone, in brackets, or with a port.
fn address(node: &str) -> Option<IpAddr> {
    let bare = node.strip_prefix('[').and_then(|node| node.strip_suffix(']')).unwrap_or(node);
    let with_port = || node.parse::<SocketAddr>().map(|address| address.ip());
    bare.parse().or_else(|_| with_port()).ok().map(|address: IpAddr| address.to_canonical())
}

fn is_https(proto: &str) -> Option<bool> {
    match proto.to_ascii_lowercase().as_str() {
        "https" | "wss" => Some(true),
        "http" | "ws" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        headers
    }

    fn hop(from: &str, is_https: Option<bool>, host: Option<&str>) -> Hop {
        Hop { from: from.parse().ok(), is_https, host: host.map(|host| host.parse().unwrap()) }
    }

    #[test]
    fn forwarded_is_read_from_the_nearest_proxy_on() {
        let said = headers(&[
            ("forwarded", "for=192.0.2.1;proto=https;host=relay.example, For=\"[2001:db8::1]:47\" ; by=x"),
            ("forwarded", "for=_hidden"),
            ("x-forwarded-for", "203.0.113.1"),
        ]);
        let wanted = [
            hop("", None, None),
            hop("2001:db8::1", None, None),
            hop("192.0.2.1", Some(true), Some("relay.example")),
        ];
        assert_eq!(hops(&said), wanted);
    }

    #[test]
    fn a_quoted_text_hides_its_separators() {
        let said = headers(&[("forwarded", r#"host="a,b;for=1.1.1.1\"";for=192.0.2.1"#)]);
        assert_eq!(hops(&said), [hop("192.0.2.1", None, None)]);
    }

    #[test]
    fn what_a_caller_began_takes_in_nothing_of_what_the_nearest_proxy_adds() {
        for callers in ["for=\"x", "for=x\"", "for=\"x\\", "\"", "for=\\\"", "\u{e9}"] {
            for added in ["for=203.0.113.9", "for=\"203.0.113.9:4\"", "for=203.0.113.9;host=\"a,b\\\"c\""] {
                let value = http::HeaderValue::from_bytes(format!("{callers}, {added}").as_bytes()).unwrap();
                let said = HeaderMap::from_iter([(FORWARDED, value)]);
                let nearest = hops(&said).remove(0);
                assert_eq!(nearest.from, Some("203.0.113.9".parse().unwrap()), "{callers} {added}");
            }
        }
    }

    #[test]
    fn a_byte_that_is_no_text_spoils_its_own_word_alone() {
        let value = http::HeaderValue::from_bytes(b"\xe9, 203.0.113.9").unwrap();
        for name in [&X_FORWARDED_FOR, &FORWARDED] {
            let said = HeaderMap::from_iter([(name.clone(), value.clone())]);
            let found = hops(&said);
            assert_eq!(found.len(), 2, "{name}");
            assert_eq!(found[1], Hop::default());
        }
        let said = HeaderMap::from_iter([(X_FORWARDED_FOR.clone(), value)]);
        assert_eq!(hops(&said)[0], hop("203.0.113.9", None, None));
    }

    #[test]
    fn the_older_headers_are_read_where_there_is_no_forwarded() {
        let said = headers(&[
            ("x-forwarded-for", "192.0.2.1, 198.51.100.2:4711"),
            ("x-forwarded-for", "unknown"),
            ("x-forwarded-proto", "http, https"),
            ("x-forwarded-host", "relay.example:8443"),
        ]);
        let wanted =
            ["", "198.51.100.2", "192.0.2.1"].map(|from| hop(from, Some(true), Some("relay.example:8443")));
        assert_eq!(hops(&said), wanted);
    }

    #[test]
    fn all_of_it_can_be_taken_out() {
        let mut said = headers(&[("forwarded", "for=1.1.1.1"), ("x-real-ip", "1.1.1.1"), ("host", "h")]);
        strip(&mut said);
        assert_eq!(said.len(), 1);
    }
}
