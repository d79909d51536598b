//! The operator's commands against a funduq that is running: who serves, taking one off, copies, checks and pruning.

use std::os::unix::fs::PermissionsExt;

use funduq_contract::{LinkClosed, PublicKey};
use funduq_provider_sdk::ProviderIdentity;
use funduq_provider_sdk::llm::{Chunks, LlmOfferings};
use funduq_provider_sdk::ws;
use futures_util::stream;
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
    assert!(listed.starts_with(&key) && listed.contains(" links=agents online=echo offline=- "), "{listed}");

    let arguments = ["evict", key.as_str()];
    let (told, done) = tokio::join!(provider.closed(), funduq(&gateway, &arguments));
    assert!(done.0, "{}", done.1);
    assert_eq!(told, Closed { code: 4000, reason: LinkClosed::Evicted.as_str().to_owned() });
    let (_, listed) = funduq(&gateway, &["providers"]).await;
    assert!(listed.contains(" links=- online=- offline=echo "), "{listed}");
    let (done, said) = funduq(&gateway, &["evict", &key]).await;
    assert!(done && said.contains("no link of") && !said.contains("evicted"), "{said}");
    let nobody = crate::support::nobody().provider.to_string();
    let (done, said) = funduq(&gateway, &["evict", &nobody]).await;
    assert!(!done && said.contains("is unknown here"), "{said}");
    let folder = gateway.stop().await;
    drop(folder);
}

#[tokio::test]
async fn who_has_published_nothing_and_who_lends_models_is_listed_and_evicted_too() {
    let gateway = TestGateway::start().await;
    let mut silent = Provider::dial(&gateway).await;
    let ticket = crate::support::ticket(&gateway, silent.identity.public_key()).await;
    silent.open(Some(&gateway.public_key()), ticket).await.unwrap();
    let handler = |_| std::future::ready(Ok(Chunks::new(stream::empty())));
    let offerings = LlmOfferings::new(["gpt"], handler).unwrap();
    let lender = ProviderIdentity::generate();
    let link = ws::serve_llm(gateway.url(), lender.clone(), offerings).pin(gateway.public_key());
    let mut link = link.start().unwrap();
    assert!(link.online().await);

    let (_, listed) = funduq(&gateway, &["providers"]).await;
    let line_of = |key: PublicKey| listed.lines().find(|line| line.starts_with(&key.to_string()));
    let silents = line_of(silent.identity.public_key()).unwrap_or_else(|| panic!("{listed}"));
    assert!(silents.contains(" links=agents online=- offline=- lent=- not-lent=- "), "{silents}");
    let lenders = line_of(lender.public_key()).unwrap_or_else(|| panic!("{listed}"));
    assert!(lenders.contains(" links=llm online=- offline=- lent=gpt not-lent=- "), "{lenders}");

    for key in [silent.identity.public_key(), lender.public_key()] {
        let (done, said) = funduq(&gateway, &["evict", &key.to_string()]).await;
        assert!(done && said.contains("(1 links)"), "{said}");
    }
    assert_eq!(silent.closed().await.reason, LinkClosed::Evicted.as_str());
    drop(link);
    gateway.stop().await;
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
    let mode = std::fs::metadata(copy).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600, "a copy is its owner's alone");
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
