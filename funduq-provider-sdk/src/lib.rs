//! What a provider's author uses to put an agent online behind funduq.
