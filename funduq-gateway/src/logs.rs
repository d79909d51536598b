//! The log: text on standard error, filtered as the configuration says.
//!
//! What the levels mean: `error`, somebody has to do something; `warn`, something went wrong and funduq goes on;
//! `info`, links, tickets, starts and stops; `debug`, each request and each refusal.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

/// Begins to log. `filter` has RUST_LOG's grammar.
///
/// # Errors
/// [`ParseError`] for a filter that does not.
pub(crate) fn start(filter: &str) -> Result<(), ParseError> {
    let filter = EnvFilter::try_new(filter)?;
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    // Somebody else may have begun to log in this process already, and then goes on.
    let _ = subscriber.try_init();
    Ok(())
}
