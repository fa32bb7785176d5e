//! HTTP as a pure function: a request and a service in, a response out. Hosts only move bytes.
//!
//! | file | subject |
//! | --- | --- |
//! | `guard` | who may ask: hosts and origins |
//! | `path`, `query` | URLs, decoded, hostile ones refused |
//! | `route` | what a path asks for |
//! | `edition` | an edition's paths: pinned ones, tags, which answer |
//! | `catalogue` | the catalogue's pages |
//! | `asked` | search, what differs |
//! | `stored` | documents as they are |
//! | `rendered` | what is made of them |
//! | `sources` | sources, debuginfod's route among them |
//! | `mcp` | the rules of the transport around [`crate::mcp`] |
//! | `respond` | conditions, forms, ranges, headers |
//! | `conditional`, `negotiate`, `range` | one part of HTTP each |
//! | `refusal` | refusals |
//!
//! The tag of a stored document is a digest of its edition and path, so that what a client has already is known before a pack is
//! read. Document bytes are never written again: a client that accepts gzip gets the stored member.

mod asked;
mod catalogue;
mod conditional;
mod edition;
pub mod guard;
mod mcp;
mod negotiate;
pub(crate) mod path;
mod query;
mod range;
mod refusal;
mod rendered;
mod respond;
mod route;
mod sources;
mod stored;

use std::ops::Range;

use http::{
    Method, StatusCode,
    header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_MAX_AGE, ALLOW,
        CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE,
    },
    request::Parts,
};

use self::route::{Area, Route};
use crate::{Error, Result, Service, Store, limits, request::Request as Question};

/// A request as hosts give it: the body whole, at most one byte more than [`limits::BODY`] of it read.
pub type Request = http::Request<Vec<u8>>;
/// A response as hosts send it. What it cost is among its extensions, as a [`crate::Budget`].
pub type Response = http::Response<Body>;

/// Most bytes of a request's body. A host reads at most one more, so that what is too long is seen without reading it.
pub const MOST_BODY: usize = limits::BODY;

/// The methods of all that is read.
const METHODS: &str = "GET, HEAD, OPTIONS";

/// The body of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// These bytes; none of them for a `HEAD` request, whose headers are those of `GET`.
    Bytes(Vec<u8>),
    /// A range of a stored file, for the host to stream: it may be larger than a request may hold. Up to `u64::MAX` it goes to the
    /// file's end, wherever that is.
    Stored {
        /// Its path in the store.
        path: String,
        /// Which of its bytes.
        range: Range<u64>,
    },
}

impl Body {
    /// How many bytes it has.
    fn size(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Stored { range, .. } => range.end - range.start,
        }
    }

    /// A part of it, which it has.
    fn cut(self, part: Range<u64>) -> Self {
        match self {
            Self::Bytes(mut bytes) => {
                let at = |place: u64| usize::try_from(place).unwrap_or(usize::MAX).min(bytes.len());
                let (start, end) = (at(part.start), at(part.end));
                bytes.truncate(end);
                bytes.drain(..start);
                Self::Bytes(bytes)
            }
            Self::Stored { path, range } => {
                Self::Stored { path, range: range.start + part.start..range.start + part.end }
            }
        }
    }
}

/// Answers `/archive`, `/buildid`, `/mcp` and `/healthz`, and refuses hosts that aren't this one; `None` for every other path, which
/// is the host's static files'.
pub async fn answer<S: Store>(service: &Service<S>, request: Request) -> Option<Response> {
    let (parts, body) = request.into_parts();
    if parts.uri.path() == "/mcp" {
        return Some(mcp::answer(service, &parts, &body).await);
    }
    let area = Area::of(parts.uri.path());
    if area != Some(Area::Health)
        && let Err(error) = guard::host(service.config(), &parts.uri, &parts.headers)
    {
        return Some(refusal::refuse(&error));
    }
    let area = area?;
    let mut question = service.request();
    let answered = match check(&parts, &body) {
        Ok(()) if parts.method == Method::OPTIONS => Ok(options()),
        Ok(()) => dispatch(&mut question, &parts, area).await,
        Err(error) => Err(error),
    };
    let mut response = answered.unwrap_or_else(|error| refusal::refuse(&error));
    respond::share(&mut response);
    if parts.method == Method::HEAD {
        *response.body_mut() = Body::Bytes(Vec::new());
    }
    response.extensions_mut().insert(question.budget());
    Some(response)
}

async fn dispatch<S: Store>(question: &mut Question<S>, parts: &Parts, area: Area) -> Result<Response> {
    match Route::parse(area, parts.uri.path())? {
        Route::Health => Ok(healthy()),
        Route::Index(path) => catalogue::index(question, parts, &path).await,
        Route::Search => asked::search(question, parts).await,
        Route::Diff => asked::diff(question, parts).await,
        Route::Pointer(build) => catalogue::pointer(question, parts, &build).await,
        Route::Edition(asked) => edition::answer(question, parts, &asked).await,
        Route::Unnamed(text) => Err(edition::unnamed(question, &text).await),
    }
}

/// What no route takes.
fn check(parts: &Parts, body: &[u8]) -> Result<()> {
    if ![Method::GET, Method::HEAD, Method::OPTIONS].contains(&parts.method) {
        return Err(Error::BadMethod { given: parts.method.to_string(), allowed: METHODS });
    }
    if body.len() > limits::BODY {
        return Err(Error::InputTooLarge { what: "the body", limit: limits::BODY });
    }
    Ok(())
}

fn options() -> Response {
    let mut response = http::Response::new(Body::Bytes(Vec::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    respond::set(headers, ALLOW, METHODS);
    respond::set(headers, ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    respond::set(headers, ACCESS_CONTROL_ALLOW_HEADERS, "if-match, if-none-match, if-range, range");
    respond::set(headers, ACCESS_CONTROL_MAX_AGE, "86400");
    response
}

fn healthy() -> Response {
    let mut response = http::Response::new(Body::Bytes(b"ok\n".to_vec()));
    let headers = response.headers_mut();
    respond::set(headers, CONTENT_TYPE, "text/plain; charset=utf-8");
    respond::set(headers, CONTENT_LENGTH, "3");
    respond::set(headers, CACHE_CONTROL, "no-store");
    response
}
