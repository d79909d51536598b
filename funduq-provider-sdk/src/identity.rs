//! The key that a provider is: one Ed25519 identity, made once and kept in a file.

use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use funduq_contract::Identity;

use crate::identity_file::{self, IdentityFileError};

/// A provider's identity. Cloning is cheap and shares the one key.
///
/// It dereferences to the contract's [`Identity`], which has the public key and one sign
/// method for each published payload family; there is no way to sign anything else and
/// none to read the private key.
#[derive(Clone)]
pub struct ProviderIdentity(Arc<Identity>);

impl ProviderIdentity {
    /// A new random identity that lives as long as this process: for tests and trials.
    pub fn generate() -> Self {
        Self::from(Identity::generate())
    }

    /// The identity kept at `path`; when nothing is there, a new one is made and kept (mode 0600).
    ///
    /// Whoever has this file is the provider: callers' threads, agents and tasks hang on its
    /// key. Keep a copy where you keep secrets.
    ///
    /// # Errors
    /// [`IdentityFileError`] when the file cannot be read or written, is readable by others
    /// or does not hold an identity.
    pub fn load_or_create(path: impl AsRef<Path>) -> Result<Self, IdentityFileError> {
        identity_file::load_or_create(path).map(Self::from)
    }
}

impl From<Identity> for ProviderIdentity {
    fn from(identity: Identity) -> Self {
        Self(Arc::new(identity))
    }
}

impl Deref for ProviderIdentity {
    type Target = Identity;

    fn deref(&self) -> &Identity {
        &self.0
    }
}

impl fmt::Debug for ProviderIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ProviderIdentity").field(&self.0.public_key()).finish()
    }
}
