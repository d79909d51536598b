//! The house keeps its walls: what a crate may reach is read from `cargo metadata`, never from good intentions.

mod broken;
mod graph;
mod rules;

use std::process::Command;

use graph::Workspace;

#[test]
fn the_sdk_never_reaches_core_and_core_never_opens_a_socket() {
    let workspace = this_workspace();
    let violations = rules::check(&workspace);
    assert!(violations.is_empty(), "the walls of the house are broken:\n- {}", violations.join("\n- "));
}

/// The rules would pass on an empty graph, so the graph that they are asked about must be the real one.
#[test]
fn the_graph_that_is_judged_is_the_whole_house() {
    let workspace = this_workspace();
    for name in rules::members() {
        assert!(workspace.member(name).is_some(), "`cargo metadata` does not list {name}");
    }
    let core = workspace.member("funduq-core").expect("checked above");
    let build = workspace.build_alone(core);
    assert!(build.contains_name("tokio"), "core is built on tokio; a graph without it is misread");
    assert!(build.contains_name("rusqlite"), "core's default feature is part of what is judged");
}

fn this_workspace() -> Workspace {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--all-features", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs, since it is running this test");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    Workspace::parse(&output.stdout).expect("cargo metadata prints the format it was asked for")
}
