//! The gateway under soak: started as a process, asked for its figures, stopped, and its record read.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use funduq_contract::PublicKey;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use crate::SETTLING;
use crate::watch::{Figures, Holding};

const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// A gateway in a folder of its own.
pub(crate) struct Gateway {
    child: Child,
    pub(crate) url: String,
    pub(crate) key: PublicKey,
    pub(crate) folder: tempfile::TempDir,
}

impl Gateway {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (child, ready) = launch(folder.path(), "127.0.0.1:0").await;
        let url = ready["url"].as_str().unwrap().to_owned();
        Self { child, url, key: ready["funduqKey"].as_str().unwrap().parse().unwrap(), folder }
    }

    /// Stops it in order and starts it anew at the same address; in between, when the record is at rest, `between` has a look.
    pub(crate) async fn restart<T>(&mut self, between: impl AsyncFnOnce(&Self) -> T) -> T {
        self.stop().await;
        let seen = between(self).await;
        let address = self.url.strip_prefix("http://").unwrap().to_owned();
        let (child, ready) = launch(self.folder.path(), &address).await;
        assert_eq!(ready["url"], self.url);
        self.child = child;
        seen
    }

    /// SIGTERM ends it with 0.
    async fn stop(&mut self) {
        let id = self.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().await.unwrap().success());
        let status = timeout(SETTLING, self.child.wait()).await.expect("it ends in time").unwrap();
        assert_eq!(status.code(), Some(0));
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id().expect("it has not ended")
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Waits until the figures are as they should be.
    pub(crate) async fn settled(&self, wanted: impl Fn(&Figures) -> bool) -> Figures {
        let until = Instant::now() + SETTLING;
        loop {
            let figures = Figures::read(self).await;
            if wanted(&figures) {
                return figures;
            }
            assert!(Instant::now() < until, "it does not settle:\n{figures}");
            sleep(LOOK_AGAIN).await;
        }
    }

    /// What the process holds while nothing is asked of it: the least of a few looks, as a connection of the one who looks
    /// may still be closing.
    pub(crate) async fn at_rest(&self) -> Holding {
        let mut least = Holding::of(self.id());
        for _ in 0..10 {
            sleep(LOOK_AGAIN).await;
            let now = Holding::of(self.id());
            least.sockets = least.sockets.min(now.sockets);
            least.others = least.others.min(now.others);
        }
        least
    }

    /// Waits until the process holds no more than it held before.
    pub(crate) async fn released(&self, before: &Holding) -> Holding {
        let until = Instant::now() + SETTLING;
        loop {
            let now = Holding::of(self.id());
            if now.sockets <= before.sockets && now.others <= before.others {
                return now;
            }
            assert!(Instant::now() < until, "something is left: {now:?}, and {before:?} before");
            sleep(LOOK_AGAIN).await;
        }
    }

    /// The record, to be read.
    pub(crate) fn record(&self) -> Connection {
        Connection::open_with_flags(self.data().join("record.sqlite"), OpenFlags::SQLITE_OPEN_READ_ONLY)
            .unwrap()
    }

    /// It ends, and its record is whole then.
    pub(crate) async fn stop_and_check(mut self) {
        self.stop().await;
        let mut check = Command::new(env!("CARGO_BIN_EXE_funduq"));
        let checked = check.arg("check").arg("--data-dir").arg(self.data()).output().await.unwrap();
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap();
        assert!(!log.contains("ERROR"), "it logged errors:\n{log}");
    }
}

/// Starts the binary in a folder; the process, and what it says where it is.
async fn launch(folder: &Path, listen: &str) -> (Child, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_funduq"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("FUNDUQ_") {
            command.env_remove(name);
        }
    }
    command.args(["serve", "--listen", listen, "--link-grace", "2s", "--unserved-timeout", "5s"]);
    // The disk of whoever runs this is not what is looked at, and no run is as long as what a stop waits for as a rule.
    command.args(["--durability", "process", "--drain", "200ms"]);
    // One agent spends the lent model for all callers, as fast as it can.
    command.args(["--key-request-rate", "none"]);
    command.args(["--header-timeout", "5s", "--log", "warn", "--data-dir"]).arg(folder.join("data"));
    let log = File::options().create(true).append(true).open(folder.join("log")).unwrap();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    loop {
        let line = timeout(SETTLING, lines.next_line()).await.unwrap().unwrap().expect("a line `ready`");
        if let Some(ready) = line.strip_prefix("ready ") {
            return (child, serde_json::from_str(ready).unwrap());
        }
    }
}
