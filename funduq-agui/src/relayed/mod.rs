//! What funduq relays: kept as the bytes that came, read only where it decides.

mod event;
mod input;
mod legacy;
mod message;
mod resume;

pub use event::{MAX_EVENT_BYTES, MalformedEvent, Outcome, RelayedEvent, Terminal};
pub use input::{ForwardedProps, InvalidInput, MAX_INPUT_BYTES, RelayedInput};
pub use message::RelayedMessage;
pub use resume::RelayedResume;
