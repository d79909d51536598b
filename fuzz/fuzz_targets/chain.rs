//! Chain verification: whatever tokens come, it judges and does not panic; what it accepts can be built upon.
#![no_main]

use funduq_contract::{ActorChain, ChainError, Identity, MAX_HOPS};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let chain = ActorChain::from_tokens(text.lines().map(str::to_owned).collect());
    match chain.verify() {
        Ok(verified) => {
            assert_eq!(verified.hops().len(), chain.len());
            if chain.len() < MAX_HOPS && verified.hops().last().is_some_and(|hop| hop.dispatched_to.is_none()) {
                let extended = chain.extend(&Identity::from_seed(&[1; 32])).expect("nothing is in the way");
                assert!(extended.verify().is_ok());
            }
        }
        Err(error) => assert!(ChainError::KINDS.iter().any(|(kind, _)| *kind == error.kind())),
    }
});
