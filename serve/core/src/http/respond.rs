//! From what a route found to a response: conditions, the form that is sent, one range of it, and the headers of all that.

use http::{
    HeaderName, HeaderValue, StatusCode,
    header::{
        ACCEPT_RANGES, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL,
        CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_LOCATION, CONTENT_RANGE, CONTENT_SECURITY_POLICY,
        CONTENT_TYPE, ETAG, VARY, X_CONTENT_TYPE_OPTIONS,
    },
    request::Parts,
};

use super::{
    Body, Response,
    conditional::{Said, Tag, must_match, none_match},
    negotiate, range, refusal,
};
use crate::{Error, Result, inflate::inflated};

/// The headers beside the common ones that pages of other origins may read.
const EXPOSED: &str =
    "etag, content-length, content-location, content-range, accept-ranges, elfscope-rows, elfscope-lines";

/// How long an answer stays right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caching {
    /// What a pinned path names: for ever.
    Pinned,
    /// What stands at the path of the current edition.
    Current,
    /// The catalogue, and pointers.
    Catalogue,
    /// What this version of the program renders.
    Rendered,
}

impl Caching {
    fn header(self) -> &'static str {
        match self {
            Self::Pinned => "max-age=31536000, immutable",
            Self::Current => "max-age=300, stale-while-revalidate=86400",
            Self::Catalogue => "max-age=60",
            Self::Rendered => "max-age=300",
        }
    }
}

/// What kind of bytes they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Media {
    Json,
    /// What a stranger wrote, or what is shown of it.
    Text,
    Gzip,
    Bytes,
}

impl Media {
    fn header(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Text => "text/plain; charset=utf-8",
            Self::Gzip => "application/gzip",
            Self::Bytes => "application/octet-stream",
        }
    }
}

/// What is known of an answer before its bytes are read.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) media: Media,
    pub(super) caching: Caching,
    pub(super) tag: Tag,
    /// Whether it is stored as gzip too.
    pub(super) has_gzip: bool,
    /// The pinned path of what stands at the path of the current edition.
    pub(super) location: Option<String>,
    /// Which part of a whole it is: a header's name, and what it says.
    pub(super) part: Option<(&'static str, String)>,
}

/// The bytes of an answer.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// As they are.
    Plain(Vec<u8>),
    /// A gzip member of the pack at this path.
    Member { path: String, bytes: Vec<u8> },
    /// A stored file of this size, too large to be held.
    File { path: String, size: u64 },
    /// A stored file of unknown size.
    Endless { path: String },
}

/// The answer that nothing changed, where that is so whatever the bytes are: before any of them is read.
pub(super) fn unchanged(asked: &Parts, facts: &Facts) -> Option<Response> {
    match (must_match(&asked.headers, &[]), none_match(&asked.headers, &tags(facts))) {
        (Said::Nothing, Said::Has(tag)) => Some(not_modified(facts, &tag)),
        _ => None,
    }
}

/// The answer.
pub(super) fn respond(asked: &Parts, facts: &Facts, content: Content) -> Result<Response> {
    let identity = facts.tag.identity();
    let must = must_match(&asked.headers, &tags(facts));
    if must == Said::Other {
        let given = asked.headers.get(http::header::IF_MATCH);
        let given = given.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        return Err(Error::Changed { given: given.unwrap_or_default(), allowed: identity });
    }
    match none_match(&asked.headers, &tags(facts)) {
        Said::Has(tag) => return Ok(not_modified(facts, &tag)),
        Said::Any => return Ok(not_modified(facts, &identity)),
        Said::Nothing | Said::Other => {}
    }
    let by_range = asked.method == http::Method::GET && range::is_asked(&asked.headers, &identity);
    let mut response = http::Response::new(Body::Bytes(Vec::new()));
    let headers = response.headers_mut();
    common(headers, facts);
    let whole = match content {
        Content::Member { bytes, .. } if !by_range && negotiate::takes_gzip(&asked.headers) => {
            set(headers, ETAG, &facts.tag.gzip());
            set(headers, CONTENT_ENCODING, "gzip");
            set(headers, CONTENT_LENGTH, &bytes.len().to_string());
            *response.body_mut() = Body::Bytes(bytes);
            return Ok(response);
        }
        Content::Member { path, bytes } => Body::Bytes(inflated(&bytes, &path)?),
        Content::Plain(bytes) => Body::Bytes(bytes),
        Content::File { path, size } => Body::Stored { path, range: 0..size },
        Content::Endless { path } => {
            set(headers, ETAG, &identity);
            set(headers, ACCEPT_RANGES, "none");
            *response.body_mut() = Body::Stored { path, range: 0..u64::MAX };
            return Ok(response);
        }
    };
    set(headers, ETAG, &identity);
    set(headers, ACCEPT_RANGES, "bytes");
    let size = whole.size();
    let part = if by_range { range::of(&asked.headers, size) } else { range::Asked::Whole };
    match part {
        range::Asked::Whole => {
            set(headers, CONTENT_LENGTH, &size.to_string());
            *response.body_mut() = whole;
        }
        range::Asked::Part(part) => {
            let told = format!("bytes {}-{}/{size}", part.start, part.end - 1);
            set(headers, CONTENT_RANGE, &told);
            set(headers, CONTENT_LENGTH, &(part.end - part.start).to_string());
            *response.body_mut() = whole.cut(part);
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        }
        range::Asked::Outside => {
            let given = asked.headers.get(http::header::RANGE);
            let given = given.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
            let allowed = format!("the {size} bytes of the identity form");
            let error = Error::OutOfRange { what: "range", given: given.unwrap_or_default(), allowed };
            let mut refused = refusal::with_status(&error, StatusCode::RANGE_NOT_SATISFIABLE);
            set(refused.headers_mut(), CONTENT_RANGE, &format!("bytes */{size}"));
            return Ok(refused);
        }
    }
    Ok(response)
}

/// What may be read by pages of any origin: the archive says nothing to one that it doesn't say to all.
pub(super) fn share(response: &mut Response) {
    set(response.headers_mut(), ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    set(response.headers_mut(), ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
}

/// Sets a header; what can't stand in one is left out.
pub(super) fn set(headers: &mut http::HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

fn not_modified(facts: &Facts, tag: &str) -> Response {
    let mut response = http::Response::new(Body::Bytes(Vec::new()));
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    let headers = response.headers_mut();
    common(headers, facts);
    headers.remove(CONTENT_TYPE);
    set(headers, ETAG, tag);
    response
}

fn common(headers: &mut http::HeaderMap, facts: &Facts) {
    set(headers, CONTENT_TYPE, facts.media.header());
    set(headers, CACHE_CONTROL, facts.caching.header());
    set(headers, X_CONTENT_TYPE_OPTIONS, "nosniff");
    if facts.media == Media::Text {
        set(headers, CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'");
    }
    if facts.has_gzip {
        set(headers, VARY, "Accept-Encoding");
    }
    if let Some(location) = &facts.location {
        set(headers, CONTENT_LOCATION, location);
    }
    if let Some((name, said)) = &facts.part {
        set(headers, HeaderName::from_static(name), said);
    }
}

fn tags(facts: &Facts) -> Vec<String> {
    let mut tags = vec![facts.tag.identity()];
    tags.extend(facts.has_gzip.then(|| facts.tag.gzip()));
    tags
}
