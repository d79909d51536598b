//! `cargo xtask interop`: unmodified stock clients against a gateway started for them on an ephemeral port.

mod absent;
mod cargo;
mod debian;
mod gateway;
mod node;
mod parties;
mod python;
mod roster;
mod suite;

use std::time::Instant;

use anyhow::{Result, bail};

use crate::workspace::Workspace;
use gateway::Gateway;
pub(crate) use gateway::without_configuration;
use parties::Parties;
use suite::Environment;

/// Runs the named suites, or all of them, and tells at the end which failed: one failing suite does not hide another.
pub(crate) fn run(workspace: &Workspace, names: &[String]) -> Result<()> {
    let suites = suite::select(workspace, names)?;
    let funduq = workspace.build("funduq")?;
    let (leaver, lending) = (workspace.build("echo")?, workspace.build("kyok_parties")?);
    let delegate = workspace.build_delegate()?;
    for suite in &suites {
        suite.prepare()?;
    }

    let scratch = tempfile::tempdir()?;
    let log = workspace.interop_scratch().join("gateway.log");
    let gateway = Gateway::start(&funduq, scratch.path(), &log)?;
    let absent = absent::register_and_leave(&leaver, scratch.path(), gateway.ready())?;
    let parties = Parties::start(&lending, scratch.path(), gateway.ready())?;
    let environment = Environment::of(workspace, gateway.ready(), &absent, &parties).with_programs([
        ("FUNDUQ_BINARY", &funduq),
        ("FUNDUQ_ECHO", &leaver),
        ("FUNDUQ_DELEGATE", &delegate),
    ]);

    let mut failures = Vec::new();
    for suite in &suites {
        println!("\n--- {suite}");
        let started = Instant::now();
        match suite.run(&environment) {
            Ok(()) => println!("--- {suite}: {:.1} s", started.elapsed().as_secs_f64()),
            Err(error) => failures.push(format!("{suite}: {error:#}")),
        }
    }
    if let Err(error) = gateway.stop() {
        failures.push(format!("the gateway's end: {error:#}"));
    }
    if failures.is_empty() {
        return Ok(());
    }
    bail!("{}\nThe gateway's log is {}", failures.join("\n"), log.display())
}
