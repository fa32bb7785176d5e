//! What is asked of an edition: its pinned path, its tag, and which answer.

use http::request::Parts;

use super::{
    Response,
    conditional::Tag,
    query::Query,
    rendered,
    respond::{Caching, Content, Facts, Media, respond, unchanged},
    route::{Asked, What},
    sources, stored,
};
use crate::{Edition, Error, Request, Result, Store};

/// Raised whenever the same documents would be rendered otherwise: it is part of the tags of what is rendered.
const RENDERER: &str = "1";

/// What a route found beside the facts that were known before.
pub(super) struct Found {
    pub(super) content: Content,
    /// Which part of a whole it is.
    pub(super) part: Option<(&'static str, String)>,
    /// The path in the edition's folder that always holds it, where that isn't the one that was asked for.
    pub(super) at: Option<String>,
}

impl From<Content> for Found {
    fn from(content: Content) -> Self {
        Self { content, part: None, at: None }
    }
}

/// Answers. What the client has already is known before any pack is read.
pub(super) async fn answer<S: Store>(
    request: &mut Request<S>,
    parts: &Parts,
    asked: &Asked,
) -> Result<Response> {
    let query = query(asked, parts.uri.query())?;
    let edition = edition(request, asked).await?;
    let mut facts = facts(&edition, asked, &query, parts.uri.query());
    if let Some(response) = unchanged(parts, &facts) {
        return Ok(response);
    }
    let found = match &asked.what {
        What::File(name) => stored::file(request, &edition, name).await?,
        What::Pack(pack) => stored::pack(request, &edition, pack, false).await?,
        What::Offsets(pack) => stored::pack(request, &edition, pack, true).await?,
        What::Member(pack, ordinal) => stored::member(request, &edition, pack, *ordinal).await?,
        What::Function(key, page) => stored::function(request, &edition, *key, *page).await?,
        What::Callers(key, page) => stored::callers(request, &edition, *key, *page).await?,
        What::Import(name) => stored::import(request, &edition, name, query.number("page")?).await?,
        What::Named(name) => stored::named(request, &edition, name).await?,
        What::Listing(key) => {
            rendered::listing(request, &edition, *key, query.span("rows", crate::limits::ROWS)?).await?
        }
        What::Callees(key) => rendered::callees(request, &edition, *key, &query).await?,
        What::Source(path) => {
            sources::by_path(request, &edition, path, query.span("lines", crate::limits::SOURCE_LINES)?)
                .await?
        }
        What::Blob(digest) => sources::by_digest(request, &edition, *digest).await?,
    };
    facts.part = found.part;
    if let Some(at) = found.at {
        facts.location = Some(format!("/archive/{}/{at}", edition.folder()));
    }
    respond(parts, &facts, found.content)
}

fn query(asked: &Asked, raw: Option<&str>) -> Result<Query> {
    let (route, takes): (_, &[&str]) = match &asked.what {
        What::Listing(_) => ("fn/<key>.txt", &["rows"]),
        What::Callees(_) => ("callees/<key>.json", &["cursor", "limit"]),
        What::Import(_) => ("callers/import:<name>.json", &["page"]),
        What::Source(_) => ("src/<path>", &["lines"]),
        _ => ("this path", &[]),
    };
    Query::parse(raw, route, takes)
}

async fn edition<S: Store>(request: &mut Request<S>, asked: &Asked) -> Result<Edition> {
    match &asked.edition {
        Some(edition) => request.edition(&format!("{}/{edition}", asked.build)).await,
        None => request.edition(asked.build.as_str()).await,
    }
}

/// What is known before anything is read.
fn facts(edition: &Edition, asked: &Asked, query: &Query, raw_query: Option<&str>) -> Facts {
    let is_rendered = match &asked.what {
        What::Listing(_) | What::Callees(_) | What::Named(_) | What::Import(_) => true,
        What::Source(_) => query.get("lines").is_some(),
        _ => false,
    };
    let caching = match (is_rendered, &asked.edition) {
        (true, _) => Caching::Rendered,
        (false, Some(_)) => Caching::Pinned,
        (false, None) => Caching::Current,
    };
    let media = match &asked.what {
        What::Listing(_) | What::Source(_) | What::Blob(_) => Media::Text,
        What::Pack(_) => Media::Gzip,
        What::Offsets(_) => Media::Bytes,
        _ => Media::Json,
    };
    let has_gzip = matches!(
        asked.what,
        What::Member(..) | What::Function(..) | What::Callers(..) | What::Import(_) | What::Named(_)
    );
    let tag = match is_rendered {
        true => Tag::of(&[edition.folder(), &asked.rest, raw_query.unwrap_or_default(), RENDERER]),
        false => Tag::of(&[edition.folder(), &asked.rest]),
    };
    let location = asked.edition.is_none().then(|| {
        let query = raw_query.map(|query| format!("?{query}")).unwrap_or_default();
        format!("/archive/{}/{}{query}", edition.folder(), asked.raw)
    });
    Facts { media, caching, tag, has_gzip, location, part: None }
}

/// That a path names a build by something else than its id: which it may be.
pub(super) async fn unnamed<S: Store>(request: &mut Request<S>, text: &str) -> Error {
    match request.edition(text).await {
        Ok(edition) => Error::NotFound {
            what: "build id",
            given: text.to_owned(),
            place: "the path".to_owned(),
            near: vec![edition.source().build_id.to_string()],
            fix: Some("name the build by its whole id".to_owned()),
        },
        Err(error) => error,
    }
}
