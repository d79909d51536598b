//! A suite of Cargo: a package of its own, built into the same target folder, so that what it shares with the house
//! is built once.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::suite::{Environment, LIMIT, test_files};
use crate::shell;

pub(crate) fn prepare(source: &Path, target: &Path) -> Result<()> {
    shell::run(test(source, target).arg("--no-run"))
}

pub(crate) fn run(source: &Path, target: &Path, environment: &Environment) -> Result<()> {
    let files = test_files(&source.join("tests"), |name| name.ends_with(".rs"))?;
    let mut command = test(source, target);
    for file in &files {
        command.arg("--test").arg(file.file_stem().unwrap_or_default());
    }
    shell::run_within(environment.apply(&mut command), LIMIT)
}

fn test(source: &Path, target: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["test", "--locked", "--target-dir"]).arg(target).current_dir(source);
    // What a test of a stock client says is worth more than where in this package it said it.
    command.env("RUST_BACKTRACE", "0");
    command
}
