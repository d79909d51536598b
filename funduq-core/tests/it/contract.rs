//! The published contract, replayed through the crate that core is built on.

use funduq_vectors::ContractCrate;

#[test]
fn every_row_of_the_published_contract_comes_out_as_published() {
    let vectors = funduq_vectors::vectors().unwrap();
    funduq_vectors::replay(&vectors, &ContractCrate).assert_clean();
}
