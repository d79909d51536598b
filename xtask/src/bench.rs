//! `cargo xtask bench`: the figures that funduq holds itself to, each beside its ceiling of the same run.

use anyhow::Result;
use clap::Args as ClapArgs;

use crate::shell;
use crate::workspace::Workspace;

/// What to print.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// One JSON object in place of the table.
    #[arg(long)]
    json: bool,
}

/// Builds the benches in the bench profile and runs them. Timings are ratios taken in one run, since machines are noisy.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let mut command = workspace.cargo();
    command.args(["bench", "--quiet", "--package", "funduq-core", "--bench", "relay"]);
    if args.json {
        command.args(["--", "--json"]);
    }
    shell::run(&mut command)
}
