//! The tolerant reading: checks JSON text against the tables of the wire types.
//!
//! A declared member must be what AG-UI 1.0 says; members and members of open
//! unions that 1.0 does not declare are stepped over. A declared member that
//! comes twice is refused: the next reader might take the other value.

mod leaf;
mod problem;

pub use problem::Problem;
pub(crate) use problem::{Flaw, place};

use crate::json::{self, MAX_DEPTH, Scanner, Syntax};
use crate::wire::{Field, Kind, Shape, Union};

type Checked<T = ()> = Result<T, Box<Flaw>>;

/// What an object of an open union turned out to be.
pub(crate) struct Tagged<'a> {
    /// The place in [`Union::members`]; `None` for a tag that is not there.
    pub(crate) member: Option<usize>,
    /// The tag's value as it came, quotes included; `None` when there is no tag.
    pub(crate) tag: Option<&'a str>,
}

/// Checks a whole text against a kind.
pub(crate) fn text(kind: &'static Kind, text: &str) -> Checked {
    let mut checker = Checker::new(text);
    checker.value(kind, 0)?;
    Ok(checker.scan.end()?)
}

/// Checks a whole text as an object of an open union, and says which it is.
pub(crate) fn tagged<'a>(union: &'static Union, text: &'a str) -> Checked<Tagged<'a>> {
    let mut checker = Checker::new(text);
    let tagged = checker.tagged(union, 0)?;
    checker.scan.end()?;
    Ok(tagged)
}

struct Checker<'a> {
    scan: Scanner<'a>,
}

impl<'a> Checker<'a> {
    fn new(text: &'a str) -> Self {
        let mut scan = Scanner::new(text);
        scan.space();
        Self { scan }
    }

    /// Checks the value that stands here, inside `depth` open containers.
    fn value(&mut self, kind: &'static Kind, depth: usize) -> Checked {
        match kind {
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
        let mut members = Members::of(shape);
        let mut more = self.enter(b'{', b'}', "an object", depth)?;
        while more {
            let key = self.scan.key()?;
            self.member(&mut members, key, depth)?;
            more = self.scan.next(b'}')?;
        }
        members.complete()
    }

    /// Checks an object whose shape hangs on its tag. Members before the tag are
    /// stepped over and checked when the shape is known: most need one look then.
    fn tagged(&mut self, union: &'static Union, depth: usize) -> Checked<Tagged<'a>> {
        let mut early = Early::default();
        let mut more = self.enter(b'{', b'}', "an object", depth)?;
        while more {
            let key = self.scan.key()?;
            let value = self.scan.value(depth + 1)?;
            if json::is_key(key, union.tag) {
                let name = json::body(value).map(json::decode);
                let find = |name: &str| union.members.iter().position(|(tag, _)| *tag == name);
                let member = name.as_deref().and_then(find);
                match member {
                    Some(member) => {
                        let shape = union.members[member].1;
                        self.rest(shape, union.tag, &early, depth)?;
                    }
                    None => self.unknown_rest(union.tag, depth)?,
                }
                return Ok(Tagged { member, tag: Some(value) });
            }
            early.push(key, value);
            more = self.scan.next(b'}')?;
        }
        Ok(Tagged { member: None, tag: None })
    }

    /// Checks the members before the tag, then those after it.
    fn rest(&mut self, shape: &'static Shape, tag: &'static str, early: &Early<'a>, depth: usize) -> Checked {
        let mut members = Members::of(shape);
        members.take(tag)?;
        for (key, value) in early.iter() {
            if let Some(field) = members.take(key)? {
                let mut checker = Checker { scan: Scanner::new(value) };
                let checked = match field.kind.is_leaf(value) {
                    true => leaf::check(&field.kind, value),
                    false => checker.value(&field.kind, depth + 1),
                };
                checked.map_err(|flaw| flaw.in_member(field.name))?;
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
    fn unknown_rest(&mut self, tag: &'static str, depth: usize) -> Checked {
        while self.scan.next(b'}')? {
            let key = self.scan.key()?;
            if json::is_key(key, tag) {
                return Err(Flaw::new(Problem::Repeated).in_member(tag));
            }
            self.scan.value(depth + 1)?;
        }
        Ok(())
    }

    #[inline]
    fn member(&mut self, members: &mut Members, key: &str, depth: usize) -> Checked {
        match members.take(key)? {
            Some(field) => self.value(&field.kind, depth + 1).map_err(|flaw| flaw.in_member(field.name)),
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

    /// Steps into the container that must stand here.
    fn enter(&mut self, open: u8, close: u8, expected: &'static str, depth: usize) -> Checked<bool> {
        if self.scan.peek() != Some(open) {
            let value = self.scan.value(depth)?;
            return Err(Flaw::new(Problem::wrong_type(expected, value)));
        }
        if depth >= MAX_DEPTH {
            return Err(self.scan.fault(Syntax::Depth).into());
        }
        Ok(self.scan.open(close)?)
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
struct Members {
    shape: &'static Shape,
    seen: u64,
}

impl Members {
    fn of(shape: &'static Shape) -> Self {
        Self { shape, seen: 0 }
    }

    /// Marks the member that `key` names; `None` when the shape does not declare it.
    #[inline]
    fn take(&mut self, key: &str) -> Checked<Option<&'static Field>> {
        let fields = self.shape.fields;
        let found = match fields.iter().position(|field| field.name == key) {
            None if key.contains('\\') => fields.iter().position(|field| json::is_key(key, field.name)),
            found => found,
        };
        let Some(index) = found else { return Ok(None) };
        let field = &fields[index];
        if self.seen & 1 << index != 0 {
            return Err(Flaw::new(Problem::Repeated).in_member(field.name));
        }
        self.seen |= 1 << index;
        Ok(Some(field))
    }

    /// Refuses an object whose required members did not all come.
    fn complete(&self) -> Checked {
        for (index, field) in self.shape.fields.iter().enumerate() {
            if field.required && self.seen & 1 << index == 0 {
                return Err(Flaw::new(Problem::Missing).in_member(field.name));
            }
        }
        Ok(())
    }
}

/// Members that came before the tag. The first few need no allocation.
#[derive(Default)]
struct Early<'a> {
    few: [(&'a str, &'a str); 4],
    count: usize,
    more: Vec<(&'a str, &'a str)>,
}

impl<'a> Early<'a> {
    fn push(&mut self, key: &'a str, value: &'a str) {
        match self.few.get_mut(self.count) {
            Some(slot) => {
                *slot = (key, value);
                self.count += 1;
            }
            None => self.more.push((key, value)),
        }
    }

    fn iter(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.few[..self.count].iter().chain(&self.more).copied()
    }
}
