//! `cargo xtask sim`: core's simulation over any number of seeds, one of them again, or its planted bugs.

use anyhow::Result;
use clap::Args as ClapArgs;

use crate::shell;
use crate::workspace::Workspace;

/// What of the simulation to run. Each seed decides everything that happens in it.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// How many seeds to try; the first that fails is printed, with the end of its trace.
    #[arg(long, default_value_t = 2000)]
    seeds: u64,
    /// The first of them.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Replay this one seed and nothing else.
    #[arg(long, conflicts_with_all = ["seeds", "from", "mutants"])]
    seed: Option<u64>,
    /// Plant each of the known bugs and say in which seed it is found.
    #[arg(long, conflicts_with_all = ["seeds", "from"])]
    mutants: bool,
}

/// Builds core's `sim` test and has it do what `args` say.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let mut command = workspace.cargo();
    command.args([
        "test",
        "--locked",
        "--quiet",
        "--package",
        "funduq-core",
        "--test",
        "sim",
        "--",
        "--nocapture",
    ]);
    match (args.seed, args.mutants) {
        (Some(seed), _) => command.arg("every_seed").env("FUNDUQ_SIM_SEED", seed.to_string()),
        (None, true) => command.arg("is_found"),
        (None, false) => command
            .arg("every_seed")
            .env("FUNDUQ_SIM_SEEDS", args.seeds.to_string())
            .env("FUNDUQ_SIM_FROM", args.from.to_string()),
    };
    shell::run(&mut command)
}
