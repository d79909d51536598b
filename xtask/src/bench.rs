//! `cargo xtask bench`: the figures that funduq holds itself to, each beside its ceiling of the same run.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use serde_json::{Map, Value};

use crate::shell;
use crate::workspace::Workspace;

/// The benches, by their packages: an event beside its bytes stepped over, core beside bare SQLite, the doors beside
/// servers without a relay.
const BENCHES: &[(&str, &str)] = &[
    ("funduq-agui", "parse"),
    ("funduq-core", "relay"),
    ("funduq-gateway", "doors"),
    ("funduq-gateway", "kyok"),
];

/// What to print.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// One JSON object in place of the tables; `limits` says what is held to one, and whether it is met.
    #[arg(long)]
    json: bool,
}

/// Builds the benches in the bench profile and runs them. Timings are ratios taken in one run, since machines are noisy.
///
/// # Errors
/// Once all have run, those that failed: a bench fails where one of its limits is missed.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let (mut figures, mut failures) = (Map::new(), Vec::new());
    for (package, bench) in BENCHES {
        let mut command = workspace.cargo();
        command.args(["bench", "--quiet", "--package", package, "--bench", bench]);
        let measured = match args.json {
            true => gather(command.args(["--", "--json"]), &mut figures),
            false => shell::run(&mut command),
        };
        if let Err(error) = measured {
            failures.push(format!("{error:#}"));
        }
    }
    if args.json {
        println!("{}", Value::from(figures));
    }
    if !failures.is_empty() {
        bail!("{}", failures.join("\n"));
    }
    Ok(())
}

/// Takes in the object that a bench prints, also that of one which fails.
fn gather(command: &mut Command, figures: &mut Map<String, Value>) -> Result<()> {
    let line = shell::line(command);
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot start `{line}`"))?;
    if let Ok(found) = serde_json::from_slice::<Map<String, Value>>(&output.stdout) {
        merge(figures, found);
    } else if output.status.success() {
        bail!("`{line}` did not print one object");
    }
    if !output.status.success() {
        bail!("`{line}` failed: {}", output.status);
    }
    Ok(())
}

/// Adds a bench's figures, and its limits to those of the others.
fn merge(figures: &mut Map<String, Value>, mut found: Map<String, Value>) {
    if let Some(Value::Object(limits)) = found.remove("limits")
        && let Value::Object(all) = figures.entry("limits").or_insert_with(|| Map::new().into())
    {
        all.extend(limits);
    }
    figures.extend(found);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn each_bench_adds_its_figures_and_its_limits() {
        let mut figures = Map::new();
        gather(&mut sh(r#"echo '{"a":1,"limits":{"a":{"at_most":2,"met":true}}}'"#), &mut figures).unwrap();
        gather(&mut sh(r#"echo '{"b":2}'"#), &mut figures).unwrap();
        gather(&mut sh(r#"echo '{"c":3,"limits":{"c":{"at_least":1,"met":true}}}'"#), &mut figures).unwrap();
        let limits = json!({ "a": { "at_most": 2, "met": true }, "c": { "at_least": 1, "met": true } });
        assert_eq!(Value::from(figures), json!({ "a": 1, "b": 2, "c": 3, "limits": limits }));
    }

    #[test]
    fn a_bench_that_misses_a_limit_fails_and_its_figures_are_told_all_the_same() {
        let mut figures = Map::new();
        let missed = r#"echo '{"a":3,"limits":{"a":{"at_most":2,"met":false}}}'; exit 1"#;
        let error = gather(&mut sh(missed), &mut figures).unwrap_err().to_string();
        assert!(error.ends_with("failed: exit status: 1"), "{error}");
        assert_eq!(figures["a"], 3);
        assert_eq!(figures["limits"]["a"]["met"], false);
    }

    #[test]
    fn a_bench_that_prints_no_object_fails() {
        for (script, said) in
            [("echo nothing", "did not print one object"), ("exit 3", "failed: exit status: 3")]
        {
            let error = gather(&mut sh(script), &mut Map::new()).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
