//! Resources: documents of the archive by URI, and the page on how to use them.

use elfscope_schema::{FunctionKey, Index, Meta, Sha256Digest, documents::schema, to_canonical};
use serde_json::{Value, json};

use super::{
    base64,
    dispatch::{Answer, required},
    era::Era,
    message::Asked,
    refused::Refused,
};
use crate::{Edition, Error, Level, Request, Result, Service, Store, http::path, tools};

const READ_ME: &str = "elfscope://read-me";
const INDEX: &str = "archive://index";
const SCHEME: &str = "archive://";
const JSON: &str = "application/json";

/// Largest source that is read whole; a longer one is read in windows, by the tool.
const MOST_SOURCE: u64 = 256 * 1024;
/// How long clients may keep what never changes, and what does, in milliseconds.
const PINNED: u64 = 86_400_000;
const CHANGING: u64 = 60_000;

/// The templates: their URI, name, title, description and media type.
const TEMPLATES: [[&str; 5]; 3] = [
    [
        "archive://{build_id}/{edition}/meta",
        "meta",
        "What a binary is",
        "The document `meta.json` of one edition: machine, sections, libraries, counts, where each claim comes from.",
        JSON,
    ],
    [
        "archive://{build_id}/{edition}/fn/{key}",
        "fn",
        "A function's document",
        "The document `fn` of one function, as stored: names, rows, edges, frames. The key is one from a listing (1139-31); \
         a long function's further pages are `{key}.1`, `{key}.2`.",
        JSON,
    ],
    [
        "archive://{build_id}/{edition}/src/{+path}",
        "src",
        "A source file",
        "A published source as it is, by the path that the debug data cites. Longer than 256 KiB: use archive_source.",
        "text/plain",
    ],
];

/// Resources that are there whatever the archive holds.
pub(super) fn list() -> Vec<Value> {
    let all = [
        json!({
            "uri": READ_ME,
            "name": "read-me",
            "title": "How to use this server truthfully",
            "description": "One page: what the answers claim, where claims come from, what they don't say.",
            "mimeType": "text/markdown",
        }),
        json!({
            "uri": INDEX,
            "name": "index",
            "title": "The catalogue",
            "description": "The document `index.json`: the builds of the archive while they fit one page, and how many there are. \
                archive_lookup looks into larger ones.",
            "mimeType": JSON,
        }),
    ];
    #[cfg(feature = "conformance")]
    let all = all.into_iter().chain(super::fixtures::resources());
    all.into_iter().collect()
}

/// Templates of all the others.
pub(super) fn templates() -> Vec<Value> {
    let all = TEMPLATES.map(|[uri, name, title, description, media]| {
        json!({
            "uriTemplate": uri,
            "name": name,
            "title": title,
            "description": description,
            "mimeType": media,
        })
    });
    #[cfg(feature = "conformance")]
    let all = all.into_iter().chain(super::fixtures::templates());
    all.into_iter().collect()
}

/// Whether a template is one of ours.
pub(super) fn is_template(uri: &str) -> bool {
    TEMPLATES.iter().any(|template| template[0] == uri)
}

/// What a resource holds.
struct Content {
    media: &'static str,
    bytes: Vec<u8>,
    ttl: u64,
    /// How a source was verified, and the digest of its bytes.
    verified: Option<(Level, Sha256Digest)>,
}

impl Content {
    fn new(media: &'static str, bytes: Vec<u8>, ttl: u64) -> Self {
        Self { media, bytes, ttl, verified: None }
    }
}

/// Reads one.
pub(super) async fn read<S: Store>(service: &Service<S>, asked: &Asked, era: Era) -> Result<Answer, Refused> {
    let uri = required(asked, "uri")?;
    #[cfg(feature = "conformance")]
    if let Some(contents) = super::fixtures::read(uri) {
        return Ok(Answer::kept(json!({"contents": [contents]}), 0));
    }
    let content = content(service, uri).await.map_err(|error| Refused::resource(&error, uri, era))?;
    let mut contents = json!({"uri": uri, "mimeType": content.media});
    match String::from_utf8(content.bytes) {
        Ok(text) => contents["text"] = text.into(),
        Err(error) => contents["blob"] = base64::encode(error.as_bytes()).into(),
    }
    if let Some((level, sha256)) = content.verified {
        contents["_meta"] = json!({
            "elfscope/level": level.name(),
            "elfscope/note": level.about(None),
            "elfscope/sha256": sha256.to_string(),
        });
    }
    Ok(Answer::kept(json!({"contents": [contents]}), content.ttl))
}

async fn content<S: Store>(service: &Service<S>, uri: &str) -> Result<Content> {
    match uri {
        READ_ME => {
            let page = match tools::call(service, "read_me", Value::Null).await {
                Some(answered) => answered?.listing,
                None => return Err(unknown(uri)),
            };
            Ok(Content::new("text/markdown", page.into_bytes(), PINNED))
        }
        INDEX => {
            let nothing = || Index { builds: Some(Vec::new()), schema: schema::INDEX.to_owned(), total: 0 };
            let bytes = match service.request().index().await? {
                Some(index) => to_canonical(&*index),
                None => to_canonical(&nothing()),
            };
            Ok(Content::new(JSON, bytes, CHANGING))
        }
        _ => of_edition(service, uri).await,
    }
}

async fn of_edition<S: Store>(service: &Service<S>, uri: &str) -> Result<Content> {
    let mut parts = uri.strip_prefix(SCHEME).ok_or_else(|| unknown(uri))?.splitn(3, '/');
    let (Some(build), Some(edition), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(unknown(uri));
    };
    let decoded = |part: &str| path::decode(part.as_bytes(), false).map_err(|why| bad(uri, why));
    let (build, edition) = (decoded(build)?, decoded(edition)?);
    let mut request = service.request();
    let edition = request.edition(&format!("{build}/{edition}")).await?;
    match rest.split_once('/') {
        None if rest == "meta" => {
            let path = format!("{}/meta.json", edition.folder());
            let meta = request.document::<Meta>(&path).await?;
            let meta = meta.ok_or(Error::Damaged { path, expected: "what the binary is", source: None })?;
            Ok(Content::new(JSON, to_canonical(&*meta), PINNED))
        }
        Some(("fn", key)) => function(&mut request, &edition, &decoded(key)?).await,
        Some(("src", path)) => source(&mut request, &edition, &decoded(path)?).await,
        _ => Err(unknown(uri)),
    }
}

async fn function<S: Store>(request: &mut Request<S>, edition: &Edition, text: &str) -> Result<Content> {
    let numbered = text.rsplit_once('.').and_then(|(key, page)| {
        key.parse::<FunctionKey>().ok()?;
        Some((key, page.parse::<u32>().ok()?))
    });
    let (key, page) = numbered.unwrap_or((text, 0));
    let (entry, _) = request.function(edition, key).await?;
    let first = request.function_page(edition, &entry, 0).await?;
    if page >= first.pages {
        let allowed = format!("0 to {}", first.pages.saturating_sub(1));
        return Err(Error::OutOfRange { what: "page", given: page.to_string(), allowed });
    }
    let found = if page == 0 { first } else { request.function_page(edition, &entry, page).await? };
    Ok(Content::new(JSON, to_canonical(&*found), PINNED))
}

async fn source<S: Store>(request: &mut Request<S>, edition: &Edition, path: &str) -> Result<Content> {
    let file = request.source(edition, path).await?;
    let level = Level::of(edition, file.level, file.tree, &file.also);
    let (Some(sha256), Some(lines)) = (file.sha256, &file.lines) else {
        return Err(Error::NotPublished {
            path: file.path.text().to_owned(),
            level,
            mismatch: file.mismatch,
        });
    };
    if lines.bytes > MOST_SOURCE {
        return Err(Error::OutOfRange {
            what: "a source's size to be read whole,",
            given: lines.bytes.to_string(),
            allowed: format!("0 to {MOST_SOURCE} bytes; archive_source reads it in windows"),
        });
    }
    let bytes = request.source_bytes(sha256, 0, lines.bytes).await?;
    if Sha256Digest::of(&bytes) != sha256 {
        let path = format!("src/{sha256}");
        return Err(Error::Damaged { path, expected: "the source that the edition publishes", source: None });
    }
    Ok(Content { verified: Some((level, sha256)), ..Content::new("text/plain", bytes, PINNED) })
}

fn unknown(uri: &str) -> Error {
    let mut near = vec![READ_ME.to_owned(), INDEX.to_owned()];
    near.extend(TEMPLATES.iter().map(|template| template[0].to_owned()));
    Error::NotFound {
        what: "resource",
        given: uri.to_owned(),
        place: "this server".to_owned(),
        near,
        fix: Some("read one of these; archive_lookup tells build ids and editions".to_owned()),
    }
}

fn bad(uri: &str, why: &'static str) -> Error {
    Error::BadPath { given: uri.to_owned(), why }
}
