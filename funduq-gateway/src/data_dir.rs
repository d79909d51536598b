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
    /// Others than its owner can put files of theirs in the place of the folder's.
    #[error(
        "the data folder {path} has mode {mode:04o}, which lets others replace what is in it: run `chmod 700` on it, or give \
         --data-dir a folder of funduq's own"
    )]
    FolderMode {
        /// The folder.
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
        check_folder(path)?;
        let lock_path = path.join("lock");
        let locking = |source| io_error("lock", &lock_path, source);
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
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

    /// The record's file. One that is there, and the two beside it, is its owner's alone from now on.
    pub(crate) fn record(&self) -> Result<PathBuf, DataDirError> {
        for beside in ["-shm", "-wal", ""] {
            close_to_others(&self.path.join(format!("{RECORD}{beside}")))?;
        }
        Ok(self.path.join(RECORD))
    }

    /// Where signatures are noted that this process's memory alone must not hold.
    pub(crate) fn signatures(&self) -> PathBuf {
        self.path.join("signatures.ahead")
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
fn mode(path: &Path) -> Result<u32, DataDirError> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = fs::metadata(path).map_err(|source| io_error("read", path, source))?;
    Ok(metadata.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode(_path: &Path) -> Result<u32, DataDirError> {
    Ok(0)
}

/// What of a mode lets in others than the owner.
const OTHERS: u32 = 0o077;
/// What of it lets them write.
const OTHERS_WRITE: u32 = 0o022;

fn check_mode(path: &Path) -> Result<(), DataDirError> {
    match mode(path)? {
        mode if mode & OTHERS == 0 => Ok(()),
        mode => Err(DataDirError::Mode { path: path.into(), mode }),
    }
}

/// Refuses a folder of this user's that others can write, and says so of any other that lets others in: what is in it is
/// closed to them one by one. It may be one with other things in it, so its mode is not changed.
fn check_folder(path: &Path) -> Result<(), DataDirError> {
    match mode(path)? {
        mode if mode & OTHERS == 0 => Ok(()),
        mode if mode & OTHERS_WRITE != 0 && is_own(path)? => {
            Err(DataDirError::FolderMode { path: path.into(), mode })
        }
        mode => {
            // Such as a volume that an orchestrator has given to a group.
            let mode = format!("{mode:04o}");
            tracing::warn!(path = %path.display(), mode, "the data folder lets others in; `chmod 700` closes it");
            Ok(())
        }
    }
}

#[cfg(unix)]
fn is_own(path: &Path) -> Result<bool, DataDirError> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(path).map_err(|source| io_error("read", path, source))?;
    Ok(metadata.uid() == rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn is_own(_path: &Path) -> Result<bool, DataDirError> {
    Ok(true)
}

/// Gives a file that is there the mode 0600.
fn close_to_others(path: &Path) -> Result<(), DataDirError> {
    let found = match mode(path) {
        Err(DataDirError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    if found & OTHERS == 0 {
        return Ok(());
    }
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .map_err(|source| io_error("change the mode of", path, source))?;
    let was = format!("{found:04o}");
    tracing::warn!(path = %path.display(), was, "others could read a file of the record; it has mode 0600 now");
    Ok(())
}

/// Says so where everybody on this machine can read a key that is not in the data folder.
pub(crate) fn warn_of_open_key(path: &Path) {
    if let Some(mode) = open_to_all(path) {
        let (path, mode) = (path.display(), format!("{mode:04o}"));
        tracing::warn!(%path, mode, "everybody on this machine can read the TLS key; run `chmod 600` on it");
    }
}

/// The mode of a file that everybody can reach. That a group can may be meant, as Debian's ssl-cert is; and whoever reads a
/// file that cannot be looked at says what is wrong.
fn open_to_all(path: &Path) -> Option<u32> {
    mode(path).ok().filter(|mode| mode & 0o007 != 0)
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

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_can_write_is_refused_and_left_as_it_is() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        for wrong in [0o775, 0o720, 0o702, 0o1777] {
            fs::set_permissions(home.path(), fs::Permissions::from_mode(wrong)).unwrap();
            let refused = DataDir::open(home.path()).unwrap_err();
            assert!(refused.to_string().contains("chmod 700"), "{refused}");
            assert_eq!(fs::metadata(home.path()).unwrap().permissions().mode() & 0o7777, wrong);
        }
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "nothing is put into it");
        for right in [0o700, 0o755, 0o750, 0o711] {
            fs::set_permissions(home.path(), fs::Permissions::from_mode(right)).unwrap();
            assert!(DataDir::open(home.path()).is_ok(), "{right:o}");
            assert_eq!(fs::metadata(home.path()).unwrap().permissions().mode() & 0o7777, right);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_record_that_others_could_read_is_its_owners_alone_from_now_on() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("data");
        let folder = DataDir::open(&path).unwrap();
        let files = ["record.sqlite", "record.sqlite-wal", "record.sqlite-shm"].map(|name| path.join(name));
        for file in &files {
            fs::write(file, "x").unwrap();
            fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
        }
        assert_eq!(folder.record().unwrap(), files[0]);
        for file in &files {
            assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_tls_key_may_be_a_groups_and_not_everybodys() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let key = home.path().join("key.pem");
        assert_eq!(open_to_all(&key), None);
        fs::write(&key, "x").unwrap();
        for (mode, said) in [(0o600, None), (0o640, None), (0o644, Some(0o644)), (0o604, Some(0o604))] {
            fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(open_to_all(&key), said);
        }
    }

    #[test]
    fn no_container_is_built_of_a_folder_of_keys() {
        let ignored = include_str!("../../.containerignore");
        let folder = crate::config::Config::default().data_dir;
        let folder = format!("**/{}", folder.file_name().unwrap().display());
        assert!(ignored.lines().any(|line| line == folder), "{folder}");
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
        let path = home.path().join("data");
        let first = DataDir::open(&path).unwrap().identity().unwrap().public_key();
        let second = DataDir::open(&path).unwrap().identity().unwrap().public_key();
        assert_eq!(first, second);
    }
}
