//! The note of signatures that were taken and are dated ahead: they would hold in the next process too, which has no other
//! memory of them. It is written before one counts as taken, so it outlives the process however that ends.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// What is remembered of a signature: half of its random point, which nobody can hit on purpose.
pub(super) type Trace = [u8; 16];

/// One signature: its second and its trace.
type Noted = (i64, Trace);
/// How many bytes one takes in the file.
const ENTRY: usize = 24;
/// The most bytes that are read of a note: more than is ever written into one.
const MAX_BYTES: u64 = 64 << 20;

/// The note.
#[derive(Debug)]
pub(super) struct Ahead {
    path: PathBuf,
    file: File,
    length: u64,
    /// The last second of those in it. When that has passed, the note is of no use.
    latest: i64,
}

impl Ahead {
    /// Takes up a note, with what is in it; `None` where there was none, as before the first process on a folder.
    pub(super) fn open(path: &Path) -> io::Result<(Self, Option<Vec<Noted>>)> {
        let was_there = path.exists();
        let mut file = options().open(path)?;
        let mut bytes = Vec::new();
        (&mut file).take(MAX_BYTES).read_to_end(&mut bytes)?;
        let entries: Vec<_> = bytes.chunks_exact(ENTRY).filter_map(read).collect();
        let length = (bytes.len() - bytes.len() % ENTRY) as u64;
        file.set_len(length)?;
        let latest = entries.iter().map(|(second, _)| *second).max().unwrap_or(i64::MIN);
        Ok((Self { path: path.to_owned(), file, length, latest }, was_there.then_some(entries)))
    }

    /// How many it has.
    pub(super) fn count(&self) -> usize {
        usize::try_from(self.length).unwrap_or(usize::MAX) / ENTRY
    }

    /// Adds one.
    pub(super) fn add(&mut self, second: i64, trace: &Trace, now: i64) -> io::Result<()> {
        if self.latest <= now && self.length > 0 {
            self.file.set_len(0)?;
            self.length = 0;
        }
        if let Err(error) = self.file.write_all(&entry(second, trace)) {
            // Half of one would take the others out of step.
            let _ = self.file.set_len(self.length);
            return Err(error);
        }
        self.length += ENTRY as u64;
        self.latest = self.latest.max(second);
        Ok(())
    }

    /// Writes it anew, with these in it.
    pub(super) fn replace<'a>(&mut self, with: impl Iterator<Item = (i64, &'a Trace)>) -> io::Result<()> {
        let bytes: Vec<u8> = with.flat_map(|(second, trace)| entry(second, trace)).collect();
        let beside = self.path.with_extension("new");
        let mut file = options().truncate(false).open(&beside)?;
        file.set_len(0)?;
        file.write_all(&bytes)?;
        fs::rename(&beside, &self.path)?;
        (self.file, self.length) = (file, bytes.len() as u64);
        Ok(())
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn entry(second: i64, trace: &Trace) -> [u8; ENTRY] {
    let mut entry = [0; ENTRY];
    entry[..8].copy_from_slice(&second.to_le_bytes());
    entry[8..].copy_from_slice(trace);
    entry
}

fn read(entry: &[u8]) -> Option<Noted> {
    let (second, trace) = entry.split_first_chunk::<8>()?;
    Some((i64::from_le_bytes(*second), trace.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_a_note_is_there_again_and_goes_when_it_has_passed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("note");
        let (mut note, found) = Ahead::open(&path).unwrap();
        assert_eq!(found, None);
        note.add(30, &[1; 16], 10).unwrap();
        note.add(20, &[2; 16], 10).unwrap();
        // A process that ends within a write.
        OpenOptions::new().append(true).open(&path).unwrap().write_all(&[7; 5]).unwrap();
        let (mut note, found) = Ahead::open(&path).unwrap();
        assert_eq!(found, Some(vec![(30, [1; 16]), (20, [2; 16])]));
        note.add(40, &[3; 16], 29).unwrap();
        assert_eq!(note.count(), 3);
        note.replace([(40, &[3; 16])].into_iter()).unwrap();
        note.add(41, &[4; 16], 39).unwrap();
        assert_eq!(Ahead::open(&path).unwrap().1, Some(vec![(40, [3; 16]), (41, [4; 16])]));
        note.add(99, &[5; 16], 41).unwrap();
        let (_, found) = Ahead::open(&path).unwrap();
        assert_eq!(found, Some(vec![(99, [5; 16])]));
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
