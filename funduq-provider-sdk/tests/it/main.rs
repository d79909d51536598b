//! The promises of the provider SDK, from outside.

mod support;

mod demo;
mod endings;
mod identity_file;
mod in_process;
mod recovery;
mod sink;
mod stop;
mod turns;
