//! What can be wrong with JSON that came from outside, and where.

use std::borrow::Cow;
use std::fmt;

use crate::json::{MAX_DEPTH, Syntax};

/// What is wrong with a value. Says nothing of the value itself, which may be private.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// More bytes than are taken; the limit.
    TooLarge {
        /// The most bytes that are taken.
        limit: usize,
    },
    /// More than [`crate::MAX_DEPTH`] objects and arrays inside one another.
    TooDeep,
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// Text that is not JSON, from this byte of it on.
    NotJson {
        /// The byte offset.
        at: usize,
        /// What is wrong there.
        reason: &'static str,
    },
    /// A required member that is not there.
    Missing,
    /// A declared member that is there more than once, so that two readers could read two values.
    Repeated,
    /// A value of another type than the protocol says.
    WrongType {
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A string outside the set that the protocol gives.
    NotOneOf(&'static [&'static str]),
    /// A string that is no JSON Pointer (RFC 6901).
    NotAPointer,
    /// A number with a fraction, or beyond the bounds that the protocol gives.
    NotAnInteger {
        /// The smallest that is taken.
        min: i64,
        /// The largest that is taken.
        max: i64,
    },
    /// An array with fewer items than the protocol asks for.
    TooFew {
        /// How many there must be.
        min: usize,
    },
    /// A string with half a surrogate pair where text is needed.
    NotUnicode,
}

impl Problem {
    pub(crate) fn wrong_type(expected: &'static str, found: &str) -> Self {
        Self::WrongType { expected, found: type_name(found) }
    }
}

impl Problem {
    /// A breach of the grammar at this byte.
    pub(crate) fn of_syntax(syntax: Syntax, at: usize) -> Self {
        let reason = match syntax {
            Syntax::Depth => return Self::TooDeep,
            Syntax::End => "it ends inside a value",
            Syntax::Unexpected => "an unexpected character",
            Syntax::Escape => "a backslash that starts no escape",
            Syntax::Control => "a control character that is not escaped",
        };
        Self::NotJson { at, reason }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { limit } => write!(f, "is larger than {limit} bytes"),
            Self::TooDeep => {
                write!(f, "has more than {MAX_DEPTH} objects and arrays inside one another")
            }
            Self::NotUtf8 => f.write_str("is not UTF-8"),
            Self::NotJson { at, reason } => write!(f, "is not JSON: {reason} at byte {at}"),
            Self::Missing => f.write_str("is required"),
            Self::Repeated => f.write_str("is there more than once"),
            Self::WrongType { expected, found } => write!(f, "must be {expected}, but is {found}"),
            Self::NotOneOf([only]) => write!(f, "must be \"{only}\""),
            Self::NotOneOf(names) => {
                f.write_str("must be one of ")?;
                for (i, name) in names.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(f, "{comma}\"{name}\"")?;
                }
                Ok(())
            }
            Self::NotAPointer => f.write_str("must be a JSON Pointer, such as \"/a/0\""),
            Self::NotAnInteger { min, max } => write!(f, "must be an integer from {min} to {max}"),
            Self::TooFew { min } => write!(f, "must have {min} or more items"),
            Self::NotUnicode => f.write_str("has half a surrogate pair"),
        }
    }
}

/// A problem on its way out: the path is collected from the inside to the outside.
#[derive(Debug)]
pub(crate) struct Flaw {
    segments: Vec<Segment>,
    pub(crate) problem: Problem,
}

#[derive(Debug)]
enum Segment {
    Member(&'static str),
    Item(usize),
}

impl Flaw {
    #[cold]
    pub(crate) fn new(problem: Problem) -> Box<Self> {
        Box::new(Self { segments: Vec::new(), problem })
    }

    /// The same, seen from the object that has it in this member.
    #[cold]
    pub(crate) fn in_member(mut self: Box<Self>, name: &'static str) -> Box<Self> {
        self.segments.push(Segment::Member(name));
        self
    }

    /// The same, seen from the array that has it in this item.
    #[cold]
    pub(crate) fn in_item(mut self: Box<Self>, index: usize) -> Box<Self> {
        self.segments.push(Segment::Item(index));
        self
    }

    /// The same, with the byte that a breach of the grammar is at.
    pub(crate) fn at(mut self: Box<Self>, place: usize) -> Box<Self> {
        if let Problem::NotJson { at, .. } = &mut self.problem {
            *at = place;
        }
        self
    }

    /// Where it is, as in `messages[2].content`; empty for the value itself.
    pub(crate) fn path(&self) -> String {
        let mut path = String::new();
        if let Problem::NotJson { .. } | Problem::TooDeep = self.problem {
            // They are of the whole text.
            return path;
        }
        for segment in self.segments.iter().rev() {
            match segment {
                Segment::Item(index) => path.push_str(&format!("[{index}]")),
                Segment::Member(name) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(name);
                }
            }
        }
        path
    }
}

impl From<Syntax> for Box<Flaw> {
    /// Where it is, [`Flaw::at`] adds: the scanner knows it.
    #[cold]
    fn from(syntax: Syntax) -> Self {
        Flaw::new(Problem::of_syntax(syntax, 0))
    }
}

/// A path as a sentence's subject.
pub(crate) fn place(path: &str) -> Cow<'_, str> {
    if path.is_empty() { "it".into() } else { format!("`{path}`").into() }
}

/// What a JSON value is, told by how its text starts.
fn type_name(text: &str) -> &'static str {
    match text.as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_from_the_outside_in() {
        let flaw = Flaw::new(Problem::Missing).in_member("content").in_item(2).in_member("messages");
        assert_eq!(flaw.path(), "messages[2].content");
        assert_eq!(Flaw::new(Problem::Missing).path(), "");
    }

    #[test]
    fn a_problem_says_what_should_be() {
        let say = |problem: Problem| problem.to_string();
        assert_eq!(say(Problem::wrong_type("a string", "12")), "must be a string, but is a number");
        assert_eq!(say(Problem::NotOneOf(&["tool"])), "must be \"tool\"");
        assert_eq!(say(Problem::NotOneOf(&["a", "b"])), "must be one of \"a\", \"b\"");
        assert_eq!(say(Problem::of_syntax(Syntax::End, 3)), "is not JSON: it ends inside a value at byte 3");
        assert_eq!(
            say(Problem::of_syntax(Syntax::Depth, 3)),
            "has more than 128 objects and arrays inside one another"
        );
    }
}
