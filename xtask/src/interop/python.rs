//! A suite of pytest: a virtual environment in the target folder, filled from hashed pins, run on the source tree.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::debian;
use super::suite::{Environment, LIMIT, once, test_files};
use crate::shell;

/// The stock A2A client of Python runs on nothing older.
const OLDEST: (u32, u32) = (3, 10);

pub(crate) fn prepare(source: &Path, scratch: &Path) -> Result<()> {
    let version = version()?;
    let requirements = source.join("requirements.txt");
    let lock = std::fs::read_to_string(&requirements).context("reading requirements.txt")?;
    let pins = format!("python {}.{}\n{lock}", version.0, version.1);
    let environment = scratch.join("venv");
    once(&scratch.join("installed"), &pins, || {
        shell::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
        let mut pip = Command::new(environment.join("bin/python"));
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--require-hashes",
            "-r",
        ]);
        shell::run(pip.arg(&requirements))
    })
}

pub(crate) fn run(source: &Path, scratch: &Path, environment: &Environment) -> Result<()> {
    let files = test_files(source, |name| name.starts_with("test_") && name.ends_with(".py"))?;
    let mut command = Command::new(scratch.join("venv/bin/python"));
    // The source tree stays as it is: no caches in it.
    command
        .args(["-B", "-m", "pytest", "-p", "no:cacheprovider", "-q", "--tb=short"])
        .args(files)
        .env("PATH", debian::path(scratch.join("venv/bin"), scratch)?)
        .current_dir(source);
    shell::run_within(environment.apply(&mut command), LIMIT)
}

fn version() -> Result<(u32, u32)> {
    let script = "import sys; print(sys.version_info[0], sys.version_info[1])";
    let output = Command::new("python3").args(["-c", script]).output().context("`python3` is needed")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = parse(&text).with_context(|| format!("python3 says that its version is {text:?}"))?;
    if version < OLDEST {
        bail!("python3 is {}.{}; {}.{} or later is needed", version.0, version.1, OLDEST.0, OLDEST.1);
    }
    Ok(version)
}

fn parse(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.trim().split_once(' ')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
