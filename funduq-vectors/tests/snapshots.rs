//! Every published schema and the whole published surface, as a reviewer sees them change.

use funduq_vectors::{generate, shapes, surface};

#[test]
fn the_published_surface() {
    let surface = surface();
    insta::assert_json_snapshot!("surface", surface);
}

#[test]
fn the_schema_of_each_shape() {
    let schemas = generate().schemas;
    for shape in shapes() {
        insta::assert_json_snapshot!(format!("schema_{}", shape.name), schemas[shape.name]);
    }
}
