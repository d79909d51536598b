//! Lower-case hex: the one spelling of bytes that the contract has.

/// Why a text is not the lower-case hex of `N` bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HexProblem {
    /// The text has another length.
    #[error("expected {expected} hex characters, got {got}")]
    WrongLength {
        /// Characters that the value has.
        expected: usize,
        /// Bytes that the text has.
        got: usize,
    },
    /// A character outside `0-9a-f`; upper case counts as one, so that a value has one spelling.
    #[error("character {position} is not a lower-case hex digit")]
    NotLowerHex {
        /// Byte position of the first such character, from 0.
        position: usize,
    },
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 0x0f)]));
    }
    text
}

pub(crate) fn decode<const N: usize>(text: &str) -> Result<[u8; N], HexProblem> {
    let digits = text.as_bytes();
    if digits.len() != N * 2 {
        return Err(HexProblem::WrongLength { expected: N * 2, got: digits.len() });
    }
    let mut bytes = [0u8; N];
    for (index, byte) in bytes.iter_mut().enumerate() {
        let high = nibble(digits, index * 2)?;
        let low = nibble(digits, index * 2 + 1)?;
        *byte = high << 4 | low;
    }
    Ok(bytes)
}

fn nibble(digits: &[u8], position: usize) -> Result<u8, HexProblem> {
    match digits[position] {
        digit @ b'0'..=b'9' => Ok(digit - b'0'),
        digit @ b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(HexProblem::NotLowerHex { position }),
    }
}

/// The text side of a fixed-size value: `Display`, `FromStr`, serde and JSON Schema, all lower-case hex.
///
/// The type gives `as_bytes()` and an inherent `parse_hex(&str) -> Result<Self, $error>`.
macro_rules! hex_text {
    ($type:ident, $error:ty, $characters:literal, $what:literal) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&crate::hex::encode(self.as_bytes()))
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($type), "({})"), self)
            }
        }

        impl std::str::FromStr for $type {
            type Err = $error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse_hex(text)
            }
        }

        impl TryFrom<String> for $type {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                Self::parse_hex(&text)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $type;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($what)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        $type::parse_hex(text).map_err(|problem| E::custom(format_args!("{}: {problem}", $what)))
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($type)).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "description": $what,
                    "pattern": concat!("^[0-9a-f]{", $characters, "}$"),
                })
            }
        }
    };
}
pub(crate) use hex_text;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_the_round_trip() {
        let text = encode(&[0x00, 0x7f, 0xa0, 0xff]);
        assert_eq!(text, "007fa0ff");
        assert_eq!(decode::<4>(&text), Ok([0x00, 0x7f, 0xa0, 0xff]));
    }

    #[test]
    fn a_wrong_length_is_named() {
        assert_eq!(decode::<2>("abc"), Err(HexProblem::WrongLength { expected: 4, got: 3 }));
        assert_eq!(decode::<2>("abcdef"), Err(HexProblem::WrongLength { expected: 4, got: 6 }));
    }

    #[test]
    fn upper_case_and_other_characters_are_refused_with_their_place() {
        assert_eq!(decode::<2>("abCd"), Err(HexProblem::NotLowerHex { position: 2 }));
        assert_eq!(decode::<2>("ab g"), Err(HexProblem::NotLowerHex { position: 2 }));
        assert_eq!(decode::<2>("abé"), Err(HexProblem::NotLowerHex { position: 2 }));
    }
}
