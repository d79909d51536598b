//! Tests of `card`.

use super::*;
