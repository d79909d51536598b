//! The data folder: keys, secrets and the record, for one funduq at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use funduq_contract::Identity;
use funduq_core::TokenSecret;
use funduq_provider_sdk::{IdentityFileError, ProviderIdentity, identity_file};

/// The record's file in the folder.
pub(crate) const RECORD: &str = "record.sqlite";

/// How many random bytes the token secret has.
const SECRET_BYTES: usize = 32;

/// Why a data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// Something in it could not be read or made.
    #[error("the data folder: cannot {doing} {path}: {source}")]
    Io {
        /// What was being done: `create`, `read`, `lock`.
        doing: &'static str,
        /// Which file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another funduq uses it.
    #[error(
        "the data folder {path} is in use by another funduq; end that one, or give this one another --data-dir"
    )]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// Others than its owner can reach a secret.
    #[error("{path} has mode {mode:04o}: others can reach the secret in it; run `chmod 600` on it")]
    Mode {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file of the token secret does not hold one.
    #[error("{path} is not a token secret, 64 hex characters and a newline; remove it and a new one is made")]
    NotASecret {
        /// The file.
        path: PathBuf,
    },
    /// A key's file cannot be used.
    #[error(transparent)]
    Identity(#[from] IdentityFileError),
}

/// A data folder, held for this process until it is dropped.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    lock: File,
}

impl Drop for DataDir {
    fn drop(&mut self) {
        // A process that is just being started has the descriptor too, until it becomes its own program; closing this one
        // would leave the folder to it. What cannot be unlocked is when it is closed.
        let _ = self.lock.unlock();
    }
}

impl DataDir {
    /// Takes the folder, and makes it where there is none.
    pub(crate) fn open(path: &Path) -> Result<Self, DataDirError> {
        create_folder(path).map_err(|source| io_error("create", path, source))?;
        let lock_path = path.join("lock");
        let locking = |source| io_error("lock", &lock_path, source);
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(false);
        let lock = options.open(&lock_path).map_err(locking)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.into(), lock }),
            Err(TryLockError::WouldBlock) => Err(DataDirError::InUse { path: path.into() }),
            Err(TryLockError::Error(source)) => Err(locking(source)),
        }
    }

    /// funduq's own key, made where there is none.
    pub(crate) fn identity(&self) -> Result<Identity, DataDirError> {
        Ok(identity_file::load_or_create(self.path.join("funduq.key"))?)
    }

    /// The demo provider's key, made where there is none, so that its agents keep their addresses.
    pub(crate) fn demo_identity(&self) -> Result<ProviderIdentity, DataDirError> {
        Ok(ProviderIdentity::load_or_create(self.path.join("demo-provider.key"))?)
    }

    /// The record's file.
    pub(crate) fn record(&self) -> PathBuf {
        self.path.join(RECORD)
    }

    /// The operator's socket.
    pub(crate) fn admin_socket(&self) -> PathBuf {
        self.path.join(crate::admin::SOCKET)
    }

    /// The secret with which funduq makes tokens, made where there is none.
    pub(crate) fn token_secret(&self) -> Result<TokenSecret, DataDirError> {
        let path = self.path.join("token.secret");
        match fs::read(&path) {
            Ok(text) => {
                check_mode(&path)?;
                read_secret(&text).map(TokenSecret::new).ok_or(DataDirError::NotASecret { path })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let made = write_secret(&path).map_err(|source| io_error("create", &path, source))?;
                Ok(TokenSecret::new(made))
            }
            Err(source) => Err(io_error("read", &path, source)),
        }
    }
}

fn read_secret(text: &[u8]) -> Option<[u8; SECRET_BYTES]> {
    let (newline, hex) = text.split_last()?;
    if *newline != b'\n' || hex.len() != SECRET_BYTES * 2 {
        return None;
    }
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut secret = [0; SECRET_BYTES];
    for (byte, pair) in secret.iter_mut().zip(hex.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(secret)
}

fn io_error(doing: &'static str, path: &Path, source: io::Error) -> DataDirError {
    DataDirError::Io { doing, path: path.into(), source }
}

fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn write_secret(path: &Path) -> io::Result<[u8; SECRET_BYTES]> {
    let mut bytes = [0_u8; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    file.write_all(hex.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    Ok(bytes)
}

#[cfg(unix)]
fn check_mode(path: &Path) -> Result<(), DataDirError> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = fs::metadata(path).map_err(|source| io_error("read", path, source))?;
    let mode = metadata.permissions().mode() & 0o7777;
    match mode & 0o077 {
        0 => Ok(()),
        _ => Err(DataDirError::Mode { path: path.into(), mode }),
    }
}

#[cfg(not(unix))]
fn check_mode(_path: &Path) -> Result<(), DataDirError> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_funduq_at_a_time_uses_a_folder() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("data");
        let first = DataDir::open(&path).unwrap();
        assert!(matches!(DataDir::open(&path), Err(DataDirError::InUse { .. })));
        drop(first);
        assert!(DataDir::open(&path).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn what_is_secret_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("data");
        let folder = DataDir::open(&path).unwrap();
        folder.identity().unwrap();
        folder.token_secret().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o700);
        assert_eq!(mode(&path.join("funduq.key")), 0o600);
        let secret = path.join("token.secret");
        assert_eq!(mode(&secret), 0o600);
        let text = fs::read(&secret).unwrap();
        folder.token_secret().unwrap();
        assert_eq!(fs::read(&secret).unwrap(), text, "a secret that is there stays");
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(folder.token_secret(), Err(DataDirError::Mode { mode: 0o644, .. })));
    }

    #[test]
    fn a_file_that_is_no_secret_is_not_taken_for_one() {
        let hex = "0f".repeat(SECRET_BYTES);
        assert_eq!(read_secret(format!("{hex}\n").as_bytes()), Some([15; SECRET_BYTES]));
        for wrong in
            [hex.clone(), format!("{}\n", &hex[2..]), format!("{}\n", hex.to_uppercase()), String::new()]
        {
            assert_eq!(read_secret(wrong.as_bytes()), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_key_stays_the_same_over_restarts() {
        let home = tempfile::tempdir().unwrap();
        let first = DataDir::open(home.path()).unwrap().identity().unwrap().public_key();
        let second = DataDir::open(home.path()).unwrap().identity().unwrap().public_key();
        assert_eq!(first, second);
    }
}
