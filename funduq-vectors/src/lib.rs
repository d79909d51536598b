//! `contract-vectors.json`: what funduq invents, published as data; its typed reader, generator and replay.
//!
//! The file is written by `cargo xtask vectors` and never by hand. [`vectors`] reads it, [`generate`] makes it from the
//! contract crate, and [`replay`] asks any implementation of the contract for every row of it.

mod generate;
mod model;
mod replay;
mod stable;
mod surface;

pub use generate::{generate, generate_text};
pub use model::{
    ChainRow, ChainVerdict, Channel, Contract, ContractVectors, Handshake, HandshakeInputs, HandshakeStep,
    Party, PayloadInputs, PayloadRow, TestKey, TestKeys, WireRow, WireVerdict,
};
pub use replay::{ContractCrate, Implementation, Report, RowReport, replay};
pub use surface::{ChainSurface, Constants, HttpSignatureSurface, Shape, Surface, shape, shapes, surface};

/// The published file, as it was when this crate was built.
pub const TEXT: &str = include_str!("../contract-vectors.json");

/// The published file does not read as what this crate writes: the two are of different revisions.
#[derive(Debug, thiserror::Error)]
#[error("contract-vectors.json does not read: {0}; write it again with `cargo xtask vectors`")]
pub struct UnreadableVectors(#[source] serde_json::Error);

/// The published file, read.
///
/// # Errors
/// [`UnreadableVectors`] where the file and this crate are of different revisions.
pub fn vectors() -> Result<ContractVectors, UnreadableVectors> {
    parse(TEXT)
}

/// Reads the text of such a file.
///
/// # Errors
/// [`UnreadableVectors`] where the text is none.
pub fn parse(text: &str) -> Result<ContractVectors, UnreadableVectors> {
    serde_json::from_str(text).map_err(UnreadableVectors)
}
