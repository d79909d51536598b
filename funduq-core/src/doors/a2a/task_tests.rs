//! Tests of `task`.

use super::*;
