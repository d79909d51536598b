//! Token usage, as a run's end reports it.

use crate::wire::wire_object;

wire_object! {
    /// Token counts of one model. `inputTokens` and `outputTokens` are the totals;
    /// the other counts are parts of them, or their sum.
    TokenUsage {
        required {}
        optional {
            /// The model provider; absent when not told.
            provider: String = "provider",
            /// The model; absent when not told.
            model: String = "model",
            /// All tokens that went in, cached ones too; absent when not counted.
            input_tokens: u64 = "inputTokens",
            /// All tokens that came out, reasoning too; absent when not counted.
            output_tokens: u64 = "outputTokens",
            /// In and out together; absent when not counted.
            total_tokens: u64 = "totalTokens",
            /// Of those that came out, the reasoning; absent when not counted.
            reasoning_tokens: u64 = "reasoningTokens",
            /// Of those that went in, the ones read from a cache; absent when not counted.
            cached_input_tokens: u64 = "cachedInputTokens",
            /// Of those that went in, the ones written to a cache; absent when not counted.
            cache_write_input_tokens: u64 = "cacheWriteInputTokens",
        }
    }
}
