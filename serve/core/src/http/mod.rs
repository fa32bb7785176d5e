//! HTTP as a pure function: a request and a service in, a response out. Hosts only move bytes.
//!
//! | file | subject |
//! | --- | --- |
//! | `route` | what a path asks for |

use std::ops::Range;

use crate::{Service, Store};

/// A request as hosts give it: the body whole, at most [`MOST_BODY`] bytes of it read.
pub type Request = http::Request<Vec<u8>>;
/// A response as hosts send it.
pub type Response = http::Response<Body>;

/// Most bytes of a request's body. A host reads at most one more, so that what is too long is seen without reading it.
pub const MOST_BODY: usize = 64 * 1024;

/// The body of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// These bytes; none of them for a `HEAD` request, whose headers are those of `GET`.
    Bytes(Vec<u8>),
    /// A range of a stored file, for the host to stream: packs are larger than a request may hold.
    Stored {
        /// Its path in the store.
        path: String,
        /// Which of its bytes.
        range: Range<u64>,
    },
}

/// Answers `/archive`, `/buildid`, `/mcp` and `/healthz`; `None` for every other path, which is the host's static files'.
pub async fn answer<S: Store>(service: &Service<S>, request: Request) -> Option<Response> {
    let _ = (service, request);
    None
}
