//! Text inside JSON strings: between the escaped bytes and what they say.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

/// What an escaped text (the inside of a checked JSON string) says.
///
/// A surrogate escape without its other half is no Unicode character: it reads
/// as U+FFFD here, while the bytes it came in are carried as they are.
pub(crate) fn decode(escaped: &str) -> Cow<'_, str> {
    let Some(first) = escaped.find('\\') else { return Cow::Borrowed(escaped) };
    let mut out = String::with_capacity(escaped.len());
    let (plain, mut rest) = escaped.split_at(first);
    out.push_str(plain);
    loop {
        let (character, after) = unescape(rest);
        out.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        let next = after.find('\\').unwrap_or(after.len());
        let (plain, tail) = after.split_at(next);
        out.push_str(plain);
        if tail.is_empty() {
            return Cow::Owned(out);
        }
        rest = tail;
    }
}

/// Whether [`decode`] loses nothing: no surrogate escape without its other half.
pub(crate) fn is_lossless(escaped: &str) -> bool {
    let mut rest = escaped;
    while let Some(at) = rest.find('\\') {
        let (character, after) = unescape(&rest[at..]);
        if character.is_none() {
            return false;
        }
        rest = after;
    }
    true
}

/// Decodes a checked JSON text. A surrogate escape without its other half reads as
/// U+FFFD, as in [`decode`]: such a string is carried, and no reader should fail for it.
///
/// # Errors
/// When the value is not what `T` reads.
pub(crate) fn read<T: DeserializeOwned>(json: &str) -> serde_json::Result<T> {
    serde_json::from_str(json).or_else(|error| serde_json::from_str(&mended(json).ok_or(error)?))
}

/// A checked JSON text with every surrogate escape without its other half replaced by that of
/// U+FFFD, which is just as long; `None` when it has none.
pub(crate) fn mended(json: &str) -> Option<String> {
    let mut out = String::new();
    let (mut rest, mut copied) = (json, 0);
    // Outside its strings, JSON has no backslash.
    while let Some(at) = rest.find('\\') {
        let start = json.len() - rest.len() + at;
        let (character, after) = unescape(&rest[at..]);
        if character.is_none() {
            out.push_str(&json[copied..start]);
            out.push_str("\\ufffd");
            copied = json.len() - after.len();
        }
        rest = after;
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&json[copied..]);
    Some(out)
}

/// A text as a JSON string, quotes included.
pub(crate) fn encode(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The character of the escape that `text` starts with, and the text after it;
/// no character for half a surrogate pair.
fn unescape(text: &str) -> (Option<char>, &str) {
    let simple = |character| (Some(character), &text[2..]);
    match text.as_bytes().get(1) {
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'n') => simple('\n'),
        Some(b'r') => simple('\r'),
        Some(b't') => simple('\t'),
        Some(b'u') => {
            let Some(unit) = unit(text) else { return (None, "") };
            let after = &text[6..];
            if let Some(character) = char::from_u32(unit) {
                return (Some(character), after);
            }
            let low = if after.starts_with("\\u") { self::unit(after) } else { None };
            match low {
                Some(low @ 0xDC00..=0xDFFF) if unit < 0xDC00 => {
                    let point = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                    (char::from_u32(point), &after[6..])
                }
                _ => (None, after),
            }
        }
        Some(other) => simple(char::from(*other)),
        None => (None, ""),
    }
}

/// The number in the `\uXXXX` that `text` starts with.
fn unit(text: &str) -> Option<u32> {
    u32::from_str_radix(text.get(2..6)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_say_what_a_stock_reader_says() {
        for escaped in [r#"plain é"#, r#"\"\\\/\b\f\n\r\t"#, r"a\u00e9b", r"\ud83d\ude00!", r"x\u0000"] {
            let said: String = serde_json::from_str(&format!("\"{escaped}\"")).unwrap();
            assert_eq!(decode(escaped), said);
            assert!(is_lossless(escaped));
        }
    }

    #[test]
    fn half_a_surrogate_pair_reads_as_the_replacement_character() {
        for (escaped, said) in [
            (r"\ud83d", "\u{fffd}"),
            (r"\ude00x", "\u{fffd}x"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
            (r"\ud83d\u0041", "\u{fffd}A"),
            (r"\ude00\ude00", "\u{fffd}\u{fffd}"),
            (r"\ud83d\n", "\u{fffd}\n"),
        ] {
            assert_eq!(decode(escaped), said);
            assert!(!is_lossless(escaped));
        }
    }

    #[test]
    fn only_half_pairs_are_mended_wherever_they_stand() {
        for whole in
            [r#"{"a":"\ud83d\ude00"}"#, r#"["\uD83D\uDE00é"]"#, r#""\\ud83d \\\\ude00""#, r#"{"\"":1e400}"#]
        {
            assert_eq!(mended(whole), None, "{whole}");
        }
        for (cut, whole) in [
            (r#"["cut \ud83d","\uDE00 off"]"#, r#"["cut \ufffd","\ufffd off"]"#),
            (r#"{"\uD83D":"\\\ud83d"}"#, r#"{"\ufffd":"\\\ufffd"}"#),
            (r#""\uDE00\uD83D\uDE00\ud83d""#, r#""\ufffd\uD83D\uDE00\ufffd""#),
            (r#"["\ud83d","\ude00"]"#, r#"["\ufffd","\ufffd"]"#),
            (r#""\ud83d\\ude00""#, r#""\ufffd\\ude00""#),
        ] {
            assert_eq!(mended(cut).as_deref(), Some(whole));
        }
    }

    #[test]
    fn a_half_pair_is_read_and_another_fault_is_told() {
        let said = |json| read::<Vec<String>>(json).map_err(|error| error.to_string());
        assert_eq!(said(r#"["a\ud83d","\\ud83d"]"#), Ok(vec!["a\u{fffd}".to_owned(), r"\ud83d".to_owned()]));
        assert_eq!(
            said(r#"["a",7]"#).unwrap_err(),
            "invalid type: integer `7`, expected a string at line 1 column 6"
        );
        assert!(said(r#"["\ud83d",7]"#).unwrap_err().starts_with("invalid type: integer `7`"));
    }

    #[test]
    fn encoding_quotes_and_escapes() {
        assert_eq!(encode("a\"b\n"), r#""a\"b\n""#);
    }
}
