//! The operator's commands against a funduq that is running: who serves, taking one off, copies, checks and pruning.

use std::os::unix::fs::PermissionsExt;

use funduq_contract::LinkClosed;
use tokio::process::Command;
use tokio::time::timeout;

use crate::support::{Closed, Provider, Raw, SOON, TestGateway, input};

/// What a command prints, and whether it ended well.
async fn funduq(gateway: &TestGateway, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_funduq"));
    command.args(arguments).arg("--data-dir").arg(gateway.data_dir());
    let output = timeout(SOON, command.output()).await.unwrap().unwrap();
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap()).concat();
    (output.status.success(), said)
}

async fn one_run(gateway: &TestGateway, provider: &mut Provider) {
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await.rest().await });
    let offer = provider.accept().await;
    provider.play(&offer, &[]).await;
    asked.await.unwrap();
}

#[tokio::test]
async fn providers_are_listed_and_evicted_over_a_socket_that_is_its_owners_alone() {
    let gateway = TestGateway::start().await;
    let socket = gateway.data_dir().join("admin.sock");
    assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let key = provider.identity.public_key().to_string();
    let (_, listed) = funduq(&gateway, &["providers"]).await;
    assert!(listed.starts_with(&key) && listed.contains(" online=echo offline=- "), "{listed}");

    let arguments = ["evict", key.as_str()];
    let (told, done) = tokio::join!(provider.closed(), funduq(&gateway, &arguments));
    assert!(done.0, "{}", done.1);
    assert_eq!(told, Closed { code: 4000, reason: LinkClosed::Evicted.as_str().to_owned() });
    let (_, listed) = funduq(&gateway, &["providers"]).await;
    assert!(listed.contains(" online=- offline=echo "), "{listed}");
    let folder = gateway.stop().await;
    drop(folder);
}

#[tokio::test]
async fn the_record_is_copied_checked_and_pruned_while_it_is_in_use() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    one_run(&gateway, &mut provider).await;
    let copy = gateway.data_dir().join("copy.sqlite");
    let copy = copy.to_str().unwrap();
    let (done, said) = funduq(&gateway, &["backup", copy]).await;
    assert!(done, "{said}");
    for arguments in [&["check", copy][..], &["check"]] {
        let (whole, said) = funduq(&gateway, arguments).await;
        assert!(whole && said.contains("runs: 1\n") && said.contains("the record is whole"), "{said}");
    }
    let (_, said) = funduq(&gateway, &["prune", "--older-than", "1h"]).await;
    assert!(said.contains("took out nothing"), "{said}");
    // It goes on meanwhile.
    one_run(&gateway, &mut provider).await;
    gateway.stop().await;
}

#[tokio::test]
async fn without_a_funduq_its_socket_is_missed_by_name() {
    let gateway = TestGateway::start().await;
    let folder = gateway.stop().await;
    let mut command = Command::new(env!("CARGO_BIN_EXE_funduq"));
    command.arg("providers").arg("--data-dir").arg(folder.path().join("data"));
    let output = command.output().await.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("is one running on this data folder?"), "{said}");
}
