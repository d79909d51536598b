//! A resume entry as it came, with what funduq decides on.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::input::InvalidInput;
use super::legacy::without_nulls;
use crate::check::{self, Flaw, Problem};
use crate::interrupt::{ResumeEntry, ResumeStatus};
use crate::json::{self, Members};
use crate::wire::Wire;

/// The answer to one interrupt, kept as the bytes that came. Equality is equality
/// of those bytes.
#[derive(Clone, Debug)]
pub struct RelayedResume {
    interrupt_id: String,
    status: ResumeStatus,
    raw: Box<RawValue>,
}

impl RelayedResume {
    /// Reads a resume entry by the tolerant reading. A null for an optional member
    /// is taken as absent and left out.
    ///
    /// # Errors
    /// [`InvalidInput`] with the member that is wrong.
    pub fn parse(json: &str) -> Result<Self, InvalidInput> {
        Ok(Self::read(check::any(json)?)?)
    }

    /// The same for a value whose syntax has been checked.
    fn read(value: &str) -> Result<Self, Box<Flaw>> {
        let value = without_nulls(&ResumeEntry::KIND, value);
        check::text(&ResumeEntry::KIND, &value)?;
        Self::trusted(value.into_owned())
    }

    /// Takes an entry that has been checked; fails when its id cannot be read as text.
    pub(super) fn trusted(entry: String) -> Result<Self, Box<Flaw>> {
        let not_unicode = || Flaw::new(Problem::NotUnicode).in_member("interruptId");
        let members = Members::of(&entry);
        let id = members.body("interruptId").filter(|id| json::is_lossless(id)).ok_or_else(not_unicode)?;
        let interrupt_id = json::decode(id).into_owned();
        let status = ResumeStatus::from(&*members.text("status").unwrap_or_default());
        let raw = RawValue::from_string(entry).map_err(|_| not_unicode())?;
        Ok(Self { interrupt_id, status, raw })
    }

    /// The interrupt it answers.
    #[must_use]
    pub fn interrupt_id(&self) -> &str {
        &self.interrupt_id
    }

    /// Whether the interrupt was answered or given up.
    #[must_use]
    pub fn status(&self) -> &ResumeStatus {
        &self.status
    }

    /// The entry as JSON.
    #[must_use]
    pub fn json(&self) -> &str {
        self.raw.get()
    }

    /// The entry as serde_json holds raw JSON.
    #[must_use]
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }
}

impl PartialEq for RelayedResume {
    fn eq(&self, other: &Self) -> bool {
        self.json() == other.json()
    }
}

impl From<&ResumeEntry> for RelayedResume {
    fn from(entry: &ResumeEntry) -> Self {
        let json = serde_json::to_string(entry).expect("wire types have string keys and JSON values only");
        let raw = RawValue::from_string(json).expect("serde_json writes JSON");
        Self { interrupt_id: entry.interrupt_id.clone(), status: entry.status.clone(), raw }
    }
}

impl Serialize for RelayedResume {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RelayedResume {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get()).map_err(D::Error::custom)
    }
}

impl JsonSchema for RelayedResume {
    fn schema_name() -> Cow<'static, str> {
        ResumeEntry::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ResumeEntry::json_schema(generator)
    }
}
