//! Refusals as responses: JSON, never stored by anyone on the way.

use http::{
    StatusCode,
    header::{ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS},
};

use super::{Body, Response, respond::set};
use crate::Error;

/// The response that a refusal is.
pub(super) fn refuse(error: &Error) -> Response {
    let mut response = with_status(error, status(error));
    if let Error::BadMethod { allowed, .. } = error {
        set(response.headers_mut(), ALLOW, allowed);
    }
    response
}

/// A refusal under a status of its own.
pub(super) fn with_status(error: &Error, status: StatusCode) -> Response {
    let mut bytes = serde_json::to_vec(&error.refusal()).unwrap_or_default();
    bytes.push(b'\n');
    let length = bytes.len().to_string();
    let mut response = http::Response::new(Body::Bytes(bytes));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    set(headers, CONTENT_TYPE, "application/json");
    set(headers, CONTENT_LENGTH, &length);
    set(headers, CACHE_CONTROL, "no-store");
    set(headers, X_CONTENT_TYPE_OPTIONS, "nosniff");
    response
}

/// The status of a refusal: 5xx only where the archive is at fault.
fn status(error: &Error) -> StatusCode {
    match error {
        Error::NotFound { .. } | Error::NotPublished { .. } | Error::WrongKind { .. } => {
            StatusCode::NOT_FOUND
        }
        Error::Ambiguous { .. } => StatusCode::MULTIPLE_CHOICES,
        Error::Gone { .. } => StatusCode::GONE,
        Error::Forbidden { .. } => StatusCode::FORBIDDEN,
        Error::BadMethod { .. } => StatusCode::METHOD_NOT_ALLOWED,
        Error::Changed { .. } => StatusCode::PRECONDITION_FAILED,
        Error::InputTooLarge { what: "the path" | "a parameter", .. } => StatusCode::URI_TOO_LONG,
        Error::InputTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        Error::TooLarge { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        // Asked for more than one question may cost.
        Error::OverBudget { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        Error::Store { .. } => StatusCode::SERVICE_UNAVAILABLE,
        Error::Damaged { .. } | Error::Unsupported { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    }
}
