//! `funduq serve`: a gateway that runs until somebody ends the process.

use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;

use crate::announce;
use crate::config::Config;
use crate::gateway::Gateway;

/// Serves until Ctrl-C or SIGTERM, then stops in order. A second signal ends the process at once.
pub(crate) async fn serve(config: Config) -> anyhow::Result<()> {
    let mut signals = Signals::listen()?;
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

    signals.next().await;
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

/// The signals that end the process.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
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
