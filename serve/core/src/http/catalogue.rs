//! The catalogue: its pages as they are stored, and search.

use elfscope_schema::{BuildId, Index, documents::schema, to_canonical};
use http::request::Parts;

use super::{
    Response,
    conditional::Tag,
    query::Query,
    rendered::json,
    respond::{Caching, Content, Facts, Media, respond},
};
use crate::{Error, HitKind, Match, Query as Search, Request, Result, Store, limits};

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

/// What is found in one build.
pub(super) async fn search<S: Store>(request: &mut Request<S>, parts: &Parts) -> Result<Response> {
    const ROUTE: &str = "search";
    let takes = ["q", "match", "kind", "build", "cursor", "limit"];
    let query = Query::parse(parts.uri.query(), ROUTE, &takes)?;
    let refuse = |why: &str| Error::BadArguments { tool: ROUTE, why: why.to_owned() };
    let text = query.get("q").ok_or_else(|| refuse("it needs `q`, what is looked for"))?;
    let build = query.get("build").ok_or_else(|| refuse("it needs `build`, where to look"))?;
    let matching = match query.get("match") {
        None | Some("substring") => Match::Substring,
        Some("exact") => Match::Exact,
        Some("prefix") => Match::Prefix,
        Some(other) => {
            let allowed = "`exact`, `prefix` or `substring`".to_owned();
            return Err(Error::BadReference { what: "a match", given: other.to_owned(), allowed });
        }
    };
    let mut kinds = Vec::new();
    for kind in query.get("kind").into_iter().flat_map(|kinds| kinds.split(',')) {
        kinds.push(match kind {
            "function" => HitKind::Function,
            "data" => HitKind::Data,
            "tls" => HitKind::Tls,
            "import" => HitKind::Import,
            "string" => HitKind::String,
            "source" => HitKind::Source,
            other => {
                let allowed = "`function`, `data`, `tls`, `import`, `string`, `source`".to_owned();
                return Err(Error::BadReference { what: "a kind", given: other.to_owned(), allowed });
            }
        });
    }
    let limit = query.number("limit")?.map_or(limits::RESULTS, |limit| limit as usize);
    if limit == 0 || limit > limits::RESULTS {
        let allowed = format!("1 to {}", limits::RESULTS);
        return Err(Error::OutOfRange { what: "limit", given: limit.to_string(), allowed });
    }
    let edition = request.edition(build).await?;
    let search = Search { text, matching, kinds: &kinds, limit, cursor: query.get("cursor") };
    let answer = request.search(&edition, &search).await?;
    let bytes = json(&answer);
    let tag = Tag::of_bytes(&bytes);
    respond(parts, &facts(Caching::Rendered, tag), Content::Plain(bytes))
}

/// A document that may be another one tomorrow: its tag is of its bytes.
fn changing(parts: &Parts, bytes: Vec<u8>) -> Result<Response> {
    let tag = Tag::of_bytes(&bytes);
    respond(parts, &facts(Caching::Catalogue, tag), Content::Plain(bytes))
}

fn facts(caching: Caching, tag: Tag) -> Facts {
    Facts { media: Media::Json, caching, tag, has_gzip: false, location: None, part: None }
}
