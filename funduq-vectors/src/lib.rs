//! contract-vectors.json: its typed reader, its generator, and the replay that every suite calls.
