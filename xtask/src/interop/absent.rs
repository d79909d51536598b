//! An agent that is registered and not there: a second provider publishes it and leaves.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::gateway::{Ready, without_configuration};
use super::roster::{self, Agent};
use crate::shell;

/// The name under which it registers.
const NAME: &str = "sleeper";

/// How long it may take to register, and to be missed.
const LIMIT: Duration = Duration::from_secs(20);

/// Runs the SDK's example until the gateway lists its agent as online, ends it, and waits until it is listed as offline.
pub(crate) fn register_and_leave(example: &Path, scratch: &Path, ready: &Ready) -> Result<Agent> {
    let log = scratch.join("sleeper.log");
    let mut command = Command::new(example);
    command.args(["--url", &ready.url, "--funduq-key", &ready.funduq_key, "--name", NAME, "--key"]);
    command.arg(scratch.join("sleeper.key"));
    command.stdin(Stdio::null()).stdout(File::create(&log)?).stderr(File::options().append(true).open(&log)?);
    shell::announce(&command);
    let mut provider = without_configuration(&mut command).spawn().context("starting the example echo")?;

    let online = roster::wait_for(&ready.url, NAME, true, LIMIT);
    if online.is_ok() {
        kill_process(Pid::from_child(&provider), Signal::TERM).context("SIGTERM to the example echo")?;
    }
    let ended = shell::wait_within(&mut provider, if online.is_ok() { LIMIT } else { Duration::ZERO })?;
    if ended.is_none() {
        provider.kill()?;
        provider.wait()?;
    }
    online.with_context(|| {
        format!("the example echo said: {}", std::fs::read_to_string(&log).unwrap_or_default())
    })?;
    if ended.is_none() {
        bail!("the example echo did not end within {LIMIT:?} of SIGTERM");
    }
    roster::wait_for(&ready.url, NAME, false, LIMIT)
}
