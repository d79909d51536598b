//! The JSON Schemas, as they are published.

#[test]
fn the_bundle_is_the_one_on_record() {
    // Sorted, because the order of a map's keys depends on features that other crates of a build turn on.
    insta::with_settings!({ sort_maps => true }, {
        insta::assert_json_snapshot!(funduq_a2a::schema::bundle());
    });
}
