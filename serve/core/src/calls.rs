//! Call edges: what a body calls, and who calls a body or an imported symbol.

use elfscope_schema::{
    Address, Caller, CallersOf, CallersPage, Edge, FunctionEntry, FunctionKey, ImportEntry, Name, limits,
};
use serde::Serialize;

use crate::{
    Answer, Choice, Edition, Error, Place, Request, Result, Store, cursor,
    edition::versioned,
    error::MOST_CHOICES,
    functions::{in_build, key_of},
    tree::{Key, Leaf, Seek, index},
};

/// Most edges of one answer.
pub const MOST: usize = 200;

/// Names of a function that are looked for among the imports.
const ALSO: usize = 2;
/// Pages that looking for one of them and what is asked for itself take at most.
const ALSO_ROOM: usize = 6;

/// What starts the name of an imported symbol where a function may stand too.
pub const IMPORT: &str = "import:";

/// The edges that leave from a body, in row order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Callees {
    /// The body.
    pub key: FunctionKey,
    /// The name that listings show of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// The edges.
    pub edges: Vec<Edge>,
    /// How many there are in all.
    pub total: u64,
}

/// The edges that lead to a body or an imported symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Callers {
    /// Whose callers.
    pub of: CallersOf,
    /// The name that listings show of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// `import:NAME` where a function's name is imported as well: calls through its slot, which another file may take
    /// over, are told as that one's callers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also: Option<String>,
    /// The edges, in the order of the rows that they leave from.
    pub callers: Vec<Caller>,
    /// How many there are in all.
    pub total: u64,
}

/// Whose callers are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A body's.
    Body(FunctionEntry),
    /// An imported symbol's.
    Import(ImportEntry),
}

impl<S: Store> Request<S> {
    /// The edges that leave from a body: at most `limit` of them, up to [`MOST`].
    ///
    /// # Errors
    /// [`Error::BadCursor`], an archive that can't be read.
    pub async fn callees(
        &mut self,
        edition: &Edition,
        entry: &FunctionEntry,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Answer<Callees>> {
        let limit = limit.clamp(1, MOST);
        let key = key_of(entry);
        let question = format!("callees {key}");
        let name = edition.source().edition.as_str();
        let first = self.function_page(edition, entry, 0).await?;
        let head = first.head.as_ref();
        let mut callees = Callees {
            key,
            name: head.and_then(|head| head.names.first()).map(|name| name.name.clone()),
            edges: Vec::new(),
            total: head.map_or(0, |head| u64::from(head.edges_total)),
        };
        let [mut page, mut skip] = match cursor {
            Some(cursor) => cursor::read(cursor, name, &question)?,
            None => [0, 0],
        };
        let next = loop {
            let number = u32::try_from(page).ok().filter(|number| *number < first.pages);
            let Some(number) = number else { break None };
            if number > 0 && !self.has_room(1, limits::PAGE) {
                break Some([page, skip]);
            }
            let found = self.function_page(edition, entry, number).await?;
            let from = usize::try_from(skip).unwrap_or(usize::MAX).min(found.edges.len());
            let rest = &found.edges[from..];
            let taken = rest.len().min(limit - callees.edges.len());
            callees.edges.extend_from_slice(&rest[..taken]);
            if taken < rest.len() {
                break Some([page, (from + taken) as u64]);
            }
            (page, skip) = (page + 1, 0);
        };
        let next_cursor = next.map(|at| cursor::write(name, &question, at));
        Ok(Answer { source: edition.source().clone(), value: callees, next_cursor })
    }

    /// Whose callers a text asks for: a function, or `import:NAME` with or without `@VERSION`. A name that only an imported
    /// symbol has means that.
    ///
    /// # Errors
    /// As [`Self::place`].
    pub async fn callee(&mut self, edition: &Edition, text: &str) -> Result<Callee> {
        let (name, version) = match text.strip_prefix(IMPORT) {
            Some(rest) => match rest.split_once('@') {
                Some((name, version)) => (name.to_owned(), Some(version.trim_start_matches('@').to_owned())),
                None => (rest.to_owned(), None),
            },
            None => match self.place(edition, text).await? {
                Place::Import(name, version) => {
                    (name.text().to_owned(), version.map(|version| version.text().to_owned()))
                }
                _ => return Ok(Callee::Body(self.function(edition, text).await?.0)),
            },
        };
        let found = self.imports(edition, &name).await?;
        let fits = |entry: &&ImportEntry| match &version {
            Some(version) => entry.version.as_ref().is_some_and(|told| told.text() == version),
            None => true,
        };
        match found.iter().filter(fits).collect::<Vec<_>>().as_slice() {
            [one] => Ok(Callee::Import((*one).clone())),
            [] => Err(Error::NotFound {
                what: "imported symbol",
                given: text.to_owned(),
                place: in_build(edition),
                near: found.iter().map(ask).collect(),
                fix: Some("search for a part of the name".to_owned()),
            }),
            several => Err(Error::Ambiguous {
                what: "imported symbol",
                given: text.to_owned(),
                place: in_build(edition),
                choices: several
                    .iter()
                    .take(MOST_CHOICES)
                    .map(|entry| Choice {
                        name: versioned(&entry.name, entry.version.as_ref(), false),
                        ask: ask(entry),
                        about: entry.library.as_ref().map_or("no library named", Name::text).to_owned(),
                    })
                    .collect(),
                more: several.len() > MOST_CHOICES,
            }),
        }
    }

    /// Who calls a body or an imported symbol: at most `limit` edges, up to [`MOST`].
    ///
    /// # Errors
    /// [`Error::BadCursor`], an archive that can't be read.
    pub async fn callers(
        &mut self,
        edition: &Edition,
        callee: &Callee,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Answer<Callers>> {
        let limit = limit.clamp(1, MOST);
        let (of, name, ordinal) = match callee {
            Callee::Body(entry) => {
                (CallersOf::Body(key_of(entry)), entry.5.first().map(|name| name.0.clone()), entry.3)
            }
            Callee::Import(entry) => {
                let (name, version) = (entry.name.clone(), entry.version.clone());
                (CallersOf::Import { name, version }, Some(entry.name.clone()), entry.callers)
            }
        };
        let question = format!("callers {of:?}");
        let edition_name = edition.source().edition.as_str();
        let [mut page, mut skip] = match cursor {
            Some(cursor) => cursor::read(cursor, edition_name, &question)?,
            None => [0, 0],
        };
        let mut callers = Callers { of, name, also: None, callers: Vec::new(), total: 0 };
        if let (Callee::Body(entry), None) = (callee, cursor) {
            for (name, _, _) in entry.5.iter().take(ALSO) {
                if !self.has_room(ALSO_ROOM, limits::INDEX_PAGE) {
                    break;
                }
                let found = self.imports(edition, name.text()).await?;
                if let Some(entry) = found.iter().find(|entry| entry.callers.is_some()) {
                    callers.also = Some(ask(entry));
                    break;
                }
            }
        }
        let Some(ordinal) = ordinal else { return Ok(Answer::whole(edition, callers)) };
        let next = loop {
            if page > 0 && !self.has_room(1, limits::PAGE) {
                break Some([page, skip]);
            }
            let found = self.callers_page(edition, &callers.of, ordinal.saturating_add(page)).await?;
            callers.total = found.total;
            let from = usize::try_from(skip).unwrap_or(usize::MAX).min(found.callers.len());
            let rest = &found.callers[from..];
            let taken = rest.len().min(limit - callers.callers.len());
            callers.callers.extend_from_slice(&rest[..taken]);
            if taken < rest.len() {
                break Some([page, (from + taken) as u64]);
            }
            (page, skip) = (page + 1, 0);
            if page >= u64::from(found.pages) {
                break None;
            }
        };
        let next_cursor = next.map(|at| cursor::write(edition_name, &question, at));
        Ok(Answer { source: edition.source().clone(), value: callers, next_cursor })
    }

    /// The imported symbols of this name, or of the name with this sort key: one a version.
    ///
    /// # Errors
    /// An archive that can't be read.
    pub async fn imports(&mut self, edition: &Edition, name: &str) -> Result<Vec<ImportEntry>> {
        let mut found: Vec<ImportEntry> = Vec::new();
        let sort_key = if crate::link::is_key(name) { name.into() } else { Name::sort_key(name) };
        let key = Key::Text(sort_key.clone().into_owned());
        let mut leaf = self.seek::<ImportEntry>(edition, index::IMPORT, &key, Seek::First).await?;
        while let Some(Leaf { number, records, last }) = leaf {
            let key_of = |record: &ImportEntry| Name::sort_key(record.name.text()).into_owned();
            let ends = records.last().is_some_and(|record| *key_of(record) > *sort_key);
            let fits = |record: &ImportEntry| match crate::link::is_key(name) {
                true => *key_of(record) == *sort_key,
                false => record.name.text() == name,
            };
            found.extend(records.into_iter().filter(fits));
            if ends || last || !self.room_for_leaf() {
                break;
            }
            leaf = self.leaf(edition, index::IMPORT, number + 1).await?;
        }
        Ok(found)
    }

    async fn callers_page(
        &mut self,
        edition: &Edition,
        of: &CallersOf,
        ordinal: u64,
    ) -> Result<std::sync::Arc<CallersPage>> {
        const PACK: &str = "callers.jsonl.gz";
        let page = self.member::<CallersPage>(edition.folder(), PACK, ordinal).await?;
        page.filter(|page| page.of == *of).ok_or_else(|| Error::Damaged {
            path: format!("{}/{PACK}", edition.folder()),
            expected: "the pages that the look-up names",
            source: None,
        })
    }
}

/// The address of a row that an edge leaves from.
#[must_use]
pub fn edge_at(key: FunctionKey, edge: &Edge) -> Address {
    key.address.plus(u64::from(edge.row))
}

fn ask(entry: &ImportEntry) -> String {
    format!("{IMPORT}{}", versioned(&entry.name, entry.version.as_ref(), false))
}
