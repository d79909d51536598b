//! Bugs that the simulation plants, to show that it would find them. Without the feature `mutants`, which core's own
//! tests alone turn on, none can be planted and nothing of this is left in the build.

/// One planted bug: a rule of dispatch that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "mutants"), expect(unreachable_pub, reason = "public where bugs can be planted"))]
pub enum Mutant {
    /// A thread's next run is offered while the answer about the one before is outstanding.
    GateDropped,
    /// An answer to an offer that lapsed is taken for one to the offer that stands.
    LateVerdictAccepted,
    /// A provider may finish a run that it has not accepted.
    FinishBeforeVerdict,
}

#[cfg(not(feature = "mutants"))]
pub(crate) const fn planted(_: Mutant) -> bool {
    false
}

#[cfg(feature = "mutants")]
mod on {
    use std::cell::Cell;

    use super::Mutant;

    thread_local! {
        static PLANTED: Cell<Option<Mutant>> = const { Cell::new(None) };
    }

    /// Plants a bug in every relay that runs on this thread from now on, or digs it up.
    pub fn plant(mutant: Option<Mutant>) {
        PLANTED.set(mutant);
    }

    pub(crate) fn planted(mutant: Mutant) -> bool {
        PLANTED.get() == Some(mutant)
    }
}

#[cfg(feature = "mutants")]
pub use on::plant;
#[cfg(feature = "mutants")]
pub(crate) use on::planted;
