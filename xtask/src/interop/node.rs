//! A suite of Node's own test runner: `npm ci` into the target folder, where its files are copied too, since Node
//! looks for packages from where a module lies.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::suite::{Environment, LIMIT, once, test_files};
use crate::shell;

/// What npm reads; the rest of the folder is the suite's own.
const PACKAGE_FILES: &[&str] = &["package.json", "package-lock.json", ".npmrc"];

/// The folders of a suite, from its own; the last is what the suites share, and lies beside them.
const FOLDERS: &[&str] = &["lib", "test", "../corpus"];

pub(crate) fn prepare(source: &Path, scratch: &Path) -> Result<()> {
    let node = Command::new("node").arg("--version").output().context("`node` is needed (20 or later)")?;
    let lock =
        std::fs::read_to_string(source.join("package-lock.json")).context("reading package-lock.json")?;
    let pins = format!("node {}\n{lock}", String::from_utf8_lossy(&node.stdout).trim());
    once(&scratch.join("installed"), &pins, || {
        for file in PACKAGE_FILES {
            std::fs::copy(source.join(file), scratch.join(file))
                .with_context(|| format!("copying {file}"))?;
        }
        shell::run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(scratch))
    })
}

pub(crate) fn run(source: &Path, scratch: &Path, environment: &Environment) -> Result<()> {
    for folder in FOLDERS {
        mirror(&source.join(folder), &scratch.join(folder))?;
    }
    let files = test_files(&scratch.join("test"), |name| name.ends_with(".test.mjs"))?;
    let mut command = Command::new("node");
    command.args(["--test", "--test-reporter=spec"]).args(files).current_dir(scratch);
    shell::run_within(environment.apply(&mut command), LIMIT)
}

/// Makes `to` hold exactly the files of `from`.
fn mirror(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to).with_context(|| format!("clearing {}", to.display()))?;
    }
    std::fs::create_dir_all(to).with_context(|| format!("making {}", to.display()))?;
    for entry in std::fs::read_dir(from).with_context(|| format!("listing {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            mirror(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), &target).with_context(|| format!("copying {}", target.display()))?;
        }
    }
    Ok(())
}
