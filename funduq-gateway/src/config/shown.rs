//! The configuration as it is shown to a person: each setting, what it is, and who said so.

use std::fmt;
use std::path::PathBuf;

use super::{
    Bytes, Durability, Enrolment, Faults, FilePath, Listen, LogFormat, Networks, Origins, PresenterHeader,
    PublicUrl, Rate, Reads, Span,
};

/// One setting in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Its name: that of its flag without the dashes, and its key in a file.
    pub name: &'static str,
    /// Its variable.
    pub variable: &'static str,
    /// Its value, as it would stand in a file.
    pub value: String,
}

/// Where a setting's value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The command line.
    Flag,
    /// The environment, by this variable.
    Variable(&'static str),
    /// The file.
    File(PathBuf),
    /// Nobody said anything.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Variable(name) => f.write_str(name),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A kind of value that can be written as a person would. None of them is a secret: those have files of their own, and the
/// settings name the files.
pub(super) trait Value {
    fn text(&self) -> String;

    /// The text as TOML has it.
    fn toml(&self) -> String {
        toml::Value::String(self.text()).to_string()
    }
}

macro_rules! displayed {
    ($($type:ty),+) => {$(
        impl Value for $type {
            fn text(&self) -> String {
                self.to_string()
            }
        }
    )+};
}

displayed!(Listen, String, Bytes, Networks, Rate);

macro_rules! plain {
    ($($type:ty),+) => {$(
        impl Value for $type {
            fn text(&self) -> String {
                self.to_string()
            }

            fn toml(&self) -> String {
                self.text()
            }
        }
    )+};
}

plain!(bool, usize, u32);

impl Value for PathBuf {
    fn text(&self) -> String {
        self.display().to_string()
    }
}

impl Value for FilePath {
    fn text(&self) -> String {
        self.get().map(|path| path.display().to_string()).unwrap_or_default()
    }
}

impl Value for PublicUrl {
    fn text(&self) -> String {
        self.get().unwrap_or_default().to_owned()
    }
}

impl Value for Span {
    fn text(&self) -> String {
        match self.get().as_millis() {
            millis if millis % 1000 != 0 => format!("{millis}ms"),
            millis if millis % 3_600_000 == 0 && millis != 0 => format!("{}h", millis / 3_600_000),
            millis if millis % 60_000 == 0 && millis != 0 => format!("{}m", millis / 60_000),
            millis => format!("{}s", millis / 1000),
        }
    }
}

impl Value for Faults {
    fn text(&self) -> String {
        self.get().map_or_else(|| "none".to_owned(), |number| number.to_string())
    }
}

impl Value for Enrolment {
    fn text(&self) -> String {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::AllowList => "allow-list",
            Self::Operator => "operator",
        }
        .to_owned()
    }
}

impl Value for Reads {
    fn text(&self) -> String {
        match self {
            Self::Open => "open",
            Self::Parties => "parties",
        }
        .to_owned()
    }
}

impl Value for PresenterHeader {
    fn text(&self) -> String {
        self.get().map(ToString::to_string).unwrap_or_default()
    }
}

impl Value for Durability {
    fn text(&self) -> String {
        match self {
            Self::Power => "power",
            Self::Process => "process",
        }
        .to_owned()
    }
}

impl Value for LogFormat {
    fn text(&self) -> String {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
        .to_owned()
    }
}

impl Value for Origins {
    fn text(&self) -> String {
        match self {
            Self::Any => "*".to_owned(),
            Self::These(listed) => {
                let listed: Vec<_> = listed.iter().filter_map(|origin| origin.to_str().ok()).collect();
                listed.join(",")
            }
        }
    }
}

/// What is said of a name that is no setting's.
pub(crate) fn unknown(name: &str, known: &[&str]) -> String {
    let near = known.iter().map(|known| (strsim::damerau_levenshtein(name, known), known)).min();
    match near {
        Some((distance, near)) if distance <= 2.max(name.len() / 3) => {
            format!("there is no setting `{name}`; did you mean `{near}`?")
        }
        _ => format!("there is no setting `{name}`; `funduq config` shows those that there are"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Options};

    #[test]
    fn what_is_shown_of_a_setting_is_read_as_the_same() {
        let shown = Config::default().shown().into_iter();
        let lines = shown.map(|shown| format!("{} = {}\n", shown.name, shown.value));
        let again = Options::from_text(&lines.collect::<String>()).unwrap().resolve();
        assert_eq!(again.shown(), Config::default().shown());
    }

    #[test]
    fn a_time_is_shown_in_the_largest_unit_that_it_has_whole() {
        for text in ["0s", "250ms", "15s", "2m", "90s", "1h"] {
            assert_eq!(text.parse::<Span>().unwrap().text(), text);
        }
    }
}
