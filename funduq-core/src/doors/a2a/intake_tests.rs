//! Tests of `intake`.

use super::*;
