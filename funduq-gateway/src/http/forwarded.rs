//! What a proxy says of the request that it passes on: `Forwarded` (RFC 7239), else the older `X-Forwarded-*`.

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
    let elements: Vec<&str> =
        texts(headers, &FORWARDED).flat_map(|text| split(text, ',')).map(str::trim).collect();
    if !elements.is_empty() {
        return elements.into_iter().rev().map(element).collect();
    }
    let mut hops: Vec<Hop> = texts(headers, &X_FORWARDED_FOR)
        .flat_map(|text| text.split(','))
        .map(|node| Hop { from: address(node.trim()), ..Hop::default() })
        .collect();
    hops.reverse();
    // These two say nothing of the hop that they belong to, and proxies set them anew: the nearest one's are the last.
    let last = |name| texts(headers, name).flat_map(|text| text.split(',')).last().map(str::trim);
    let is_https = last(&X_FORWARDED_PROTO).and_then(is_https);
    let host = last(&X_FORWARDED_HOST).and_then(|host| host.parse().ok());
    for hop in &mut hops {
        (hop.is_https, hop.host) = (is_https, host.clone());
    }
    hops
}

/// Takes all of it out of a request, so that nothing behind the door believes it.
pub(super) fn strip(headers: &mut HeaderMap) {
    for name in ALL {
        headers.remove(name);
    }
}

fn texts<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    headers.get_all(name).iter().filter_map(|value| value.to_str().ok())
}

fn element(text: &str) -> Hop {
    let mut hop = Hop::default();
    for pair in split(text, ';') {
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

/// The parts between separators that do not stand in a quoted text.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |character| {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => return character == separator && !quoted,
        }
        false
    })
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
