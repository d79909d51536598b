//! What is being streamed in chunks: one thing per agent, until that agent says something else. Pure.

use std::sync::Arc;

use super::error::{Entity, OrderError};
use super::owners::{Owner, not_its};

/// A chunk, as far as its place in the stream hangs on it.
pub(super) struct Chunk<'a> {
    pub(super) what: Entity,
    pub(super) id: Option<&'a str>,
    pub(super) said: Option<&'a str>,
    /// The message that a tool call is in.
    pub(super) parent: Option<&'a str>,
    /// The members that the first chunk settles and that later ones can only repeat.
    pub(super) settles: [Settled<'a>; 2],
}

/// A member, what the chunk says for it, and what the first chunk means when it does not say it.
#[derive(Clone, Copy)]
pub(super) struct Settled<'a> {
    pub(super) member: &'static str,
    pub(super) said: Option<&'a str>,
    pub(super) meant: Option<&'a str>,
}

impl Settled<'_> {
    pub(super) const NONE: Self = Settled { member: "", said: None, meant: None };
}

#[derive(Debug, Default)]
pub(super) struct Lanes(Vec<Lane>);

#[derive(Debug)]
struct Lane {
    owner: Owner,
    what: Entity,
    id: Arc<str>,
    settled: [Option<String>; 2],
}

impl Lanes {
    /// Whether it is being streamed, in another lane than this one's.
    pub(super) fn holds_beside(&self, owner: Option<&str>, what: Entity, id: &str) -> bool {
        self.0.iter().any(|lane| lane.is(what, id) && lane.owner.as_deref() != owner)
    }

    /// The agent of that lane says something else.
    pub(super) fn close(&mut self, owner: Option<&str>) {
        self.0.retain(|lane| lane.owner.as_deref() != owner);
    }

    pub(super) fn close_all(&mut self) {
        self.0.clear();
    }

    /// Whether the chunk goes on with what is being streamed; else it has to open something.
    ///
    /// # Errors
    /// When it cannot be said which, or the chunk contradicts what it continues.
    pub(super) fn goes_on(&self, chunk: &Chunk<'_>) -> Result<bool, OrderError> {
        let Some(lane) = self.continued(chunk)? else { return Ok(false) };
        for (settles, settled) in chunk.settles.iter().zip(&lane.settled) {
            if settles.said.is_some() && settles.said != settled.as_deref() {
                let (id, member) = (lane.id.to_string(), settles.member);
                return Err(OrderError::ChunkDiffers { what: lane.what, id, member });
            }
        }
        Ok(true)
    }

    fn continued(&self, chunk: &Chunk<'_>) -> Result<Option<&Lane>, OrderError> {
        let Some(id) = chunk.id else {
            let mut of_kind = self.0.iter().filter(|lane| lane.what == chunk.what);
            let by_owner = of_kind.clone().find(|lane| lane.owner.as_deref() == chunk.said);
            if by_owner.is_some() || chunk.said.is_some() {
                return Ok(by_owner);
            }
            let only = of_kind.next();
            if of_kind.next().is_some() {
                return Err(OrderError::ChunkAmbiguous { what: chunk.what });
            }
            return Ok(only);
        };
        match self.0.iter().find(|lane| lane.is(chunk.what, id)) {
            Some(lane) if chunk.said.is_some() && lane.owner.as_deref() != chunk.said => {
                Err(not_its(chunk.what, id, &lane.owner, chunk.said))
            }
            lane => Ok(lane),
        }
    }

    /// From here on this is what the chunk's agent streams.
    pub(super) fn open(&mut self, chunk: &Chunk<'_>, id: Arc<str>) {
        let owner = chunk.said.map(Arc::from);
        let settled = chunk.settles.map(|settles| settles.said.or(settles.meant).map(str::to_owned));
        self.0.push(Lane { owner, what: chunk.what, id, settled });
    }
}

impl Lane {
    fn is(&self, what: Entity, id: &str) -> bool {
        self.what == what && &*self.id == id
    }
}
