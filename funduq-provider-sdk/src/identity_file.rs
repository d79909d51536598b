//! A private key in a file: 64 lower-case hex characters and a newline, readable by its owner only.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use funduq_contract::Identity;
use zeroize::Zeroizing;

const SEED_BYTES: usize = 32;
const HEX_CHARS: usize = SEED_BYTES * 2;

/// Why an identity file was not used. No variant carries anything of the file's content.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityFileError {
    /// The file could not be read, or a new one not written.
    #[error("identity file {path}: cannot {doing}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done: `read it`, `create it`.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// What is at the path is a directory, a device or a pipe.
    #[error("identity file {path} is not a regular file")]
    NotAFile {
        /// The file.
        path: PathBuf,
    },
    /// Others than the owner may read or write the file (Unix only).
    #[error(
        "identity file {path} has mode {mode:04o}: others can reach the private key; run `chmod 600` on it"
    )]
    Mode {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file has another length than 64 characters and a newline.
    #[error(
        "identity file {path} has {length} bytes; an identity is 64 hex characters and a newline (65 bytes)"
    )]
    Length {
        /// The file.
        path: PathBuf,
        /// How long it is.
        length: u64,
    },
    /// A character of the file is not a lower-case hex digit.
    #[error("identity file {path}: character {at} is not a lower-case hex digit (0-9, a-f)")]
    Content {
        /// The file.
        path: PathBuf,
        /// The position of the first such character, counted from 1.
        at: usize,
    },
    /// The system gave no random bytes for a new key.
    #[error("no randomness for a new identity: {0}")]
    Randomness(String),
}

/// Reads the identity at `path`, or makes a new one there when nothing is.
///
/// A new file appears whole or not at all, with mode 0600, and never replaces one that
/// another process put there meanwhile: that one is read instead. The folder must exist.
///
/// # Errors
/// [`IdentityFileError`] says what is wrong with the file; a file that is there is never changed.
pub fn load_or_create(path: impl AsRef<Path>) -> Result<Identity, IdentityFileError> {
    let path = path.as_ref();
    match load(path) {
        Err(IdentityFileError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            create(path)?;
            load(path)
        }
        loaded => loaded,
    }
}

fn load(path: &Path) -> Result<Identity, IdentityFileError> {
    let reading = |source| IdentityFileError::Io { path: path.into(), doing: "read it", source };
    let file = File::open(path).map_err(reading)?;
    let metadata = file.metadata().map_err(reading)?;
    if !metadata.is_file() {
        return Err(IdentityFileError::NotAFile { path: path.into() });
    }
    check_mode(path, &metadata)?;
    let length = metadata.len();
    if length != HEX_CHARS as u64 + 1 {
        return Err(IdentityFileError::Length { path: path.into(), length });
    }
    let mut text = Zeroizing::new([0_u8; HEX_CHARS + 1]);
    (&file).read_exact(text.as_mut()).map_err(reading)?;
    if text[HEX_CHARS] != b'\n' {
        return Err(IdentityFileError::Content { path: path.into(), at: HEX_CHARS + 1 });
    }
    let mut seed = Zeroizing::new([0_u8; SEED_BYTES]);
    for (at, pair) in text[..HEX_CHARS].chunks_exact(2).enumerate() {
        let digit = |offset: usize| {
            hex_value(pair[offset])
                .ok_or_else(|| IdentityFileError::Content { path: path.into(), at: at * 2 + offset + 1 })
        };
        seed[at] = digit(0)? << 4 | digit(1)?;
    }
    Ok(Identity::from_seed(&seed))
}

/// Puts a new key at `path` by linking a finished temporary file to the name, which
/// fails instead of replacing when the name is taken.
fn create(path: &Path) -> Result<(), IdentityFileError> {
    let creating = |source| IdentityFileError::Io { path: path.into(), doing: "create it", source };
    let mut seed = Zeroizing::new([0_u8; SEED_BYTES]);
    let mut salt = [0_u8; 8];
    for bytes in [seed.as_mut_slice(), salt.as_mut_slice()] {
        getrandom::fill(bytes).map_err(|error| IdentityFileError::Randomness(error.to_string()))?;
    }
    let mut text = Zeroizing::new([b'\n'; HEX_CHARS + 1]);
    for (byte, pair) in seed.iter().zip(text.chunks_exact_mut(2)) {
        pair[0] = hex_digit(byte >> 4);
        pair[1] = hex_digit(byte & 15);
    }

    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().ok_or_else(|| IdentityFileError::NotAFile { path: path.into() })?);
    name.push(format!(".{:016x}.new", u64::from_ne_bytes(salt)));
    let temporary = folder.join(name);

    let placed =
        write_private(&temporary, text.as_ref()).and_then(|()| place(&temporary, path, text.as_ref()));
    let tidied = fs::remove_file(&temporary);
    placed.map_err(creating)?;
    tidied.map_err(creating)?;
    // The new name is on disk only when the folder is. Some file systems refuse to sync a
    // folder; the key is good all the same.
    let _unsynced = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

fn place(temporary: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    let taken = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
    match fs::hard_link(temporary, path) {
        Ok(()) => Ok(()),
        Err(error) if taken(&error) => Ok(()),
        // A file system without hard links: create the name itself, still never replacing.
        Err(_) => match write_private(path, text) {
            Err(error) if taken(&error) => Ok(()),
            written => written,
        },
    }
}

fn write_private(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text)?;
    file.sync_all()
}

#[cfg(unix)]
fn check_mode(path: &Path, metadata: &fs::Metadata) -> Result<(), IdentityFileError> {
    use std::os::unix::fs::PermissionsExt;
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(IdentityFileError::Mode { path: path.into(), mode });
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_mode(_path: &Path, _metadata: &fs::Metadata) -> Result<(), IdentityFileError> {
    Ok(())
}

fn hex_digit(value: u8) -> u8 {
    b"0123456789abcdef"[usize::from(value & 15)]
}

fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}
