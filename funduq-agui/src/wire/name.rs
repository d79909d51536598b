//! Names that are looked up in every event, compared a word at a time.

/// A name of the protocol: a member's, or a union tag's.
#[derive(Debug)]
pub(crate) struct Name(Spelling<'static>);

/// A text prepared for comparing with names: its first and last eight bytes settle
/// all but the longest without a call to compare memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spelling<'a> {
    text: &'a str,
    head: u64,
    tail: u64,
}

impl Name {
    pub(crate) const fn new(text: &'static str) -> Self {
        Self(Spelling::of(text))
    }

    pub(crate) const fn as_str(&self) -> &'static str {
        self.0.text
    }

    #[inline(always)]
    pub(crate) fn is(&self, other: &Spelling<'_>) -> bool {
        self.0.head == other.head
            && self.0.tail == other.tail
            && self.0.text.len() == other.text.len()
            && (other.text.len() <= 16 || self.0.middle_is(other))
    }
}

impl<'a> Spelling<'a> {
    /// Whether two texts of one length, longer than 16 bytes, are the same between their ends.
    #[inline(always)]
    fn middle_is(&self, other: &Spelling<'_>) -> bool {
        let (own, other) = (self.text.as_bytes(), other.text.as_bytes());
        own[8..].first_chunk::<8>() == other[8..].first_chunk::<8>() && (own.len() <= 24 || own == other)
    }

    #[inline(always)]
    pub(crate) const fn of(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let (head, tail) = match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
            (Some(head), Some(tail)) => (u64::from_le_bytes(*head), u64::from_le_bytes(*tail)),
            _ => (short(bytes), 0),
        };
        Self { text, head, tail }
    }
}

/// Fewer than eight bytes, as one word.
#[inline(always)]
const fn short(bytes: &[u8]) -> u64 {
    let mut word = 0;
    let mut at = 0;
    while at < bytes.len() {
        word = word << 8 | bytes[at] as u64;
        at += 1;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_itself_and_nothing_else() {
        let names = ["", "a", "id", "op", "role", "type", "parentRunId", "parentMessageId", "toolCalls"];
        let names = names.into_iter().chain(["toolCallId", "toolCallX", "messageId", "messages", "messageI"]);
        // Of one head and tail, but not of one length.
        let names = names.chain(["abababab", "ababababab", "aaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaa", "\0a"]);
        let names = names.chain(["cacheWriteInputTokens", "cacheWriteXnputTokens", "parentSubagentRunId"]);
        let names: Vec<&str> = names.collect();
        for name in &names {
            for other in &names {
                assert_eq!(Name::new(name).is(&Spelling::of(other)), name == other, "{name} {other}");
            }
        }
    }
}
