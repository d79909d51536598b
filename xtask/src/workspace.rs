//! Where things are: the root of the workspace, the target folder, and what cargo built.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use cargo_metadata::{Message, MetadataCommand};

/// The workspace that this xtask belongs to.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
}

impl Workspace {
    /// Asks cargo, so that `CARGO_TARGET_DIR` and a configured target folder are respected.
    pub(crate) fn find() -> Result<Self> {
        let metadata = MetadataCommand::new()
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .no_deps()
            .other_options(["--locked".to_owned()])
            .exec()
            .context("cargo metadata")?;
        Ok(Workspace { root: metadata.workspace_root.into(), target: metadata.target_directory.into() })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where cargo builds.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Where the suites' packages, virtual environments and logs live: never in the source tree.
    pub(crate) fn interop_scratch(&self) -> PathBuf {
        self.target.join("interop")
    }

    /// A cargo command in the root of the workspace.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root);
        command
    }

    /// Builds the executables that the stock clients and the README meet, and says where cargo put the named one. All are
    /// built at once, with an example among them and so with the features of `cargo test --workspace`: nothing is compiled twice.
    pub(crate) fn build(&self, name: &str) -> Result<PathBuf> {
        let targets = ["--bin", "funduq", "--example", "echo", "--example", "kyok_parties"];
        self.executable(name, "funduq-provider-sdk/ws", &targets)
    }

    /// Builds the example that has a feature of its own, and says where cargo put it.
    pub(crate) fn build_delegate(&self) -> Result<PathBuf> {
        self.executable("delegate", "funduq-provider-sdk/delegate-example", &["--example", "delegate"])
    }

    fn executable(&self, name: &str, features: &str, targets: &[&str]) -> Result<PathBuf> {
        let mut command = self.cargo();
        command.args(["build", "--locked", "--workspace", "--features", features]).args(targets);
        command.args(["--message-format", "json-render-diagnostics"]);
        crate::shell::announce(&command);
        let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().context("cargo build")?;
        if !output.status.success() {
            bail!("`{}` failed: {}", crate::shell::line(&command), output.status);
        }
        for message in Message::parse_stream(output.stdout.as_slice()) {
            if let Message::CompilerArtifact(artifact) = message.context("what cargo build printed")?
                && let Some(executable) = artifact.executable
                && artifact.target.name == name
            {
                return Ok(executable.into());
            }
        }
        bail!("`{}` made no executable {name}", crate::shell::line(&command))
    }
}
