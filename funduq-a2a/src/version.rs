//! Which version of the protocol a caller speaks: the `A2A-Version` service parameter (A2A 1.0 §3.6).

use std::fmt;

use crate::A2aError;
use crate::wire::quoted;

/// The header, and the query parameter, that names the version.
pub const VERSION_PARAMETER: &str = "A2A-Version";

/// A version of the protocol that is spoken here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// A2A 1.0.
    V1_0,
    /// A2A 0.3, which a caller who names no version speaks.
    V0_3,
}

impl Version {
    /// The versions, the preferred one first.
    pub const ALL: [Self; 2] = [Self::V1_0, Self::V0_3];

    /// Reads the service parameter; absent or empty means 0.3 (A2A 1.0 §3.6.2). Patch numbers do not matter.
    ///
    /// # Errors
    /// [`A2aError::VersionNotSupported`] for every other version.
    pub fn from_parameter(parameter: Option<&str>) -> Result<Self, A2aError> {
        Ok(Self::named(parameter)?.unwrap_or(Self::V0_3))
    }

    /// Reads the service parameter; `None` when it names no version.
    ///
    /// # Errors
    /// [`A2aError::VersionNotSupported`] when it names a version that is not spoken here.
    pub(crate) fn named(parameter: Option<&str>) -> Result<Option<Self>, A2aError> {
        let text = parameter.unwrap_or_default().trim();
        if text.is_empty() {
            return Ok(None);
        }
        match Self::ALL.into_iter().find(|version| is_same_minor(text, version.as_str())) {
            Some(version) => Ok(Some(version)),
            None => Err(A2aError::VersionNotSupported(format!(
                "the protocol version {} is not supported; send {VERSION_PARAMETER}: 1.0 or 0.3",
                quoted(text)
            ))),
        }
    }

    /// Major and minor, as interfaces of a card name them.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V1_0 => "1.0",
            Self::V0_3 => "0.3",
        }
    }
}

/// Whether `text` is `major_minor`, or that with a patch number.
fn is_same_minor(text: &str, major_minor: &str) -> bool {
    let Some(rest) = text.strip_prefix(major_minor) else {
        return false;
    };
    match rest.strip_prefix('.') {
        Some(patch) => !patch.is_empty() && patch.bytes().all(|byte| byte.is_ascii_digit()),
        None => rest.is_empty(),
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_and_empty_mean_0_3() {
        for parameter in [None, Some(""), Some("  "), Some("0.3"), Some("0.3.0"), Some("0.3.26")] {
            assert_eq!(Version::from_parameter(parameter), Ok(Version::V0_3), "{parameter:?}");
        }
    }

    #[test]
    fn patch_numbers_do_not_matter() {
        for parameter in ["1.0", " 1.0 ", "1.0.0", "1.0.17"] {
            assert_eq!(Version::from_parameter(Some(parameter)), Ok(Version::V1_0), "{parameter}");
        }
    }

    #[test]
    fn every_other_version_is_not_supported() {
        for parameter in
            ["1", "1.1", "1.00", "1.0.", "1.0.x", "1.0-rc", "0.2", "0.30", "0.3,1.0", "2.0", "v1.0", "latest"]
        {
            let error = Version::from_parameter(Some(parameter)).unwrap_err();
            assert_eq!(error.code(), -32009, "{parameter}");
            assert_eq!(error.http_status(), 400, "{parameter}");
        }
    }

    #[test]
    fn the_error_names_the_version_that_was_asked_for() {
        let error = Version::from_parameter(Some("0.5")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the protocol version \"0.5\" is not supported; send A2A-Version: 1.0 or 0.3"
        );
    }
}
