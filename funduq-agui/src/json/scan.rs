//! The scanner: walks JSON text by its grammar (RFC 8259) and hands out slices of it.
//!
//! Every event of every run passes through here, most of them a hundred bytes. The steps
//! taken for each key and string are therefore inlined by command: left to itself the
//! compiler calls them, which costs a quarter of the whole.

use super::{MAX_DEPTH, decode};
use crate::wire::{Name, Spelling};

/// A place in a JSON text. Callers walk containers with [`Scanner::open`],
/// [`Scanner::key`] and [`Scanner::next`], and values with [`Scanner::value`].
#[derive(Clone)]
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

/// A member's key.
#[derive(Clone, Copy, Default)]
pub(crate) struct Key<'a> {
    /// Without its quotes, still escaped.
    pub(crate) text: &'a str,
    /// Whether it has an escape.
    pub(crate) escaped: bool,
}

impl Key<'_> {
    /// Whether it spells this name.
    #[inline(always)]
    pub(crate) fn is(&self, name: &Name) -> bool {
        name.is(&Spelling::of(self.text)) || (self.escaped && decode(self.text) == name.as_str())
    }
}

/// A breach of the JSON grammar, or of the depth limit. Where it is, the scanner that
/// met it says: an error this small is cheap to pass through every step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// The text ended inside a value.
    End,
    /// A byte that cannot stand there.
    Unexpected,
    /// A backslash followed by no escape.
    Escape,
    /// A raw control character inside a string.
    Control,
    /// More than [`MAX_DEPTH`] containers inside one another.
    Depth,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The next byte, not consumed.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Steps over white space.
    #[inline]
    pub(crate) fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Steps into the object or array that starts here and ends with `close`;
    /// says whether it has anything in it.
    #[inline]
    pub(crate) fn open(&mut self, close: u8) -> Result<bool, Syntax> {
        self.at += 1;
        self.space();
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(_) => Ok(true),
            None => Err(Syntax::End),
        }
    }

    /// After an item or member: steps over the comma to the next (`true`), or
    /// over the closing byte (`false`).
    #[inline]
    pub(crate) fn next(&mut self, close: u8) -> Result<bool, Syntax> {
        self.space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                self.space();
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// Steps over a member's key and colon; gives the key.
    #[inline(always)]
    pub(crate) fn key(&mut self) -> Result<Key<'a>, Syntax> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected());
        }
        let start = self.at + 1;
        let escaped = self.string()?;
        let key = Key { text: &self.text[start..self.at - 1], escaped };
        self.space();
        if self.peek() != Some(b':') {
            return Err(self.unexpected());
        }
        self.at += 1;
        self.space();
        Ok(key)
    }

    /// Steps over a whole value that stands inside `depth` open containers; gives its text.
    #[inline(always)]
    pub(crate) fn value(&mut self, depth: usize) -> Result<&'a str, Syntax> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => {
                self.string()?;
            }
            Some(b'{' | b'[') => self.container(depth)?,
            _ => self.scalar()?,
        }
        Ok(&self.text[start..self.at])
    }

    /// Refuses anything but white space up to the end of the text.
    pub(crate) fn end(&mut self) -> Result<(), Syntax> {
        self.space();
        if self.peek().is_some() { Err(Syntax::Unexpected) } else { Ok(()) }
    }

    /// How far it came, in bytes. After an error, where that is.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    #[cold]
    fn unexpected(&self) -> Syntax {
        if self.peek().is_none() { Syntax::End } else { Syntax::Unexpected }
    }

    /// Steps over an object or array with all that is in it. No recursion: one bit
    /// per open level says whether it is an object, which is why the depth limit
    /// is no more than the bits of a `u128`.
    fn container(&mut self, depth: usize) -> Result<(), Syntax> {
        let mut objects: u128 = 0;
        let mut levels = 0;
        loop {
            match self.peek() {
                Some(open @ (b'{' | b'[')) => {
                    if depth + levels >= MAX_DEPTH {
                        return Err(Syntax::Depth);
                    }
                    let is_object = open == b'{';
                    if self.open(if is_object { b'}' } else { b']' })? {
                        objects = objects << 1 | u128::from(is_object);
                        levels += 1;
                        if is_object {
                            self.key()?;
                        }
                        continue;
                    }
                }
                Some(b'"') => {
                    self.string()?;
                }
                _ => self.scalar()?,
            }
            // A value is complete: close what ends here, up to the next value.
            loop {
                if levels == 0 {
                    return Ok(());
                }
                let in_object = objects & 1 == 1;
                if self.next(if in_object { b'}' } else { b']' })? {
                    if in_object {
                        self.key()?;
                    }
                    break;
                }
                objects >>= 1;
                levels -= 1;
            }
        }
    }

    /// Steps over the string that starts here; says whether it has an escape.
    #[inline(always)]
    pub(crate) fn string(&mut self) -> Result<bool, Syntax> {
        self.at += 1;
        let mut escaped = false;
        loop {
            self.plain();
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return Err(Syntax::Control),
                None => return Err(Syntax::End),
            }
        }
    }

    /// Steps over text up to a quote, a backslash or a control character.
    #[inline(always)]
    fn plain(&mut self) {
        // Most texts are short; a long one is worth the wider steps.
        if !self.words(6) {
            self.long_plain();
        }
    }

    #[inline(never)]
    fn long_plain(&mut self) {
        let (blocks, _) = self.text.as_bytes()[self.at..].as_chunks::<64>();
        for block in blocks {
            // No way out of a block, so that it compiles to a few vector instructions.
            if block.iter().fold(false, |stop, byte| stop | is_stop(*byte)) {
                break;
            }
            self.at += 64;
        }
        if !self.words(usize::MAX) {
            let rest = &self.text.as_bytes()[self.at..];
            self.at += rest.iter().position(|byte| is_stop(*byte)).unwrap_or(rest.len());
        }
    }

    /// Steps over plain text by words of eight bytes, so many at most; says whether it
    /// came to the end of it.
    #[inline(always)]
    fn words(&mut self, limit: usize) -> bool {
        let (words, _) = self.text.as_bytes()[self.at..].as_chunks::<8>();
        let words = &words[..words.len().min(limit)];
        for (index, word) in words.iter().enumerate() {
            let stops = stops(u64::from_le_bytes(*word));
            if stops != 0 {
                self.at += 8 * index + (stops.trailing_zeros() / 8) as usize;
                return true;
            }
        }
        self.at += 8 * words.len();
        false
    }

    #[inline(never)]
    fn escape(&mut self) -> Result<(), Syntax> {
        let bytes = self.text.as_bytes();
        match bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => match bytes.get(self.at + 2..self.at + 6) {
                Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => self.at += 6,
                Some(_) => return Err(Syntax::Escape),
                None => return Err(Syntax::End),
            },
            Some(_) => return Err(Syntax::Escape),
            None => return Err(Syntax::End),
        }
        Ok(())
    }

    /// Steps over a number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Result<(), Syntax> {
        match self.peek() {
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.unexpected()),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Syntax> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                return Err(self.unexpected());
            }
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Syntax> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// Steps over one or more digits.
    fn digits(&mut self) -> Result<(), Syntax> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.unexpected()) } else { Ok(()) }
    }
}

/// Whether a byte ends a run of plain text inside a string.
#[inline(always)]
fn is_stop(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// Marks, by its high bit, the first byte of eight that is a quote, a backslash or a
/// control character; 0 when none is. Bytes above that one may be marked wrongly.
#[inline]
fn stops(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 0xFF;
    const HIGH: u64 = ONES << 7;
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (zero(quote) | zero(backslash) | control) & HIGH
}

#[cfg(test)]
mod tests {
    use serde::de::IgnoredAny;

    use super::*;

    fn whole(text: &str) -> Result<(), Syntax> {
        let mut scan = Scanner::new(text);
        scan.space();
        scan.value(0)?;
        scan.end()
    }

    #[test]
    fn a_string_ends_where_it_ends_however_long_it_is() {
        for length in 0..300 {
            for filler in ["x", "é", "\u{7f}", "\u{ffff}"] {
                let text = format!("\"{}\"", filler.repeat(length));
                let mut scan = Scanner::new(&text);
                assert_eq!(scan.value(0), Ok(&*text));
                assert_eq!((scan.at(), scan.end()), (text.len(), Ok(())));
                assert_eq!(whole(&text[..text.len() - 1]), Err(Syntax::End));
            }
            let text = |stop: &str| format!("\"{}{stop}{}\"", "x".repeat(length), "y".repeat(300 - length));
            for (stop, said) in [
                ("\\\"", Ok(())),
                ("\\u00e9", Ok(())),
                ("\"", Err(Syntax::Unexpected)),
                ("\u{1f}", Err(Syntax::Control)),
                ("\0", Err(Syntax::Control)),
                ("\\y", Err(Syntax::Escape)),
                ("\\u00zz", Err(Syntax::Escape)),
            ] {
                assert_eq!(whole(&text(stop)), said, "{stop:?} at {length}");
            }
        }
    }

    #[test]
    fn json_is_what_serde_json_says_it_is() {
        for text in [
            "0",
            "-0",
            "10",
            "1.5",
            "1e5",
            "1E+05",
            "-1.0e-1",
            "true",
            "false",
            "null",
            "[]",
            "{}",
            "[[],{}]",
            " [ 1 , 2 ] ",
            "{\"a\":{\"b\":[1,{\"c\":null}]},\"d\":\"\"}",
            "\"\\ud83d\"",
            "1e999",
            "\t\r\n0", //
            "",
            " ",
            "-",
            "01",
            "1.",
            ".5",
            "1e",
            "1e+",
            "+1",
            "NaN",
            "Infinity",
            "tru",
            "nulll",
            "True",
            "[",
            "]",
            "[1",
            "[1,",
            "[1,]",
            "[,]",
            "[1 2]",
            "{",
            "}",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":1,",
            "{\"a\":1,}",
            "{,}",
            "{a:1}",
            "{1:1}",
            "{\"a\" 1}",
            "{\"a\":1]",
            "[1}",
            "{]",
            "[}",
            "1 1",
            "\u{a0}1",
            "\u{feff}1",
            "'a'",
            "\"a",
            "\"\\",
            "\"\\u12\"",
            "//",
        ] {
            let expected = serde_json::from_str::<IgnoredAny>(text).is_ok();
            assert_eq!(whole(text).is_ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn depth_is_counted_from_where_the_value_stands() {
        let nested = |levels: usize| format!("{}0{}", "[{\"a\":".repeat(levels / 2), "}]".repeat(levels / 2));
        assert_eq!(whole(&nested(MAX_DEPTH)), Ok(()));
        assert_eq!(whole(&nested(MAX_DEPTH + 2)), Err(Syntax::Depth));
        let text = nested(MAX_DEPTH);
        assert!(Scanner::new(&text).value(1).is_err());
        assert!(Scanner::new("[]").value(MAX_DEPTH - 1).is_ok());
        assert_eq!(Scanner::new("[]").value(MAX_DEPTH), Err(Syntax::Depth));
    }

    #[test]
    fn a_fault_is_where_the_scanner_stopped() {
        let mut scan = Scanner::new(r#"{"a": [1, x]}"#);
        assert_eq!(scan.value(0), Err(Syntax::Unexpected));
        assert_eq!(scan.at(), 10);
    }
}
