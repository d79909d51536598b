//! The promises of this crate, each file named for the one it keeps.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod arbitrary;
mod arbitrary_cards;
mod errors_have_their_codes_and_bodies;
mod faults_are_named_by_their_path;
mod hostile_bytes_never_panic;
mod json_equals_the_official_crates;
mod json_rpc_requests_are_understood;
mod messages_are_read_leniently;
mod messages_are_written_as_protojson;
mod required_members_are_required;
mod rest_requests_are_understood;
mod schemas_are_published;
mod the_card_serves_both_versions;
mod v03_json_rpc_is_spoken;
mod v03_rest_is_spoken;
