//! A record that is damaged, as the one who runs a gateway is told of it.

use std::io::{Seek, SeekFrom, Write};

use tokio::time::timeout;

use crate::support::{SOON, funduq};

#[tokio::test]
async fn a_damaged_record_is_named_with_what_helps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.sqlite");
    drop(funduq_core::SqliteStore::open(&path, funduq_core::Durability::Process).unwrap());
    let check = async |file: &str| {
        let output = timeout(SOON, funduq(folder.path(), &["check", file]).output()).await.unwrap().unwrap();
        let said = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap()).concat();
        (output.status.success(), said)
    };
    let (is_whole, said) = check("copy.sqlite").await;
    assert!(is_whole && said.contains("the record is whole"), "{said}");
    let (is_whole, said) = check("missing.sqlite").await;
    assert!(!is_whole && said.contains("there is no record at missing.sqlite"), "{said}");
    // The second page is that of a table, the first has what all the others are.
    for place in [4096, 100] {
        let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.seek(SeekFrom::Start(place)).unwrap();
        file.write_all(&[0xff; 500]).unwrap();
        let (is_whole, said) = check("copy.sqlite").await;
        assert!(!is_whole && said.contains("copy.sqlite") && said.contains("restore a backup"), "{said}");
        assert!(!said.contains("is whole\n"), "{said}");
    }
}
