//! The log on standard error: text or JSON, filtered as the configuration says.
//!
//! What the levels mean: `error`, somebody has to do something; `warn`, something went wrong and funduq goes on;
//! `info`, links, tickets, certificates, starts and stops; `debug`, each request, each run and each refusal.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

use crate::config::LogFormat;

/// Begins to log. `filter` has RUST_LOG's grammar.
///
/// # Errors
/// [`ParseError`] for a filter that does not.
pub(crate) fn start(filter: &str, format: LogFormat) -> Result<(), ParseError> {
    let filter = EnvFilter::try_new(filter)?;
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // Somebody else may have begun to log in this process already, and then goes on.
    let _ = match format {
        LogFormat::Text => subscriber.with_ansi(std::io::stderr().is_terminal()).try_init(),
        LogFormat::Json => subscriber.json().flatten_event(true).with_current_span(false).try_init(),
    };
    Ok(())
}
