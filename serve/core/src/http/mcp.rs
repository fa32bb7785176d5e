//! `POST /mcp`: the rules of the transport around [`crate::mcp`], for both eras.
//!
//! | asked | answered |
//! | --- | --- |
//! | a host or origin that isn't known | 403 |
//! | `OPTIONS` | 204: what a browser's client may send |
//! | any other method but `POST` | 405: there is no stream to get and no session to delete |
//! | a notification, also one that is too long | 202, nothing |
//! | a message that is too long | 413 |
//! | headers and message differ | 400, -32020 |
//! | no JSON, no message, no `_meta`, an unknown revision | 400 |
//! | an unknown method, of the modern era | 404, -32601 |
//! | all else, refusals of what was asked for too | 200 |

use http::{
    HeaderMap, Method, StatusCode,
    header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
        ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, CACHE_CONTROL, CONTENT_LENGTH,
        CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS,
    },
    request::Parts,
};

use super::{Body, MOST_BODY, Response, guard, refusal, respond::set};
use crate::{
    Error, Service, Store,
    mcp::{self, Asked, Era, Header, Id, Incoming, Kind, Refused, Reply},
};

/// Methods that there are.
const METHODS: &str = "POST, OPTIONS";
const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// Answers.
pub(super) async fn answer<S: Store>(service: &Service<S>, asked: &Parts, body: &[u8]) -> Response {
    let config = service.config();
    let known = guard::host(config, &asked.uri, &asked.headers)
        .and_then(|()| guard::origin(config, &asked.uri, &asked.headers));
    let mut response = match known {
        Err(error) => refusal::refuse(&error),
        Ok(()) if asked.method == Method::OPTIONS => preflight(),
        Ok(()) if asked.method == Method::POST => post(service, &asked.headers, body).await,
        Ok(()) => refusal::refuse(&Error::BadMethod { given: asked.method.to_string(), allowed: METHODS }),
    };
    let headers = response.headers_mut();
    set(headers, CACHE_CONTROL, "no-store");
    set(headers, ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    set(headers, ACCESS_CONTROL_EXPOSE_HEADERS, "mcp-session-id, retry-after");
    response
}

fn preflight() -> Response {
    let mut response = empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    set(headers, ALLOW, METHODS);
    set(headers, ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    let allowed = "content-type, accept, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id";
    set(headers, ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    set(headers, ACCESS_CONTROL_MAX_AGE, "86400");
    response
}

async fn post<S: Store>(service: &Service<S>, headers: &HeaderMap, body: &[u8]) -> Response {
    if body.len() > MOST_BODY {
        return match mcp::too_large(body) {
            Some(reply) => said(reply, StatusCode::PAYLOAD_TOO_LARGE),
            None => empty(StatusCode::ACCEPTED),
        };
    }
    let asked = match mcp::read(body) {
        Ok(Incoming::Silent) => return empty(StatusCode::ACCEPTED),
        Ok(Incoming::Asked(asked)) => asked,
        Err((id, refused)) => return refuse(id.as_ref(), &refused, Era::OLDER),
    };
    let named = text(headers, VERSION);
    let era = match named.and_then(|named| mcp::decide(&asked, Some(Header(named.as_deref())))) {
        Ok(era) => era,
        Err(refused) => return refuse(Some(&asked.id), &refused, Era::Modern),
    };
    if era == Era::Modern
        && let Err(refused) = headers_fit(headers, &asked)
    {
        return refuse(Some(&asked.id), &refused, era);
    }
    let reply = mcp::respond(service, &asked, era).await;
    let status = status(&reply);
    said(reply, status)
}

/// Whether the headers say what the message says: who routes by them must not be fooled.
fn headers_fit(headers: &HeaderMap, asked: &Asked) -> Result<(), Refused> {
    fits(headers, METHOD, &asked.method)?;
    let named = match asked.method.as_str() {
        "tools/call" | "prompts/get" => asked.text("name"),
        "resources/read" => asked.text("uri"),
        _ => None,
    };
    named.map_or(Ok(()), |named| fits(headers, NAME, named))
}

fn fits(headers: &HeaderMap, name: &str, expected: &str) -> Result<(), Refused> {
    match text(headers, name)? {
        None => Err(Refused::header(name, "it is missing")),
        Some(value) if value == expected => Ok(()),
        Some(_) => Err(Refused::header(name, "it says something else")),
    }
}

/// A header's value, from the form that carries any text too; refused where it stands twice or is none.
fn text(headers: &HeaderMap, name: &str) -> Result<Option<String>, Refused> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Refused::header(name, "it stands twice"));
    }
    let value = str::from_utf8(value.as_bytes()).map_err(|_bad| Refused::header(name, "it is no text"))?;
    let value = value.trim_matches([' ', '\t']);
    let Some(coded) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Ok(Some(value.to_owned()));
    };
    let decoded = mcp::base64_decode(coded).and_then(|bytes| String::from_utf8(bytes).ok());
    decoded.map(Some).ok_or_else(|| Refused::header(name, "it is no base64 of a text"))
}

fn status(reply: &Reply) -> StatusCode {
    match reply.refused {
        None => StatusCode::OK,
        Some(Kind::Method) if reply.era == Era::Modern => StatusCode::NOT_FOUND,
        Some(
            Kind::Parse
            | Kind::Invalid
            | Kind::Header
            | Kind::Capability
            | Kind::Version
            | Kind::Params { early: true },
        ) => StatusCode::BAD_REQUEST,
        Some(Kind::Method | Kind::Params { early: false } | Kind::NotFound | Kind::Archive) => StatusCode::OK,
    }
}

fn refuse(id: Option<&Id>, refused: &Refused, era: Era) -> Response {
    let reply = mcp::respond_refused(id, refused, era);
    let status = status(&reply);
    said(reply, status)
}

fn said(reply: Reply, status: StatusCode) -> Response {
    #[cfg(feature = "conformance")]
    if !reply.before.is_empty() {
        return stream(&reply);
    }
    let mut body = reply.message;
    body.push(b'\n');
    whole(body, "application/json", status)
}

/// Messages and the answer after them, as events.
#[cfg(feature = "conformance")]
fn stream(reply: &Reply) -> Response {
    let mut body = Vec::new();
    for message in reply.before.iter().chain([&reply.message]) {
        body.extend(b"event: message\ndata: ");
        body.extend(message);
        body.extend(b"\n\n");
    }
    whole(body, "text/event-stream", StatusCode::OK)
}

fn whole(body: Vec<u8>, media: &str, status: StatusCode) -> Response {
    let length = body.len().to_string();
    let mut response = http::Response::new(Body::Bytes(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    set(headers, CONTENT_TYPE, media);
    set(headers, CONTENT_LENGTH, &length);
    set(headers, X_CONTENT_TYPE_OPTIONS, "nosniff");
    response
}

fn empty(status: StatusCode) -> Response {
    let mut response = http::Response::new(Body::Bytes(Vec::new()));
    *response.status_mut() = status;
    response
}
