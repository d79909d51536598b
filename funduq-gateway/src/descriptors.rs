//! How many files and sockets the process may open: as many as the system lets it, and a word if that is too few.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What the process opens beside connections: the record, keys, logs, listeners.
const OTHERS: u64 = 256;

/// Raises the soft limit to the hard one, and warns where the configuration's connections still do not fit.
pub(crate) fn make_room(connections: usize) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let room = if raised.is_ok() { maximum } else { current };
    let needed = connections as u64 + OTHERS;
    if let Some(room) = room.filter(|room| *room < needed) {
        tracing::warn!(
            room,
            needed,
            "the process may open fewer descriptors than connection-limit takes; raise its limit (LimitNOFILE, ulimit -n)"
        );
    }
}
