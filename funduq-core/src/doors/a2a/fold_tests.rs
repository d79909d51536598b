//! Tests of `fold`.

use super::*;
