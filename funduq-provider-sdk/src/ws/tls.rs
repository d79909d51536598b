//! The one TLS stack: rustls with ring, Mozilla's roots and whatever the author adds.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use super::error::LinkError;

/// What servers are trusted: Mozilla's roots, and the certificates in these PEM files.
pub(super) fn client_config(extra: &[PathBuf]) -> Result<ClientConfig, LinkError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for path in extra {
        add(&mut roots, path)
            .map_err(|problem| LinkError::BadCertificates { path: path.clone(), problem })?;
    }
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .expect("ring supports the protocol versions that this crate enables");
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

fn add(roots: &mut RootCertStore, path: &Path) -> Result<(), String> {
    let mut any = false;
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| error.to_string())? {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
        any = true;
    }
    if any { Ok(()) } else { Err("no certificate in it".to_owned()) }
}
