//! Who may serve: the policies for tickets, their files, and the operator's commands.

use std::path::Path;

use funduq_contract::Identity;
use funduq_gateway::{Gateway, StartError};
use serde_json::json;
use tokio::process::Command;

use crate::support::{Fields, Heard, TestGateway, config, post};

async fn ticket(gateway: &TestGateway, identity: &Identity, fields: &Fields) -> Heard {
    let body = json!({ "publicKey": identity.public_key() }).to_string();
    post(&gateway.url_of("/tickets"), &body, fields).await
}

/// Runs `funduq` and has what it prints, line by line, or what it says of its failure.
async fn funduq(arguments: &[&str]) -> Result<Vec<String>, String> {
    let output = Command::new(env!("CARGO_BIN_EXE_funduq")).args(arguments).output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    match output.status.success() {
        true => Ok(text(output.stdout).lines().map(str::to_owned).collect()),
        false => Err(text(output.stderr)),
    }
}

#[tokio::test]
async fn a_list_of_keys_says_who_may_serve_and_is_read_when_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("keys");
    let (listed, other) = (Identity::generate(), Identity::generate());
    std::fs::write(&list, format!("{} the first\n", listed.public_key())).unwrap();
    let gateway = TestGateway::configured(|config| {
        config.enrolment = "allow-list".parse().unwrap();
        config.allow_list = list.to_str().unwrap().parse().unwrap();
    })
    .await;
    assert_eq!(ticket(&gateway, &listed, &Vec::new()).await.status, 201);
    let refused = (403, "key_not_listed".to_owned());
    assert_eq!(ticket(&gateway, &other, &Vec::new()).await.refusal(), refused);
    std::fs::write(&list, format!("{}\n", other.public_key())).unwrap();
    assert_eq!(ticket(&gateway, &other, &Vec::new()).await.status, 201);
    assert_eq!(ticket(&gateway, &listed, &Vec::new()).await.refusal(), refused);
    // A list that does not hold changes nothing, neither by itself nor when it is asked for.
    std::fs::write(&list, "no key\n").unwrap();
    gateway.reload().await;
    assert_eq!(ticket(&gateway, &other, &Vec::new()).await.status, 201);
    gateway.stop().await;
}

#[tokio::test]
async fn a_list_that_does_not_hold_is_no_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(folder.path());
    config.enrolment = "allow-list".parse().unwrap();
    assert!(matches!(Gateway::start(config.clone()).await, Err(StartError::Config(_))));
    let list = folder.path().join("keys");
    config.allow_list = list.to_str().unwrap().parse().unwrap();
    assert!(matches!(Gateway::start(config.clone()).await, Err(StartError::File(_))));
    std::fs::write(&list, "no key\n").unwrap();
    // A process that another test starts may have the lock of the first folder for a moment.
    config.data_dir = folder.path().join("another");
    let error = Gateway::start(config).await.unwrap_err().to_string();
    assert!(error.contains("line 1"), "{error}");
}

/// Makes a token by the command, adds it to a file, and keeps it in another.
async fn token(name: &str, file: &Path) -> String {
    let lines = funduq(&["token", name]).await.unwrap();
    let mut known = std::fs::read_to_string(file).unwrap_or_default();
    known.push_str(&lines[1]);
    known.push('\n');
    std::fs::write(file, known).unwrap();
    assert!(!lines[1].contains(&lines[0]), "the file has no token");
    lines[0].clone()
}

#[tokio::test]
async fn operators_enrol_providers_with_tokens_of_their_own_that_can_be_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("operators");
    let (alice, bob) = (token("alice", &file).await, token("bob", &file).await);
    let gateway = TestGateway::configured(|config| {
        config.enrolment = "operator".parse().unwrap();
        config.operator_tokens = file.to_str().unwrap().parse().unwrap();
    })
    .await;
    let provider = Identity::generate();
    let by = |token: &str| vec![("authorization", format!("Bearer {token}"))];
    for operator in [&alice, &bob] {
        assert_eq!(ticket(&gateway, &provider, &by(operator)).await.status, 201);
    }
    let heard = ticket(&gateway, &provider, &Vec::new()).await;
    assert_eq!(heard.refusal(), (401, "operator_required".into()));
    assert_eq!(heard.headers["www-authenticate"], "Bearer realm=\"funduq\"");
    assert_eq!(ticket(&gateway, &provider, &by("guess")).await.refusal(), (401, "unknown_token".into()));

    // The operator's command: one line to hand over.
    let (key, kept) = (provider.public_key().to_string(), folder.path().join("alice.token"));
    std::fs::write(&kept, format!("{alice}\n")).unwrap();
    let kept = kept.to_str().unwrap();
    let url = gateway.url();
    let printed = funduq(&["ticket", &key, "--url", url, "--token-file", kept]).await.unwrap();
    assert_eq!((printed.len(), printed[0].len()), (1, 32));
    let refused = funduq(&["ticket", &key, "--url", url]).await.unwrap_err();
    assert!(refused.contains("operator_required"), "{refused}");

    // Bob's line stays, and alice's is taken out.
    let left: String =
        std::fs::read_to_string(&file).unwrap().lines().filter(|line| line.starts_with("bob")).collect();
    std::fs::write(&file, left).unwrap();
    assert_eq!(ticket(&gateway, &provider, &by(&alice)).await.refusal(), (401, "unknown_token".into()));
    assert_eq!(ticket(&gateway, &provider, &by(&bob)).await.status, 201);
    gateway.stop().await;
}

#[tokio::test]
async fn a_tokens_name_is_one_word() {
    for name in ["two words", "", "a#b"] {
        assert!(funduq(&["token", name]).await.is_err(), "{name:?}");
    }
    let key = Identity::generate().public_key().to_string();
    let lines = funduq(&["token", "laptop", "--key", &key]).await.unwrap();
    assert_eq!(lines[1].split(' ').collect::<Vec<_>>()[2], key);
}
