//! Core's figures, read when the page is asked for.

use std::fmt::Error;
use std::time::Duration;

use funduq_core::{CompletionFigures, Funduq, Timing};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;

#[derive(Debug)]
pub(super) struct Relay(pub(super) Funduq);

impl Collector for Relay {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let figures = self.0.figures();
        let mut page = Page(encoder);
        page.counter("runs_opened", "Runs whose opening is in the record", figures.runs_opened)?;
        page.counters(
            "runs_ended",
            "Runs whose end is in the record, by outcome and, of failed ones, reason",
            figures
                .runs_ended
                .iter()
                .map(|ended| ([("outcome", ended.status.as_str()), ("reason", ended.reason)], ended.count)),
        )?;
        page.gauges(
            "runs_live",
            "Runs that have not ended, by where they stand; those that are queued wait for a provider",
            figures.live_runs.iter().map(|(status, count)| ([("status", status.as_str())], *count)),
        )?;
        page.gauge("threads_live", "Threads with a run that has not ended", figures.live_threads)?;
        let refused =
            [("thread_queue_limit", figures.full_threads), ("live_run_limit", figures.too_many_runs)];
        page.counters(
            "runs_refused",
            "Runs that were not accepted, by the limit that they met",
            refused.map(|(limit, count)| ([("limit", limit)], count)),
        )?;
        page.counter("offers", "Offers of a run to a provider", figures.offers)?;
        let verdicts = [
            ("accepted", figures.accepted),
            ("declined", figures.declined),
            ("refused", figures.refused),
            ("unanswered", figures.unanswered),
        ];
        page.counters(
            "verdicts",
            "What providers said to offers; unanswered are those that lapsed",
            verdicts.into_iter().map(|(verdict, count)| ([("verdict", verdict)], count)),
        )?;
        page.counter("events", "Events in the record", figures.events)?;
        page.counter("event_bytes", "Bytes of events in the record", figures.event_bytes)?;
        let links = [("agents", figures.agent_links), ("llm", figures.llm_links)];
        page.gauges(
            "links",
            "Open links of providers",
            links.map(|(kind, count)| ([("kind", kind)], count)),
        )?;
        page.gauge(
            "record_waiting",
            "Operations that wait to be written to the record",
            figures.writes_waiting,
        )?;
        let errors = [("write", figures.writes_failed), ("read", figures.reads_failed)];
        page.counters(
            "record_errors",
            "What the record could not do",
            errors.map(|(operation, count)| ([("operation", operation)], count)),
        )?;
        page.timing("offer_answer", "From an offer to its answer", &figures.answer_time)?;
        page.timing(
            "first_event",
            "From a run's arrival to its provider's first event",
            &figures.first_event_time,
        )?;
        page.timing("commit", "What a commit of the record takes", &figures.commit_time)?;
        completions(&mut page, &figures.completions)
    }
}

/// Completions of lent models.
fn completions(page: &mut Page<'_>, figures: &CompletionFigures) -> Result<(), Error> {
    page.counter("completions", "Completions that went to an LLM provider", figures.begun)?;
    page.counters(
        "completions_ended",
        "Completions that ended, by what their agent was told, or that it had gone",
        figures.ended.iter().map(|(ending, count)| ([("outcome", ending.as_str())], *count)),
    )?;
    page.gauge("completions_live", "Completions whose agent has not been told the end", figures.live)?;
    page.counter("completion_chunks", "Chunks of completions from LLM providers", figures.chunks)?;
    page.counter("completion_bytes", "Bytes of chunks of completions", figures.bytes)?;
    page.gauge(
        "completion_unread_bytes",
        "Bytes of completions that wait for agents to read them",
        figures.unread_bytes,
    )?;
    page.timing(
        "first_chunk",
        "From a call's way to its LLM provider to the first chunk",
        &figures.first_chunk_time,
    )
}

/// The page, as figures are written on it.
struct Page<'a>(DescriptorEncoder<'a>);

impl Page<'_> {
    fn counter(&mut self, name: &str, help: &str, count: u64) -> Result<(), Error> {
        ConstCounter::new(count).encode(self.0.encode_descriptor(name, help, None, MetricType::Counter)?)
    }

    fn gauge(&mut self, name: &str, help: &str, count: impl TryInto<i64>) -> Result<(), Error> {
        ConstGauge::new(whole(count)).encode(self.0.encode_descriptor(name, help, None, MetricType::Gauge)?)
    }

    fn counters<const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        counts: impl IntoIterator<Item = ([(&'static str, &'static str); N], u64)>,
    ) -> Result<(), Error> {
        let mut metric = self.0.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (labels, count) in counts {
            ConstCounter::new(count).encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn gauges<const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        counts: impl IntoIterator<Item = ([(&'static str, &'static str); N], usize)>,
    ) -> Result<(), Error> {
        let mut metric = self.0.encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (labels, count) in counts {
            ConstGauge::new(whole(count)).encode(metric.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn timing(&mut self, name: &str, help: &str, timing: &Timing) -> Result<(), Error> {
        let unit = Some(&Unit::Seconds);
        let mut metric = self.0.encode_descriptor(name, help, unit, MetricType::Histogram)?;
        let buckets: Vec<_> =
            timing.buckets.iter().map(|(bound, count)| (Duration::as_secs_f64(bound), *count)).collect();
        metric.encode_histogram::<NoLabelSet>(timing.sum.as_secs_f64(), timing.count(), &buckets, None)
    }
}

fn whole(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}
