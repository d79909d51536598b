//! What the gateway counts, beside what core does, and the page that tells both: Prometheus text, labels that are bounded
//! whatever a stranger sends.

mod process;
mod relay;

use std::borrow::Cow;

use funduq_core::Funduq;
use http::{Method, StatusCode};
use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use crate::limits::Limit;

pub(crate) use prometheus_text::CONTENT_TYPE;

type Labels<const N: usize> = [(&'static str, Cow<'static, str>); N];

/// The gateway's counters and the page.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Labels<3>, Counter>,
    refused: Family<Labels<1>, Counter>,
    connections: Gauge,
    streams: Gauge,
    certificate_loads: Family<Labels<1>, Counter>,
}

impl Metrics {
    pub(crate) fn new(funduq: Funduq) -> Self {
        let mut registry = Registry::with_prefix("funduq");
        let about = Info::new([
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("contract_revision", funduq_contract::CONTRACT_REVISION.to_string()),
        ]);
        registry.register("build", "Which funduq this is", about);
        registry.register_collector(Box::new(relay::Relay(funduq)));
        let metrics = Self {
            requests: Family::default(),
            refused: Family::default(),
            connections: Gauge::default(),
            streams: Gauge::default(),
            certificate_loads: Family::default(),
            registry: Registry::default(),
        };
        let Self { requests, refused, connections, streams, certificate_loads, .. } = &metrics;
        registry.register(
            "http_requests",
            "Requests, by route and the status of their answer",
            requests.clone(),
        );
        registry.register("limited", "Refusals, by the limit that they met", refused.clone());
        registry.register("connections", "Open connections of callers and providers", connections.clone());
        registry.register("streams", "Streams of runs that are being read", streams.clone());
        registry.register(
            "certificate_loads",
            "Readings of the TLS certificate, by their result",
            certificate_loads.clone(),
        );
        registry.register_collector(Box::new(process::Process));
        // What is told by a word is there from the start, so that its first rise is seen as one.
        for limit in Limit::ALL {
            drop(metrics.refused.get_or_create(&[("limit", limit.as_str().into())]));
        }
        for result in ["ok", "failed"] {
            drop(metrics.certificate_loads.get_or_create(&[("result", result.into())]));
        }
        Self { registry, ..metrics }
    }

    /// A request was answered. `route` is the pattern that took it, which comes from a list in the code.
    pub(crate) fn answered(&self, method: &Method, route: Option<&str>, status: StatusCode) {
        let route = Cow::Owned(route.unwrap_or("none").to_owned());
        let method = match method.as_str() {
            "GET" => "GET",
            "HEAD" => "HEAD",
            "POST" => "POST",
            "DELETE" => "DELETE",
            "OPTIONS" => "OPTIONS",
            _ => "other",
        };
        let status = status.as_u16().to_string().into();
        let labels = [("method", method.into()), ("route", route), ("status", status)];
        self.requests.get_or_create(&labels).inc();
    }

    /// Something was refused because of a limit.
    pub(crate) fn limited(&self, limit: Limit) {
        self.refused.get_or_create(&[("limit", limit.as_str().into())]).inc();
    }

    /// The TLS certificate was read.
    pub(crate) fn certificate_loaded(&self, is_ok: bool) {
        let result = if is_ok { "ok" } else { "failed" };
        self.certificate_loads.get_or_create(&[("result", result.into())]).inc();
    }

    /// A connection, counted for as long as what is returned lives.
    pub(crate) fn connection(&self) -> Counted {
        Counted::new(&self.connections)
    }

    /// A stream that is being read, likewise.
    pub(crate) fn stream(&self) -> Counted {
        Counted::new(&self.streams)
    }

    /// The page.
    pub(crate) fn page(&self) -> String {
        let mut page = String::new();
        prometheus_text::encode(&mut page, &self.registry).expect("a string takes every text");
        page
    }
}

/// One of what a gauge counts.
#[derive(Debug)]
pub(crate) struct Counted(Gauge);

impl Counted {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}
