//! JSON Pointers (RFC 6901): their tokens, and what they name in a document.

use serde_json::Value;

use super::apply::PatchProblem;

/// A JSON Pointer, as its tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pointer(Vec<String>);

impl Pointer {
    pub(super) fn parse(text: &str) -> Result<Self, PatchProblem> {
        if text.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let tokens = text.strip_prefix('/').ok_or(PatchProblem::NotAPointer)?.split('/');
        tokens.map(unescape).collect::<Option<_>>().map(Self).ok_or(PatchProblem::NotAPointer)
    }

    /// How many tokens it has.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// How long its last token is.
    pub(super) fn last_len(&self) -> usize {
        self.0.last().map_or(0, String::len)
    }

    /// The container that holds what it names, and the token within that; `None`
    /// for the whole document.
    pub(super) fn split(&self) -> Option<(Place<'_>, &str)> {
        let (last, parent) = self.0.split_last()?;
        Some((Place(parent), last))
    }

    /// Whether `other` names something inside what this one names.
    pub(super) fn holds(&self, other: &Self) -> bool {
        self.len() < other.len() && other.0.starts_with(&self.0)
    }

    pub(super) fn find<'a>(&self, root: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(root, |value, token| match value {
            Value::Object(members) => members.get(token),
            Value::Array(items) => items.get(Self::index(token, items.len())?),
            _ => None,
        })
    }

    pub(super) fn find_mut<'a>(&self, root: &'a mut Value) -> Option<&'a mut Value> {
        Place(&self.0).find_mut(root)
    }

    /// The array index that a token names; `-` is the one after the last.
    pub(super) fn index(token: &str, len: usize) -> Option<usize> {
        match token {
            "-" => Some(len),
            "0" => Some(0),
            _ if token.starts_with(|first: char| matches!(first, '1'..='9')) => {
                token.bytes().all(|byte| byte.is_ascii_digit()).then(|| token.parse().ok())?
            }
            _ => None,
        }
    }
}

/// The first tokens of a pointer.
pub(super) struct Place<'a>(&'a [String]);

impl Place<'_> {
    pub(super) fn find_mut<'a>(&self, root: &'a mut Value) -> Option<&'a mut Value> {
        self.0.iter().try_fold(root, |value, token| match value {
            Value::Object(members) => members.get_mut(token),
            Value::Array(items) => {
                let index = Pointer::index(token, items.len())?;
                items.get_mut(index)
            }
            _ => None,
        })
    }

    /// The pointer to an item of the array here.
    pub(super) fn child(&self, index: usize) -> Pointer {
        let mut tokens = self.0.to_vec();
        tokens.push(index.to_string());
        Pointer(tokens)
    }
}

/// A token with `~1` read as `/` and `~0` as `~`.
fn unescape(token: &str) -> Option<String> {
    let mut parts = token.split('~');
    let mut out = parts.next()?.to_owned();
    for part in parts {
        let (character, rest) = match part.as_bytes().first() {
            Some(b'0') => ('~', &part[1..]),
            Some(b'1') => ('/', &part[1..]),
            _ => return None,
        };
        out.push(character);
        out.push_str(rest);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_unescaped() {
        let tokens = |text| Pointer::parse(text).map(|pointer| pointer.0);
        assert_eq!(tokens(""), Ok(vec![]));
        assert_eq!(tokens("/"), Ok(vec![String::new()]));
        assert_eq!(tokens("/a~1b/~01"), Ok(vec!["a/b".into(), "~1".into()]));
        assert_eq!(tokens("a"), Err(PatchProblem::NotAPointer));
        assert_eq!(tokens("/~2"), Err(PatchProblem::NotAPointer));
        assert_eq!(tokens("/~"), Err(PatchProblem::NotAPointer));
    }

    #[test]
    fn an_index_has_no_leading_zero_and_no_sign() {
        assert_eq!(Pointer::index("0", 3), Some(0));
        assert_eq!(Pointer::index("10", 3), Some(10));
        assert_eq!(Pointer::index("-", 3), Some(3));
        for token in ["01", "+1", "-1", "", "1a", "1.0", "99999999999999999999999"] {
            assert_eq!(Pointer::index(token, 3), None, "{token}");
        }
    }
}
