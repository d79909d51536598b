//! The `bytes` of a proto field: base64 in JSON, in the standard or the URL-safe alphabet, padded or not.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Raw bytes; standard base64 with padding when written, either alphabet and either padding when read.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    /// The bytes as standard base64 with padding.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut text = String::with_capacity(self.0.len().div_ceil(3) * 4);
        for chunk in self.0.chunks(3) {
            let group = chunk
                .iter()
                .enumerate()
                .fold(0_u32, |group, (index, byte)| group | u32::from(*byte) << (16 - 8 * index));
            for index in 0..4 {
                if index <= chunk.len() {
                    text.push(char::from(ALPHABET[(group >> (18 - 6 * index) & 0x3f) as usize]));
                } else {
                    text.push('=');
                }
            }
        }
        text
    }

    /// Reads base64; `None` for a character outside both alphabets or an impossible length.
    #[must_use]
    pub fn decode(text: &str) -> Option<Self> {
        let digits = text.trim_end_matches('=');
        let padding = text.len() - digits.len();
        if digits.len() % 4 == 1 || padding > 2 || (padding > 0 && !text.len().is_multiple_of(4)) {
            return None;
        }
        let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
        for chunk in digits.as_bytes().chunks(4) {
            let mut group = 0_u32;
            for index in 0..4 {
                let digit = chunk.get(index).map_or(Some(0), |byte| digit(*byte))?;
                group |= digit << (18 - 6 * index);
            }
            let [_, first, second, third] = group.to_be_bytes();
            bytes.extend_from_slice(&[first, second, third][..chunk.len() - 1]);
        }
        Some(Self(bytes))
    }
}

fn digit(byte: u8) -> Option<u32> {
    let digit = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(u32::from(digit))
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.encode())
    }
}

impl JsonSchema for Bytes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "contentEncoding": "base64" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_rfc_4648() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(Bytes(bytes.into()).encode(), text);
            assert_eq!(Bytes::decode(text), Some(Bytes(bytes.into())));
            assert_eq!(Bytes::decode(text.trim_end_matches('=')), Some(Bytes(bytes.into())));
        }
    }

    #[test]
    fn both_alphabets_are_read_and_the_standard_one_is_written() {
        let bytes = Bytes(vec![0xfb, 0xff, 0xfe]);
        assert_eq!(bytes.encode(), "+//+");
        assert_eq!(Bytes::decode("-__-"), Some(bytes));
    }

    #[test]
    fn what_is_no_base64_is_refused() {
        for text in ["A", "AAAAA", "Zg=", "Zg===", "====", "Z g=", "Zm9v=", "é", "Zg==Zg=="] {
            assert_eq!(Bytes::decode(text), None, "{text}");
        }
    }
}
