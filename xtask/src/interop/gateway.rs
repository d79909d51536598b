//! The gateway under test: started on an ephemeral port, asked to end by SIGTERM, and held to a clean exit.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::shell;

/// How long it may take to be ready.
const START_LIMIT: Duration = Duration::from_secs(60);

/// How long it may take to end: links told, writes flushed.
const STOP_LIMIT: Duration = Duration::from_secs(20);

/// What the line `ready {…}` of the gateway's standard output says.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ready {
    pub(crate) url: String,
    pub(crate) funduq_key: String,
    pub(crate) agui_url: String,
    pub(crate) agent_card_url: String,
}

/// A running gateway; dropped without [`Gateway::stop`], it is killed.
#[derive(Debug)]
pub(crate) struct Gateway {
    child: Child,
    ready: Ready,
}

impl Gateway {
    /// Starts `funduq serve --demo` and waits for its ready line; all it prints goes to `log`.
    pub(crate) fn start(funduq: &Path, scratch: &Path, log: &Path) -> Result<Self> {
        let file = File::create(log).with_context(|| format!("making {}", log.display()))?;
        let mut command = Command::new(funduq);
        command
            .args(["serve", "--demo", "--listen", "127.0.0.1:0", "--drain", "10s", "--data-dir"])
            .arg(scratch.join("funduq-data"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file.try_clone()?).current_dir(scratch);
        shell::announce(&command);
        let mut child = without_configuration(&mut command).spawn().context("starting the gateway")?;
        let lines = child.stdout.take().context("the gateway's standard output is piped")?;
        match announced::<Ready>(lines, file, "ready") {
            Ok(ready) => {
                println!("the gateway listens on {}", ready.url);
                Ok(Gateway { child, ready })
            }
            Err(error) => {
                child.kill().context("ending a gateway that is not ready")?;
                let status = child.wait().context("ending a gateway that is not ready")?;
                let said = std::fs::read_to_string(log).unwrap_or_default();
                bail!("the gateway is not ready: {error:#} ({status}). It said:\n{said}")
            }
        }
    }

    pub(crate) fn ready(&self) -> &Ready {
        &self.ready
    }

    /// SIGTERM must end it with exit code 0.
    pub(crate) fn stop(mut self) -> Result<()> {
        kill_process(Pid::from_child(&self.child), Signal::TERM).context("SIGTERM")?;
        match shell::wait_within(&mut self.child, STOP_LIMIT)? {
            Some(status) if status.code() == Some(0) => Ok(()),
            Some(status) => bail!("SIGTERM ended it with {status} instead of exit code 0"),
            None => bail!("it still runs {STOP_LIMIT:?} after SIGTERM"),
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // Both fail when it has ended already, which is how it should be.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Takes every `FUNDUQ_…` variable of the person who runs this out of a child's environment.
pub(crate) fn without_configuration(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("FUNDUQ_") {
            command.env_remove(name);
        }
    }
    command
}

/// Copies a child's output to the log for as long as it lasts, and answers with what its line `{word} {…}` says.
pub(crate) fn announced<T: DeserializeOwned + Send + 'static>(
    stdout: ChildStdout,
    mut log: File,
    word: &'static str,
) -> Result<T> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(std::io::Result::ok) {
            let _ = writeln!(log, "{line}");
            if let Some(said) = parse(&line, word) {
                let _ = sender.send(said);
            }
        }
    });
    match receiver.recv_timeout(START_LIMIT) {
        Ok(said) => said,
        Err(mpsc::RecvTimeoutError::Timeout) => bail!("no line `{word} {{…}}` within {START_LIMIT:?}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => bail!("it ended without a line `{word} {{…}}`"),
    }
}

fn parse<T: DeserializeOwned>(line: &str, word: &str) -> Option<Result<T>> {
    let json = line.strip_prefix(word)?.strip_prefix(' ')?;
    Some(serde_json::from_str(json).with_context(|| format!("reading the line {line:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ready_line_is_found_among_lines_for_people() {
        assert!(parse::<Ready>("AG-UI: curl -N http://127.0.0.1:1/agui/0/echo", "ready").is_none());
        let line = r#"ready {"url":"http://127.0.0.1:1","funduqKey":"ab","aguiUrl":"u","agentCardUrl":"c","more":1}"#;
        let ready: Ready = parse(line, "ready").unwrap().unwrap();
        assert_eq!(ready.url, "http://127.0.0.1:1");
        assert_eq!(ready.funduq_key, "ab");
        assert!(parse::<Ready>("ready soon", "ready").unwrap().is_err());
    }

    #[test]
    fn a_gateway_that_ends_cleanly_on_sigterm_is_content() {
        started("trap 'exit 0' TERM; echo hello; echo 'READY'; while :; do sleep 0.01; done")
            .unwrap()
            .stop()
            .unwrap();
    }

    #[test]
    fn a_gateway_that_sigterm_kills_is_a_failure() {
        let error = started("echo 'READY'; exec sleep 60").unwrap().stop().unwrap_err().to_string();
        assert!(error.contains("instead of exit code 0"), "{error}");
    }

    #[test]
    fn a_gateway_that_does_not_get_ready_is_quoted() {
        let error = started("echo 'the port is taken' >&2; exit 2").unwrap_err().to_string();
        assert!(error.contains("ended without a line"), "{error}");
        assert!(error.contains("the port is taken"), "{error}");
    }

    /// A stand-in for the gateway: a shell script that prints the ready line where it says READY.
    fn started(script: &str) -> Result<Gateway> {
        use std::os::unix::fs::PermissionsExt as _;

        let scratch = tempfile::tempdir()?;
        let funduq = scratch.path().join("funduq");
        let ready = r#"ready {"url":"u","funduqKey":"k","aguiUrl":"a","agentCardUrl":"c"}"#;
        std::fs::write(&funduq, format!("#!/bin/sh\n{}\n", script.replace("READY", ready)))?;
        std::fs::set_permissions(&funduq, std::fs::Permissions::from_mode(0o700))?;
        Gateway::start(&funduq, scratch.path(), &scratch.path().join("log"))
    }
}
