//! Each shape: the first byte picks one; what it takes it writes in a text that it takes again and writes the same.
#![no_main]

use funduq_vectors::shapes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &str)| {
    let (pick, text) = input;
    let shape = &shapes()[usize::from(pick) % shapes().len()];
    if let Ok(written) = shape.rewrite(text) {
        assert_eq!(shape.rewrite(&written).as_deref(), Ok(written.as_str()), "{}", shape.name);
    }
});
