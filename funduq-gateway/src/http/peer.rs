//! Where a request comes from, as far as the network tells: the connection's other end, or whom a trusted proxy names.

use std::net::{IpAddr, SocketAddr};

use http::Request;
use http::uri::Authority;

use super::forwarded::{self, Hop};
use crate::config::Networks;

/// Where a request comes from. It says nothing about who is asking: an address is no credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Peer {
    /// The other end of the connection.
    pub(crate) connection: SocketAddr,
    /// Whether that is one of the configured proxies, whose headers are to be believed.
    pub(crate) is_trusted_proxy: bool,
    /// The caller's address: the nearest one that is no trusted proxy's.
    pub(crate) ip: IpAddr,
    /// Whether that is the caller's address, and not only that of a proxy that does not say whom it speaks for.
    pub(crate) is_named: bool,
    /// Whether the caller came over TLS.
    pub(crate) is_https: bool,
    /// What the caller called this host, where a trusted proxy says so.
    pub(crate) host: Option<Authority>,
}

impl Peer {
    /// Judges a request that came on this connection, and takes out what proxies said of it. From here on this is what
    /// is known.
    pub(crate) fn of<B>(
        request: &mut Request<B>,
        connection: SocketAddr,
        is_https: bool,
        trusted: &Networks,
    ) -> Self {
        let is_trusted_proxy = trusted.contain(connection.ip());
        let ip = connection.ip().to_canonical();
        let mut peer = Self { connection, is_trusted_proxy, ip, is_named: true, is_https, host: None };
        if is_trusted_proxy && forwarded::are_in(request.headers()) {
            peer.is_named = false;
            peer.follow(forwarded::hops(request.headers()), trusted);
        }
        forwarded::strip(request.headers_mut());
        peer
    }

    /// Whether the caller is in one of these networks. A caller whom nobody names is nowhere, wherever its proxy is.
    pub(crate) fn is_in(&self, networks: &Networks) -> bool {
        self.is_named && networks.contain(self.ip)
    }

    /// Goes back step by step for as long as the one who says so is trusted.
    fn follow(&mut self, hops: Vec<Hop>, trusted: &Networks) {
        for hop in hops {
            self.is_https = hop.is_https.unwrap_or(self.is_https);
            self.host = hop.host.or(self.host.take());
            self.is_named = hop.from.is_some();
            let Some(from) = hop.from else { return };
            self.ip = from;
            if !trusted.contain(from) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(connection: &str, forwarded: &str) -> Peer {
        let mut request = Request::get("/").header("forwarded", forwarded).body(()).unwrap();
        let trusted = "10.0.0.0/8, 127.0.0.1".parse().unwrap();
        let peer = Peer::of(&mut request, connection.parse().unwrap(), false, &trusted);
        assert!(request.headers().is_empty());
        peer
    }

    #[test]
    fn a_stranger_is_who_the_connection_says() {
        let peer = judged("192.0.2.1:5", "for=203.0.113.9;proto=https;host=evil.example");
        assert_eq!(
            peer,
            Peer {
                connection: "192.0.2.1:5".parse().unwrap(),
                is_trusted_proxy: false,
                ip: "192.0.2.1".parse().unwrap(),
                is_named: true,
                is_https: false,
                host: None,
            }
        );
    }

    #[test]
    fn a_trusted_proxy_names_the_caller() {
        let peer = judged("127.0.0.1:5", "for=203.0.113.9;proto=https;host=relay.example");
        assert!(peer.is_trusted_proxy && peer.is_https);
        assert_eq!(peer.ip.to_string(), "203.0.113.9");
        assert_eq!(peer.host.unwrap(), "relay.example");
    }

    #[test]
    fn what_stands_before_the_first_untrusted_address_is_the_strangers_own_tale() {
        let peer =
            judged("127.0.0.1:5", "for=10.9.9.9;proto=http, for=203.0.113.9;proto=https, for=10.0.0.1");
        assert_eq!(peer.ip.to_string(), "203.0.113.9");
        assert!(peer.is_https);
    }

    #[test]
    fn a_proxy_that_names_nobody_stands_for_its_callers_and_they_are_nowhere() {
        let everywhere = "0.0.0.0/0".parse().unwrap();
        for (forwarded, ip) in [
            ("for=unknown", "127.0.0.1"),
            ("for=203.0.113.9, for=_x, for=10.0.0.1", "10.0.0.1"),
            ("", "127.0.0.1"),
        ] {
            let peer = judged("127.0.0.1:5", forwarded);
            assert_eq!((peer.ip.to_string().as_str(), peer.is_in(&everywhere)), (ip, false), "{forwarded}");
        }
        for (connection, forwarded) in [("127.0.0.1:5", "for=10.0.0.1"), ("192.0.2.1:5", "for=unknown")] {
            assert!(judged(connection, forwarded).is_in(&everywhere), "{connection} {forwarded}");
        }
    }

    #[test]
    fn a_proxy_that_passes_nothing_on_is_a_caller_itself() {
        let trusted = "127.0.0.1".parse().unwrap();
        let connection = "127.0.0.1:5".parse().unwrap();
        let plain = Peer::of(&mut Request::get("/").body(()).unwrap(), connection, false, &trusted);
        assert!(plain.is_in(&trusted));
        let mut passed_on = Request::get("/").header("x-forwarded-proto", "https").body(()).unwrap();
        assert!(!Peer::of(&mut passed_on, connection, false, &trusted).is_in(&trusted));
    }

    #[test]
    fn an_ipv4_caller_is_one_address_over_ipv6_too() {
        assert_eq!(judged("[::ffff:192.0.2.1]:5", "").ip.to_string(), "192.0.2.1");
    }
}
