//! The changelog's side of the guard: a surface that moved is a new revision with an entry of its own.

use std::path::Path;

use anyhow::{Context, Result};
use funduq_vectors::Contract;

use super::{FILE, Made};

const CHANGELOG: &str = "docs/contract-changelog.md";
const REVISION: &str = "CONTRACT_REVISION in funduq-contract/src/lib.rs";

/// Compares the changelog's entries with what the crates make.
pub(super) fn check(root: &Path, made: &Made) -> Result<Option<String>> {
    let path = root.join(CHANGELOG);
    let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let entries = entries(&text);
    let (revision, fingerprint) = (made.revision, made.surface.fingerprint());
    if let Some((newer, _)) = entries.iter().find(|(entry, _)| *entry > revision) {
        return Ok(Some(format!(
            "{CHANGELOG} has an entry for revision {newer}, but {REVISION} is {revision}: raise it to {newer}"
        )));
    }
    Ok(match entries.iter().find(|(entry, _)| *entry == revision) {
        None => Some(format!(
            "{CHANGELOG} has no entry for revision {revision}: add `## Revision {revision}` with the line \
             `Fingerprint: {fingerprint}` and what changed"
        )),
        Some((_, recorded)) if recorded.as_deref() == Some(&fingerprint) => None,
        Some((_, recorded)) => Some(moved(revision, recorded.as_deref().unwrap_or("none"), &fingerprint)),
    })
}

/// Compares the published file's revision and fingerprint with what the crates make.
pub(super) fn check_file(published: &Contract, made: &Made) -> Option<String> {
    let fingerprint = made.surface.fingerprint();
    if published.revision == made.revision && published.fingerprint != fingerprint {
        return Some(format!("{FILE}: {}", moved(made.revision, &published.fingerprint, &fingerprint)));
    }
    if published.revision > made.revision {
        return Some(format!(
            "{FILE} is of revision {}, but {REVISION} is {}: a revision never goes back",
            published.revision, made.revision
        ));
    }
    None
}

fn moved(revision: u32, recorded: &str, fingerprint: &str) -> String {
    let next = revision + 1;
    format!(
        "the contract's surface moved: revision {revision} is recorded with the fingerprint {recorded}, the sources \
         make {fingerprint}. Raise {REVISION} to {next}, add `## Revision {next}` to {CHANGELOG} with the line \
         `Fingerprint: ` and the new fingerprint, say there what changed, and run `cargo xtask vectors`"
    )
}

/// Each `## Revision N` with the fingerprint that the entry records.
fn entries(text: &str) -> Vec<(u32, Option<String>)> {
    let mut entries = Vec::new();
    for line in text.lines() {
        if let Some(number) = line.strip_prefix("## Revision ") {
            if let Ok(number) = number.trim().parse() {
                entries.push((number, None));
            }
        } else if let (Some(fingerprint), Some((_, recorded))) =
            (line.strip_prefix("Fingerprint: "), entries.last_mut())
        {
            *recorded = Some(fingerprint.trim().trim_matches('`').to_owned());
        }
    }
    entries
}
