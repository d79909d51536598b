//! Which waiting lineage a request answers, if any.

use std::collections::BTreeSet;

use funduq_agui::{RelayedInput, RelayedMessage, Role};
use funduq_contract::RunId;

use crate::record::{Asks, WaitingRun};

/// What a request's resume and tool messages make of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The next run on the lineage in which this one waits.
    To(RunId),
    /// An ordinary turn.
    Nothing,
    /// A resume, while nothing that it names is open.
    NoPendingAsk,
    /// A resume that leaves asks open of a lineage that it names.
    NotCovered { missing: Vec<String> },
}

/// What a request answers. A resume answers whatever it names; a tool message answers a tool call and no interrupt, which
/// may have the id of the call that it is about: a result in a history is nobody's word on it.
#[derive(Debug)]
pub(super) struct Replies<'a> {
    resumed: BTreeSet<&'a str>,
    results: BTreeSet<&'a str>,
}

impl<'a> Replies<'a> {
    pub(super) fn of(input: &'a RelayedInput) -> Self {
        let tools = input.messages.iter().filter(|message| *message.role() == Role::Tool);
        Self {
            resumed: input.resume.iter().flatten().map(|entry| entry.interrupt_id()).collect(),
            results: tools.filter_map(RelayedMessage::tool_call_id).collect(),
        }
    }

    /// Whether it answers nothing at all.
    pub(super) fn is_empty(&self) -> bool {
        self.resumed.is_empty() && self.results.is_empty()
    }

    /// What it makes of these waiting runs, which are the newest first; the newest counts where several would fit. A resent
    /// history's old tool messages name calls that are answered already, so they find nothing.
    pub(super) fn judge(&self, waiting: Vec<WaitingRun>) -> Answer {
        if self.resumed.is_empty() {
            let covered = waiting.into_iter().find(|run| self.missing(&run.asks).is_empty());
            return covered.map_or(Answer::Nothing, |run| Answer::To(run.id));
        }
        // What a resume says to one lineage would be lost on another.
        let mut named = waiting.into_iter().filter(|run| self.names(&run.asks)).peekable();
        let newest = named.peek().map(|run| run.id.clone());
        match (named.map(|run| self.missing(&run.asks)).find(|missing| !missing.is_empty()), newest) {
            (Some(missing), _) => Answer::NotCovered { missing },
            (None, Some(newest)) => Answer::To(newest),
            (None, None) => Answer::NoPendingAsk,
        }
    }

    fn names(&self, asks: &Asks) -> bool {
        asks.interrupts.iter().chain(&asks.tool_calls).any(|id| self.resumed.contains(id.as_str()))
    }

    fn missing(&self, asks: &Asks) -> Vec<String> {
        let calls = asks.tool_calls.iter().filter(|id| !self.results.contains(id.as_str()));
        let missing = asks.interrupts.iter().chain(calls).filter(|id| !self.resumed.contains(id.as_str()));
        missing.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str, interrupts: &[&str], tool_calls: &[&str]) -> WaitingRun {
        let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        let asks = Asks { interrupts: owned(interrupts), tool_calls: owned(tool_calls) };
        WaitingRun { id: RunId::new(id).unwrap(), asks }
    }

    /// The newest first.
    fn waiting() -> Vec<WaitingRun> {
        vec![run("new", &["p", "q"], &[]), run("mid", &[], &["c", "d"]), run("old", &["z"], &[])]
    }

    fn judged(resumed: &[&str], results: &[&str], waiting: Vec<WaitingRun>) -> Answer {
        let (resumed, results) = (resumed.iter().copied().collect(), results.iter().copied().collect());
        Replies { resumed, results }.judge(waiting)
    }

    fn to(id: &str) -> Answer {
        Answer::To(RunId::new(id).unwrap())
    }

    fn not_covered(missing: &[&str]) -> Answer {
        Answer::NotCovered { missing: missing.iter().map(|id| (*id).to_owned()).collect() }
    }

    #[test]
    fn each_lineage_is_answered_by_what_covers_it() {
        for (resumed, results, answer) in [
            (&["p", "q"][..], &[][..], to("new")),
            (&["q", "p", "stale"], &[], to("new")),
            (&[], &["c", "d"], to("mid")),
            (&[], &["d", "c", "older"], to("mid")),
            (&["c", "d"], &[], to("mid")),
            (&["c"], &["d"], to("mid")),
            (&["z"], &[], to("old")),
            (&["z"], &["c", "d"], to("old")),
            (&[], &[], Answer::Nothing),
        ] {
            assert_eq!(judged(resumed, results, waiting()), answer, "{resumed:?} {results:?}");
        }
    }

    #[test]
    fn what_covers_only_a_part_answers_nothing() {
        for (resumed, results, answer) in [
            (&["p"][..], &[][..], not_covered(&["q"])),
            (&["z", "p"], &[], not_covered(&["q"])),
            (&["c"], &[], not_covered(&["d"])),
            (&[], &["c"], Answer::Nothing),
            (&[], &["older"], Answer::Nothing),
            (&["stale"], &[], Answer::NoPendingAsk),
        ] {
            assert_eq!(judged(resumed, results, waiting()), answer, "{resumed:?} {results:?}");
        }
    }

    #[test]
    fn a_tool_message_is_no_word_on_an_interrupt() {
        assert_eq!(judged(&[], &["z"], waiting()), Answer::Nothing, "nobody has spoken on the interrupt");
        assert_eq!(judged(&["p"], &["q"], waiting()), not_covered(&["q"]));
        assert_eq!(judged(&["stale"], &["c", "d"], waiting()), Answer::NoPendingAsk, "the resume is refused");
    }

    #[test]
    fn where_several_would_fit_it_is_the_newest() {
        let twins = || vec![run("new", &["a"], &[]), run("old", &["a"], &[])];
        assert_eq!(judged(&["a"], &[], twins()), to("new"));
        let twins = vec![run("new", &[], &["c"]), run("old", &[], &["c"])];
        assert_eq!(judged(&[], &["c"], twins), to("new"));
        assert_eq!(judged(&["p", "q", "z"], &[], waiting()), to("new"));
    }
}
