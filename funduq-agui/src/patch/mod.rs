//! JSON Patch (RFC 6902): its operations, typed, and their application.

mod apply;
mod pointer;
#[cfg(test)]
mod tests;

pub use apply::{Document, PatchError, PatchProblem};

use crate::Json;
use crate::wire::{Kind, wire_object, wire_union};

wire_union! {
    /// An operation of a JSON Patch, told apart by `op`. Members that an operation
    /// does not define are ignored, as RFC 6902 asks.
    JsonPatchOperation by "op", untagged carried {
        /// Puts a value in.
        Add(AddOperation) = "add",
        /// Takes a value out.
        Remove(RemoveOperation) = "remove",
        /// Puts a value in another's place.
        Replace(ReplaceOperation) = "replace",
        /// Takes a value from one place to another.
        Move(MoveOperation) = "move",
        /// Puts a copy of a value in.
        Copy(CopyOperation) = "copy",
        /// Fails unless a value is there.
        Test(TestOperation) = "test",
    }
}

wire_object! {
    /// The operation `add`.
    AddOperation {
        fixed { "op" = "add" }
        required {
            /// Where to, as a JSON Pointer.
            path: String = "path" as Kind::Pointer,
            /// What to put there.
            value: Json = "value",
        }
        optional {}
    }
}

wire_object! {
    /// The operation `remove`.
    RemoveOperation {
        fixed { "op" = "remove" }
        required {
            /// What to take out, as a JSON Pointer.
            path: String = "path" as Kind::Pointer,
        }
        optional {}
    }
}

wire_object! {
    /// The operation `replace`.
    ReplaceOperation {
        fixed { "op" = "replace" }
        required {
            /// What to replace, as a JSON Pointer.
            path: String = "path" as Kind::Pointer,
            /// What to put there.
            value: Json = "value",
        }
        optional {}
    }
}

wire_object! {
    /// The operation `move`.
    MoveOperation {
        fixed { "op" = "move" }
        required {
            /// Where from, as a JSON Pointer.
            from: String = "from" as Kind::Pointer,
            /// Where to, as a JSON Pointer.
            path: String = "path" as Kind::Pointer,
        }
        optional {}
    }
}

wire_object! {
    /// The operation `copy`.
    CopyOperation {
        fixed { "op" = "copy" }
        required {
            /// Where from, as a JSON Pointer.
            from: String = "from" as Kind::Pointer,
            /// Where to, as a JSON Pointer.
            path: String = "path" as Kind::Pointer,
        }
        optional {}
    }
}

wire_object! {
    /// The operation `test`.
    TestOperation {
        fixed { "op" = "test" }
        required {
            /// Where to look, as a JSON Pointer.
            path: String = "path" as Kind::Pointer,
            /// What should be there.
            value: Json = "value",
        }
        optional {}
    }
}

impl JsonPatchOperation {
    /// Whether it takes or replaces the document as a whole.
    pub(crate) fn is_of_the_whole(&self) -> bool {
        match self {
            Self::Add(step) => step.path.is_empty(),
            Self::Remove(step) => step.path.is_empty(),
            Self::Replace(step) => step.path.is_empty(),
            Self::Move(step) => step.path.is_empty() || step.from.is_empty(),
            Self::Copy(step) => step.path.is_empty(),
            Self::Test(_) | Self::Unknown(_) => false,
        }
    }
}
