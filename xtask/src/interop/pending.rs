//! `interop/pending.txt`: test files that are written but not yet switched on, a reason each.

use std::path::Path;

use anyhow::{Context, Result, bail};

/// A line of the file names a test file below `interop/` and, after a colon, what it waits for.
#[derive(Debug, Default, Clone)]
pub(crate) struct Pending(Vec<(String, String)>);

impl Pending {
    /// No file means that nothing is pending. A line for a file that is not there is an error: it hides nothing.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let list = folder.join("pending.txt");
        if !list.exists() {
            return Ok(Pending::default());
        }
        let text = std::fs::read_to_string(&list).with_context(|| format!("reading {}", list.display()))?;
        let pending = Pending::parse(&text)?;
        for (path, _) in &pending.0 {
            if !folder.join(path).is_file() {
                bail!("{} names {path}, which does not exist: take the line out", list.display());
            }
        }
        Ok(pending)
    }

    fn parse(text: &str) -> Result<Self> {
        let mut lines = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.split_once(": ") {
                Some((path, reason)) if !reason.trim().is_empty() => {
                    lines.push((path.trim().to_owned(), reason.trim().to_owned()));
                }
                _ => bail!("pending.txt: {line:?} gives no reason; write `path: what it waits for`"),
            }
        }
        Ok(Pending(lines))
    }

    /// Those of one suite.
    pub(crate) fn of(&self, suite: &str) -> Self {
        let prefix = format!("{suite}/");
        Pending(self.0.iter().filter(|(path, _)| path.starts_with(&prefix)).cloned().collect())
    }

    pub(crate) fn holds(&self, file_name: &str) -> bool {
        self.0.iter().any(|(path, _)| Path::new(path).file_name().is_some_and(|name| name == file_name))
    }

    pub(crate) fn announce(&self) {
        for (path, reason) in &self.0 {
            println!("not run: interop/{path} waits for {reason}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pending_file_has_a_reason_and_belongs_to_one_suite() {
        let pending =
            Pending::parse("# why\n\njs/test/a.test.mjs: the door\npy/tests/test_a.py: the other\n").unwrap();
        assert!(pending.of("js").holds("a.test.mjs"));
        assert!(!pending.of("js").holds("test_a.py"));
        assert!(Pending::parse("js/test/a.test.mjs").is_err());
    }

    #[test]
    fn a_line_that_hides_nothing_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("pending.txt"), "js/test/gone.test.mjs: a door\n").unwrap();
        let error = Pending::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("take the line out"), "{error}");
    }
}
