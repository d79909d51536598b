//! Reading JSON text in place: one pass, no tree, bounded depth.

mod scan;
mod text;

use std::borrow::Cow;

pub(crate) use scan::{Key, Scanner, Syntax};
pub(crate) use text::{decode, encode, is_lossless, mended, read};

/// The most levels of objects and arrays that may be open inside one another,
/// the outermost counted. One more is refused, in events and in run inputs.
pub const MAX_DEPTH: usize = 128;

/// The members of an object that has been checked, as undecoded key and value
/// texts in the order they came; none for a text that is not an object.
#[derive(Debug, Default)]
pub(crate) struct Members<'a> {
    /// Most objects have no more than fit here, and then nothing is allocated.
    first: [(&'a str, &'a str); 8],
    count: usize,
    rest: Vec<(&'a str, &'a str)>,
    /// Whether a key has an escape.
    escaped: bool,
}

impl<'a> Members<'a> {
    pub(crate) fn of(object: &'a str) -> Self {
        let mut scan = Scanner::new(object);
        let mut members = Self::default();
        scan.space();
        if scan.peek() == Some(b'{') {
            let mut more = scan.open(b'}');
            while let Ok(true) = more {
                let (Ok(key), Ok(value)) = (scan.key(), scan.value(0)) else { break };
                members.escaped |= key.escaped;
                members.push((key.text, value));
                more = scan.next(b'}');
            }
        }
        members
    }

    fn push(&mut self, member: (&'a str, &'a str)) {
        match self.first.get_mut(self.count) {
            Some(place) => {
                *place = member;
                self.count += 1;
            }
            None => self.rest.push(member),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.first[..self.count].iter().chain(&self.rest).copied()
    }

    /// The last member of that name: a repeated name means its last value, as in a
    /// stock JSON reader.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let is_named =
            |member: &&(&'a str, &'a str)| member.0 == name || (self.escaped && decode(member.0) == name);
        let last =
            self.rest.iter().rfind(is_named).or_else(|| self.first[..self.count].iter().rfind(is_named));
        last.map(|(_, value)| *value)
    }

    /// The inside of the string member of that name, still escaped.
    pub(crate) fn body(&self, name: &str) -> Option<&'a str> {
        self.get(name).and_then(body)
    }

    /// What the string member of that name says.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.body(name).map(decode)
    }
}

/// The items of an array that has been checked, as texts; nothing for a text
/// that is not an array.
pub(crate) fn items(array: &str) -> Vec<&str> {
    let mut scan = Scanner::new(array);
    let mut items = Vec::new();
    scan.space();
    if scan.peek() != Some(b'[') {
        return items;
    }
    let mut more = scan.open(b']');
    while let Ok(true) = more {
        let Ok(item) = scan.value(0) else { break };
        items.push(item);
        more = scan.next(b']');
    }
    items
}

/// The text inside a JSON string that has been checked, still escaped;
/// `None` when the value is no string.
#[inline]
pub(crate) fn body(string: &str) -> Option<&str> {
    match string.as_bytes() {
        [b'"', .., b'"'] => Some(&string[1..string.len() - 1]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_in_order_and_the_last_of_a_name_counts() {
        let object = Members::of(r#" { "a" : 1 , "b\u0063" : [ {} ] , "a" : "\u0041" } "#);
        let members: Vec<_> = object.iter().collect();
        assert_eq!(members, [("a", "1"), ("b\\u0063", "[ {} ]"), ("a", "\"\\u0041\"")]);
        assert_eq!(object.get("a"), Some("\"\\u0041\""));
        assert_eq!(object.body("a"), Some("\\u0041"));
        assert_eq!(object.text("a").unwrap(), "A");
        assert_eq!(object.get("bc"), Some("[ {} ]"));
        assert_eq!(object.text("bc"), None);
        assert_eq!(object.get("d"), None);
        assert_eq!(Members::of("[1]").iter().count(), 0);
        let many: Vec<String> = (0..20).map(|at| format!("\"k{at}\":{at}")).collect();
        let many = format!("{{{}}}", many.join(","));
        let many = Members::of(&many);
        assert_eq!(many.iter().count(), 20);
        assert!((0..20).all(|at| many.get(&format!("k{at}")) == Some(&*at.to_string())));
    }

    #[test]
    fn items_come_in_order() {
        assert_eq!(items(" [1, \"a\" ,[ ]] "), ["1", "\"a\"", "[ ]"]);
        assert_eq!(items("[]"), [""; 0]);
        assert_eq!(items("{}"), [""; 0]);
    }
}
