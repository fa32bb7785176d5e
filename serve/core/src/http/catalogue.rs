//! The catalogue: its pages as they are stored.

use elfscope_schema::{BuildId, Index, documents::schema, to_canonical};
use http::request::Parts;

use super::{
    Response,
    conditional::Tag,
    query::Query,
    respond::{Caching, Content, Facts, Media, respond},
};
use crate::{Error, Request, Result, Store};

/// `index.json` or one of its shards. What an archive that nothing was added to says is that it has no builds.
pub(super) async fn index<S: Store>(request: &mut Request<S>, parts: &Parts, path: &str) -> Result<Response> {
    Query::parse(parts.uri.query(), "the catalogue", &[])?;
    let bytes = match request.file_bytes(path).await? {
        Some(bytes) => bytes,
        None if path == "index.json" => {
            to_canonical(&Index { builds: Some(Vec::new()), schema: schema::INDEX.to_owned(), total: 0 })
        }
        None => {
            return Err(Error::NotFound {
                what: "page",
                given: path.to_owned(),
                place: "the catalogue".to_owned(),
                near: vec!["index.json".to_owned()],
                fix: Some(
                    "a small catalogue stands in `index.json`; pages say which digits follow".to_owned(),
                ),
            });
        }
    };
    changing(parts, bytes)
}

/// `current.json` of a build.
pub(super) async fn pointer<S: Store>(
    request: &mut Request<S>,
    parts: &Parts,
    build: &BuildId,
) -> Result<Response> {
    Query::parse(parts.uri.query(), "current.json", &[])?;
    match request.file_bytes(&format!("{build}/current.json")).await? {
        Some(bytes) => changing(parts, bytes),
        // Refused as everywhere.
        None => Err(match request.edition(build.as_str()).await {
            Err(error) => error,
            Ok(_) => Error::NotFound {
                what: "build",
                given: build.to_string(),
                place: "this archive".to_owned(),
                near: Vec::new(),
                fix: None,
            },
        }),
    }
}

/// A document that may be another one tomorrow: its tag is of its bytes.
fn changing(parts: &Parts, bytes: Vec<u8>) -> Result<Response> {
    let tag = Tag::of_bytes(&bytes);
    let caching = Caching::Catalogue;
    let facts = Facts { media: Media::Json, caching, tag, has_gzip: false, location: None, part: None };
    respond(parts, &facts, Content::Plain(bytes))
}
