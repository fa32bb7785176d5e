//! `archive_lookup`: which builds there are, what one is, and what is found by its text.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Answered, Envelope, Tool,
    answered::fits,
    ask::{ARGUMENT, QUERY, STRANGERS, Walk, open, small},
    builds,
};
use crate::{
    Error, HitKind, Match, Query, Result, Service, Store, cursor, escape,
    link::{Link, View},
    listing::{self, Kind, Line},
    search::{self, PHASE},
};

/// Most builds that one search names.
const BUILDS: usize = 8;
/// Characters that one result takes at most.
const RESULT: usize = 600;
/// Characters that the headings of builds take at most.
const HEADINGS: usize = BUILDS * 400;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lookup {
    /// Build id, its start of 6 digits or more, a name or soname, or any of these and /edition. Alone: what that binary is
    #[serde(default)]
    build_id: Option<String>,
    /// Up to 8 builds to search, instead of build_id
    #[serde(default)]
    #[schemars(length(max = 8))]
    builds: Vec<String>,
    /// Text to find
    #[serde(default)]
    query: Option<String>,
    /// Default: substring
    #[serde(default, rename = "match")]
    matching: Option<How>,
    /// What to find; default: all but builds, and builds where none is named
    #[serde(default)]
    kind: Option<What>,
    /// next_cursor of an earlier answer
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum How {
    Exact,
    Prefix,
    Substring,
    Regex,
}

impl How {
    fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Prefix => "prefix",
            Self::Substring => "substring",
            Self::Regex => "regex",
        }
    }

    fn matching(self) -> Match {
        match self {
            Self::Exact => Match::Exact,
            Self::Prefix => Match::Prefix,
            Self::Substring => Match::Substring,
            Self::Regex => Match::Regex,
        }
    }

    /// Whether a text fits, as searches of builds compare.
    pub(super) fn fits(self, text: &str, query: &str) -> bool {
        match self {
            Self::Exact => text == query,
            Self::Prefix => text.starts_with(query),
            // Of builds a regular expression is refused before.
            Self::Substring | Self::Regex => text.to_ascii_lowercase().contains(&query.to_ascii_lowercase()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum What {
    Function,
    Data,
    String,
    Source,
    Import,
    Build,
}

impl What {
    fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Data => "data",
            Self::String => "string",
            Self::Source => "source",
            Self::Import => "import",
            Self::Build => "build",
        }
    }

    fn kinds(self) -> &'static [HitKind] {
        match self {
            Self::Function => &[HitKind::Function],
            Self::Data => &[HitKind::Data, HitKind::Tls],
            Self::String => &[HitKind::String],
            Self::Source => &[HitKind::Source],
            Self::Import => &[HitKind::Import],
            Self::Build => &[],
        }
    }
}

impl Tool for Lookup {
    const NAME: &'static str = "archive_lookup";
    const TITLE: &'static str = "Find builds, and things in them";
    const DESCRIPTION: &'static str = "Start here. Without arguments: the builds in the archive. With build_id: what that binary is, \
        its sections, and where every claim comes from. With query: functions, data, strings, source paths and imports whose text \
        fits, with the addresses to ask archive_function for; without a build: builds by name, soname or package.";

    async fn answer<S: Store>(self, service: &Service<S>) -> Result<Answered> {
        let refuse = |why: &str| Error::BadArguments { tool: Self::NAME, why: why.to_owned() };
        if self.builds.len() > BUILDS || (self.build_id.is_some() && !self.builds.is_empty()) {
            return Err(refuse("give `build_id`, or `builds` with at most 8"));
        }
        let named: Vec<String> = self.build_id.clone().into_iter().chain(self.builds.clone()).collect();
        match (&self.query, named.as_slice()) {
            (Some(query), _) => small("query", query, QUERY)?,
            (None, []) if self.kind.is_none_or(|kind| kind == What::Build) => {}
            (None, []) => return Err(refuse("`kind` needs a `query`")),
            (None, [_]) => {}
            (None, _) => return Err(refuse("`builds` needs a `query`")),
        }
        match (&self.query, named.as_slice(), self.kind) {
            (Some(query), [], None | Some(What::Build)) | (Some(query), _, Some(What::Build)) => {
                let how = self.matching.unwrap_or(How::Substring);
                if how == How::Regex {
                    return Err(refuse("builds are found by match exact, prefix or substring"));
                }
                builds::find(service, Some((query, how)), how.name(), self.cursor.as_deref()).await
            }
            (Some(_), [], _) => Err(refuse("name the build to search: `build_id`, or up to 8 `builds`")),
            (Some(query), named, _) => self.search(service, query, named).await,
            (None, [build], _) => summary(service, build, self.cursor.as_deref()).await,
            (None, _, _) => builds::find(service, None, "", self.cursor.as_deref()).await,
        }
    }
}

impl Lookup {
    /// Searches builds in turn, as far as one request goes.
    async fn search<S: Store>(
        &self,
        service: &Service<S>,
        query: &str,
        named: &[String],
    ) -> Result<Answered> {
        let how = self.matching.unwrap_or(How::Substring);
        let kinds = self.kind.map_or(&[][..], What::kinds);
        let walk = Walk::read(self.cursor.as_deref())?;
        let (mut at, mut inner) =
            place(walk.inner.as_deref(), named.len()).ok_or_else(|| Error::BadCursor {
                given: self.cursor.clone().unwrap_or_default(),
                why: "it belongs to another question",
            })?;
        let mut request = service.request();
        let mut envelope = Envelope::default();
        let (mut lines, mut found, mut scanned, mut first) = (Vec::new(), 0, 0, None);
        let mut room = 0;
        while let Some(build) = named.get(at) {
            // A build that the request has no room for is the next answer's.
            if first.is_some() && !request.has_room(PHASE + 2, elfscope_schema::limits::INDEX_PAGE) {
                break;
            }
            let edition = open(&mut request, build, inner.as_deref()).await?;
            if first.is_none() {
                envelope = Envelope::of(&edition);
                // The query stands in the link, percent-encoded.
                let around = envelope.room().saturating_sub(3 * query.len() + 300);
                room = around.saturating_sub(if named.len() > 1 { HEADINGS } else { 0 });
            }
            if found >= search::MOST || (found > 0 && room < RESULT) {
                break;
            }
            let (limit, cursor) = (search::MOST - found, inner.as_deref());
            let asked = Query { text: query, matching: how.matching(), kinds, limit, cursor };
            let part = match request.search_within(&edition, &asked, 0, room).await {
                Err(Error::OverBudget { .. }) if first.is_some() => break,
                part => part?,
            };
            if named.len() > 1 {
                let source = edition.source();
                let title = Line::of(Kind::Title, escape::name(source.name.text()));
                lines.push(title.and(Kind::Note, format!("  {}/{}", source.build_id, source.edition)));
            }
            first.get_or_insert_with(|| edition.clone());
            let hits = part.value;
            lines.extend(listing::hits(&hits.hits));
            found += hits.hits.len();
            scanned += hits.scanned;
            room = room.saturating_sub(hits.width);
            inner = part.next_cursor;
            if inner.is_some() {
                break;
            }
            at += 1;
        }
        let told = walk.told + found as u64;
        let more = at < named.len();
        if let Some(edition) = &first {
            let mut link = Link::of(edition, View::Search);
            link.query = Some(query.to_owned());
            link.matching = Some(how.name().to_owned());
            link.kind = self.kind.map(|kind| kind.name().to_owned());
            link.rows = (found > 0).then(|| (walk.told, told - 1));
            envelope.link = link.url(&service.config().public_url);
        }
        if named.len() > 1 {
            (envelope.build_id, envelope.edition) = (None, None);
            envelope.provenance = "several builds: each heading names its build id and edition".to_owned();
            envelope.note("The link opens the first build's part.");
        }
        if found > 0 {
            (envelope.from, envelope.to) = (Some(walk.told), Some(told - 1));
        } else {
            let text = if more { "Nothing fits so far; the cursor goes on." } else { "Nothing fits." };
            lines.push(Line::of(Kind::Note, text));
        }
        if more {
            envelope.scanned = Some(scanned);
            envelope.next_cursor = Some(Walk::write(format!("{}|{at}", inner.unwrap_or_default()), told));
        } else {
            envelope.total = Some(told);
        }
        envelope.note(
            "A name that is not found may still be there under another one: stripped symbols leave none.",
        );
        envelope.note(STRANGERS);
        let shown = fits(&lines, envelope.room()).max(1);
        debug_assert!(shown >= lines.len(), "results are taken only while they fit");
        Ok(envelope.with(&lines[..shown.min(lines.len())], request.budget()))
    }
}

/// The build and the cursor in it that a walk's cursor tells.
fn place(inner: Option<&str>, builds: usize) -> Option<(usize, Option<String>)> {
    let Some(text) = inner else { return Some((0, None)) };
    let (cursor, at) = text.rsplit_once('|')?;
    let at = at.parse().ok().filter(|at| *at < builds)?;
    Some((at, (!cursor.is_empty()).then(|| cursor.to_owned())))
}

/// What a binary is.
async fn summary<S: Store>(service: &Service<S>, build: &str, cursor: Option<&str>) -> Result<Answered> {
    small("build_id", build, ARGUMENT)?;
    let mut request = service.request();
    let edition = open(&mut request, build, cursor).await?;
    let meta = request.meta(&edition).await?;
    let name = edition.source().edition.as_str();
    let skip = match cursor {
        Some(text) => cursor::read::<1>(text, name, "summary")?[0],
        None => 0,
    };
    let mut envelope = Envelope::of(&edition);
    envelope.link = Link::of(&edition, View::Atlas).url(&service.config().public_url);
    envelope.note(
        "Types, local variables and macros are not stored; a compiler's name is what the file itself claims.",
    );
    envelope.note(STRANGERS);
    let mut lines = listing::summary(&edition, &meta);
    lines.push(Line::default());
    lines.extend(listing::sections(&meta));
    let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(lines.len());
    let rest = &lines[skip..];
    let shown = fits(rest, envelope.room()).max(1).min(rest.len());
    if shown < rest.len() {
        envelope.next_cursor = Some(cursor::write(name, "summary", [(skip + shown) as u64]));
    }
    Ok(envelope.with(&rest[..shown], request.budget()))
}
