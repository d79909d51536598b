//! Text inside JSON strings: between the escaped bytes and what they say.

use std::borrow::Cow;

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
    fn encoding_quotes_and_escapes() {
        assert_eq!(encode("a\"b\n"), r#""a\"b\n""#);
    }
}
