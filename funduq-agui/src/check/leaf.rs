//! Values that one look tells all about: everything but declared objects and lists of them.

use super::problem::{Flaw, Problem};
use crate::json;
use crate::wire::{Kind, whole};

/// Checks the text of a value, whose syntax has been checked, against a kind.
#[inline]
pub(super) fn check(kind: &'static Kind, value: &str) -> Result<(), Box<Flaw>> {
    let first = value.as_bytes().first().copied().unwrap_or_default();
    let expected = match kind {
        Kind::Any => return Ok(()),
        Kind::NotNull if first != b'n' => return Ok(()),
        Kind::Text if first == b'"' => return Ok(()),
        Kind::TextOrList(_) if first == b'"' => return Ok(()),
        Kind::Bool if matches!(first, b't' | b'f') => return Ok(()),
        Kind::Map if first == b'{' => return Ok(()),
        Kind::OneOf(names) if first == b'"' => return one_of(names, value),
        Kind::Pointer if first == b'"' => return pointer(value),
        Kind::Integer { min, max } if matches!(first, b'-' | b'0'..=b'9') => {
            return integer(*min, *max, value);
        }
        Kind::NotNull => "any value but null",
        Kind::Text | Kind::OneOf(_) | Kind::Pointer => "a string",
        Kind::TextOrList(_) => "a string or an array",
        Kind::Bool => "a boolean",
        Kind::Integer { .. } => "an integer",
        Kind::Map | Kind::Object(_) | Kind::Union(_) => "an object",
        Kind::List { .. } => "an array",
    };
    Err(Flaw::new(Problem::wrong_type(expected, value)))
}

fn one_of(names: &'static [&'static str], value: &str) -> Result<(), Box<Flaw>> {
    let name = json::decode(json::body(value).unwrap_or_default());
    if names.contains(&&*name) { Ok(()) } else { Err(Flaw::new(Problem::NotOneOf(names))) }
}

/// RFC 6901: empty, or tokens that each start with `/`, where `~` is followed by 0 or 1.
fn pointer(value: &str) -> Result<(), Box<Flaw>> {
    let pointer = json::decode(json::body(value).unwrap_or_default());
    let starts = pointer.is_empty() || pointer.starts_with('/');
    let escapes = pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if starts && escapes { Ok(()) } else { Err(Flaw::new(Problem::NotAPointer)) }
}

/// JSON Schema's integer: `1`, `1.0` and `1e0` are the same one.
fn integer(min: i64, max: i64, value: &str) -> Result<(), Box<Flaw>> {
    let number = match value.parse::<i64>() {
        Ok(number) => Some(number),
        Err(_) => value.parse().ok().and_then(whole),
    };
    match number {
        Some(number) if (min..=max).contains(&number) => Ok(()),
        _ => Err(Flaw::new(Problem::NotAnInteger { min, max })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_has_no_fraction_however_it_is_written() {
        let max = crate::MAX_SAFE_INTEGER;
        for value in ["0", "-0", "1.0", "1e2", "15e-1e".trim_end_matches('e'), "9007199254740991", "1.5e1"] {
            assert_eq!(integer(0, max, value).is_ok(), value != "15e-1", "{value}");
        }
        for value in ["1.5", "-1", "9007199254740992", "1e400", "123456789012345678901234567890"] {
            assert!(integer(0, max, value).is_err(), "{value}");
        }
    }

    #[test]
    fn a_pointer_is_empty_or_starts_with_a_slash() {
        for value in [r#""""#, r#""/""#, r#""/a~0b/~1""#, r#""\/a""#, r#""\u002fa""#, "\"/a\nb\""] {
            assert!(pointer(value).is_ok(), "{value}");
        }
        for value in [r#""a""#, r#""/~""#, r#""/~2""#, r#"" /""#] {
            assert!(pointer(value).is_err(), "{value}");
        }
    }
}
