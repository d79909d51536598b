//! The tolerant reading: checks JSON text against the tables of the wire types.
//!
//! A declared member must be what AG-UI 1.0 says; members and members of open
//! unions that 1.0 does not declare are stepped over. A declared member that
//! comes twice is refused: the next reader might take the other value.

mod leaf;
mod problem;

pub use problem::Problem;
pub(crate) use problem::{Flaw, place};

use crate::json::{self, Key, Scanner};
use crate::wire::{Field, Kind, Name, Shape, Union};

type Checked<T = ()> = Result<T, Box<Flaw>>;

/// What the tag of an object of an open union says.
pub(crate) enum Tag<'a> {
    /// The place in [`Union::members`].
    Known(usize),
    /// Another value, as it came.
    Unknown(&'a str),
    /// There is none.
    Absent,
}

/// Checks a whole text against a kind.
pub(crate) fn text(kind: &'static Kind, text: &str) -> Checked {
    let mut checker = Checker::new(text);
    let checked = checker.value(kind, 0);
    checker.whole(checked)
}

/// Checks a whole text as an object of an open union, and says which it is.
#[inline]
pub(crate) fn tagged<'a>(union: &'static Union, text: &'a str) -> Checked<Tag<'a>> {
    let mut checker = Checker::new(text);
    let checked = checker.tagged(union, 0);
    let unknown = checker.unknown_tag;
    Ok(match (checker.whole(checked)?, unknown) {
        (Some(member), _) => Tag::Known(member),
        (None, Some(tag)) => Tag::Unknown(tag),
        (None, None) => Tag::Absent,
    })
}

/// Checks that a text is one JSON value, and gives it without the white space around it.
pub(crate) fn any(text: &str) -> Checked<&str> {
    let mut checker = Checker::new(text);
    let checked = checker.scan.value(0).map_err(Into::into);
    checker.whole(checked)
}

struct Checker<'a> {
    scan: Scanner<'a>,
    /// The last tag that no union knew.
    unknown_tag: Option<&'a str>,
}

impl<'a> Checker<'a> {
    fn new(text: &'a str) -> Self {
        let mut scan = Scanner::new(text);
        scan.space();
        Self { scan, unknown_tag: None }
    }

    /// Ends a check: nothing may follow, and a breach of the grammar is where the scanner is.
    fn whole<T>(mut self, checked: Checked<T>) -> Checked<T> {
        let checked = checked.and_then(|checked| Ok(self.scan.end().map(|()| checked)?));
        checked.map_err(|flaw| flaw.at(self.scan.at()))
    }

    /// Checks the value that stands here, inside `depth` open containers.
    fn value(&mut self, kind: &'static Kind, depth: usize) -> Checked {
        match kind {
            // By far the most common.
            Kind::Text if self.scan.peek() == Some(b'"') => {
                self.scan.string()?;
                Ok(())
            }
            Kind::Object(shape) => self.object(shape, depth),
            Kind::Union(union) => self.tagged(union, depth).map(drop),
            Kind::List { items, min } => self.list(items, *min, depth),
            Kind::TextOrList(items) if self.scan.peek() == Some(b'[') => self.list(items, 0, depth),
            _ => {
                let value = self.scan.value(depth)?;
                leaf::check(kind, value)
            }
        }
    }

    fn object(&mut self, shape: &'static Shape, depth: usize) -> Checked {
        let mut members = Seen::of(shape);
        let mut more = self.enter(b'{', b'}', "an object", depth)?;
        while more {
            let key = self.scan.key()?;
            self.member(&mut members, key, depth)?;
            more = self.scan.next(b'}')?;
        }
        members.complete()
    }

    /// Checks an object whose shape hangs on its tag; gives the member's place. Members
    /// before the tag are stepped over and checked when the shape is known: most need
    /// one look then.
    fn tagged(&mut self, union: &'static Union, depth: usize) -> Checked<Option<usize>> {
        let mut early: Option<Early<'_>> = None;
        let mut more = self.enter(b'{', b'}', "an object", depth)?;
        while more {
            let key = self.scan.key()?;
            let value = self.scan.value(depth + 1)?;
            if !key.is(&union.tag) {
                early.get_or_insert_default().push(key, value);
                more = self.scan.next(b'}')?;
                continue;
            }
            let member = json::body(value).and_then(|tag| union.find(tag));
            match member {
                Some(member) => self.rest(union.members[member].1, early.as_ref(), depth)?,
                None => {
                    self.unknown_tag = Some(value);
                    self.unknown_rest(&union.tag, depth)?;
                }
            }
            return Ok(member);
        }
        self.unknown_tag = None;
        Ok(None)
    }

    /// Checks the members before the tag, then those after it.
    fn rest(&mut self, shape: &'static Shape, early: Option<&Early<'a>>, depth: usize) -> Checked {
        let mut members = Seen::after_tag(shape);
        for (key, value) in early.into_iter().flat_map(Early::iter) {
            if let Some(field) = members.take(key)? {
                let mut checker = Checker::new(value);
                let checked = match field.kind.is_leaf(value) {
                    true => leaf::check(&field.kind, value),
                    false => checker.value(&field.kind, depth + 1),
                };
                checked.map_err(|flaw| flaw.in_member(field.name.as_str()))?;
            }
        }
        while self.scan.next(b'}')? {
            let key = self.scan.key()?;
            self.member(&mut members, key, depth)?;
        }
        members.complete()
    }

    /// Steps over the members after a tag that is not known. Another tag would make
    /// it a known one for the next reader.
    fn unknown_rest(&mut self, tag: &'static Name, depth: usize) -> Checked {
        while self.scan.next(b'}')? {
            let key = self.scan.key()?;
            if key.is(tag) {
                return Err(Flaw::new(Problem::Repeated).in_member(tag.as_str()));
            }
            self.scan.value(depth + 1)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn member(&mut self, members: &mut Seen, key: Key<'_>, depth: usize) -> Checked {
        match members.take(key)? {
            Some(field) => {
                self.value(&field.kind, depth + 1).map_err(|flaw| flaw.in_member(field.name.as_str()))
            }
            None => {
                self.scan.value(depth + 1)?;
                Ok(())
            }
        }
    }

    fn list(&mut self, items: &'static Kind, min: usize, depth: usize) -> Checked {
        let mut more = self.enter(b'[', b']', "an array", depth)?;
        let mut count = 0;
        while more {
            self.value(items, depth + 1).map_err(|flaw| flaw.in_item(count))?;
            count += 1;
            more = self.scan.next(b']')?;
        }
        if count < min { Err(Flaw::new(Problem::TooFew { min })) } else { Ok(()) }
    }

    /// Steps into the container that must stand here. It is within the depth limit, as
    /// declared shapes nest but a few levels; what is in them is measured by the scanner.
    fn enter(&mut self, open: u8, close: u8, expected: &'static str, depth: usize) -> Checked<bool> {
        if self.scan.peek() != Some(open) {
            let value = self.scan.value(depth)?;
            return Err(Flaw::new(Problem::wrong_type(expected, value)));
        }
        Ok(self.scan.open(close)?)
    }
}

impl Union {
    /// The place of the member that has this tag, given still escaped.
    #[inline]
    fn find(&self, tag: &str) -> Option<usize> {
        self.place(tag).or_else(|| if tag.contains('\\') { self.place(&json::decode(tag)) } else { None })
    }
}

impl Kind {
    /// Whether one look at the value, already stepped over, tells all about it.
    fn is_leaf(&self, value: &str) -> bool {
        match self {
            Self::Object(_) | Self::Union(_) | Self::List { .. } => false,
            Self::TextOrList(_) => !value.starts_with('['),
            _ => true,
        }
    }
}

/// Which of a shape's declared members have come, one bit each.
struct Seen {
    shape: &'static Shape,
    seen: u64,
    /// The member after the last that came: most producers keep the declared order.
    next: usize,
}

impl Seen {
    fn of(shape: &'static Shape) -> Self {
        Self { shape, seen: 0, next: 0 }
    }

    /// The same after the tag, which is the first declared member of every shape in a union.
    fn after_tag(shape: &'static Shape) -> Self {
        Self { shape, seen: 1, next: 1 }
    }

    /// Marks the member that `key` names; `None` when the shape does not declare it.
    #[inline(always)]
    fn take(&mut self, key: Key<'_>) -> Checked<Option<&'static Field>> {
        let fields = self.shape.fields;
        let found = match self.shape.place(key.text, self.next) {
            None if key.escaped => self.shape.place(&json::decode(key.text), self.next),
            found => found,
        };
        let Some(index) = found else { return Ok(None) };
        let field = &fields[index];
        if self.seen & 1 << index != 0 {
            return Err(Flaw::new(Problem::Repeated).in_member(field.name.as_str()));
        }
        self.seen |= 1 << index;
        self.next = index + 1;
        Ok(Some(field))
    }

    /// Refuses an object whose required members did not all come.
    fn complete(&self) -> Checked {
        let missing = self.shape.required & !self.seen;
        if missing != 0 {
            let field = &self.shape.fields[missing.trailing_zeros() as usize];
            return Err(Flaw::new(Problem::Missing).in_member(field.name.as_str()));
        }
        Ok(())
    }
}

/// Seen that came before the tag. The first few need no allocation.
#[derive(Default)]
struct Early<'a> {
    few: [(Key<'a>, &'a str); 4],
    count: usize,
    more: Vec<(Key<'a>, &'a str)>,
}

impl<'a> Early<'a> {
    fn push(&mut self, key: Key<'a>, value: &'a str) {
        match self.few.get_mut(self.count) {
            Some(slot) => {
                *slot = (key, value);
                self.count += 1;
            }
            None => self.more.push((key, value)),
        }
    }

    fn iter(&self) -> impl Iterator<Item = (Key<'a>, &'a str)> {
        self.few[..self.count].iter().chain(&self.more).copied()
    }
}
