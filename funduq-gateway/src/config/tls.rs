//! A file that may be named.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::values::{InvalidValue, read_from_files};

/// A file's path, or none where nothing is given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilePath(Option<PathBuf>);

impl FilePath {
    /// The path.
    pub fn get(&self) -> Option<&Path> {
        self.0.as_deref()
    }
}

impl FromStr for FilePath {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        Ok(Self((!text.is_empty()).then(|| text.into())))
    }
}

read_from_files!(FilePath);
