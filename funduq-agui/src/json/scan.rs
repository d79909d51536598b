//! The scanner: walks JSON text by its grammar (RFC 8259) and hands out slices of it.

use super::MAX_DEPTH;

/// A place in a JSON text. Callers walk containers with [`Scanner::open`],
/// [`Scanner::key`] and [`Scanner::next`], and values with [`Scanner::value`].
#[derive(Clone)]
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

/// Where a text stops being JSON, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The byte offset in the scanned text.
    pub(crate) at: usize,
    /// What was wrong there.
    pub(crate) syntax: Syntax,
}

/// A breach of the JSON grammar, or of the depth limit.
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
    pub(crate) fn open(&mut self, close: u8) -> Result<bool, Fault> {
        self.at += 1;
        self.space();
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(_) => Ok(true),
            None => Err(self.fault(Syntax::End)),
        }
    }

    /// After an item or member: steps over the comma to the next (`true`), or
    /// over the closing byte (`false`).
    #[inline]
    pub(crate) fn next(&mut self, close: u8) -> Result<bool, Fault> {
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

    /// Steps over a member's key and colon; gives the key without its quotes, still escaped.
    #[inline]
    pub(crate) fn key(&mut self) -> Result<&'a str, Fault> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected());
        }
        let start = self.at + 1;
        self.string()?;
        let key = &self.text[start..self.at - 1];
        self.space();
        if self.peek() != Some(b':') {
            return Err(self.unexpected());
        }
        self.at += 1;
        self.space();
        Ok(key)
    }

    /// Steps over a whole value that stands inside `depth` open containers; gives its text.
    #[inline]
    pub(crate) fn value(&mut self, depth: usize) -> Result<&'a str, Fault> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => self.string()?,
            Some(b'{' | b'[') => self.container(depth)?,
            _ => self.scalar()?,
        }
        Ok(&self.text[start..self.at])
    }

    /// Refuses anything but white space up to the end of the text.
    pub(crate) fn end(&mut self) -> Result<(), Fault> {
        self.space();
        if self.peek().is_some() { Err(self.fault(Syntax::Unexpected)) } else { Ok(()) }
    }

    /// A fault at this place.
    #[cold]
    pub(crate) fn fault(&self, syntax: Syntax) -> Fault {
        Fault { at: self.at, syntax }
    }

    #[cold]
    fn unexpected(&self) -> Fault {
        self.fault(if self.peek().is_none() { Syntax::End } else { Syntax::Unexpected })
    }

    /// Steps over an object or array with all that is in it. No recursion: one bit
    /// per open level says whether it is an object, which is why the depth limit
    /// is no more than the bits of a `u128`.
    fn container(&mut self, depth: usize) -> Result<(), Fault> {
        let mut objects: u128 = 0;
        let mut levels = 0;
        loop {
            match self.peek() {
                Some(open @ (b'{' | b'[')) => {
                    if depth + levels >= MAX_DEPTH {
                        return Err(self.fault(Syntax::Depth));
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
                Some(b'"') => self.string()?,
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

    /// Steps over the string that starts here.
    #[inline]
    fn string(&mut self) -> Result<(), Fault> {
        self.at += 1;
        loop {
            self.plain();
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(self.fault(Syntax::Control)),
                None => return Err(self.fault(Syntax::End)),
            }
        }
    }

    /// Steps over text up to a quote, a backslash or a control character.
    #[inline]
    fn plain(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(block) = bytes.get(self.at..self.at + 16) {
            // No early exit inside a block, so that it compiles to a few vector instructions.
            if block.iter().fold(false, |stop, &byte| stop | stops(byte)) {
                break;
            }
            self.at += 16;
        }
        while bytes.get(self.at).is_some_and(|&byte| !stops(byte)) {
            self.at += 1;
        }
    }

    #[cold]
    fn escape(&mut self) -> Result<(), Fault> {
        let bytes = self.text.as_bytes();
        match bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => match bytes.get(self.at + 2..self.at + 6) {
                Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => self.at += 6,
                Some(_) => return Err(self.fault(Syntax::Escape)),
                None => return Err(self.fault(Syntax::End)),
            },
            Some(_) => return Err(self.fault(Syntax::Escape)),
            None => return Err(self.fault(Syntax::End)),
        }
        Ok(())
    }

    /// Steps over a number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.unexpected()),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Fault> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                return Err(self.unexpected());
            }
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
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
    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.unexpected()) } else { Ok(()) }
    }
}

/// Whether a byte ends a run of plain text inside a string.
#[inline]
fn stops(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}
