//! The reference host: the binary funduq, every socket, configuration and metrics.
