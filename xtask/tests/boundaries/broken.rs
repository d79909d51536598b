//! Each rule against a fabricated workspace that breaks it, and nothing else.

use serde_json::{Value, json};

use crate::graph::Workspace;
use crate::rules;

/// What tokio's `net` brings with it, said by the rule on sockets.
const MIO: &str = "mio <- tokio <- funduq-core";

#[test]
fn a_house_in_order_passes() {
    assert_eq!(House::in_order().check(), Vec::<String>::new());
}

#[test]
fn the_sdk_may_not_declare_core() {
    let mut house = House::in_order();
    house.depend("funduq-provider-sdk", json!({"name": "funduq-core"}));
    house.expect(&[
        "funduq-provider-sdk may not depend on funduq-core",
        "funduq-provider-sdk reaches funduq-core",
    ]);
}

#[test]
fn the_sdk_may_not_reach_core_through_a_crate_from_outside() {
    let mut house = House::in_order();
    house.package("middleman", json!({}));
    house.depend("middleman", json!({"name": "funduq-core"}));
    house.depend("funduq-provider-sdk", json!({"name": "middleman"}));
    house.expect(&["funduq-core <- middleman <- funduq-provider-sdk"]);
}

#[test]
fn the_sdk_may_not_reach_core_by_a_build_script() {
    let mut house = House::in_order();
    house.package("generator", json!({}));
    house.depend("generator", json!({"name": "funduq-core"}));
    house.depend("funduq-provider-sdk", json!({"name": "generator", "kind": "build"}));
    house.expect(&["funduq-core <- generator <- funduq-provider-sdk"]);
}

#[test]
fn the_sdk_may_not_reach_core_even_behind_a_feature() {
    let mut house = House::in_order();
    house.package("middleman", json!({}));
    house.depend("middleman", json!({"name": "funduq-core"}));
    house.depend("funduq-provider-sdk", json!({"name": "middleman", "optional": true}));
    house.features("funduq-provider-sdk", json!({"extra": ["dep:middleman"]}));
    house.expect(&["funduq-provider-sdk reaches funduq-core"]);
}

#[test]
fn the_tests_of_the_sdk_may_not_use_core_either() {
    let mut house = House::in_order();
    house.depend("funduq-provider-sdk", json!({"name": "funduq-core", "kind": "dev"}));
    house.expect(&["funduq-provider-sdk may not depend in its tests on funduq-core"]);
}

#[test]
fn core_may_not_reach_a_crate_that_opens_sockets() {
    let mut house = House::in_order();
    house.package("telemetry", json!({}));
    house.package("reqwest", json!({}));
    house.depend("telemetry", json!({"name": "reqwest"}));
    house.depend("funduq-core", json!({"name": "telemetry"}));
    house.expect(&["funduq-core reaches a crate that opens sockets (reqwest <- telemetry <- funduq-core)"]);
}

#[test]
fn core_may_not_ask_tokio_for_net() {
    let mut house = House::in_order();
    house.depend("funduq-core", json!({"name": "tokio", "features": ["net"]}));
    house.expect(&["funduq-core builds tokio with `net`, which funduq-core asks for", MIO]);
}

#[test]
fn core_may_not_ask_tokio_for_everything() {
    let mut house = House::in_order();
    house.depend("funduq-core", json!({"name": "tokio", "features": ["full"]}));
    house.expect(&["funduq-core builds tokio with `full`", "funduq-core builds tokio with `net`", MIO]);
}

#[test]
fn a_crate_under_core_may_not_ask_tokio_for_net_through_its_default_feature() {
    let mut house = House::in_order();
    house.package("helper", json!({"default": ["io"], "io": ["tokio/net"]}));
    house.depend("helper", json!({"name": "tokio"}));
    house.depend("funduq-core", json!({"name": "helper"}));
    house.expect(&["funduq-core builds tokio with `net`, which helper asks for", MIO]);
}

/// The other half of the rule above: a feature that nobody switches on opens nothing.
#[test]
fn a_feature_that_core_does_not_switch_on_is_no_fault() {
    let mut house = House::in_order();
    house.package("helper", json!({"default": ["io"], "io": ["tokio/net"]}));
    house.depend("helper", json!({"name": "tokio"}));
    house.depend("funduq-core", json!({"name": "helper", "uses_default_features": false}));
    assert_eq!(house.check(), Vec::<String>::new());
}

#[test]
fn a_feature_of_core_itself_counts_even_when_it_is_off() {
    let mut house = House::in_order();
    house.features("funduq-core", json!({"remote": ["tokio/net"]}));
    house.expect(&["funduq-core builds tokio with `net`, which funduq-core asks for", MIO]);
}

#[test]
fn a_wire_crate_may_not_reach_tokio() {
    let mut house = House::in_order();
    house.depend("funduq-contract", json!({"name": "tokio"}));
    house.expect(&["funduq-contract reaches tokio"]);
}

#[test]
fn a_wire_crate_declares_nothing_but_what_shapes_need() {
    let mut house = House::in_order();
    house.package("uuid", json!({}));
    house.depend("funduq-agui", json!({"name": "uuid"}));
    house.expect(&["funduq-agui may not depend on uuid"]);
}

#[test]
fn no_crate_depends_on_one_below_it() {
    let mut house = House::in_order();
    house.depend("funduq-vectors", json!({"name": "funduq-provider-sdk"}));
    house.expect(&["funduq-vectors may not depend on funduq-provider-sdk"]);
}

#[test]
fn a_new_crate_needs_a_row_in_the_table() {
    let mut house = House::in_order();
    house.package("funduq-attic", json!({}));
    house.member("funduq-attic");
    house.expect(&["funduq-attic is a crate of the workspace without a row"]);
}

/// A fabricated `cargo metadata`, edited by name.
struct House(Value);

impl House {
    fn in_order() -> Self {
        let mut house = House(json!({"packages": [], "workspace_members": [], "resolve": {"nodes": []}}));
        house.package("serde", json!({}));
        house.package("mio", json!({}));
        house.package("tokio", json!({"default": [], "full": ["net", "rt"], "net": ["dep:mio"], "rt": []}));
        house.depend("tokio", json!({"name": "mio", "optional": true}));
        for name in rules::members() {
            house.package(name, json!({}));
            house.member(name);
        }
        house.depend("funduq-agui", json!({"name": "serde"}));
        house.depend("funduq-contract", json!({"name": "funduq-agui"}));
        house.depend("funduq-provider-sdk", json!({"name": "funduq-contract"}));
        house.depend("funduq-core", json!({"name": "funduq-contract"}));
        house.depend("funduq-core", json!({"name": "funduq-provider-sdk", "kind": "dev"}));
        house.depend("funduq-core", json!({"name": "tokio", "features": ["rt"]}));
        house.depend("funduq-gateway", json!({"name": "funduq-core"}));
        house.depend("funduq-gateway", json!({"name": "tokio", "features": ["net", "rt"]}));
        house
    }

    fn package(&mut self, name: &str, features: Value) {
        let package = json!({"id": name, "name": name, "dependencies": [], "features": features});
        self.list("packages").push(package);
        let node = json!({"id": name, "dependencies": []});
        self.0["resolve"]["nodes"].as_array_mut().expect("made above").push(node);
    }

    fn member(&mut self, name: &str) {
        self.list("workspace_members").push(json!(name));
    }

    fn features(&mut self, name: &str, features: Value) {
        self.find("packages", name)["features"] = features;
    }

    /// Declares a dependency and resolves it; what is not given is as a plain `name = "1"` has it.
    fn depend(&mut self, name: &str, given: Value) {
        let mut dependency = json!({
            "rename": null, "kind": null, "optional": false, "uses_default_features": true, "features": [],
        });
        for (key, value) in given.as_object().expect("a dependency is an object") {
            dependency[key] = value.clone();
        }
        let target = dependency["name"].clone();
        let nodes = self.0["resolve"]["nodes"].as_array_mut().expect("made above");
        let node = nodes.iter_mut().find(|node| node["id"] == name).expect("the package was added before");
        node["dependencies"].as_array_mut().expect("made above").push(target);
        self.find("packages", name)["dependencies"].as_array_mut().expect("made above").push(dependency);
    }

    fn check(&self) -> Vec<String> {
        let json = serde_json::to_vec(&self.0).expect("a value serialises");
        rules::check(&Workspace::parse(&json).expect("shaped like cargo metadata"))
    }

    /// Each expected text is part of one complaint, and each complaint is expected.
    #[track_caller]
    fn expect(&self, texts: &[&str]) {
        let broken = self.check();
        for text in texts {
            assert!(broken.iter().any(|line| line.contains(text)), "no complaint says {text:?}: {broken:#?}");
        }
        assert_eq!(
            broken.iter().filter(|line| !texts.iter().any(|text| line.contains(text))).collect::<Vec<_>>(),
            Vec::<&String>::new(),
            "complaints that nobody expected"
        );
    }

    fn list(&mut self, key: &str) -> &mut Vec<Value> {
        self.0[key].as_array_mut().expect("made in `in_order`")
    }

    fn find(&mut self, key: &str, name: &str) -> &mut Value {
        self.list(key)
            .iter_mut()
            .find(|package| package["name"] == name)
            .expect("the package was added before")
    }
}
