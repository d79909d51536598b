//! Applying JSON Patches to a document: all of a patch or nothing, with bounded work.

use serde_json::Value;

use super::JsonPatchOperation;
use super::pointer::Pointer;
use crate::MAX_EVENT_BYTES;

/// The deepest a patched document may nest: the document is a member of an event or
/// a message, which has [`crate::MAX_DEPTH`] levels in all.
const DOCUMENT_DEPTH: usize = crate::MAX_DEPTH - 1;

/// The most work one patch may make, in bytes copied or compared and array items
/// moved. A patch is at most [`MAX_EVENT_BYTES`] long, so this stops only those that
/// shift or copy large values again and again.
const PATCH_WORK: usize = 2 * MAX_EVENT_BYTES;

/// A JSON document that patches are applied to (RFC 6902).
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    root: Value,
    /// About how many bytes of JSON it is.
    weight: usize,
}

/// Why a patch cannot be applied. The document is as it was before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {operation} of the patch {problem}")]
pub struct PatchError {
    /// Which operation of the patch failed, counted from 0.
    pub operation: usize,
    /// Why it failed.
    pub problem: PatchProblem,
}

/// Why an operation cannot be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchProblem {
    /// A path that is no JSON Pointer.
    #[error("has a path that is no JSON Pointer")]
    NotAPointer,
    /// A path where nothing is.
    #[error("names a place that is not there")]
    NoSuchPlace,
    /// A value of the operation that serde_json cannot hold, such as the number 1e400.
    #[error("has a value that cannot be held")]
    Value,
    /// A `test` that found something else.
    #[error("tests for a value that is not there")]
    TestFailed,
    /// A `move` of a value into itself.
    #[error("moves a value into itself")]
    IntoItself,
    /// A document that would be larger than an event, nest deeper, or a patch that
    /// shifts large values again and again.
    #[error("makes the document too large, too deep, or is too much work")]
    OverLimit,
}

/// How to take one change back.
enum Undo {
    /// Put the value back where it was replaced.
    Set(Pointer, Value),
    /// Take out what was put in.
    Take(Pointer),
    /// Put in what was taken out.
    Put(Pointer, Value),
}

impl Document {
    /// A document as it stands.
    #[must_use]
    pub fn new(root: Value) -> Self {
        let weight = weight(&root);
        Self { root, weight }
    }

    /// The document as it stands.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.root
    }

    /// The document, given away.
    #[must_use]
    pub fn into_value(self) -> Value {
        self.root
    }

    /// Applies a patch. Operations that AG-UI 1.0 does not know are skipped.
    ///
    /// # Errors
    /// [`PatchError`] for the first operation that cannot be applied; then none is.
    pub fn apply(&mut self, patch: &[JsonPatchOperation]) -> Result<(), PatchError> {
        let weight = self.weight;
        let mut work = Work { document: self, undo: Vec::new(), left: PATCH_WORK };
        for (operation, step) in patch.iter().enumerate() {
            if let Err(problem) = work.step(step) {
                work.take_back();
                self.weight = weight;
                return Err(PatchError { operation, problem });
            }
        }
        Ok(())
    }
}

/// A patch being applied.
struct Work<'a> {
    document: &'a mut Document,
    undo: Vec<Undo>,
    left: usize,
}

impl Work<'_> {
    fn step(&mut self, step: &JsonPatchOperation) -> Result<(), PatchProblem> {
        match step {
            JsonPatchOperation::Add(add) => {
                let value = add.value.to().map_err(|_| PatchProblem::Value)?;
                self.put(Pointer::parse(&add.path)?, value)
            }
            JsonPatchOperation::Remove(remove) => self.take(Pointer::parse(&remove.path)?).map(drop),
            JsonPatchOperation::Replace(replace) => {
                let value = replace.value.to().map_err(|_| PatchProblem::Value)?;
                self.set(Pointer::parse(&replace.path)?, value)
            }
            JsonPatchOperation::Move(step) => {
                let (from, to) = (Pointer::parse(&step.from)?, Pointer::parse(&step.path)?);
                if from.holds(&to) {
                    return Err(PatchProblem::IntoItself);
                }
                let value = self.take(from)?;
                self.put(to, value)
            }
            JsonPatchOperation::Copy(copy) => {
                let from = Pointer::parse(&copy.from)?;
                let value = from.find(&self.document.root).ok_or(PatchProblem::NoSuchPlace)?;
                let cost = weight(value);
                let value = value.clone();
                self.spend(cost)?;
                self.put(Pointer::parse(&copy.path)?, value)
            }
            JsonPatchOperation::Test(test) => {
                let expected: Value = test.value.to().map_err(|_| PatchProblem::Value)?;
                let path = Pointer::parse(&test.path)?;
                self.spend(weight(&expected))?;
                let found = path.find(&self.document.root).ok_or(PatchProblem::NoSuchPlace)?;
                if same(found, &expected) { Ok(()) } else { Err(PatchProblem::TestFailed) }
            }
            JsonPatchOperation::Unknown(_) => Ok(()),
        }
    }

    /// Puts a value in: before an item of an array, or as a member in place of one of that name.
    fn put(&mut self, at: Pointer, value: Value) -> Result<(), PatchProblem> {
        let heavier = self.admit(&at, &value)?;
        let Some((parent, token)) = at.split() else { return self.replace(at, value, heavier) };
        let undo = match parent.find_mut(&mut self.document.root).ok_or(PatchProblem::NoSuchPlace)? {
            Value::Object(members) if members.contains_key(token) => {
                return self.replace(at, value, heavier);
            }
            Value::Object(members) => {
                members.insert(token.to_owned(), value);
                self.document.weight += heavier + member_weight(token);
                Undo::Take(at)
            }
            Value::Array(items) => {
                let index = Pointer::index(token, items.len()).ok_or(PatchProblem::NoSuchPlace)?;
                let shifted = items.len().checked_sub(index).ok_or(PatchProblem::NoSuchPlace)?;
                self.left = self.left.checked_sub(shifted).ok_or(PatchProblem::OverLimit)?;
                items.insert(index, value);
                self.document.weight += heavier + ITEM_WEIGHT;
                Undo::Take(parent.child(index))
            }
            _ => return Err(PatchProblem::NoSuchPlace),
        };
        self.undo.push(undo);
        Ok(())
    }

    /// Takes a value out.
    fn take(&mut self, at: Pointer) -> Result<Value, PatchProblem> {
        let taken = remove(&mut self.document.root, &at).ok_or(PatchProblem::NoSuchPlace)?;
        let lighter = weight(&taken.value);
        self.undo.push(Undo::Put(at, taken.value.clone()));
        self.document.weight = self.document.weight.saturating_sub(lighter) + taken.added - taken.freed;
        self.spend(lighter + taken.shifted)?;
        Ok(taken.value)
    }

    /// Puts a value in another's place.
    fn set(&mut self, at: Pointer, value: Value) -> Result<(), PatchProblem> {
        let heavier = self.admit(&at, &value)?;
        self.replace(at, value, heavier)
    }

    fn replace(&mut self, at: Pointer, value: Value, heavier: usize) -> Result<(), PatchProblem> {
        let place = at.find_mut(&mut self.document.root).ok_or(PatchProblem::NoSuchPlace)?;
        let old = std::mem::replace(place, value);
        self.document.weight = (self.document.weight + heavier).saturating_sub(weight(&old));
        self.undo.push(Undo::Set(at, old));
        Ok(())
    }

    /// Counts the work of putting a value in, refuses one that is too much, and says
    /// how heavy it is.
    fn admit(&mut self, at: &Pointer, value: &Value) -> Result<usize, PatchProblem> {
        let heavier = weight(value);
        self.spend(heavier)?;
        let too_deep = at.len() + depth(value) > DOCUMENT_DEPTH;
        if too_deep || self.document.weight + heavier + at.last_len() > MAX_EVENT_BYTES {
            return Err(PatchProblem::OverLimit);
        }
        Ok(heavier)
    }

    fn spend(&mut self, work: usize) -> Result<(), PatchProblem> {
        self.left = self.left.checked_sub(work).ok_or(PatchProblem::OverLimit)?;
        Ok(())
    }

    /// Takes back every change, the last first.
    fn take_back(&mut self) {
        let root = &mut self.document.root;
        while let Some(undo) = self.undo.pop() {
            match undo {
                Undo::Set(at, value) => {
                    if let Some(place) = at.find_mut(root) {
                        *place = value;
                    }
                }
                Undo::Take(at) => drop(remove(root, &at)),
                Undo::Put(at, value) => match at.split() {
                    None => *root = value,
                    Some((parent, token)) => match parent.find_mut(root) {
                        Some(Value::Object(members)) => drop(members.insert(token.to_owned(), value)),
                        Some(Value::Array(items)) => {
                            if let Some(index) = Pointer::index(token, items.len()) {
                                items.insert(index, value);
                            }
                        }
                        _ => {}
                    },
                },
            }
        }
    }
}

/// A value taken out of a document.
struct Taken {
    value: Value,
    /// How many array items moved up.
    shifted: usize,
    /// What its key or comma weighed.
    freed: usize,
    /// What was left in its place weighs.
    added: usize,
}

/// Takes out what a pointer names. The whole document leaves null behind.
fn remove(root: &mut Value, at: &Pointer) -> Option<Taken> {
    let Some((parent, token)) = at.split() else {
        return Some(Taken { value: root.take(), shifted: 0, freed: 0, added: weight(&Value::Null) });
    };
    match parent.find_mut(root)? {
        Value::Object(members) => {
            let value = members.remove(token)?;
            Some(Taken { value, shifted: 0, freed: member_weight(token), added: 0 })
        }
        Value::Array(items) => {
            let index = Pointer::index(token, items.len()).filter(|index| *index < items.len())?;
            let value = items.remove(index);
            Some(Taken { value, shifted: items.len() - index, freed: ITEM_WEIGHT, added: 0 })
        }
        _ => None,
    }
}

/// What an item's comma weighs.
const ITEM_WEIGHT: usize = 1;

/// What a member's key, quotes, colon and comma weigh.
fn member_weight(key: &str) -> usize {
    key.len() + 4
}

/// About how many bytes of JSON a value is.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| weight(item) + ITEM_WEIGHT).sum::<usize>(),
        Value::Object(members) => {
            2 + members.iter().map(|(key, value)| member_weight(key) + weight(value)).sum::<usize>()
        }
    }
}

/// How many containers are open at a value's deepest place.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Equality as RFC 6902 section 4.6 has it: numbers are equal when their values are.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        (Value::Array(x), Value::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y)),
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(key, x)| y.get(key).is_some_and(|y| same(x, y)))
        }
        _ => a == b,
    }
}
