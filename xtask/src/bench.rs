//! `cargo xtask bench`: the figures that funduq holds itself to, each beside its ceiling of the same run.

use std::process::Stdio;

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use serde_json::{Map, Value};

use crate::shell;
use crate::workspace::Workspace;

/// The benches, by their packages: core beside bare SQLite, the doors beside servers without a relay.
const BENCHES: &[(&str, &str)] =
    &[("funduq-core", "relay"), ("funduq-gateway", "doors"), ("funduq-gateway", "kyok")];

/// What to print.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// One JSON object in place of the tables.
    #[arg(long)]
    json: bool,
}

/// Builds the benches in the bench profile and runs them. Timings are ratios taken in one run, since machines are noisy.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let mut figures = Map::new();
    for (package, bench) in BENCHES {
        let mut command = workspace.cargo();
        command.args(["bench", "--quiet", "--package", package, "--bench", bench]);
        if !args.json {
            shell::run(&mut command)?;
            continue;
        }
        command.args(["--", "--json"]).stderr(Stdio::inherit());
        let line = shell::line(&command);
        let output = command.output().with_context(|| format!("cannot start `{line}`"))?;
        if !output.status.success() {
            bail!("`{line}` failed: {}", output.status);
        }
        let object: Map<String, Value> = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("`{line}` did not print one object"))?;
        figures.extend(object);
    }
    if args.json {
        println!("{}", Value::from(figures));
    }
    Ok(())
}
