//! Ids that funduq mints: random UUIDs in hyphenated text, 122 bits that nobody can guess.

use funduq_contract::{RunId, ThreadId};
use uuid::Uuid;

const SHORT: &str = "a hyphenated UUID is 36 characters of plain ASCII";

/// A new run id. On an unbound thread knowing it is the right to use it.
pub(crate) fn run() -> RunId {
    RunId::new(text()).expect(SHORT)
}

/// A new thread id.
pub(crate) fn thread() -> ThreadId {
    ThreadId::new(text()).expect(SHORT)
}

/// The text of a new id, for a message.
pub(crate) fn text() -> String {
    Uuid::new_v4().to_string()
}
