//! The promises of this crate, each file named for the one it keeps.

mod schemas_are_published;
