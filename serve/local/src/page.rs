//! The web page's files: part of the program, so that it is one file to bring.

use std::{collections::BTreeMap, sync::Arc};

use axum::body::{Body, Bytes};
use http::{
    HeaderMap, HeaderValue, Method, Response, StatusCode,
    header::{
        ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH, X_CONTENT_TYPE_OPTIONS,
    },
};
use include_dir::{Dir, include_dir};
use sha2::{Digest as _, Sha256};

use crate::headers::Rules;

static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../page");
/// The file that says which headers the others get.
const HEADERS: &str = "_headers";

/// Media types by what a file's name ends in.
const TYPES: [(&str, &str); 9] = [
    ("html", "text/html; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("txt", "text/plain; charset=utf-8"),
    ("woff2", "font/woff2"),
];

/// The files by their paths.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    files: Arc<BTreeMap<String, Served>>,
    rules: Rules,
}

#[derive(Clone, Debug)]
struct Served {
    bytes: &'static [u8],
    media: &'static str,
    tag: HeaderValue,
}

impl Page {
    /// The files that the program was built with.
    pub(crate) fn embedded() -> Self {
        let mut files = BTreeMap::new();
        collect(&FILES, &mut files);
        let rules = FILES.get_file(HEADERS).and_then(|file| file.contents_utf8()).unwrap_or_default();
        Self { files: Arc::new(files), rules: Rules::parse(rules) }
    }

    /// Answers for a path that the core has no answer for.
    pub(crate) fn answer(&self, method: &Method, path: &str, asked: &HeaderMap) -> Response<Body> {
        let mut response = Response::new(Body::empty());
        let headers = response.headers_mut();
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        let is_head = *method == Method::HEAD;
        let text = |mut response: Response<Body>, status, text: &'static str| {
            *response.status_mut() = status;
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
            headers.insert(CONTENT_LENGTH, HeaderValue::from(text.len()));
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            *response.body_mut() = if is_head { Body::empty() } else { Body::from(text) };
            response
        };
        if !is_head && *method != Method::GET {
            headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return text(response, StatusCode::METHOD_NOT_ALLOWED, "this path can only be read\n");
        }
        let name = match path {
            _ if path.ends_with('/') => format!("{path}index.html"),
            _ => path.to_owned(),
        };
        let Some(file) = self.files.get(&name) else {
            return text(
                response,
                StatusCode::NOT_FOUND,
                "there is no such page; the archive is at /archive/index.json\n",
            );
        };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(file.media));
        // The program may be another one tomorrow: asked again each time, and answered by the tag.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(ETAG, file.tag.clone());
        self.rules.apply(path, headers);
        let given = asked.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
        let tag = file.tag.to_str().unwrap_or_default();
        if given
            .flat_map(|list| list.split(','))
            .any(|item| matches!(item.trim(), "*") || item.trim().trim_start_matches("W/") == tag)
        {
            headers.remove(CONTENT_TYPE);
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return response;
        }
        headers.insert(CONTENT_LENGTH, HeaderValue::from(file.bytes.len()));
        if !is_head {
            *response.body_mut() = Body::from(Bytes::from_static(file.bytes));
        }
        response
    }
}

fn collect(folder: &Dir<'static>, files: &mut BTreeMap<String, Served>) {
    for file in folder.files() {
        let path = file.path().to_string_lossy().into_owned();
        if path == HEADERS {
            continue;
        }
        let end = path.rsplit_once('.').map_or("", |(_, end)| end);
        let media = TYPES
            .iter()
            .find(|(known, _)| *known == end)
            .map_or("application/octet-stream", |(_, media)| media);
        let digest: String =
            Sha256::digest(file.contents()).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let tag = HeaderValue::try_from(format!("\"{digest}\"")).unwrap_or(HeaderValue::from_static("\"\""));
        files.insert(format!("/{path}"), Served { bytes: file.contents(), media, tag });
    }
    for folder in folder.dirs() {
        collect(folder, files);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_by_their_paths() {
        let page = Page::embedded();
        let ask = |method: Method, path: &str, tag: Option<&HeaderValue>| {
            let mut headers = HeaderMap::new();
            if let Some(tag) = tag {
                headers.insert(IF_NONE_MATCH, tag.clone());
            }
            page.answer(&method, path, &headers)
        };
        let root = ask(Method::GET, "/", None);
        assert_eq!(
            (root.status().as_u16(), root.headers()[CONTENT_TYPE].to_str().unwrap()),
            (200, "text/html; charset=utf-8")
        );
        assert!(root.headers().contains_key("content-security-policy"), "`_headers` is read");
        assert_eq!(ask(Method::GET, "/", root.headers().get(ETAG)).status(), 304);
        assert_eq!(
            ask(Method::HEAD, "/index.html", None).headers()[CONTENT_LENGTH],
            root.headers()[CONTENT_LENGTH]
        );
        for (method, path, status) in [
            (Method::GET, "/_headers", 404),
            (Method::GET, "/nothing", 404),
            (Method::GET, "/../Cargo.toml", 404),
            (Method::POST, "/", 405),
        ] {
            assert_eq!(ask(method, path, None).status(), status, "{path}");
        }
    }
}
