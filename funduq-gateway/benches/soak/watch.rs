//! What can be seen of the gateway from outside: its metrics, and what its process holds.

use std::collections::BTreeMap;
use std::fmt;

use crate::gateway::Gateway;

/// The page of metrics, by name and labels.
pub(crate) struct Figures(BTreeMap<String, f64>);

impl Figures {
    pub(crate) async fn read(gateway: &Gateway) -> Self {
        // A client of its own, so that no connection is kept.
        let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
        let page = client.get(format!("{}/metrics", gateway.url)).send().await.unwrap().text().await.unwrap();
        let lines = page.lines().filter(|line| !line.starts_with('#'));
        let read = lines.map(|line| line.rsplit_once(' ').unwrap());
        Self(read.map(|(name, value)| (name.to_owned(), value.parse().unwrap())).collect())
    }

    pub(crate) fn get(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// All figures whose name and labels begin so.
    pub(crate) fn sum(&self, prefix: &str) -> f64 {
        self.0.iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, value)| value).sum()
    }

    /// Those that begin so and are not zero.
    pub(crate) fn with(&self, prefix: &str) -> BTreeMap<String, u64> {
        let found = self.0.iter().filter(|(name, value)| name.starts_with(prefix) && **value > 0.0);
        found.map(|(name, value)| (name.clone(), *value as u64)).collect()
    }

    /// No completion is under way.
    pub(crate) fn lends_nothing(&self) -> bool {
        self.get("funduq_completions_live") == 0.0
    }

    /// Nothing is under way but the request that asks.
    pub(crate) fn is_idle(&self) -> bool {
        let all = ["funduq_runs_live", "funduq_links", "funduq_streams", "funduq_record_waiting"];
        all.iter().map(|name| self.sum(name)).sum::<f64>() == 0.0 && self.get("funduq_connections") == 1.0
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .filter(|(_, value)| **value > 0.0)
            .try_for_each(|(name, value)| writeln!(f, "{name} {value}"))
    }
}

/// The descriptors that a process has open, but those of the record, which keeps some to read with.
#[derive(Debug)]
pub(crate) struct Holding {
    pub(crate) sockets: usize,
    pub(crate) others: usize,
}

impl Holding {
    pub(crate) fn of(process: u32) -> Self {
        let mut holding = Self { sockets: 0, others: 0 };
        for descriptor in std::fs::read_dir(format!("/proc/{process}/fd")).unwrap() {
            // One may be closed while it is looked at.
            let Ok(target) = std::fs::read_link(descriptor.unwrap().path()) else { continue };
            let target = target.to_string_lossy().into_owned();
            match () {
                () if target.starts_with("socket:") => holding.sockets += 1,
                () if target.contains("record.sqlite") => {}
                () => holding.others += 1,
            }
        }
        holding
    }
}
