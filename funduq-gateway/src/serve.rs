//! `funduq serve`: a gateway that runs until somebody ends the process.

use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;

use crate::announce;
use crate::config::Config;
use crate::descriptors;
use crate::gateway::Gateway;

/// Serves until Ctrl-C or SIGTERM, then stops in order. A second signal ends the process at once. SIGHUP has files read
/// again.
pub(crate) async fn serve(config: Config) -> anyhow::Result<()> {
    let mut signals = Signals::listen()?;
    descriptors::make_room(config.connection_limit);
    let gateway = tokio::select! {
        started = Gateway::start(config) => started?,
        // Whoever ends it before it has begun waits for nothing.
        () = signals.next() => return Ok(()),
    };
    let lines = announce::lines(&gateway).join("\n");
    let mut out = std::io::stdout().lock();
    // Who started it may not listen, and it serves all the same.
    let _ = writeln!(out, "{lines}").and_then(|()| out.flush());
    drop(out);

    while let Wish::Reload = signals.any().await {
        gateway.reload().await;
    }
    tracing::info!("stopping; a second signal ends it at once");
    tokio::select! {
        () = gateway.shutdown() => {
            tracing::info!("stopped");
            Ok(())
        }
        () = signals.again() => anyhow::bail!("ended by a second signal, before everything had ended in order"),
    }
}

/// One wish to stop may come as two signals: to the process, and to its whole group.
const ONE_WISH: Duration = Duration::from_secs(1);

/// What a signal asks for.
enum Wish {
    Stop,
    Reload,
}

async fn ended(interrupt: &mut Signal, terminate: &mut Signal) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// The signals that somebody sends: to end the process, or to have files read again.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        ended(&mut self.interrupt, &mut self.terminate).await;
    }

    /// The next of the two that may come first.
    async fn any(&mut self) -> Wish {
        tokio::select! {
            () = ended(&mut self.interrupt, &mut self.terminate) => Wish::Stop,
            _ = self.hangup.recv() => Wish::Reload,
        }
    }

    /// Waits for a signal that is another wish than the one that came just now.
    async fn again(&mut self) {
        let first = Instant::now();
        loop {
            self.next().await;
            if first.elapsed() > ONE_WISH {
                return;
            }
        }
    }
}
