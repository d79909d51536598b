//! Who is at a caller's door: the one place that says which key a request comes from.

use funduq_contract::PublicKey;
use http::HeaderValue;
use http::request::Parts;

use super::error::ApiError;

/// The key that the transport has authenticated as the one who makes this request; `None` for a caller without one.
///
/// This gateway knows no way yet for a caller to prove a key, so everybody is a caller without one and a chain is
/// refused for want of a presenter.
///
/// # Errors
/// A credential that does not hold is refused and never taken for none.
pub(crate) fn presenter(_request: &Parts) -> Result<Option<PublicKey>, ApiError> {
    Ok(None)
}

/// What a caller is told who would have to prove a key.
pub(crate) fn challenge() -> HeaderValue {
    HeaderValue::from_static("Funduq-Presenter realm=\"funduq\"")
}
