//! What the network does to each connection, drawn from the seed alone. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::prng::Rng;

/// What becomes of one connection.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fate {
    /// It is carried as it is.
    Fair,
    /// It is taken and closed at once.
    Refused,
    /// Something happens to it on the way.
    Troubled(Trouble),
    /// The gateway has it twice, byte for byte; the provider hears one of the two.
    Doubled {
        /// Whether it hears the one that was written to first.
        first_is_heard: bool,
    },
    /// The provider sees it break; what it had sent last arrives so long after its next link stands.
    Late(Duration),
}

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Up,
    Down,
}

/// What happens once so many bytes went one way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trouble {
    pub(crate) way: Way,
    pub(crate) after: u64,
    /// Nothing goes that way for so long.
    pub(crate) stall: Duration,
    /// And then it ends.
    pub(crate) cut: Option<Cut>,
}

/// Who learns at once that a connection ended, and when the other does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cut {
    Both,
    GatewayFirst(Duration),
    ProviderFirst(Duration),
}

/// Something that a round went through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Happened {
    Refused,
    CutBoth,
    CutGatewayFirst,
    CutProviderFirst,
    Stalled,
    Doubled,
    /// An opening came to the gateway when a later one stood.
    CameLate,
    /// And the gateway took it for the provider's newest.
    AnsweredLate,
    /// A caller was told that the agent is offline, and asked again.
    ToldOffline,
}

/// How often what happened.
#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<Happened, u32>);

impl Tally {
    pub(crate) fn note(&mut self, what: Happened) {
        *self.0.entry(what).or_default() += 1;
    }

    pub(crate) fn of(&self, what: Happened) -> u32 {
        self.0.get(&what).copied().unwrap_or_default()
    }

    pub(crate) fn extend(&mut self, more: Self) {
        for (what, times) in more.0 {
            *self.0.entry(what).or_default() += times;
        }
    }
}

/// The seed's weather: so many connections meet with something, then it is fair.
pub(crate) struct Weather {
    rng: Rng,
    left: u32,
}

impl Weather {
    pub(crate) fn new(rng: Rng, left: u32) -> Self {
        Self { rng, left }
    }

    /// The fate of the next connection.
    pub(crate) fn fate(&mut self) -> Fate {
        if self.left == 0 {
            return Fate::Fair;
        }
        self.left -= 1;
        let rng = &mut self.rng;
        match rng.below(100) {
            0..10 => Fate::Fair,
            10..18 => Fate::Refused,
            18..32 => Fate::Doubled { first_is_heard: rng.percent(50) },
            32..46 => Fate::Late(millis(rng, 40)),
            _ => Fate::Troubled(trouble(rng)),
        }
    }
}

fn trouble(rng: &mut Rng) -> Trouble {
    let way = if rng.percent(65) { Way::Up } else { Way::Down };
    // Within a head, an opening, the first frames, or in the middle of it all.
    let after = match rng.below(4) {
        0 => rng.within(0, 400),
        1 => rng.within(400, 4_000),
        2 => rng.within(4_000, 40_000),
        _ => rng.within(40_000, 250_000),
    };
    let stall = if rng.percent(40) { millis(rng, 80) } else { Duration::ZERO };
    let cut = match rng.below(10) {
        0..2 if !stall.is_zero() => None,
        0..5 => Some(Cut::Both),
        5..8 => Some(Cut::GatewayFirst(millis(rng, 120))),
        _ => Some(Cut::ProviderFirst(millis(rng, 120))),
    };
    Trouble { way, after, stall, cut }
}

fn millis(rng: &mut Rng, most: u64) -> Duration {
    Duration::from_millis(rng.within(1, most))
}
