//! A private key in a file: made once, whole or not at all, for its owner's eyes only.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use funduq_provider_sdk::{IdentityFileError, ProviderIdentity, identity_file};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn a_new_identity_is_kept_and_found_again() {
    let folder = folder();
    let path = folder.path().join("provider.key");
    let made = ProviderIdentity::load_or_create(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.len(), 65);
    assert!(text.ends_with('\n') && text.trim_end().bytes().all(|b| b"0123456789abcdef".contains(&b)));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left behind");
    let again = ProviderIdentity::load_or_create(&path).unwrap();
    assert_eq!(made.public_key(), again.public_key());
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn the_bytes_in_the_file_are_the_seed() {
    let folder = folder();
    let path = folder.path().join("known.key");
    fs::write(&path, format!("{}\n", "00ff".repeat(16))).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    let seed: [u8; 32] = std::array::from_fn(|at| if at % 2 == 0 { 0 } else { 0xff });
    let expected = funduq_provider_sdk::contract::Identity::from_seed(&seed);
    assert_eq!(identity_file::load_or_create(&path).unwrap().public_key(), expected.public_key());
}

#[test]
fn a_file_that_is_no_identity_is_named_with_what_is_wrong_and_left_alone() {
    let folder = folder();
    let upper = format!("{}A{}\n", "a".repeat(9), "a".repeat(54));
    let unended = format!("{}x", "a".repeat(64));
    for (content, mode, expected) in [
        ("", 0o600, "has 0 bytes"),
        ("abcd\n", 0o600, "has 5 bytes"),
        (&*"a".repeat(64), 0o600, "has 64 bytes"),
        (&*"a".repeat(4096), 0o600, "has 4096 bytes"),
        (&*upper, 0o600, "character 10 is not"),
        (&*unended, 0o600, "character 65 is not"),
        (&*format!("{}\n", "a".repeat(64)), 0o644, "mode 0644"),
        (&*format!("{}\n", "a".repeat(64)), 0o620, "mode 0620"),
    ] {
        let path = folder.path().join("bad.key");
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let error = ProviderIdentity::load_or_create(&path).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("bad.key"), "{error}");
        assert!(!error.contains("aaaa"), "nothing of the content is told: {error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn what_is_no_file_and_where_none_can_be_is_said() {
    let folder = folder();
    let error = ProviderIdentity::load_or_create(folder.path()).unwrap_err();
    assert!(matches!(error, IdentityFileError::NotAFile { .. }), "{error}");
    let error = ProviderIdentity::load_or_create(folder.path().join("no/such/folder.key")).unwrap_err();
    assert!(matches!(error, IdentityFileError::Io { doing: "create it", .. }), "{error}");
}

#[test]
fn many_who_begin_at_once_are_one_provider() {
    let folder = folder();
    let path = folder.path().join("shared.key");
    let keys: Vec<_> = std::thread::scope(|scope| {
        let load = || ProviderIdentity::load_or_create(&path).unwrap().public_key();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(load)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(keys.iter().all(|key| *key == keys[0]));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_link_to_a_file_elsewhere_is_followed() {
    let (folder, secrets) = (folder(), folder());
    let made = ProviderIdentity::load_or_create(secrets.path().join("real.key")).unwrap();
    let path = folder.path().join("link.key");
    symlink(secrets.path().join("real.key"), &path).unwrap();
    assert_eq!(ProviderIdentity::load_or_create(&path).unwrap().public_key(), made.public_key());
}

#[test]
fn a_debug_text_has_the_public_key_only() {
    let identity = ProviderIdentity::generate();
    assert_eq!(format!("{identity:?}"), format!("ProviderIdentity({:?})", identity.public_key()));
}
