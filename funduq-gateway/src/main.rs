//! The binary `funduq`.
fn main() {}
