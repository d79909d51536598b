//! The rules: who may depend on whom, and what must stay out of reach. Pure: a graph in, sentences out.

use crate::graph::{Package, Workspace};

/// What one crate of the house may depend on.
struct Allowance {
    name: &'static str,
    /// Crates of the house, as normal or build dependencies.
    house: &'static [&'static str],
    /// Crates of the house that its tests may use beside those.
    tests: &'static [&'static str],
    /// The only crates from outside that it may declare; `None` leaves the choice open.
    outside: Option<&'static [&'static str]>,
}

/// A wire crate holds shapes and nothing that runs.
const WIRE: Option<&[&str]> = Some(&["schemars", "serde", "serde_json", "thiserror"]);

/// The same, and what its feature `arbitrary` makes random events with, which only tests turn on.
const WIRE_AND_ARBITRARY: Option<&[&str]> =
    Some(&["proptest", "schemars", "serde", "serde_json", "thiserror"]);

const HOUSE: &[Allowance] = &[
    Allowance { name: "funduq-agui", house: &[], tests: &[], outside: WIRE_AND_ARBITRARY },
    Allowance { name: "funduq-a2a", house: &[], tests: &[], outside: WIRE },
    Allowance { name: "funduq-contract", house: &["funduq-agui"], tests: &[], outside: None },
    Allowance { name: "funduq-vectors", house: &["funduq-contract"], tests: &[], outside: None },
    Allowance {
        name: "funduq-provider-sdk",
        house: &["funduq-agui", "funduq-contract"],
        tests: &["funduq-vectors"],
        outside: None,
    },
    Allowance {
        name: "funduq-core",
        house: &["funduq-a2a", "funduq-agui", "funduq-contract"],
        tests: &["funduq-core", "funduq-provider-sdk", "funduq-vectors"],
        outside: None,
    },
    Allowance {
        name: "funduq-gateway",
        house: &[
            "funduq-a2a",
            "funduq-agui",
            "funduq-contract",
            "funduq-core",
            "funduq-provider-sdk",
            "funduq-vectors",
        ],
        tests: &[],
        outside: None,
    },
    Allowance { name: "xtask", house: &["funduq-vectors"], tests: &[], outside: None },
];

/// Crates that open sockets or exist to serve those that do. `mio` is what tokio's `net` is made of.
const SOCKETS: &[&str] = &[
    "actix-web",
    "async-io",
    "async-std",
    "axum",
    "curl",
    "h2",
    "hickory-resolver",
    "hyper",
    "hyper-util",
    "isahc",
    "mio",
    "polling",
    "quinn",
    "quinn-udp",
    "reqwest",
    "smol",
    "socket2",
    "surf",
    "tokio-tungstenite",
    "tonic",
    "tungstenite",
    "ureq",
    "warp",
];

/// Features of tokio that open sockets.
const TOKIO_SOCKETS: &[&str] = &["full", "net"];

/// The crates of the house, in the order in which they may build on each other.
pub(crate) fn members() -> impl Iterator<Item = &'static str> {
    HOUSE.iter().map(|allowance| allowance.name)
}

/// Every rule that the workspace breaks, a sentence each; empty when it keeps them all.
pub(crate) fn check(workspace: &Workspace) -> Vec<String> {
    let mut broken = Vec::new();
    for member in workspace.members() {
        match HOUSE.iter().find(|allowance| allowance.name == member.name) {
            Some(allowance) => declared(workspace, member, allowance, &mut broken),
            None => broken.push(format!(
                "{} is a crate of the workspace without a row in the table of who may depend on whom",
                member.name
            )),
        }
    }
    for name in ["funduq-agui", "funduq-a2a", "funduq-contract"] {
        out_of_reach(workspace, name, |reached| reached == "tokio", "tokio: shapes do not run", &mut broken);
        out_of_reach(workspace, name, opens_sockets, "a crate that opens sockets", &mut broken);
    }
    out_of_reach(
        workspace,
        "funduq-provider-sdk",
        |reached| reached == "funduq-core",
        "funduq-core: a provider needs nothing of the relay",
        &mut broken,
    );
    out_of_reach(workspace, "funduq-core", opens_sockets, "a crate that opens sockets", &mut broken);
    tokio_without_net(workspace, &mut broken);
    broken
}

/// The declared dependencies of one crate against its row.
fn declared(workspace: &Workspace, member: &Package, allowance: &Allowance, broken: &mut Vec<String>) {
    for dependency in &member.dependencies {
        let of_the_house = workspace.member(&dependency.name).is_some();
        let allowed = if of_the_house {
            allowance.house.contains(&dependency.name.as_str())
                || (dependency.is_dev() && allowance.tests.contains(&dependency.name.as_str()))
        } else {
            dependency.is_dev()
                || allowance.outside.is_none_or(|crates| crates.contains(&dependency.name.as_str()))
        };
        if !allowed {
            let how = if dependency.is_dev() { "in its tests " } else { "" };
            broken.push(format!("{} may not depend {how}on {}", member.name, dependency.name));
        }
    }
}

/// No package that `forbidden` names may be in what `name` is built from.
fn out_of_reach(
    workspace: &Workspace,
    name: &str,
    forbidden: impl Fn(&str) -> bool,
    what: &str,
    broken: &mut Vec<String>,
) {
    let Some(member) = workspace.member(name) else { return };
    let build = workspace.build_alone(member);
    for unit in build.units().filter(|unit| unit.package.id != member.id && forbidden(&unit.package.name)) {
        broken.push(format!("{name} reaches {what} ({})", build.road_to(unit)));
    }
}

/// Core runs on tokio, but nothing that core is built from may ask tokio for its sockets.
fn tokio_without_net(workspace: &Workspace, broken: &mut Vec<String>) {
    let Some(core) = workspace.member("funduq-core") else { return };
    let build = workspace.build_alone(core);
    for unit in build.units().filter(|unit| unit.package.name == "tokio") {
        for feature in TOKIO_SOCKETS {
            if let Some(asker) = unit.features.get(*feature) {
                broken.push(format!("funduq-core builds tokio with `{feature}`, which {asker} asks for"));
            }
        }
    }
}

fn opens_sockets(name: &str) -> bool {
    SOCKETS.contains(&name)
}
