//! Small files that an operator changes while the gateway runs: read anew when they change, and kept as they were where what
//! stands in them now does not hold.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// The most bytes of such a file.
const MAX_BYTES: u64 = 4 << 20;

/// A line that is not what the file holds.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct BadLine {
    line: usize,
    problem: String,
}

/// Why a file could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It could not be read.
    #[error("{path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something in it is not what it should be.
    #[error("{path}: {problem}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where and what.
        problem: BadLine,
    },
}

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    /// A file that was put in the place of the one before is another one.
    inode: u64,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Self { modified: metadata.modified().ok(), length: metadata.len(), inode }
    }
}

/// What a file says, as of now.
#[derive(Debug)]
pub(crate) struct Watched<T> {
    path: PathBuf,
    read: fn(&str) -> Result<T, BadLine>,
    state: Mutex<State<T>>,
}

#[derive(Debug)]
struct State<T> {
    value: Arc<T>,
    /// The last state of the file that was looked at, whether it was taken or not; `None` where it could not be.
    seen: Option<Stamp>,
}

impl<T> Watched<T> {
    /// Takes the file.
    ///
    /// # Errors
    /// [`FileError`]: at a start there is nothing to keep.
    pub(crate) fn open(path: &Path, read: fn(&str) -> Result<T, BadLine>) -> Result<Self, FileError> {
        let (value, stamp) = load(path, read)?;
        let state = Mutex::new(State { value: Arc::new(value), seen: Some(stamp) });
        Ok(Self { path: path.to_owned(), read, state })
    }

    /// What it says. One look at the file's time and size tells whether it has to be read.
    pub(crate) fn get(&self) -> Arc<T> {
        let now = fs::metadata(&self.path).ok().map(|metadata| Stamp::of(&metadata));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if now != state.seen {
            self.take(&mut state);
        }
        Arc::clone(&state.value)
    }

    /// Reads it, changed or not.
    pub(crate) fn reload(&self) {
        self.take(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn take(&self, state: &mut State<T>) {
        match load(&self.path, self.read) {
            Ok((value, stamp)) => {
                *state = State { value: Arc::new(value), seen: Some(stamp) };
                tracing::info!(file = %self.path.display(), "a file of the configuration was read anew");
            }
            Err(error) => {
                state.seen = fs::metadata(&self.path).ok().map(|metadata| Stamp::of(&metadata));
                tracing::error!(%error, "a file of the configuration does not hold; what it said before stays in force");
            }
        }
    }
}

fn load<T>(path: &Path, read: fn(&str) -> Result<T, BadLine>) -> Result<(T, Stamp), FileError> {
    let unreadable = |source| FileError::Unreadable { path: path.to_owned(), source };
    let file = fs::File::open(path).map_err(unreadable)?;
    // Before it is read: what is written in between is seen as a change the next time.
    let stamp = Stamp::of(&file.metadata().map_err(unreadable)?);
    let mut text = String::new();
    file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(unreadable(io::Error::other(format!("it has more than {MAX_BYTES} bytes"))));
    }
    let value = read(&text).map_err(|problem| FileError::Malformed { path: path.to_owned(), problem })?;
    Ok((value, stamp))
}

/// Reads a file line by line: words with white space between them; `#` begins a remark; empty lines say nothing.
pub(crate) fn lines<T>(
    text: &str,
    mut read: impl FnMut(&[&str]) -> Result<T, String>,
) -> Result<Vec<T>, BadLine> {
    let mut items = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let said = line.split_once('#').map_or(line, |(said, _)| said);
        let words: Vec<_> = said.split_whitespace().collect();
        if !words.is_empty() {
            items.push(read(&words).map_err(|problem| BadLine { line: index + 1, problem })?);
        }
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Result<Vec<u32>, BadLine> {
        lines(text, |words| words[0].parse().map_err(|_| format!("{} is no number", words[0])))
    }

    #[test]
    fn a_file_is_read_anew_when_it_changes_and_kept_where_it_does_not_hold() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers");
        assert!(matches!(Watched::open(&path, numbers), Err(FileError::Unreadable { .. })));
        fs::write(&path, "# one and two\n1\n\n2 # two\n").unwrap();
        let watched = Watched::open(&path, numbers).unwrap();
        assert_eq!(*watched.get(), [1, 2]);
        fs::write(&path, "3\n").unwrap();
        assert_eq!(*watched.get(), [3]);
        fs::write(&path, "4\nfive\n").unwrap();
        assert_eq!(*watched.get(), [3]);
        fs::remove_file(&path).unwrap();
        assert_eq!(*watched.get(), [3]);
        fs::write(&path, "6\n").unwrap();
        assert_eq!(*watched.get(), [6]);
    }

    #[test]
    fn a_reload_reads_what_looks_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers");
        fs::write(&path, "1\n").unwrap();
        let watched = Watched::open(&path, numbers).unwrap();
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "2\n").unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        assert_eq!(*watched.get(), [1]);
        watched.reload();
        assert_eq!(*watched.get(), [2]);
    }

    #[test]
    fn a_bad_line_is_named() {
        assert_eq!(numbers("1\n\nx y\n").unwrap_err().to_string(), "line 3: x is no number");
    }
}
