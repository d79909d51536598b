//! The binary `funduq` as a process.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use super::SOON;

/// The command, in a folder and with nothing of this process's configuration.
pub(crate) fn funduq(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_funduq"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).kill_on_drop(true);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("FUNDUQ_") {
            command.env_remove(name);
        }
    }
    command
}

/// `funduq serve`, ready.
pub(crate) struct Serving {
    pub(crate) child: Child,
    /// What it printed before it was ready.
    pub(crate) printed: Vec<String>,
    /// What it says where it is.
    pub(crate) ready: Value,
    /// What it prints from then on.
    pub(crate) lines: Lines<BufReader<ChildStdout>>,
}

impl Serving {
    /// Starts it and reads what it prints up to the line `ready`.
    pub(crate) async fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::start_with(funduq(folder, &[]), arguments).await
    }

    /// The same where this command is, or ends in, the program.
    pub(crate) async fn start_with(mut command: Command, arguments: &[&str]) -> Self {
        command.args(["serve", "--listen", "127.0.0.1:0", "--durability", "process"]);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
        // What is free goes back to the system after 10 s as a rule; nobody wants to wait for so long.
        command.env("_RJEM_MALLOC_CONF", "dirty_decay_ms:500");
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut printed = Vec::new();
        loop {
            let line = timeout(SOON, lines.next_line()).await.unwrap().unwrap().expect("a line `ready`");
            if let Some(ready) = line.strip_prefix("ready ") {
                let ready = serde_json::from_str(ready).unwrap();
                return Self { child, printed, ready, lines };
            }
            printed.push(line);
        }
    }
}

/// Sends a process a signal, and has the code with which it ends.
pub(crate) async fn end(child: &mut Child, signal: &str) -> Option<i32> {
    let id = child.id().unwrap().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().await.unwrap().success());
    timeout(SOON, child.wait()).await.expect("an end").unwrap().code()
}
