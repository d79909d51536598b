//! Why a link ended for good.

use std::path::PathBuf;

use funduq_contract::{ConnectErr, ErrFrame, WrongFunduq};

/// What no further attempt can heal. Everything else is tried again for as long as the process lives.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The address is none of a funduq.
    #[error("{url:?} is not the address of a funduq: {problem}; it looks like https://relay.example")]
    BadUrl {
        /// What was given.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The proxy in the environment cannot be used.
    #[error("the proxy {proxy:?} from the environment cannot be used: {problem}")]
    BadProxy {
        /// Its address, without a password.
        proxy: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The file with further root certificates cannot be used.
    #[error("the certificates in {path}: {problem}")]
    BadCertificates {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Whoever answered is not the funduq that was pinned, or refused a proof that holds only there; nothing was
    /// published.
    #[error(transparent)]
    WrongFunduq(#[from] WrongFunduq),
    /// funduq issues no ticket to this key.
    #[error("funduq does not admit this provider (HTTP {status}): {message}")]
    NotAdmitted {
        /// The HTTP status.
        status: u16,
        /// funduq's own words.
        message: String,
    },
    /// funduq refused the opening.
    #[error("funduq refused the link: {0}")]
    Refused(#[source] ConnectErr),
    /// funduq does not take what is to be served.
    #[error("funduq does not take the roster: {}", .0.message)]
    RosterRefused(ErrFrame),
    /// Another process opened a link with the same key, and it is the provider now.
    #[error("another process serves with this key now; a key serves from one place at a time")]
    Replaced,
}
