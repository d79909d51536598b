//! The gateway's TLS certificate: read from two PEM files, and read again when they change.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::sync::Mutex;

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(5);

/// Why there is no certificate to serve with.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file holds nothing that can be used.
    #[error("{path}: {problem}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The certificate and the key do not go together.
    #[error("the certificate in {certificate} and the key in {key} cannot be used together: {problem}")]
    Pair {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// What is wrong with them.
        problem: rustls::Error,
    },
}

/// A certificate and its key, as they are now.
#[derive(Debug)]
pub(crate) struct Certificate {
    files: Files,
    current: RwLock<Arc<ServerConfig>>,
    /// Of what is current; held while it is replaced.
    marks: Mutex<Marks>,
}

#[derive(Debug)]
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

/// By what a file that was changed is known: when it was, and its length.
type Marks = [Option<(SystemTime, u64)>; 2];

impl Certificate {
    /// Reads both files.
    pub(crate) fn load(certificate: &Path, key: &Path) -> Result<Self, CertificateError> {
        let files = Files { certificate: certificate.into(), key: key.into() };
        let marks = files.marks();
        let current = RwLock::new(Arc::new(files.read()?));
        Ok(Self { files, current, marks: Mutex::new(marks) })
    }

    /// What new connections are to be served with.
    pub(crate) fn current(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads both files again. Connections that there are go on as they began.
    ///
    /// # Errors
    /// [`CertificateError`]; what was current stays so then.
    pub(crate) async fn reload(&self) -> Result<(), CertificateError> {
        let mut marks = self.marks.lock().await;
        self.replace(&mut marks)
    }

    fn replace(&self, marks: &mut Marks) -> Result<(), CertificateError> {
        // Before they are read, so that what changes meanwhile is read once more.
        *marks = self.files.marks();
        let read = Arc::new(self.files.read()?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = read;
        Ok(())
    }

    /// Waits until the files have changed, and reads them.
    ///
    /// # Errors
    /// [`CertificateError`]; what was current stays so until they change again.
    pub(crate) async fn changed(&self) -> Result<(), CertificateError> {
        loop {
            tokio::time::sleep(LOOK).await;
            let mut marks = self.marks.lock().await;
            if self.files.marks() != *marks {
                return self.replace(&mut marks);
            }
        }
    }
}

impl Files {
    fn marks(&self) -> Marks {
        [&self.certificate, &self.key].map(|path| {
            let metadata = std::fs::metadata(path).ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        })
    }

    fn read(&self) -> Result<ServerConfig, CertificateError> {
        let wrong = |path: &Path, problem: String| CertificateError::File { path: path.into(), problem };
        let chain: Vec<_> = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect)
            .map_err(|error| wrong(&self.certificate, error.to_string()))?;
        if chain.is_empty() {
            return Err(wrong(&self.certificate, "there is no certificate in it".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|error| wrong(&self.key, format!("no private key can be read from it: {error}")))?;
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(ring)
            .with_safe_default_protocol_versions()
            .expect("ring supports the protocol versions that this crate enables")
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|problem| CertificateError::Pair {
                certificate: self.certificate.clone(),
                key: self.key.clone(),
                problem,
            })?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }
}
