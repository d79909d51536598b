//! `cargo xtask vectors`: writes `contract-vectors.json`; with `--check`, refuses a contract that grew in private.

mod changelog;
mod growth;
mod source;
mod strays;
mod tree;

#[cfg(test)]
mod tests;

use std::path::Path;

use anyhow::{Context, Result, bail};
use funduq_vectors::Surface;

/// The published file, from the root of the workspace.
const FILE: &str = "funduq-vectors/contract-vectors.json";

/// What to do with the published file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Write nothing: fail where the file or the changelog is behind the sources, or where something that funduq
    /// invents is not published.
    #[arg(long)]
    check: bool,
}

/// Writes the file of the workspace at `root`, or checks it.
pub(crate) fn run(root: &Path, args: &Args) -> Result<()> {
    let made = Made::from_the_crates();
    if !args.check {
        return write(root, &made);
    }
    let findings = check(root, &made)?;
    if findings.is_empty() {
        println!(
            "the contract is published: revision {}, fingerprint {}",
            made.revision,
            made.surface.fingerprint()
        );
        return Ok(());
    }
    bail!("the contract is not published as it is:\n- {}", findings.join("\n- "))
}

/// What the crates that this xtask was built from make.
#[derive(Debug, Clone)]
struct Made {
    revision: u32,
    surface: Surface,
    text: String,
}

impl Made {
    fn from_the_crates() -> Self {
        let vectors = funduq_vectors::generate();
        Self {
            revision: vectors.contract.revision,
            surface: vectors.contract.surface,
            text: funduq_vectors::generate_text(),
        }
    }
}

fn write(root: &Path, made: &Made) -> Result<()> {
    if let Some(finding) = changelog::check(root, made)? {
        bail!("nothing is written: {finding}");
    }
    let path = root.join(FILE);
    std::fs::write(&path, &made.text).with_context(|| format!("writing {}", path.display()))?;
    println!("{FILE}: revision {}, fingerprint {}", made.revision, made.surface.fingerprint());
    Ok(())
}

/// Everything that is wrong, each with what to do about it.
fn check(root: &Path, made: &Made) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    findings.extend(changelog::check(root, made)?);
    let path = root.join(FILE);
    let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    if text != made.text {
        findings.push(format!(
            "{FILE} is not what the sources make: run `cargo xtask vectors` and commit the file"
        ));
    }
    match funduq_vectors::parse(&text) {
        Ok(published) => {
            findings.extend(changelog::check_file(&published.contract, made));
            findings.extend(growth::check(root, &published)?);
        }
        Err(unreadable) => findings.push(format!("{FILE}: {unreadable}")),
    }
    findings.extend(strays::check(root)?);
    Ok(findings)
}
