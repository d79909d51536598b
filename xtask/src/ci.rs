//! `cargo xtask ci`: the checks in the order in which they are cheap to fail, a header and a time for each.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::interop;
use crate::readme;
use crate::shell;
use crate::soak;
use crate::workspace::Workspace;

/// One check: its name in the log, and what it does.
type Step = (&'static str, fn(&Workspace) -> Result<()>);

const STEPS: &[Step] = &[
    ("format", format),
    ("clippy", clippy),
    ("test", test),
    ("rustdoc", rustdoc),
    ("vectors", vectors),
    ("interop", stock_clients),
    ("soak", soak::ci),
    ("readme", readme::run),
];

/// Runs every step; the first that fails ends it, with the command that failed in the error.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let begun = Instant::now();
    for (index, (name, step)) in STEPS.iter().enumerate() {
        println!("\n=== {}/{} {name}", index + 1, STEPS.len());
        let started = Instant::now();
        step(workspace).with_context(|| format!("ci stopped at {name}"))?;
        println!("=== {name}: {:.1} s", started.elapsed().as_secs_f64());
    }
    println!("\n=== all {} steps passed in {:.1} s", STEPS.len(), begun.elapsed().as_secs_f64());
    Ok(())
}

fn format(workspace: &Workspace) -> Result<()> {
    shell::run(workspace.cargo().args(["fmt", "--all", "--", "--check"]))?;
    // The suite of Cargo is a workspace of its own.
    shell::run(workspace.cargo().args(["fmt", "--manifest-path", "interop/rust/Cargo.toml", "--", "--check"]))
}

fn clippy(workspace: &Workspace) -> Result<()> {
    let arguments =
        ["clippy", "--locked", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
    shell::run(workspace.cargo().args(arguments))
}

fn test(workspace: &Workspace) -> Result<()> {
    shell::run(workspace.cargo().args(["test", "--locked", "--workspace"]))
}

fn rustdoc(workspace: &Workspace) -> Result<()> {
    let arguments = ["doc", "--locked", "--workspace", "--no-deps"];
    shell::run(workspace.cargo().args(arguments).env("RUSTDOCFLAGS", "-D warnings"))
}

fn vectors(workspace: &Workspace) -> Result<()> {
    shell::run(workspace.cargo().args(["xtask", "vectors", "--check"]))
}

fn stock_clients(workspace: &Workspace) -> Result<()> {
    interop::run(workspace, &[])
}
