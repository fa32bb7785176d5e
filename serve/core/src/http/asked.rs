//! Questions of the page that name no document: search, and what differs.

use http::request::Parts;

use super::{
    Response,
    conditional::Tag,
    query::Query,
    rendered::json,
    respond::{Caching, Content, Facts, Media, respond},
};
use crate::{
    Error, HitKind, Match, Query as Search, Request, Result, Store,
    diff::{PairWindow, builds, functions},
    limits,
};

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
        Some("regex") => Match::Regex,
        Some(other) => {
            let allowed = "`exact`, `prefix`, `substring` or `regex`".to_owned();
            return Err(Error::BadReference { what: "a match", given: other.to_owned(), allowed });
        }
    };
    let kinds = kinds(&query)?;
    let limit = limit(&query, limits::RESULTS)?;
    let edition = request.edition(build).await?;
    let search = Search { text, matching, kinds: &kinds, limit, cursor: query.get("cursor") };
    let answer = request.search(&edition, &search).await?;
    rendered(parts, json(&answer))
}

/// What differs between two builds, or between two functions: `a` and `b` are builds, each with `:` and a function behind it or
/// both without.
pub(super) async fn diff<S: Store>(request: &mut Request<S>, parts: &Parts) -> Result<Response> {
    const ROUTE: &str = "diff";
    let takes = ["a", "b", "kind", "context", "cursor", "limit"];
    let query = Query::parse(parts.uri.query(), ROUTE, &takes)?;
    let refuse = |why: &str| Error::BadArguments { tool: ROUTE, why: why.to_owned() };
    let side = |name| query.get(name).ok_or_else(|| refuse("it needs `a` and `b`, the two builds"));
    let [a, b] = [side("a")?, side("b")?].map(|side| match side.split_once(':') {
        // No build id or edition has a `:` in it; names of functions do.
        Some((build, function)) => (build, Some(function)),
        None => (side, None),
    });
    let cursor = query.get("cursor");
    let (edition_a, edition_b) = (request.edition(a.0).await?, request.edition(b.0).await?);
    let bytes = match (a.1, b.1) {
        (Some(a), Some(b)) => {
            if query.get("kind").is_some() {
                return Err(refuse("`kind` is for builds"));
            }
            let (function_a, _) = request.function(&edition_a, a).await?;
            let (function_b, _) = request.function(&edition_b, b).await?;
            let limit = limit(&query, functions::MOST)?;
            let window = PairWindow { context: query.number("context")?, limit, cursor };
            json(&request.diff_functions((&edition_a, &function_a), (&edition_b, &function_b), window).await?)
        }
        (None, None) => {
            if query.get("context").is_some() {
                return Err(refuse("`context` is for functions"));
            }
            let limit = limit(&query, builds::MOST)?;
            json(&request.diff_builds(&edition_a, &edition_b, &kinds(&query)?, limit, cursor).await?)
        }
        _ => return Err(refuse("`a` and `b` name two builds, or two functions as `BUILD:FUNCTION`")),
    };
    rendered(parts, bytes)
}

/// The kinds of things that are asked for, with commas between them.
fn kinds(query: &Query) -> Result<Vec<HitKind>> {
    let named = query.get("kind").into_iter().flat_map(|kinds| kinds.split(','));
    named
        .map(|kind| {
            Ok(match kind {
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
            })
        })
        .collect()
}

fn limit(query: &Query, most: usize) -> Result<usize> {
    let limit = query.number("limit")?.map_or(most, |limit| limit as usize);
    if limit == 0 || limit > most {
        let allowed = format!("1 to {most}");
        return Err(Error::OutOfRange { what: "limit", given: limit.to_string(), allowed });
    }
    Ok(limit)
}

/// An answer whose tag is of its bytes: what it follows from is more than one edition.
fn rendered(parts: &Parts, bytes: Vec<u8>) -> Result<Response> {
    let (caching, tag) = (Caching::Rendered, Tag::of_bytes(&bytes));
    let facts = Facts { media: Media::Json, caching, tag, has_gzip: false, location: None, part: None };
    respond(parts, &facts, Content::Plain(bytes))
}
