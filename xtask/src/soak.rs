//! `cargo xtask soak`: a gateway under mixed load for a while, and whether everything adds up afterwards.

use anyhow::Result;
use clap::Args as ClapArgs;

use crate::shell;
use crate::workspace::Workspace;

/// For how long.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// How many minutes the load lasts.
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// Measures instead what 10,000 idle links and 2,000 streams cost.
    #[arg(long)]
    idle: bool,
}

/// Builds it as the tests are built, so that CI compiles nothing twice, and runs it.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let mut command = workspace.cargo();
    command.args(["bench", "--locked", "--quiet", "--profile", "dev", "--workspace", "--bench", "soak"]);
    command.args(["--", "--minutes", &args.minutes.to_string()]);
    if args.idle {
        command.arg("--idle");
    }
    shell::run(&mut command)
}

/// The same as a step of CI.
pub(crate) fn ci(workspace: &Workspace) -> Result<()> {
    run(workspace, &Args { minutes: 3.0, idle: false })
}
