//! Makes the published file from the contract crate: the same bytes each time.

mod chains;
mod documentation;
mod handshake;
mod payloads;
mod wire;

use crate::model::{Contract, ContractVectors, TestKey, TestKeys};
use crate::stable;
use crate::surface::{schemas, surface};
use funduq_contract::{CONTRACT_REVISION, Identity};
use std::collections::BTreeMap;

/// The seeds' bytes: each seed is one byte thirty-two times, so that anybody can type it.
const MAIN: u8 = 0xa5;
const SECOND: u8 = 0xb6;
const THIRD: u8 = 0xe1;

/// The times in the rows: one moment of 2025.
const TIME: i64 = 1_755_500_000;

/// The file as types.
pub fn generate() -> ContractVectors {
    let surface = surface();
    ContractVectors {
        contract: Contract {
            revision: CONTRACT_REVISION,
            fingerprint: surface.fingerprint(),
            documentation: documentation::documentation(),
            surface,
        },
        test_key: TestKeys {
            main: test_key(MAIN),
            others: BTreeMap::from([
                ("second".to_owned(), test_key(SECOND)),
                ("third".to_owned(), test_key(THIRD)),
            ]),
        },
        vectors: payloads::rows(),
        wire: wire::rows(),
        chains: chains::rows(),
        schemas: schemas(),
        handshake: handshake::script(),
    }
}

/// The file as its bytes.
pub fn generate_text() -> String {
    stable::pretty(&serde_json::to_value(generate()).expect("the model has string keys only"))
}

fn identity(seed: u8) -> Identity {
    Identity::from_seed(&[seed; 32])
}

fn test_key(seed: u8) -> TestKey {
    let key = identity(seed).public_key();
    TestKey {
        seed_hex: format!("{seed:02x}").repeat(32),
        public_key: key.to_string(),
        fingerprint: key.fingerprint().to_string(),
    }
}
