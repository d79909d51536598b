//! Properties of the whole crate, over random JSON made from the wire tables.

mod hostile;
mod round_trip;
mod tables;
