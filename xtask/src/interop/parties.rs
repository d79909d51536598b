//! An agent whose caller lends it a model, and who lends it: the SDK's example, running beside the gateway.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use serde_json::Value;

use super::gateway::{Ready, announced, without_configuration};
use crate::shell;

/// The running example; it ends with this.
#[derive(Debug)]
pub(crate) struct Parties {
    child: Child,
    said: Value,
}

impl Parties {
    /// Starts it, and waits until both of its parties are online.
    pub(crate) fn start(example: &Path, scratch: &Path, ready: &Ready) -> Result<Self> {
        let log = File::create(scratch.join("kyok-parties.log"))?;
        let mut command = Command::new(example);
        command.args(["--url", &ready.url, "--funduq-key", &ready.funduq_key]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log.try_clone()?);
        shell::announce(&command);
        let mut child =
            without_configuration(&mut command).spawn().context("starting the example kyok_parties")?;
        let lines = child.stdout.take().context("its standard output is piped")?;
        let mut parties = Self { child, said: Value::Null };
        parties.said = announced(lines, log, "parties").context("the example kyok_parties")?;
        Ok(parties)
    }

    /// Their keys and names, as JSON.
    pub(crate) fn said(&self) -> &Value {
        &self.said
    }
}

impl Drop for Parties {
    fn drop(&mut self) {
        // It has nothing to lose.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
