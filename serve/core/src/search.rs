//! Search: names of functions, data and imports, then strings, then paths of sources; exact, by their start, or by any part.
//!
//! Results come in the order of the indices, names before strings before sources. A cursor is a place in them, so a walk neither skips nor repeats.

use elfscope_schema::{
    Address, BodyDigest, DigestEntry, Name, NameEntry, SourceEntry, SourceLevel, StringEntry, limits,
    lookup::NamedKind,
};
use serde::Serialize;

use crate::{
    Answer, Edition, Error, Request, Result, Store, cursor,
    tree::{Entry, Key, Leaf, Seek, index},
    trigram::Candidates,
};

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
    /// Its name, a string's text, or a source's path.
    pub name: Name,
    /// Whether `name` is the demangled form.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub demangled: bool,
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
/// Pages that a phase may need to go down its index and read what it finds: with less room it isn't begun.
pub(crate) const PHASE: usize = 9;

trait Texted: Entry {
    fn text(&self) -> &str;
    fn hit(&self) -> Hit;
}

impl Texted for NameEntry {
    fn text(&self) -> &str {
        self.name.text()
    }

    fn hit(&self) -> Hit {
        let kind = match self.kind {
            NamedKind::Function | NamedKind::Demangled => HitKind::Function,
            NamedKind::Data => HitKind::Data,
            NamedKind::Tls => HitKind::Tls,
            NamedKind::Import => HitKind::Import,
        };
        Hit {
            kind,
            name: self.name.clone(),
            demangled: self.kind == NamedKind::Demangled,
            version: self.version.clone(),
            default: self.default,
            address: self.address,
            not_published: None,
        }
    }
}

impl Texted for StringEntry {
    fn text(&self) -> &str {
        self.text.text()
    }

    fn hit(&self) -> Hit {
        Hit {
            kind: HitKind::String,
            name: self.text.clone(),
            demangled: false,
            version: None,
            default: false,
            address: Some(self.address),
            not_published: None,
        }
    }
}

impl Texted for SourceEntry {
    fn text(&self) -> &str {
        self.path.text()
    }

    fn hit(&self) -> Hit {
        let is_published = matches!(self.level, SourceLevel::Md5Verified | SourceLevel::PathMatched);
        Hit {
            kind: HitKind::Source,
            name: self.path.clone(),
            demangled: false,
            version: None,
            default: false,
            address: None,
            not_published: (!is_published).then_some(self.level),
        }
    }
}

impl Query<'_> {
    fn wants(&self, kind: HitKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    fn fits(&self, text: &str, lower: &str) -> bool {
        match self.matching {
            Match::Exact => text == self.text,
            Match::Prefix => text.starts_with(self.text),
            Match::Substring => text.to_ascii_lowercase().contains(lower),
        }
    }
}

impl<S: Store> Request<S> {
    /// Looks for a text in the names, strings and source paths of an edition.
    ///
    /// # Errors
    /// [`Error::QueryTooShort`] for a part of under three bytes, [`Error::BadCursor`], an archive that can't be read.
    pub async fn search(&mut self, edition: &Edition, query: &Query<'_>) -> Result<Answer<Hits>> {
        self.search_leaving(edition, query, 0).await
    }

    /// A search that leaves room for so many pages more.
    pub(crate) async fn search_leaving(
        &mut self,
        edition: &Edition,
        query: &Query<'_>,
        leave: usize,
    ) -> Result<Answer<Hits>> {
        if query.text.is_empty() || (query.matching == Match::Substring && query.text.len() < limits::TRIGRAM)
        {
            return Err(Error::QueryTooShort { given: query.text.to_owned() });
        }
        let question = format!("search {:?} {:?} {}", query.matching, query.kinds, query.text);
        let name = edition.source().edition.as_str();
        let mut at: At = match query.cursor {
            Some(cursor) => cursor::read(cursor, name, &question)?,
            None => [0, START, 0],
        };
        let mut found = Hits { hits: Vec::new(), scanned: 0 };
        let (mut next, mut begun) = (None, false);
        for (phase, kinds) in (0..).zip(PHASES) {
            if phase < at[0] || !kinds.iter().any(|kind| query.wants(*kind)) {
                continue;
            }
            if phase > at[0] {
                at = [phase, START, 0];
            }
            if begun && !self.has_room(PHASE + leave, limits::INDEX_PAGE) {
                next = Some(at);
                break;
            }
            begun = true;
            next = match phase {
                0 => self.scan::<NameEntry>(edition, index::NAME, query, at, leave, &mut found).await?,
                1 => self.scan::<StringEntry>(edition, index::STRING, query, at, leave, &mut found).await?,
                _ => self.scan::<SourceEntry>(edition, index::SOURCE, query, at, leave, &mut found).await?,
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
    async fn scan<R: Texted>(
        &mut self,
        edition: &Edition,
        index: &str,
        query: &Query<'_>,
        at: At,
        leave: usize,
        found: &mut Hits,
    ) -> Result<Option<At>> {
        let [phase, from, mut skip] = at;
        let limit = query.limit.clamp(1, MOST);
        let lower = query.text.to_ascii_lowercase();
        let substring = query.matching == Match::Substring;
        let Some(root) = self.index_root(edition, index).await? else { return Ok(None) };
        let candidates = match substring && root.first_leaf.is_some() {
            true => self.candidates(edition, index, query.text).await?,
            false => Candidates::All,
        };
        let start = Name::sort_prefix(query.text);
        let mut leaf = if substring || from != START {
            let first = if from == START { 0 } else { from };
            let Some(number) = candidates.next(first) else { return Ok(None) };
            if number != first {
                skip = 0;
            }
            self.leaf::<R>(edition, index, number).await?
        } else {
            let key = match query.matching {
                Match::Exact => Key::name(query.text),
                _ => Key::Text(start.to_owned()),
            };
            self.seek::<R>(edition, index, &key, Seek::First).await?
        };
        let past = |record: &R| match query.matching {
            Match::Substring => false,
            Match::Exact => Name::sort_key(record.text()) > Name::sort_key(query.text),
            Match::Prefix => {
                let text = Name::sort_prefix(record.text());
                text > start && !text.starts_with(start)
            }
        };
        while let Some(Leaf { number, records, last }) = leaf {
            let first = usize::try_from(skip).unwrap_or(usize::MAX);
            for (place, record) in records.iter().enumerate().skip(first) {
                if query.fits(record.text(), &lower) {
                    let hit = record.hit();
                    if query.wants(hit.kind) {
                        if found.hits.len() == limit {
                            return Ok(Some([phase, number, place as u64]));
                        }
                        found.hits.push(hit);
                    }
                }
                found.scanned += 1;
            }
            if last || records.last().is_some_and(past) {
                return Ok(None);
            }
            skip = 0;
            let Some(next) = candidates.next(number + 1) else { return Ok(None) };
            // Two: what is past the last leaf has to be read to know that it isn't one.
            if !self.has_room(2 + leave, limits::INDEX_PAGE) {
                return Ok(Some([phase, next, 0]));
            }
            leaf = self.leaf::<R>(edition, index, next).await?;
        }
        Ok(None)
    }
}
