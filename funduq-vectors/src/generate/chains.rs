//! The chain rows: those that verify are built here; those that do not were made outside, see `interop/vectors/forge.py`.

use super::{MAIN, SECOND, THIRD, identity};
use crate::model::{ChainRow, ChainVerdict};
use funduq_contract::{ActorChain, AgentAddress, AgentName};

/// Each is right in all but one thing, and signed all the same, which no identity of this workspace would do.
const REFUSED: &str = include_str!("refused_chains.json");

pub(super) fn rows() -> Vec<ChainRow> {
    let refused: Vec<ChainRow> =
        serde_json::from_str(REFUSED).expect("forge.py writes rows of this very form");
    let mut rows = accepted();
    rows.extend(refused);
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    rows
}

fn accepted() -> Vec<ChainRow> {
    let (head, witness, party) = (identity(MAIN), identity(SECOND), identity(THIRD));
    let to = |seed, name: &str| {
        AgentAddress::new(
            identity(seed).public_key(),
            AgentName::new(name).expect("the names below are agent names"),
        )
    };
    let started = ActorChain::start(&head);
    let grown = |chain: Result<ActorChain, _>| chain.expect("each step below is one that the rules allow");
    let dispatched = grown(started.dispatch(&witness, &to(THIRD, "translator")));
    let taken = grown(dispatched.extend(&party));
    [
        ("one-hop", started.clone()),
        ("two-hop", grown(started.extend(&witness))),
        ("the-same-party-twice", grown(started.extend(&head))),
        ("dispatch", dispatched.clone()),
        ("dispatch-accepted", taken.clone()),
        (
            "dispatch-to-a-name-beyond-ascii",
            grown(started.dispatch(&witness, &to(THIRD, "übersetzer \"汉\""))),
        ),
        (
            "dispatch-to-itself",
            grown(grown(started.dispatch(&witness, &to(SECOND, "self"))).extend(&witness)),
        ),
        ("witness-redispatch", grown(dispatched.dispatch(&witness, &to(MAIN, "other")))),
        ("dispatched-party-dispatches", grown(dispatched.dispatch(&party, &to(MAIN, "other")))),
        ("two-dispatches", grown(grown(taken.dispatch(&witness, &to(MAIN, "other"))).extend(&head))),
    ]
    .into_iter()
    .map(|(name, chain)| {
        let verified = chain.verify().expect("each chain above is one that the rules allow");
        ChainRow {
            name: name.to_owned(),
            chain: chain.tokens().to_vec(),
            verdict: ChainVerdict::Accepted {
                ok: verified.hops().iter().map(|hop| hop.key.to_string()).collect(),
            },
        }
    })
    .collect()
}
