//! Proto enums: the names the protocol defines, and whatever else a newer peer sends.

/// Declares an enum that is written as its proto name, and keeps a name it does not know.
///
/// The number of each value is its place in the list, as in the proto file; ProtoJSON lets a sender use it.
macro_rules! open_enum {
    (
        $(#[$attributes:meta])*
        pub enum $name:ident {
            $(#[$first_attributes:meta])* $first:ident = $first_text:literal,
            $($(#[$variant_attributes:meta])* $variant:ident = $text:literal,)*
        }
    ) => {
        $(#[$attributes])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[$first_attributes])*
            #[default]
            $first,
            $($(#[$variant_attributes])* $variant,)*
            /// A name that this version of the protocol does not define, exactly as it came.
            Unknown(String),
        }

        impl $name {
            /// The names the protocol defines, in the order of their numbers.
            pub const NAMES: &'static [&'static str] = &[$first_text, $($text),*];

            /// The name on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    Self::$first => $first_text,
                    $(Self::$variant => $text,)*
                    Self::Unknown(name) => name,
                }
            }

            /// Whether the protocol defines this value.
            #[must_use]
            pub fn is_known(&self) -> bool {
                !matches!(self, Self::Unknown(_))
            }
        }

        impl From<&str> for $name {
            fn from(name: &str) -> Self {
                match name {
                    $first_text => Self::$first,
                    $($text => Self::$variant,)*
                    other => Self::Unknown(other.to_owned()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl $crate::wire::FromRaw for $name {
            fn from_raw_value(
                raw: &serde_json::value::RawValue,
                problems: &mut $crate::wire::Problems,
            ) -> Option<Self> {
                if let Ok(name) = serde_json::from_str::<String>(raw.get()) {
                    return Some(Self::from(name.as_str()));
                }
                let number = serde_json::from_str::<usize>(raw.get()).ok();
                let name = number.and_then(|number| Self::NAMES.get(number));
                if name.is_none() {
                    let found = $crate::wire::describe(raw);
                    problems.report(format!("expected one of {}, found {found}", Self::NAMES.join(", ")));
                }
                name.map(|name| Self::from(*name))
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "anyOf": [
                        { "type": "string", "enum": Self::NAMES },
                        { "type": "string", "description": "a name of a newer version of the protocol" }
                    ]
                })
            }
        }
    };
}
pub(crate) use open_enum;
