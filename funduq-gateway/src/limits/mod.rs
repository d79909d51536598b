//! What one peer, one key, and all of them together may take. A limit that bites is said, counted, and holds nobody else
//! up; health and metrics stay reachable.

mod bucket;
mod held;

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use funduq_contract::PublicKey;
use http::StatusCode;
use http::request::Parts;
use tokio::time::Instant;

use crate::config::{Config, Networks};
use crate::descriptors;
use crate::http::error::ApiError;
use crate::http::peer::Peer;
use crate::metrics::{Counted, Metrics};
use bucket::{Buckets, Pace};
use held::{Full, Held, PeerKey};

pub(crate) use held::Hold;

/// How many buckets of each kind are kept: what as many peers cost is some megabytes.
const BUCKETS: usize = 65_536;
/// Connections over a limit that are taken all the same, to answer health and metrics and to say what the limit is.
const RESERVE: usize = 64;
/// How many of those one peer may have.
const PEER_RESERVE: usize = 4;
/// When somebody who met a bound on what is held at once may come again.
pub(crate) const AGAIN: Duration = Duration::from_secs(5);

/// A limit, by its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    Connections,
    PeerConnections,
    PeerStreams,
    PeerRequests,
    KeyRequests,
    Links,
    Bodies,
    PeerBodies,
    Signatures,
}

impl Limit {
    pub(crate) const ALL: [Self; 9] = [
        Self::Connections,
        Self::PeerConnections,
        Self::PeerStreams,
        Self::PeerRequests,
        Self::KeyRequests,
        Self::Links,
        Self::Bodies,
        Self::PeerBodies,
        Self::Signatures,
    ];

    /// Its word in metrics and logs; where it is a setting's, that of the setting.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Connections => "connection_limit",
            Self::PeerConnections => "peer_connection_limit",
            Self::PeerStreams => "peer_stream_limit",
            Self::PeerRequests => "peer_request_rate",
            Self::KeyRequests => "key_request_rate",
            Self::Links => "link_limit",
            Self::Bodies => "body_bytes_limit",
            Self::PeerBodies => "peer_body_bytes_limit",
            Self::Signatures => "signatures",
        }
    }

    /// What a caller is told.
    pub(crate) fn refusal(self, retry_after: Duration) -> ApiError {
        let (status, code, message) = match self {
            Self::Connections => {
                (StatusCode::SERVICE_UNAVAILABLE, "busy", "this gateway has as many connections as it takes")
            }
            Self::Links => {
                (StatusCode::SERVICE_UNAVAILABLE, "busy", "this gateway has as many links as it takes")
            }
            Self::Bodies => (
                StatusCode::SERVICE_UNAVAILABLE,
                "busy",
                "this gateway has as many bytes of unfinished requests as it takes",
            ),
            Self::PeerBodies => (
                StatusCode::TOO_MANY_REQUESTS,
                "too_many_body_bytes",
                "your address has too many bytes of unfinished requests here",
            ),
            Self::Signatures => (
                StatusCode::SERVICE_UNAVAILABLE,
                "too_many_signatures",
                "more signed requests come than can be told apart; sign anew and come back",
            ),
            Self::PeerConnections => (
                StatusCode::TOO_MANY_REQUESTS,
                "too_many_connections",
                "your address has too many connections here",
            ),
            Self::PeerStreams => (
                StatusCode::TOO_MANY_REQUESTS,
                "too_many_streams",
                "your address reads too many streams here",
            ),
            Self::PeerRequests => {
                (StatusCode::TOO_MANY_REQUESTS, "too_many_requests", "your address asks too much too fast")
            }
            Self::KeyRequests => {
                (StatusCode::TOO_MANY_REQUESTS, "too_many_requests", "your key asks too much too fast")
            }
        };
        ApiError::new(status, code, message).retry_after(Some(retry_after)).over(self)
    }
}

/// What is taken, and how much of it may be.
#[derive(Debug)]
pub(crate) struct Limits {
    metrics: Arc<Metrics>,
    began: Instant,
    /// Peers of whom nothing is counted for themselves.
    exempt: Networks,
    proxies: Networks,
    peer_requests: Option<Mutex<Buckets<PeerKey>>>,
    key_requests: Option<Mutex<Buckets<PublicKey>>>,
    connections: Arc<Held>,
    connection_limit: usize,
    /// For how many connections and links the process has descriptors.
    sockets: usize,
    peer_connection_limit: usize,
    streams: Arc<Held>,
    peer_stream_limit: usize,
    links: Arc<Held>,
    link_limit: usize,
    bodies: Arc<Held>,
    body_bytes_limit: usize,
    peer_body_bytes_limit: usize,
}

/// A connection that was taken.
#[derive(Debug)]
pub(crate) struct Seat {
    _hold: Hold,
    _counted: Counted,
    /// The limit that it is over: it is told so, and gets health and metrics and nothing else.
    pub(crate) over: Option<Limit>,
}

/// A stream that is being read, or a link: counted for as long as it lives.
#[derive(Debug)]
pub(crate) struct Permit {
    _hold: Hold,
    _counted: Option<Counted>,
}

impl Limits {
    pub(crate) fn new(config: &Config, metrics: Arc<Metrics>) -> Self {
        let pace =
            |rate: crate::config::Rate, burst: u32| rate.interval().map(|interval| Pace { interval, burst });
        let peer = pace(config.peer_request_rate, config.peer_request_burst);
        let key = pace(config.key_request_rate, config.key_request_burst);
        Self {
            metrics,
            began: Instant::now(),
            exempt: config.limit_exempt.clone(),
            proxies: config.trusted_proxies.clone(),
            peer_requests: peer.map(|pace| Mutex::new(Buckets::new(pace, BUCKETS))),
            key_requests: key.map(|pace| Mutex::new(Buckets::new(pace, BUCKETS))),
            connections: Arc::default(),
            connection_limit: config.connection_limit,
            sockets: descriptors::room_for_sockets(),
            peer_connection_limit: config.peer_connection_limit,
            streams: Arc::default(),
            peer_stream_limit: config.peer_stream_limit,
            links: Arc::default(),
            link_limit: config.link_limit,
            bodies: Arc::default(),
            body_bytes_limit: config.body_bytes_limit.get(),
            peer_body_bytes_limit: config.peer_body_bytes_limit.get(),
        }
    }

    fn maker(&self, request: &Parts) -> Option<PeerKey> {
        request.extensions.get::<Peer>().and_then(|peer| self.key(peer))
    }

    /// For whom a request is counted, if for anybody.
    fn key(&self, peer: &Peer) -> Option<PeerKey> {
        (!peer.is_in(&self.exempt)).then(|| peer.ip.into())
    }

    fn refuse(&self, limit: Limit, retry_after: Duration) -> ApiError {
        self.metrics.limited(limit);
        tracing::debug!(limit = limit.as_str(), "a limit was met");
        limit.refusal(retry_after)
    }

    /// A place for a connection; `None` where there is not even one to say so.
    pub(crate) fn connection(&self, from: IpAddr) -> Option<Seat> {
        // All of a proxy's callers come from its one address.
        let is_counted = !self.exempt.contain(from) && !self.proxies.contain(from);
        let peer = is_counted.then(|| from.into());
        // A link was a connection and counts as one no more, and has a descriptor all the same.
        let room = self.sockets.saturating_sub(self.links.count());
        let (per_peer, in_all) = (self.peer_connection_limit, self.connection_limit.min(room));
        let seat = |hold, over| Seat { _hold: hold, _counted: self.metrics.connection(), over };
        let over = match self.connections.take(peer, per_peer, in_all) {
            Ok(hold) => return Some(seat(hold, None)),
            Err(Full::Peer) => Limit::PeerConnections,
            Err(Full::All) => Limit::Connections,
        };
        self.metrics.limited(over);
        let hold = self.connections.take(peer, per_peer + PEER_RESERVE, in_all + RESERVE).ok()?;
        Some(seat(hold, Some(over)))
    }

    /// Lets one request of an address pass.
    ///
    /// # Errors
    /// 429 when there are too many.
    pub(crate) fn request(&self, peer: &Peer) -> Result<(), ApiError> {
        match (&self.peer_requests, self.key(peer)) {
            (Some(buckets), Some(key)) => self.pass(Limit::PeerRequests, buckets, key),
            _ => Ok(()),
        }
    }

    /// Lets one request of a key pass, which has to be proven: a key that is only named is anybody's word, and would be
    /// anybody's to exhaust.
    ///
    /// # Errors
    /// 429 when there are too many.
    pub(crate) fn request_of_key(&self, key: &PublicKey) -> Result<(), ApiError> {
        match &self.key_requests {
            Some(buckets) => self.pass(Limit::KeyRequests, buckets, *key),
            None => Ok(()),
        }
    }

    fn pass<K: std::hash::Hash + Eq>(
        &self,
        limit: Limit,
        buckets: &Mutex<Buckets<K>>,
        key: K,
    ) -> Result<(), ApiError> {
        let taken = buckets.lock().unwrap_or_else(PoisonError::into_inner).take(self.began.elapsed(), key);
        taken.map_err(|wait| self.refuse(limit, wait))
    }

    /// A place for a stream that the maker of this request will read.
    ///
    /// # Errors
    /// 429 when it reads as many as it may.
    pub(crate) fn stream(&self, request: &Parts) -> Result<Permit, ApiError> {
        let hold = self.streams.take(self.maker(request), self.peer_stream_limit, usize::MAX);
        let hold = hold.map_err(|_| self.refuse(Limit::PeerStreams, AGAIN))?;
        Ok(Permit { _hold: hold, _counted: Some(self.metrics.stream()) })
    }

    /// The body of this request, of which nothing has come yet.
    pub(crate) fn body(&self, request: &Parts) -> Hold {
        self.bodies.nothing(self.maker(request))
    }

    /// Room for more of a body.
    ///
    /// # Errors
    /// 429 where its maker has too much under way, 503 where all together have.
    pub(crate) fn more_of_body(&self, body: &mut Hold, bytes: usize) -> Result<(), ApiError> {
        body.grow(bytes, self.peer_body_bytes_limit, self.body_bytes_limit).map_err(|full| {
            let limit = match full {
                Full::Peer => Limit::PeerBodies,
                Full::All => Limit::Bodies,
            };
            self.refuse(limit, AGAIN)
        })
    }

    /// A place for a provider's connection. That one key has one link of each kind is core's to see to.
    ///
    /// # Errors
    /// 503 when there are as many as there may be.
    pub(crate) fn link(&self) -> Result<Permit, ApiError> {
        let hold = self.links.take(None, 0, self.link_limit);
        let hold = hold.map_err(|_| self.refuse(Limit::Links, AGAIN))?;
        Ok(Permit { _hold: hold, _counted: None })
    }
}
