//! A suite is a folder of `interop/` with a lock file; which lock file says how it is prepared and run.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::gateway::Ready;
use super::parties::Parties;
use super::roster::Agent;
use super::{cargo, debian, node, python};
use crate::workspace::Workspace;

/// How long the tests of one suite may run.
pub(crate) const LIMIT: Duration = Duration::from_secs(600);

/// One folder of `interop/`.
#[derive(Debug)]
pub(crate) struct Suite {
    name: String,
    kind: Kind,
    /// The folder in the source tree, which nothing writes to.
    source: PathBuf,
    /// Where its packages are installed.
    scratch: PathBuf,
    /// Where Cargo builds.
    target: PathBuf,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Cargo,
    Node,
    Python,
}

/// The suites named, or all; a name without a folder is an error.
pub(crate) fn select(workspace: &Workspace, names: &[String]) -> Result<Vec<Suite>> {
    let folder = workspace.root().join("interop");
    let mut suites = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("listing {}", folder.display()))? {
        let source = entry?.path();
        let Some(kind) = Kind::of(&source) else { continue };
        let name = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let scratch = workspace.interop_scratch().join(&name);
        let target = workspace.target().to_owned();
        suites.push(Suite { name, kind, source, scratch, target });
    }
    suites.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(unknown) = names.iter().find(|name| !suites.iter().any(|suite| suite.name == **name)) {
        let known: Vec<_> = suites.iter().map(|suite| suite.name.as_str()).collect();
        bail!("there is no suite {unknown:?}; the suites are {}", known.join(", "));
    }
    suites.retain(|suite| names.is_empty() || names.contains(&suite.name));
    Ok(suites)
}

impl Suite {
    /// Installs the pinned packages, unless the same lock file is installed already.
    pub(crate) fn prepare(&self) -> Result<()> {
        std::fs::create_dir_all(&self.scratch)
            .with_context(|| format!("making {}", self.scratch.display()))?;
        match self.kind {
            Kind::Cargo => cargo::prepare(&self.source, &self.target),
            Kind::Node => node::prepare(&self.source, &self.scratch),
            Kind::Python => python::prepare(&self.source, &self.scratch)
                .and_then(|()| debian::prepare(&self.source, &self.scratch)),
        }
        .with_context(|| format!("preparing the suite {}", self.name))
    }

    pub(crate) fn run(&self, environment: &Environment) -> Result<()> {
        match self.kind {
            Kind::Cargo => cargo::run(&self.source, &self.target, environment),
            Kind::Node => node::run(&self.source, &self.scratch, environment),
            Kind::Python => python::run(&self.source, &self.scratch, environment),
        }
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "interop/{}", self.name)
    }
}

impl Kind {
    fn of(folder: &Path) -> Option<Self> {
        [("Cargo.lock", Kind::Cargo), ("package-lock.json", Kind::Node), ("requirements.txt", Kind::Python)]
            .into_iter()
            .find_map(|(lock, kind)| folder.join(lock).is_file().then_some(kind))
    }
}

/// What a suite is told of the gateway: the variables that its tests read.
#[derive(Debug)]
pub(crate) struct Environment(Vec<(&'static str, String)>);

impl Environment {
    pub(crate) fn of(workspace: &Workspace, ready: &Ready, absent: &Agent, parties: &Parties) -> Self {
        let contract = workspace.root().join("funduq-vectors/contract-vectors.json");
        Environment(vec![
            ("FUNDUQ_URL", ready.url.clone()),
            ("FUNDUQ_AGUI_URL", ready.agui_url.clone()),
            ("FUNDUQ_CARD_URL", ready.agent_card_url.clone()),
            ("FUNDUQ_OFFLINE_AGUI_URL", absent.agui_url.clone()),
            ("FUNDUQ_OFFLINE_CARD_URL", absent.agent_card_url.clone()),
            ("FUNDUQ_KYOK_PARTIES", parties.said().to_string()),
            ("FUNDUQ_CONTRACT", contract.display().to_string()),
        ])
    }

    /// Where programs are, for a suite that runs its own.
    pub(crate) fn with_programs(mut self, programs: [(&'static str, &Path); 3]) -> Self {
        self.0.extend(programs.map(|(name, path)| (name, path.display().to_string())));
        self
    }

    /// Sets the variables, and keeps a proxy of the machine out of the way of loopback.
    pub(crate) fn apply<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("NO_PROXY", "127.0.0.1,localhost").env("no_proxy", "127.0.0.1,localhost");
        command.envs(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// The suite's test files in name order.
pub(crate) fn test_files(folder: &Path, is_test: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if is_test(&name) {
            files.push(path);
        }
    }
    if files.is_empty() {
        bail!("{} has no test file to run", folder.display());
    }
    files.sort();
    Ok(files)
}

/// Runs `install` unless `stamp` already holds `pins`; afterwards it does.
pub(crate) fn once(stamp: &Path, pins: &str, install: impl FnOnce() -> Result<()>) -> Result<()> {
    if std::fs::read_to_string(stamp).is_ok_and(|installed| installed == pins) {
        return Ok(());
    }
    // A failed install must not pass for the one before it.
    if stamp.exists() {
        std::fs::remove_file(stamp).with_context(|| format!("removing {}", stamp.display()))?;
    }
    install()?;
    std::fs::write(stamp, pins).with_context(|| format!("writing {}", stamp.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_installed_once() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = folder.path().join("installed");
        let mut installs = 0;
        for pins in ["a==1", "a==1", "a==2"] {
            once(&stamp, pins, || {
                installs += 1;
                Ok(())
            })
            .unwrap();
        }
        assert_eq!(installs, 2);
    }

    #[test]
    fn a_failed_install_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = folder.path().join("installed");
        once(&stamp, "a==1", || Ok(())).unwrap();
        once(&stamp, "a==2", || bail!("no network")).unwrap_err();
        let mut tried = false;
        once(&stamp, "a==1", || {
            tried = true;
            Ok(())
        })
        .unwrap();
        assert!(tried, "what the failed install left behind is unknown");
    }
}
