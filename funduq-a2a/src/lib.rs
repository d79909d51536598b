//! A2A 1.0 wire models, error types and operation names, and the 0.3 shapes with their conversion.
