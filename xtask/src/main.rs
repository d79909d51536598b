//! The project's own automation: `cargo xtask ci`, `interop`, `vectors`, `bench`, `sim`, `soak`, `readme`.

mod bench;
mod ci;
mod interop;
mod readme;
mod shell;
mod sim;
mod soak;
mod vectors;
mod workspace;

use clap::{Parser, Subcommand};

use workspace::Workspace;

/// The project's own automation.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// How fast core relays, beside its ceiling.
    Bench(bench::Args),
    /// Everything that must hold before a change lands; stops at the first thing that does not.
    Ci,
    /// Stock clients against a gateway started for them.
    Interop {
        /// The suites to run, by their folders in `interop/`; all of them when none is named.
        suites: Vec<String>,
    },
    /// The README's section on running a funduq for others, followed word for word.
    Readme,
    /// Core, simulated: many seeds, one again, or the planted bugs.
    Sim(sim::Args),
    /// A gateway under mixed load for a while, and whether everything adds up afterwards.
    Soak(soak::Args),
    /// The published contract: writes `contract-vectors.json`, or checks that nothing is missing from it.
    Vectors(vectors::Args),
}

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    let workspace = Workspace::find()?;
    match cli.task {
        Task::Bench(args) => bench::run(&workspace, &args),
        Task::Ci => ci::run(&workspace),
        Task::Interop { suites } => interop::run(&workspace, &suites),
        Task::Readme => readme::run(&workspace),
        Task::Sim(args) => sim::run(&workspace, &args),
        Task::Soak(args) => soak::run(&workspace, &args),
        Task::Vectors(args) => vectors::run(workspace.root(), &args),
    }
}
