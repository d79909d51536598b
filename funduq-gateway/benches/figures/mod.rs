//! What a bench found, what it is held to, and how both are said: a table for people, one object for `cargo xtask bench`.

use std::process::ExitCode;

use serde_json::{Map, Value, json};

/// One figure, and what it is held to.
#[derive(Debug)]
pub(crate) struct Figure {
    name: &'static str,
    value: f64,
    limit: Limit,
}

#[derive(Debug, Clone, Copy)]
enum Limit {
    /// It stands for itself.
    None,
    AtLeast(f64),
    AtMost(f64),
}

impl Figure {
    pub(crate) fn new(name: &'static str, value: f64) -> Self {
        Self { name, value, limit: Limit::None }
    }

    pub(crate) fn at_least(self, limit: f64) -> Self {
        Self { limit: Limit::AtLeast(limit), ..self }
    }

    pub(crate) fn at_most(self, limit: f64) -> Self {
        Self { limit: Limit::AtMost(limit), ..self }
    }

    /// Whether it is what it is held to be. What is no number is not.
    pub(crate) fn is_met(&self) -> bool {
        match self.limit {
            Limit::None => true,
            Limit::AtLeast(limit) => self.value >= limit,
            Limit::AtMost(limit) => self.value <= limit,
        }
    }

    fn line(&self) -> String {
        let (words, limit) = match self.limit {
            Limit::None => return format!("{:<46} {:>12.3}", self.name, self.value),
            Limit::AtLeast(limit) => ("at least", limit),
            Limit::AtMost(limit) => ("at most", limit),
        };
        let missed = if self.is_met() { "" } else { "  MISSED" };
        format!("{:<46} {:>12.3}  {words} {limit}{missed}", self.name, self.value)
    }

    fn limit(&self) -> Option<Value> {
        match self.limit {
            Limit::None => None,
            Limit::AtLeast(limit) => Some(json!({ "at_least": limit, "met": self.is_met() })),
            Limit::AtMost(limit) => Some(json!({ "at_most": limit, "met": self.is_met() })),
        }
    }
}

/// The figures as lines.
pub(crate) fn table(figures: &[Figure]) -> String {
    figures.iter().map(Figure::line).collect::<Vec<_>>().join("\n")
}

/// The figures by name, and below `limits` what is held to one, and whether it is met.
pub(crate) fn object(figures: &[Figure]) -> Value {
    let limits = figures.iter().filter_map(|figure| Some((figure.name.to_owned(), figure.limit()?)));
    let limits: Map<String, Value> = limits.collect();
    let named = figures.iter().map(|figure| (figure.name.to_owned(), figure.value.into()));
    named.chain([("limits".to_owned(), limits.into())]).collect::<Map<_, _>>().into()
}

/// Prints the figures. The bench fails where one is not what it is held to be.
pub(crate) fn report(figures: &[Figure], as_json: bool) -> ExitCode {
    match as_json {
        true => println!("{}", object(figures)),
        false => println!("{}", table(figures)),
    }
    if figures.iter().all(Figure::is_met) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
