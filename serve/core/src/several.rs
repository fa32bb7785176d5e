//! Search beyond one build: the same query in several named builds, and builds by id, name, soname or package.

use elfscope_schema::{IndexEntry, limits};
use serde::Serialize;

use crate::{
    Error, Hits, Match, Query, Request, Result, Source, Store,
    catalogue::By,
    cursor,
    pattern::Pattern,
    search::{self, MOST},
};

/// Most builds that one query names.
pub const MOST_BUILDS: usize = 8;

/// What was found in one of several builds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundIn {
    /// Where it comes from.
    #[serde(flatten)]
    pub source: Source,
    /// What was found.
    #[serde(flatten)]
    pub hits: Hits,
    /// Whether the build was looked at to its end with this answer.
    pub is_done: bool,
}

/// What was found in several builds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundInSeveral {
    /// The builds that were looked at for this answer, in the order in which they were named.
    pub builds: Vec<FoundIn>,
    /// The builds that are still to be looked at, as they were named.
    pub left: Vec<String>,
    /// Asked with this, the question goes on; none where nothing is left.
    pub next_cursor: Option<String>,
}

/// Builds that are looked for.
#[derive(Clone, Copy, Debug)]
pub struct BuildQuery<'a> {
    /// The text.
    pub text: &'a str,
    /// How it fits.
    pub matching: Match,
    /// What it is held against; empty for id, name, soname and package.
    pub by: &'a [By],
    /// Where an earlier answer goes on.
    pub cursor: Option<&'a str>,
}

/// Builds that were found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundBuilds {
    /// The builds.
    pub builds: Vec<IndexEntry>,
    /// How many fit in all; `null` where that was not counted.
    pub total: Option<u64>,
    /// How many builds of the catalogue were looked at for this answer.
    pub scanned: u64,
    /// Asked with this, the question goes on; none where nothing is left.
    pub next_cursor: Option<String>,
}

impl<S: Store> Request<S> {
    /// Looks for a text in several builds, one after the other: as many as one request may.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for no or too many builds, and what [`Self::edition`] and [`Self::search`] refuse.
    pub async fn search_builds(&mut self, builds: &[&str], query: &Query<'_>) -> Result<FoundInSeveral> {
        if builds.is_empty() || builds.len() > MOST_BUILDS {
            return Err(Error::OutOfRange {
                what: "number of builds",
                given: builds.len().to_string(),
                allowed: format!("1 to {MOST_BUILDS}"),
            });
        }
        // `<number of the build>:<its edition>:<its own cursor>`, where a build is begun.
        let bad = |why| Error::BadCursor { given: query.cursor.unwrap_or_default().to_owned(), why };
        let (first, mut begun) = match query.cursor {
            None => (0, None),
            Some(cursor) => {
                let (number, rest) = cursor.split_once(':').ok_or_else(|| bad("it is not whole"))?;
                let number: usize = number.parse().ok().ok_or_else(|| bad("it is not whole"))?;
                if number >= builds.len() {
                    return Err(bad("it belongs to another question"));
                }
                (number, Some(rest.to_owned()).filter(|rest| !rest.is_empty()))
            }
        };
        let mut found = FoundInSeveral { builds: Vec::new(), left: Vec::new(), next_cursor: None };
        let mut limit = query.limit.clamp(1, MOST);
        for (number, build) in builds.iter().enumerate().skip(first) {
            if number > first && (limit == 0 || !self.has_room(search::PHASE + 2, limits::INDEX_PAGE)) {
                found.next_cursor = Some(format!("{number}:"));
                found.left = builds[number..].iter().map(|build| (*build).to_owned()).collect();
                break;
            }
            let cursor = begun.take();
            // A build that was begun is gone on with in the edition that it was begun in.
            let edition = match cursor.as_deref().and_then(cursor::edition_of) {
                Some(edition) => {
                    let build = build.split_once('/').map_or(*build, |(build, _)| build);
                    self.edition(&format!("{build}/{edition}")).await?
                }
                None => self.edition(build).await?,
            };
            let query = Query { limit, cursor: cursor.as_deref(), ..query.clone() };
            let answer = self.search(&edition, &query).await?;
            limit -= answer.value.hits.len().min(limit);
            let is_done = answer.next_cursor.is_none();
            found.builds.push(FoundIn { source: answer.source, hits: answer.value, is_done });
            if let Some(cursor) = answer.next_cursor {
                found.next_cursor = Some(format!("{number}:{cursor}"));
                found.left = builds[number..].iter().map(|build| (*build).to_owned()).collect();
                break;
            }
        }
        Ok(found)
    }

    /// The catalogued builds whose id, name, soname or package fits.
    ///
    /// # Errors
    /// [`Error::NotIndexed`] for what a catalogue of many pages can't answer, [`Error::BadRegex`], [`Error::BadCursor`].
    pub async fn find_builds(&mut self, query: &BuildQuery<'_>) -> Result<FoundBuilds> {
        let pattern = match query.matching {
            Match::Regex => Some(Pattern::parse(query.text)?),
            _ if query.text.is_empty() => return Err(Error::QueryTooShort { given: String::new() }),
            _ => None,
        };
        let all = [By::Id, By::Name, By::Soname, By::Package];
        let by = if query.by.is_empty() { &all[..] } else { query.by };
        let lower = query.text.to_ascii_lowercase();
        let fits = |text: &str| match query.matching {
            Match::Exact => text == query.text,
            Match::Prefix => text.starts_with(query.text),
            Match::Substring => text.to_ascii_lowercase().contains(&lower),
            Match::Regex => pattern.as_ref().is_some_and(|pattern| pattern.fits(text)),
        };
        let fits = |build: &IndexEntry| by.iter().any(|by| by.key(build).is_some_and(fits));
        let mut found = FoundBuilds { builds: Vec::new(), total: Some(0), scanned: 0, next_cursor: None };
        let Some(index) = self.index().await? else { return Ok(found) };
        if let Some(builds) = &index.builds {
            // All of them stand on one page: few enough for one answer.
            found.builds = builds.iter().filter(|build| fits(build)).cloned().collect();
            (found.total, found.scanned) = (Some(found.builds.len() as u64), index.total);
            return Ok(found);
        }
        let bad = |why| Error::BadCursor { given: query.cursor.unwrap_or_default().to_owned(), why };
        let by_start = query.matching == Match::Prefix && by == [By::Id];
        if query.matching != Match::Exact && !by_start {
            return Err(Error::NotIndexed {
                given: query.text.to_owned(),
                why: format!(
                    "this catalogue has {} builds on many pages, which are sorted by whole names, sonames and packages and by the \
                     first digits of ids; any other question would have to read all of them",
                    index.total
                ),
                allowed: "match `exact` by id, name, soname or package, or match `prefix` by id".to_owned(),
            });
        }
        if by_start {
            let Some(shard) = self.shard_of_ids(query.text).await? else { return Ok(found) };
            let (builds, next) = self.walk_ids(&shard, query.cursor, MOST).await?;
            found.scanned = builds.len() as u64;
            found.builds = builds.into_iter().filter(|build| fits(build)).collect();
            found.total = (query.cursor.is_none() && next.is_none()).then_some(found.builds.len() as u64);
            found.next_cursor = next;
            return Ok(found);
        }
        // `<which of by>.<page>`
        let (mut at, mut page) = match query.cursor {
            None => (0, 0),
            Some(cursor) => {
                let parts = cursor.split_once('.').ok_or_else(|| bad("it is not whole"))?;
                let parse = |text: &str| text.parse::<u64>().ok().ok_or_else(|| bad("it is not whole"));
                (parse(parts.0)?, parse(parts.1)?)
            }
        };
        while let Some(one) = usize::try_from(at).ok().and_then(|at| by.get(at)) {
            if !found.builds.is_empty() && !self.budget().has(ONE_KEY.0, ONE_KEY.1) {
                found.next_cursor = Some(format!("{at}.{page}"));
                break;
            }
            let (builds, more) = self.catalogued_page(*one, query.text, page).await?;
            found.scanned += builds.len() as u64;
            // What fits by an earlier one was told there.
            let earlier = &by[..usize::try_from(at).unwrap_or(0)];
            let told = |build: &IndexEntry| earlier.iter().any(|by| by.key(build) == Some(query.text));
            found.builds.extend(builds.into_iter().filter(|build| !told(build)));
            (at, page) = if more { (at, page + 1) } else { (at + 1, 0) };
            let is_last = usize::try_from(at).ok().is_none_or(|at| at >= by.len());
            if found.builds.len() >= MOST && !is_last {
                found.next_cursor = Some(format!("{at}.{page}"));
                break;
            }
        }
        found.total =
            (query.cursor.is_none() && found.next_cursor.is_none()).then_some(found.builds.len() as u64);
        Ok(found)
    }
}

/// Reads and bytes of JSON that one key of a sharded catalogue may take.
const ONE_KEY: (usize, usize) = (7, 3 * limits::INDEX_PAGE);
