//! Care of the record: a copy, a look, and taking out what is old.

use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, bail};
use funduq_core::RecordFile;
use jiff::Timestamp;

use crate::data_dir;

/// How old, in days or hours: `90d`, `12h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Age(Duration);

impl FromStr for Age {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no age, such as 90d or 12h");
        let hours = match (text.strip_suffix('d'), text.strip_suffix('h')) {
            (Some(days), _) => days.parse::<u32>().ok().and_then(|days| days.checked_mul(24)),
            (_, Some(hours)) => hours.parse().ok(),
            (None, None) => None,
        };
        hours
            .filter(|hours| *hours > 0)
            .map(|hours| Self(Duration::from_secs(u64::from(hours) * 3600)))
            .ok_or_else(wrong)
    }
}

/// What helps where a record is not whole.
const RESTORE: &str = "restore a backup that `funduq check FILE` finds whole, as docs/deploy.md says";

fn record(data_dir: &Path) -> anyhow::Result<RecordFile> {
    open(&data_dir.join(data_dir::RECORD))
}

fn open(path: &Path) -> anyhow::Result<RecordFile> {
    // The engine says of a file that is missing what it says of one that it may not open.
    std::fs::File::open(path).with_context(|| format!("there is no record at {}", path.display()))?;
    RecordFile::open(path)
        .with_context(|| format!("{} is no record that can be read; {RESTORE}", path.display()))
}

/// Copies the record, while a funduq runs on it or not.
pub(super) fn backup(data_dir: &Path, to: &Path) -> anyhow::Result<()> {
    record(data_dir)?.backup(to)?;
    let bytes = std::fs::metadata(to)?.len();
    println!("{}: {bytes} bytes", to.display());
    Ok(())
}

/// Looks at a record, or at a copy of one, and says what is in it and what is wrong.
pub(super) fn check(data_dir: &Path, file: Option<&Path>) -> anyhow::Result<()> {
    let path = file.map_or_else(|| data_dir.join(data_dir::RECORD), Path::to_owned);
    let inspection =
        open(&path)?.check().with_context(|| format!("{} cannot be read; {RESTORE}", path.display()))?;
    println!("schema version {}", inspection.schema);
    for (what, count) in &inspection.counts {
        println!("{what}: {count}");
    }
    for finding in &inspection.findings {
        println!("wrong: {finding}");
    }
    match inspection.findings.len() {
        0 => println!("the record is whole"),
        found => bail!("{found} findings in {}; {RESTORE}", path.display()),
    }
    Ok(())
}

/// Takes out what is older, or says what would go.
pub(super) fn prune(data_dir: &Path, age: Age, dry_run: bool) -> anyhow::Result<()> {
    let before = Timestamp::now().checked_sub(age.0).context("nothing can be that old")?;
    let pruned = record(data_dir)?.prune(before.as_millisecond(), dry_run)?;
    let verb = if dry_run { "would take out" } else { "took out" };
    if pruned.is_empty() {
        println!("{verb} nothing: no thread is untouched since {before}");
    }
    for (agent, gone) in pruned {
        println!(
            "{verb} of {agent}: {} threads, {} runs, {} messages, {} events",
            gone.threads, gone.runs, gone.messages, gone.events
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_in_days_or_hours() {
        assert_eq!("90d".parse(), Ok(Age(Duration::from_secs(90 * 86_400))));
        assert_eq!("12h".parse(), Ok(Age(Duration::from_secs(12 * 3600))));
        for wrong in ["90", "d", "0d", "-1d", "1w", "4294967295d"] {
            assert!(wrong.parse::<Age>().is_err(), "{wrong}");
        }
    }
}
