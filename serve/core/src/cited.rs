//! Which functions have code from a source file.

use elfscope_schema::{FunctionEntry, FunctionKey, Name, SourceFunctions, limits};
use serde::Serialize;

use crate::{
    Answer, Edition, Error, Request, Result, Store, cursor,
    functions::key_of,
    tree::{Key, Leaf, Seek, index},
};

/// Most functions of one answer.
pub const MOST: usize = 100;

/// Pages down to a function's record.
const DOWN: usize = 3;

/// The functions with code from a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CitedBy {
    /// The functions, by address.
    pub functions: Vec<Citing>,
    /// The file's path.
    pub path: Name,
}

/// A function with rows or inlined calls from a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Citing {
    /// The body.
    pub key: FunctionKey,
    /// The name that listings show of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
}

/// Place in a walk: leaf, record, address in it. [`START`] as the leaf means that it was not begun.
type At = [u64; 3];
const START: u64 = u64::MAX;

impl<S: Store> Request<S> {
    /// The functions with rows or inlined calls from the source file of this path: at most `limit`, up to [`MOST`].
    ///
    /// # Errors
    /// [`Error::BadCursor`], an archive that can't be read.
    pub async fn cited_by(
        &mut self,
        edition: &Edition,
        path: &Name,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Answer<CitedBy>> {
        let question = format!("cited {path:?}");
        let name = edition.source().edition.as_str();
        let at: At = match cursor {
            Some(cursor) => cursor::read(cursor, name, &question)?,
            None => [START, 0, 0],
        };
        let mut cited = CitedBy { functions: Vec::new(), path: path.clone() };
        let next = self.walk_cited(edition, limit.clamp(1, MOST), at, &mut cited).await?;
        let next_cursor = next.map(|at| cursor::write(name, &question, at));
        Ok(Answer { source: edition.source().clone(), value: cited, next_cursor })
    }

    /// Goes on from a place until there are enough or the budget is used up. Where to go on, if anywhere.
    async fn walk_cited(
        &mut self,
        edition: &Edition,
        limit: usize,
        at: At,
        cited: &mut CitedBy,
    ) -> Result<Option<At>> {
        let [from, mut skip, mut skip_addresses] = at;
        let mut leaf = match from {
            START => {
                let key = Key::name(cited.path.text());
                self.seek::<SourceFunctions>(edition, index::SOURCE_FUNCTION, &key, Seek::First).await?
            }
            number => self.leaf(edition, index::SOURCE_FUNCTION, number).await?,
        };
        // Bodies of one file mostly stand side by side: the leaf that has one has the next.
        let mut bodies: Vec<FunctionEntry> = Vec::new();
        while let Some(Leaf { number, records, last }) = leaf {
            let first = usize::try_from(skip).unwrap_or(usize::MAX);
            for (record_at, record) in records.iter().enumerate().skip(first) {
                if record.0 != cited.path {
                    continue;
                }
                let first = usize::try_from(skip_addresses).unwrap_or(usize::MAX);
                for (address_at, address) in record.1.iter().enumerate().skip(first) {
                    let here = Some([number, record_at as u64, address_at as u64]);
                    if cited.functions.len() == limit {
                        return Ok(here);
                    }
                    let mut body = bodies.iter().find(|body| body.0 == *address);
                    if body.is_none() {
                        if !self.has_room(DOWN, limits::INDEX_PAGE) {
                            return Ok(here);
                        }
                        let key = Key::Address(*address);
                        let found = self.seek(edition, index::ADDRESS, &key, Seek::Last).await?;
                        bodies = found.map(|leaf| leaf.records).unwrap_or_default();
                        body = bodies.iter().find(|body| body.0 == *address);
                    }
                    let body = body.ok_or_else(|| damaged(edition))?;
                    let name = body.5.first().map(|name| name.0.clone());
                    cited.functions.push(Citing { key: key_of(body), name });
                }
                skip_addresses = 0;
            }
            let past = |record: &SourceFunctions| {
                Name::sort_key(record.0.text()) > Name::sort_key(cited.path.text())
            };
            if last || records.last().is_some_and(past) {
                return Ok(None);
            }
            (skip, skip_addresses) = (0, 0);
            if !self.has_room(DOWN, limits::INDEX_PAGE) {
                return Ok(Some([number + 1, 0, 0]));
            }
            leaf = self.leaf(edition, index::SOURCE_FUNCTION, number + 1).await?;
        }
        Ok(None)
    }
}

fn damaged(edition: &Edition) -> Error {
    Error::Damaged {
        path: format!("{}/lookup.jsonl.gz", edition.folder()),
        expected: "a body at every address that cites a source",
        source: None,
    }
}
