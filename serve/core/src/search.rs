//! Search: names of functions, data and imports, then strings, then paths of sources; exact, by their start, by any part, or by a
//! regular expression.
//!
//! Results come in the order of the indices, names before strings before sources. A cursor is a place in them, so a walk neither skips nor repeats.
//! What is sorted by what is asked (exact, prefix) is found by going down the index; for the rest trigrams say which leaves may
//! have it, and those are looked through without parsing more than what fits.

use elfscope_schema::{
    Address, BodyDigest, DigestEntry, IndexRoot, Name, NameEntry, SourceEntry, SourceLevel, StringEntry,
    limits,
};
use serde::Serialize;

use crate::{
    Answer, Edition, Error, Request, Result, Store, cursor,
    literals::Group,
    pattern::Pattern,
    raw,
    tree::{Key, Leaf, Seek, index},
};

mod texted;

use texted::Texted;

/// Most results of one answer.
pub const MOST: usize = crate::limits::RESULTS;

/// How a query fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Match {
    /// The whole, letter by letter.
    Exact,
    /// The start, letter by letter.
    Prefix,
    /// Any part; ASCII letters fit in either case.
    Substring,
    /// A regular expression fits some part; ASCII letters fit in either case unless it says `(?-i)`. One whose matches need have
    /// no three letters in a row is refused.
    Regex,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HitKind {
    /// A function, by its name or the demangled form of it.
    Function,
    /// An object.
    Data,
    /// A thread-local object: its address is an offset in the thread's block.
    Tls,
    /// An imported symbol.
    Import,
    /// A string.
    String,
    /// A source file that the debug data cites.
    Source,
}

/// One result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// What it is.
    pub kind: HitKind,
    /// Its name, a string's text, or a source's path: what fits.
    pub name: Name,
    /// Whether `name` is the demangled form.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub demangled: bool,
    /// The other form of a function's name: the mangled one of a demangled `name`, the demangled one of a mangled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<Name>,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Name>,
    /// Whether that is the default one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub default: bool,
    /// Where it is; an import is elsewhere, a source nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
    /// Why a source's text is not in the archive; none where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_published: Option<SourceLevel>,
}

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    /// The text.
    pub text: &'a str,
    /// How it fits.
    pub matching: Match,
    /// What kinds of things; empty for all.
    pub kinds: &'a [HitKind],
    /// Most results, up to [`MOST`].
    pub limit: usize,
    /// Where an earlier answer goes on.
    pub cursor: Option<&'a str>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hits {
    /// The results.
    pub hits: Vec<Hit>,
    /// How many records were looked at for them.
    pub scanned: u64,
    /// Characters that their listing takes.
    #[serde(skip)]
    pub(crate) width: usize,
}

/// A body with the same code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SameCode {
    /// The bodies: address, and whether it is the `body` digest with nothing unknown (equal), not only the shape.
    pub bodies: Vec<(Address, bool)>,
}

/// Place in a walk: phase, leaf, record. [`START`] as the leaf means that the phase was not begun.
type At = [u64; 3];
const START: u64 = u64::MAX;

/// The phases of a search: what kinds each can find.
const PHASES: [&[HitKind]; 3] = [
    &[HitKind::Function, HitKind::Data, HitKind::Tls, HitKind::Import],
    &[HitKind::String],
    &[HitKind::Source],
];
/// The index of each phase.
const INDICES: [&str; 3] = [index::NAME, index::STRING, index::SOURCE];

fn index_of(phase: u64) -> &'static str {
    usize::try_from(phase).ok().and_then(|phase| INDICES.get(phase)).copied().unwrap_or(index::SOURCE)
}

/// Pages that a phase may need to go down its index and read what it finds: with less room it isn't begun.
pub(crate) const PHASE: usize = 9;

/// Leaves that one read is asked for.
const AT_ONCE: usize = 512;

impl Query<'_> {
    fn wants(&self, kind: HitKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

/// A query that is ready to be held against texts.
struct Matcher {
    text: String,
    how: How,
}

enum How {
    Exact,
    Prefix,
    /// The text is lowered.
    Substring,
    Regex(Box<Pattern>),
}

impl Matcher {
    fn of(query: &Query<'_>) -> Result<Self> {
        let how = match query.matching {
            Match::Exact => How::Exact,
            Match::Prefix => How::Prefix,
            Match::Substring => How::Substring,
            Match::Regex => How::Regex(Box::new(Pattern::parse(query.text)?)),
        };
        let text = match how {
            How::Substring => query.text.to_ascii_lowercase(),
            _ => query.text.to_owned(),
        };
        if query.text.is_empty() || (matches!(how, How::Substring) && text.len() < limits::TRIGRAM) {
            return Err(Error::QueryTooShort { given: query.text.to_owned() });
        }
        Ok(Self { text, how })
    }

    fn fits(&self, text: &str) -> bool {
        match &self.how {
            How::Exact => text == self.text,
            How::Prefix => text.starts_with(&self.text),
            How::Substring => text.len() >= self.text.len() && text.to_ascii_lowercase().contains(&self.text),
            How::Regex(pattern) => pattern.fits(text),
        }
    }

    /// What a text that fits has, ASCII letters lowered; none where the order of the index tells where to look.
    fn groups(&self) -> Option<Vec<Group>> {
        match &self.how {
            How::Exact | How::Prefix => None,
            How::Substring => Some(vec![vec![self.text.clone().into_bytes()]]),
            How::Regex(pattern) => Some(pattern.groups.clone()),
        }
    }

    /// Bytes of text that one request may be held against.
    fn most_text(&self) -> usize {
        match &self.how {
            How::Regex(pattern) => pattern.most_text,
            _ => usize::MAX,
        }
    }

    /// Whether a record that fits is left out because the demangled form of its name fits too, which has a record of its own: each
    /// function is one result, wherever a walk is cut.
    fn is_twice(&self, hit: &Hit) -> bool {
        let demangled = hit.other.as_ref().filter(|_| hit.kind == HitKind::Function && !hit.demangled);
        demangled.is_some_and(|name| self.fits(name.text()))
    }
}

impl<S: Store> Request<S> {
    /// Looks for a text in the names, strings and source paths of an edition.
    ///
    /// # Errors
    /// [`Error::QueryTooShort`] for a part of under three bytes, [`Error::BadRegex`], [`Error::BadCursor`], an archive that
    /// can't be read.
    pub async fn search(&mut self, edition: &Edition, query: &Query<'_>) -> Result<Answer<Hits>> {
        self.search_within(edition, query, 0, usize::MAX).await
    }

    /// A search that leaves room for so many pages more, and whose listing takes at most so many characters; one result is told in any
    /// case.
    pub(crate) async fn search_within(
        &mut self,
        edition: &Edition,
        query: &Query<'_>,
        leave: usize,
        room: usize,
    ) -> Result<Answer<Hits>> {
        let matcher = Matcher::of(query)?;
        let question = format!("search {:?} {:?} {}", query.matching, query.kinds, query.text);
        let name = edition.source().edition.as_str();
        let mut at: At = match query.cursor {
            Some(cursor) => cursor::read(cursor, name, &question)?,
            None => [0, START, 0],
        };
        let mut found = Hits { hits: Vec::new(), scanned: 0, width: 0 };
        let (mut next, mut begun) = (None, false);
        let walk = Walk { query, matcher, leave, room };
        for (phase, kinds) in (0_u64..).zip(PHASES) {
            if phase < at[0] || !kinds.iter().any(|kind| query.wants(*kind)) {
                continue;
            }
            if phase > at[0] {
                at = [phase, START, 0];
            }
            if begun && self.index_root(edition, index_of(phase)).await?.is_none() {
                continue;
            }
            if begun && !self.has_room(PHASE + leave, limits::INDEX_PAGE) {
                next = Some(at);
                break;
            }
            begun = true;
            next = match phase {
                0 => self.phase::<NameEntry>(edition, INDICES[0], &walk, at, &mut found).await?,
                1 => self.phase::<StringEntry>(edition, INDICES[1], &walk, at, &mut found).await?,
                _ => self.phase::<SourceEntry>(edition, INDICES[2], &walk, at, &mut found).await?,
            };
            if next.is_some() {
                break;
            }
        }
        let next_cursor = next.map(|at| cursor::write(name, &question, at));
        Ok(Answer { source: edition.source().clone(), value: found, next_cursor })
    }

    /// The bodies whose `body` or `shape` digest this is.
    ///
    /// # Errors
    /// [`Error::BadCursor`], an archive that can't be read.
    pub async fn same_code(
        &mut self,
        edition: &Edition,
        digest: BodyDigest,
        cursor: Option<&str>,
    ) -> Result<Answer<SameCode>> {
        let question = format!("digest {digest}");
        let name = edition.source().edition.as_str();
        let [number, mut skip] = match cursor {
            Some(cursor) => cursor::read(cursor, name, &question)?,
            None => [START, 0],
        };
        let mut leaf = match number {
            START => {
                let key = Key::Text(digest.to_string());
                self.seek::<DigestEntry>(edition, index::DIGEST, &key, Seek::First).await?
            }
            number => self.leaf(edition, index::DIGEST, number).await?,
        };
        let mut bodies = Vec::new();
        let mut next = None;
        while let Some(Leaf { number, records, last }) = leaf {
            let from = usize::try_from(skip).unwrap_or(usize::MAX);
            for (at, record) in records.iter().enumerate().skip(from).filter(|(_, record)| record.0 == digest)
            {
                if bodies.len() == MOST {
                    next = Some([number, at as u64]);
                    break;
                }
                bodies.push((record.1, record.2));
            }
            let ends = records.last().is_some_and(|record| record.0 > digest);
            if next.is_some() || ends || last {
                break;
            }
            if !self.has_room(2, limits::INDEX_PAGE) {
                next = Some([number + 1, 0]);
                break;
            }
            skip = 0;
            leaf = self.leaf(edition, index::DIGEST, number + 1).await?;
        }
        let next_cursor = next.map(|at| cursor::write(name, &question, at));
        Ok(Answer { source: edition.source().clone(), value: SameCode { bodies }, next_cursor })
    }

    /// One phase: the records of one index from a place on, until there are enough or the budget is used up. Where to
    /// go on, if anywhere.
    async fn phase<R: Texted>(
        &mut self,
        edition: &Edition,
        index: &str,
        walk: &Walk<'_>,
        at: At,
        found: &mut Hits,
    ) -> Result<Option<At>> {
        let Some(root) = self.index_root(edition, index).await? else { return Ok(None) };
        match walk.matcher.groups() {
            Some(groups) if root.first_leaf.is_some() => {
                self.look_through::<R>(edition, index, &root, &groups, walk, at, found).await
            }
            _ => self.go_down::<R>(edition, index, walk, at, found).await,
        }
    }

    /// Leaves in order from the first that may fit, until one is past it.
    async fn go_down<R: Texted>(
        &mut self,
        edition: &Edition,
        index: &str,
        walk: &Walk<'_>,
        at: At,
        found: &mut Hits,
    ) -> Result<Option<At>> {
        let [phase, from, mut skip] = at;
        let query = walk.query;
        let start = Name::sort_prefix(query.text);
        let mut leaf = if from != START {
            self.leaf::<R>(edition, index, from).await?
        } else {
            let key = match query.matching {
                Match::Exact => Key::name(query.text),
                Match::Prefix => Key::Text(start.to_owned()),
                _ => Key::Text(String::new()),
            };
            self.seek::<R>(edition, index, &key, Seek::First).await?
        };
        let past = |record: &R| match query.matching {
            Match::Substring | Match::Regex => false,
            Match::Exact => Name::sort_key(record.text()) > Name::sort_key(query.text),
            Match::Prefix => {
                let text = Name::sort_prefix(record.text());
                text > start && !text.starts_with(start)
            }
        };
        while let Some(Leaf { number, records, last }) = leaf {
            let first = usize::try_from(skip).unwrap_or(usize::MAX);
            for (place, record) in records.iter().enumerate().skip(first) {
                if walk.matcher.fits(record.text()) {
                    let hit = record.hit();
                    let counts = query.wants(hit.kind) && !walk.matcher.is_twice(&hit);
                    if counts && !walk.take(found, hit) {
                        return Ok(Some([phase, number, place as u64]));
                    }
                }
                found.scanned += 1;
            }
            if last || records.last().is_some_and(past) {
                return Ok(None);
            }
            skip = 0;
            // Two: what is past the last leaf has to be read to know that it isn't one.
            if !self.has_room(2 + walk.leave, limits::INDEX_PAGE) {
                return Ok(Some([phase, number + 1, 0]));
            }
            leaf = self.leaf::<R>(edition, index, number + 1).await?;
        }
        Ok(None)
    }

    /// The leaves that trigrams name, looked through without parsing what doesn't fit.
    #[expect(clippy::too_many_arguments, reason = "one walk, whose parts belong to different callers")]
    async fn look_through<R: Texted>(
        &mut self,
        edition: &Edition,
        index: &str,
        root: &IndexRoot,
        groups: &[Group],
        walk: &Walk<'_>,
        at: At,
        found: &mut Hits,
    ) -> Result<Option<At>> {
        let [phase, from, mut skip] = at;
        let mut from = if from == START { 0 } else { from };
        let first = root.first_leaf.unwrap_or(0);
        let candidates = self.candidates(edition, index, groups, walk.leave).await?;
        let leaves = self.leaves_of(edition, index, root).await?;
        let mut text_left = walk.matcher.most_text();
        loop {
            let wanted = candidates.next(from, AT_ONCE, leaves);
            let Some(next) = wanted.first().copied() else { return Ok(None) };
            if next != from {
                (from, skip) = (next, 0);
            }
            if !self.budget().has(2 + 2 * walk.leave, RECORD + walk.leave * limits::INDEX_PAGE) {
                return Ok(Some([phase, from, skip]));
            }
            let read = self.raw_leaves(edition, index, first, &wanted).await?;
            if read.is_empty() {
                return Ok(Some([phase, from, skip]));
            }
            for leaf in read {
                let first = if leaf.number == from { usize::try_from(skip).unwrap_or(usize::MAX) } else { 0 };
                for (place, record) in leaf.records(edition)?.into_iter().enumerate().skip(first) {
                    let here = Some([phase, leaf.number, place as u64]);
                    let text = raw::member(record, R::TEXT).and_then(raw::text);
                    let text = text.ok_or_else(|| crate::tree::damaged(edition))?;
                    if text.len() > text_left {
                        return Ok(here);
                    }
                    text_left -= text.len();
                    if R::may_be(record, |kind| walk.query.wants(kind)) && walk.matcher.fits(&text) {
                        if found.hits.len() == walk.limit()
                            || !self
                                .budget()
                                .has(2 * walk.leave, record.len() + walk.leave * limits::INDEX_PAGE)
                        {
                            return Ok(here);
                        }
                        let hit = self.parse_record::<R>(edition, record)?.hit();
                        if !walk.matcher.is_twice(&hit) && !walk.take(found, hit) {
                            return Ok(here);
                        }
                    }
                    found.scanned += 1;
                }
                (from, skip) = (leaf.number + 1, 0);
            }
        }
    }
}

/// What a search goes by.
struct Walk<'a> {
    query: &'a Query<'a>,
    matcher: Matcher,
    /// Pages to leave room for.
    leave: usize,
    /// Characters that the listing may take.
    room: usize,
}

impl Walk<'_> {
    fn limit(&self) -> usize {
        self.query.limit.clamp(1, MOST)
    }

    /// Takes a result, unless there are enough.
    fn take(&self, found: &mut Hits, hit: Hit) -> bool {
        let width = crate::listing::hit_width(&hit);
        let is_full = found.hits.len() == self.limit() || found.width.saturating_add(width) > self.room;
        if is_full && !found.hits.is_empty() {
            return false;
        }
        found.width += width;
        found.hits.push(hit);
        true
    }
}

/// Most bytes of one record.
const RECORD: usize = 32 * 1024;
