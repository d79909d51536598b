//! Which message or tool call a chunk continues, as chunks may leave that unsaid.
//!
//! Each agent of a run streams in a lane of its own: the run's agent, and every
//! subagent invocation. A lane streams one thing at a time.

use std::collections::{BTreeSet, HashMap};

/// What a lane streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Stream {
    /// A text message.
    Text,
    /// A reasoning message.
    Reasoning,
    /// A tool call.
    Call,
}

impl Stream {
    /// The member that names what is streamed.
    pub(super) fn id_name(self) -> &'static str {
        match self {
            Self::Text | Self::Reasoning => "messageId",
            Self::Call => "toolCallId",
        }
    }
}

/// A lane's owner: a subagent invocation, or `None` for the run's own agent.
type Owner = Option<String>;

/// What each lane streams. The second and third map answer by other keys what the first holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Lanes {
    open: HashMap<Owner, (Stream, String)>,
    holders: HashMap<(Stream, String), Owner>,
    owners: BTreeSet<(Stream, Owner)>,
}

impl Lanes {
    /// The lane a chunk belongs to, by what it names and by whom it says it is from;
    /// `None` when that cannot be told.
    pub(super) fn lane_of(&self, stream: Stream, id: Option<&str>, from: Option<&str>) -> Option<Owner> {
        if let Some(id) = id
            && let Some(owner) = self.holders.get(&(stream, id.to_owned()))
        {
            // From another agent than the one that streams it: a contradiction.
            return (from.is_none() || from == owner.as_deref()).then(|| owner.clone());
        }
        if id.is_some() || from.is_some() || self.owners.contains(&(stream, None)) {
            return Some(from.map(str::to_owned));
        }
        // Unnamed and unattributed: the only stream of its kind, if there is just one.
        let mut owners = self.owners.range((stream, None)..).take_while(|(kind, _)| *kind == stream);
        match (owners.next(), owners.next()) {
            (Some((_, owner)), None) => Some(owner.clone()),
            _ => None,
        }
    }

    /// What the lane streams, when a chunk of this stream and id continues it.
    pub(super) fn get(&self, owner: &Owner, stream: Stream, id: Option<&str>) -> Option<String> {
        let (open, open_id) = self.open.get(owner)?;
        let continues = *open == stream && id.is_none_or(|id| id == open_id);
        continues.then(|| open_id.clone())
    }

    /// Begins a stream in a lane, in place of what it streamed.
    pub(super) fn open(&mut self, owner: Owner, stream: Stream, id: String) {
        self.close(owner.as_deref());
        self.holders.insert((stream, id.clone()), owner.clone());
        self.owners.insert((stream, owner.clone()));
        self.open.insert(owner, (stream, id));
    }

    /// Whether nothing is streamed in chunks.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Ends what a lane streams.
    pub(super) fn close(&mut self, owner: Option<&str>) {
        let owner = owner.map(str::to_owned);
        if let Some((stream, id)) = self.open.remove(&owner) {
            self.holders.remove(&(stream, id));
            self.owners.remove(&(stream, owner));
        }
    }

    /// Ends what every lane streams.
    pub(super) fn close_all(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(open: &[(Option<&str>, Stream, &str)]) -> Lanes {
        let mut lanes = Lanes::default();
        for (owner, stream, id) in open {
            lanes.open(owner.map(str::to_owned), *stream, (*id).to_owned());
        }
        lanes
    }

    #[test]
    fn a_named_stream_is_found_wherever_it_is_open() {
        let lanes = lanes(&[(Some("s1"), Stream::Text, "m1")]);
        assert_eq!(lanes.lane_of(Stream::Text, Some("m1"), None), Some(Some("s1".into())));
        assert_eq!(lanes.lane_of(Stream::Text, Some("m1"), Some("s1")), Some(Some("s1".into())));
        assert_eq!(lanes.lane_of(Stream::Text, Some("m1"), Some("s2")), None);
        assert_eq!(lanes.lane_of(Stream::Text, Some("m2"), None), Some(None));
    }

    #[test]
    fn an_unnamed_chunk_goes_to_the_runs_own_stream_or_the_only_one() {
        let one = [(Some("s1"), Stream::Text, "m1"), (Some("s2"), Stream::Call, "c1")];
        assert_eq!(lanes(&one).lane_of(Stream::Text, None, None), Some(Some("s1".into())));
        let two = [one[0], (Some("s3"), Stream::Text, "m3")];
        assert_eq!(lanes(&two).lane_of(Stream::Text, None, None), None);
        let own = [one[0], (None, Stream::Text, "m0")];
        assert_eq!(lanes(&own).lane_of(Stream::Text, None, None), Some(None));
        assert_eq!(Lanes::default().lane_of(Stream::Text, None, None), None);
    }

    #[test]
    fn a_lane_streams_one_thing_at_a_time() {
        let lanes = lanes(&[(None, Stream::Text, "m1"), (None, Stream::Call, "c1")]);
        assert_eq!(lanes.get(&None, Stream::Text, None), None);
        assert_eq!(lanes.get(&None, Stream::Call, None), Some("c1".into()));
        assert_eq!(lanes.get(&None, Stream::Call, Some("c2")), None);
        assert_eq!(lanes.lane_of(Stream::Text, Some("m1"), Some("s")), Some(Some("s".into())));
    }
}
