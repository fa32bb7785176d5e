//! One request: from the wire to the core and back, timed and logged.

use std::{pin::pin, sync::Arc, time::Instant};

use axum::{body::Body, extract::State};
use elfscope_core::{
    Service,
    http::{self as core, MOST_BODY},
};
use http::{Request, Response, StatusCode};
use http_body::Body as _;
use tokio::time::timeout;

use crate::{FolderStore, Limits, Log, log::Line, page::Page, stream};

/// What all requests share.
pub(crate) struct Shared {
    pub(crate) service: Service<FolderStore>,
    pub(crate) store: FolderStore,
    pub(crate) page: Page,
    pub(crate) limits: Limits,
    pub(crate) log: Log,
}

/// Answers one request.
pub(crate) async fn answer(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response<Body> {
    let start = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let response = respond(&shared, request).await;
    let size = response.headers().get(http::header::CONTENT_LENGTH);
    let bytes = size.and_then(|size| size.to_str().ok()?.parse().ok());
    shared.log.line(Line {
        method: method.to_string(),
        path,
        status: response.status().as_u16(),
        bytes: bytes.or_else(|| response.body().size_hint().exact()),
        time: start.elapsed(),
    });
    response
}

async fn respond(shared: &Shared, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let Ok(read) = timeout(shared.limits.body, whole(body)).await else {
        return plain(StatusCode::REQUEST_TIMEOUT, "the request's body took too long\n");
    };
    let Some(bytes) = read else {
        return plain(StatusCode::BAD_REQUEST, "the request's body can't be read\n");
    };
    let (method, uri, headers) = (parts.method.clone(), parts.uri.clone(), parts.headers.clone());
    let response = match core::answer(&shared.service, Request::from_parts(parts, bytes)).await {
        Some(response) => response,
        None => return shared.page.answer(&method, uri.path(), &headers),
    };
    let (parts, body) = response.into_parts();
    match body {
        core::Body::Bytes(bytes) => Response::from_parts(parts, Body::from(bytes)),
        core::Body::Stored { path, range } => {
            match stream::open(&shared.store, path, range, shared.limits.piece).await {
                Some(body) => Response::from_parts(parts, body),
                None => plain(StatusCode::INTERNAL_SERVER_ERROR, "a stored file is missing\n"),
            }
        }
    }
}

/// Most bytes of a body that are read and not held: a client that is still sending when it is refused often never reads why,
/// and its connection is lost.
const MOST_PASSED: usize = 1024 * 1024;

/// A body, or one byte more than it may have; none where the client broke off.
async fn whole(body: Body) -> Option<Vec<u8>> {
    let mut body = pin!(body);
    let mut bytes = Vec::new();
    let mut passed = 0;
    while passed <= MOST_PASSED {
        let Some(frame) = std::future::poll_fn(|context| body.as_mut().poll_frame(context)).await else {
            break;
        };
        if let Ok(data) = frame.ok()?.into_data() {
            passed += data.len();
            bytes.extend_from_slice(&data[..data.len().min(MOST_BODY + 1 - bytes.len())]);
        }
    }
    Some(bytes)
}

/// A refusal that the core never sees.
fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(http::header::CACHE_CONTROL, http::HeaderValue::from_static("no-store"));
    response
}
