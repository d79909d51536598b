//! Programs that Debian has and no package registry of a language: those that the machine lacks are taken out of their
//! packages into the target folder, so that nothing is installed and no service starts.

use std::env::{join_paths, split_paths, var_os};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::suite::once;
use crate::shell;

/// What a suite needs: a program and its package a line.
const LIST: &str = "debian.txt";
/// Where packages have programs. A plain user's path has not all of them.
const FOLDERS: [&str; 2] = ["usr/bin", "usr/sbin"];

/// Sees to it that every program of a suite is on its [`path`].
///
/// # Errors
/// A program that is neither there nor to be had.
pub(crate) fn prepare(source: &Path, scratch: &Path) -> Result<()> {
    let Ok(list) = fs::read_to_string(source.join(LIST)) else { return Ok(()) };
    let root = root(scratch);
    let missing: Vec<_> = programs(&list).filter(|(program, _)| !is_on_machine(program)).collect();
    once(&scratch.join("unpacked"), &format!("{missing:?}"), || {
        for (program, package) in &missing {
            unpack(package, scratch, &root).with_context(|| {
                format!("{program} is needed, and it is not in the path: install it, or have apt know Debian's package {package}")
            })?;
        }
        Ok(())
    })
}

/// The path for a suite's processes: its own programs, the machine's, where a machine has its servers, what was unpacked.
///
/// # Errors
/// A folder that cannot be in a path.
pub(crate) fn path(own: PathBuf, scratch: &Path) -> Result<OsString> {
    let unpacked = FOLDERS.map(|folder| root(scratch).join(folder));
    join_paths([own].into_iter().chain(machine()).chain(unpacked))
        .context("a folder with a colon in its name cannot be in a path")
}

fn root(scratch: &Path) -> PathBuf {
    scratch.join("debian")
}

fn machine() -> impl Iterator<Item = PathBuf> {
    let path = var_os("PATH").unwrap_or_default();
    let path: Vec<_> = split_paths(&path).collect();
    path.into_iter().chain(FOLDERS.map(|folder| Path::new("/").join(folder)))
}

fn is_on_machine(program: &str) -> bool {
    machine().any(|folder| folder.join(program).is_file())
}

/// Programs and packages, of the lines that are no remarks.
fn programs(list: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once(char::is_whitespace))
        .map(|(program, package)| (program, package.trim()))
}

fn unpack(package: &str, scratch: &Path, root: &Path) -> Result<()> {
    let folder = scratch.join("packages").join(package);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("clearing {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let mut download = Command::new("apt-get");
    // The user that apt would fetch it as cannot write here.
    download.args(["-qq", "-o", "APT::Sandbox::User=root", "download", package]).current_dir(&folder);
    if shell::run(&mut download).is_err() {
        // Its lists may be old, or not there at all; only root may fetch them.
        shell::run(Command::new("apt-get").args(["-qq", "update"]))?;
        shell::run(&mut download)?;
    }
    let files = fs::read_dir(&folder).with_context(|| format!("listing {}", folder.display()))?;
    let Some(file) = files.filter_map(Result::ok).map(|file| file.path()).next() else {
        bail!("apt-get put no file in {}", folder.display());
    };
    shell::run(Command::new("dpkg-deb").arg("--extract").arg(file).arg(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_a_program_and_its_package_a_line_and_remarks() {
        let list = "# program  package\nnginx   nginx\n\n  caddy caddy-server  \n";
        assert_eq!(Vec::from_iter(programs(list)), [("nginx", "nginx"), ("caddy", "caddy-server")]);
    }

    #[test]
    fn what_the_machine_has_is_not_fetched() {
        let (source, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        prepare(source.path(), scratch.path()).unwrap();
        fs::write(source.path().join(LIST), "sh no-such-package\n").unwrap();
        prepare(source.path(), scratch.path()).unwrap();
        assert!(!root(scratch.path()).exists());
    }
}
