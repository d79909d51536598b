//! How many files and sockets the process may open: as many as the system lets it, and a word if that is too few.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What the process opens beside connections and links: the record, keys, logs, listeners, and connections over a limit,
/// which are told so and get health and metrics.
const OTHERS: u64 = 160;

/// Raises the soft limit to the hard one, and warns where the configuration's connections still do not fit.
pub(crate) fn make_room(connection_limit: usize) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::debug!(?current, ?maximum, %error, "the limit of descriptors is not raised");
    }
    let sockets = room_for_sockets();
    if sockets < connection_limit {
        tracing::warn!(
            sockets,
            connection_limit,
            "the process may open fewer descriptors than connection-limit takes, so no more sockets are taken than fit; \
             raise its limit (LimitNOFILE, ulimit -n)"
        );
    }
}

/// How many connections and links the process has descriptors for, so that everything else still finds one. At least 1.
pub(crate) fn room_for_sockets() -> usize {
    sockets_of(getrlimit(Resource::Nofile).current)
}

fn sockets_of(descriptors: Option<u64>) -> usize {
    let sockets = descriptors.map(|descriptors| descriptors.saturating_sub(OTHERS).max(1));
    sockets.and_then(|sockets| sockets.try_into().ok()).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_descriptors_are_left_for_everything_else() {
        assert_eq!(sockets_of(None), usize::MAX);
        assert_eq!(sockets_of(Some(1024)), 1024 - 160);
        assert_eq!(sockets_of(Some(10)), 1, "it is not enough, and something has to be tried");
    }
}
