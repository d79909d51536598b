//! What the process holds: memory, descriptors, tasks. Under the names that Prometheus's own clients use, where they have
//! one.

use std::fmt::Error;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;

#[derive(Debug)]
pub(super) struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let tasks = tokio::runtime::Handle::try_current().map(|handle| handle.metrics().num_alive_tasks());
        let figures = [
            ("process_resident_memory_bytes", "Memory that the process has in use", resident()),
            ("process_open_fds", "Files and sockets that the process has open", descriptors()),
            ("tasks", "Tasks of the runtime that have not ended", tasks.ok()),
        ];
        for (name, help, figure) in figures {
            let Some(figure) = figure.and_then(|figure| i64::try_from(figure).ok()) else { continue };
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            ConstGauge::new(figure).encode(metric)?;
        }
        Ok(())
    }
}

/// From `VmRSS:  1234 kB` in what Linux says about the process; elsewhere nothing.
fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<usize>().ok()?.checked_mul(1024)
}

/// The one that reads the folder is not among them.
fn descriptors() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1))
}
