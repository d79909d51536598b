//! Walks a source tree: files by their ending, in a stable order, without what is built or fetched.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Folders that hold nothing of the project's own making.
const SKIPPED: &[&str] = &["target", "node_modules", ".git", ".venv"];

/// Every file below `folder` that ends so, sorted.
pub(super) fn files(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let entries = std::fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("reading {}", folder.display()))?;
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let kind = entry.file_type().with_context(|| format!("looking at {}", path.display()))?;
            if kind.is_dir() && !SKIPPED.contains(&&*name) {
                waiting.push(path);
            } else if kind.is_file() && endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A file's text, and its name from the root for messages.
pub(super) fn read(root: &Path, path: &Path) -> Result<(String, String)> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
    Ok((text, name))
}

/// The `funduq-…:` tags that a text spells. A colon before white space is a sentence's, one after a path is a port's.
pub(super) fn tags(text: &str) -> Vec<String> {
    const START: &str = "funduq-";
    let mut tags = Vec::new();
    for (at, _) in text.match_indices(START) {
        let inside_a_word = text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || "-_/.@".contains(c));
        let rest = &text[at + START.len()..];
        let word =
            rest.find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')).unwrap_or(0);
        let after = &rest[word..];
        let is_tag =
            word > 0 && after.strip_prefix(':').is_some_and(|next| !next.starts_with(char::is_whitespace));
        if is_tag && !inside_a_word {
            tags.push(format!("{START}{}:", &rest[..word]));
        }
    }
    tags
}
