//! The part of `cargo metadata` that the rules read, and the features a crate switches on when it is built alone.
//!
//! Cargo's own resolution unites the features of the whole workspace, and the gateway asks tokio for `net`. Whether
//! *core* asks for it can therefore only be told by following, from core, which feature switches on which.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::Deserialize;

/// Packages and edges as `cargo metadata --format-version 1` prints them.
#[derive(Debug, Deserialize)]
pub(crate) struct Workspace {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) dependencies: Vec<Dependency>,
    features: BTreeMap<String, Vec<String>>,
}

/// A dependency as the manifest declares it.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    rename: Option<String>,
    kind: Option<String>,
    optional: bool,
    uses_default_features: bool,
    features: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    dependencies: Vec<String>,
}

impl Workspace {
    pub(crate) fn parse(json: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(json)
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }

    pub(crate) fn member(&self, name: &str) -> Option<&Package> {
        self.members().find(|package| package.name == name)
    }

    /// What building `root` alone, with every feature of its own, brings in by normal and build dependencies.
    ///
    /// Platform conditions are taken as fulfilled: what any platform brings in counts.
    pub(crate) fn build_alone<'w>(&'w self, root: &'w Package) -> Build<'w> {
        let mut build = Build { workspace: self, units: BTreeMap::new(), queue: VecDeque::new() };
        build.reach(root, "the check itself");
        for feature in root.features.keys() {
            build.enable(root, feature, "the check itself");
        }
        build.settle();
        build
    }

    fn package(&self, id: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.id == id)
    }

    /// The packages that a declared dependency resolved to: one, but for a renamed pair of versions.
    fn resolved<'w>(&'w self, package: &Package, dependency: &Dependency) -> Vec<&'w Package> {
        let node = self.resolve.nodes.iter().find(|node| node.id == package.id);
        node.map_or_else(Vec::new, |node| {
            node.dependencies
                .iter()
                .filter_map(|id| self.package(id))
                .filter(|candidate| candidate.name == dependency.name)
                .collect()
        })
    }
}

impl Dependency {
    /// The name that the manifest's feature table uses for this dependency.
    fn key(&self) -> &str {
        self.rename.as_deref().unwrap_or(&self.name)
    }

    pub(crate) fn is_dev(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

/// The packages of one build, each with its switched-on features and who asked first.
#[derive(Debug)]
pub(crate) struct Build<'w> {
    workspace: &'w Workspace,
    units: BTreeMap<&'w str, Unit<'w>>,
    /// Packages that gained a feature since their tables were last followed.
    queue: VecDeque<&'w Package>,
}

#[derive(Debug)]
pub(crate) struct Unit<'w> {
    pub(crate) package: &'w Package,
    /// The package whose dependency brought this one in.
    pub(crate) wanted_by: String,
    /// Feature to the package that asked for it.
    pub(crate) features: BTreeMap<String, String>,
}

impl<'w> Build<'w> {
    pub(crate) fn units(&self) -> impl Iterator<Item = &Unit<'w>> {
        self.units.values()
    }

    pub(crate) fn contains_name(&self, name: &str) -> bool {
        self.units().any(|unit| unit.package.name == name)
    }

    /// `a <- b <- root`: how the package got into the build.
    pub(crate) fn road_to(&self, unit: &Unit<'_>) -> String {
        let mut road = vec![unit.package.name.clone()];
        let mut wanted_by = &unit.wanted_by;
        while let Some(previous) = self.units().find(|unit| unit.package.name == *wanted_by) {
            if road.contains(&previous.package.name) {
                break;
            }
            road.push(previous.package.name.clone());
            wanted_by = &previous.wanted_by;
        }
        road.join(" <- ")
    }

    fn settle(&mut self) {
        while let Some(package) = self.queue.pop_front() {
            let features: BTreeSet<String> =
                self.units[package.id.as_str()].features.keys().cloned().collect();
            for dependency in package.dependencies.iter().filter(|dependency| !dependency.is_dev()) {
                if dependency.optional && !switches_on(package, &features, dependency.key()) {
                    continue;
                }
                for target in self.workspace.resolved(package, dependency) {
                    self.reach(target, &package.name);
                    for feature in requested(package, &features, dependency) {
                        self.enable(target, &feature, &package.name);
                    }
                }
            }
        }
    }

    fn reach(&mut self, package: &'w Package, wanted_by: &str) {
        if self.units.contains_key(package.id.as_str()) {
            return;
        }
        let unit = Unit { package, wanted_by: wanted_by.to_owned(), features: BTreeMap::new() };
        self.units.insert(&package.id, unit);
        self.queue.push_back(package);
    }

    /// Switches on a feature and the features of the same package that it names.
    fn enable(&mut self, package: &'w Package, feature: &str, wanted_by: &str) {
        let Some(unit) = self.units.get_mut(package.id.as_str()) else { return };
        if unit.features.contains_key(feature) || !package.features.contains_key(feature) {
            return;
        }
        unit.features.insert(feature.to_owned(), wanted_by.to_owned());
        self.queue.push_back(package);
        for entry in &package.features[feature] {
            if !entry.contains(['/', ':']) {
                self.enable(package, entry, wanted_by);
            }
        }
    }
}

/// Whether one of the features switches on the optional dependency: `dep:key` or `key/feature`.
fn switches_on(package: &Package, features: &BTreeSet<String>, key: &str) -> bool {
    entries(package, features).any(|entry| {
        entry.strip_prefix("dep:") == Some(key)
            || entry.split_once('/').is_some_and(|(dependency, _)| dependency == key)
    })
}

/// The features that `package` asks of a dependency: in its declaration and through its own feature table.
fn requested(package: &Package, features: &BTreeSet<String>, dependency: &Dependency) -> Vec<String> {
    let mut requested = dependency.features.clone();
    if dependency.uses_default_features {
        requested.push("default".to_owned());
    }
    for entry in entries(package, features) {
        if let Some((key, feature)) = entry.split_once('/')
            && key.trim_end_matches('?') == dependency.key()
        {
            requested.push(feature.to_owned());
        }
    }
    requested
}

fn entries<'p>(package: &'p Package, features: &'p BTreeSet<String>) -> impl Iterator<Item = &'p String> {
    features.iter().filter_map(|feature| package.features.get(feature)).flatten()
}
