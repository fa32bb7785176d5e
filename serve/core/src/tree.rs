//! The indices of an edition: sorted records in leaves, tables above them, the root in `lookup.json`.
//!
//! A look-up goes down one page a level; a walk goes on from leaf to leaf, which are consecutive. What stands wholly in
//! the root is one leaf, number 0.

use std::{cmp::Ordering, sync::Arc};

use elfscope_schema::{Address, IndexRoot, Lookup, LookupPage, Name, Record, TableEntry, limits};
use serde::de::DeserializeOwned;

use crate::{Edition, Error, Request, Result, Store, raw};

const PACK: &str = "lookup.jsonl.gz";

/// The indices by name.
pub(crate) mod index {
    pub(crate) const ADDRESS: &str = "address";
    pub(crate) const DATA: &str = "data";
    pub(crate) const DIGEST: &str = "digest";
    pub(crate) const IMPORT: &str = "import";
    pub(crate) const NAME: &str = "name";
    pub(crate) const SOURCE: &str = "source";
    pub(crate) const SOURCE_FUNCTION: &str = "source_function";
    pub(crate) const STRING: &str = "string";
}

/// A record of some index.
pub(crate) trait Entry: TryFrom<Record> + DeserializeOwned + Clone + Send + Sync + 'static {}

impl<R: TryFrom<Record> + DeserializeOwned + Clone + Send + Sync + 'static> Entry for R {}

/// What an index is sorted by, as far as its tables tell.
#[derive(Clone, Debug)]
pub(crate) enum Key {
    Address(Address),
    /// The sort key of a text, a digest or a trigram: compared by bytes.
    Text(String),
}

impl Key {
    /// The key under which an index has this name.
    pub(crate) fn name(text: &str) -> Self {
        Self::Text(Name::sort_key(text).into_owned())
    }

    /// How the key of a table's entry compares to this one; `None` for one that can't be read.
    fn compare(&self, entry: &TableEntry) -> Option<Ordering> {
        match self {
            Self::Text(text) => Some(entry.0.as_bytes().cmp(text.as_bytes())),
            Self::Address(address) => Some(entry.0.parse::<Address>().ok()?.cmp(address)),
        }
    }
}

/// Where to go down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seek {
    /// To the first leaf that may have a record with the key.
    First,
    /// To the last leaf that starts at the key or before.
    Last,
}

/// One leaf of an index.
#[derive(Debug)]
pub(crate) struct Leaf<R> {
    /// Its number, counted from the index's first leaf.
    pub(crate) number: u64,
    pub(crate) records: Vec<R>,
    /// Whether it is known to be the last.
    pub(crate) last: bool,
}

/// One leaf of an index, unparsed.
pub(crate) struct RawLeaf {
    /// Its number, counted from the index's first leaf.
    pub(crate) number: u64,
    bytes: Vec<u8>,
}

impl RawLeaf {
    /// Its records, as they stand in it.
    pub(crate) fn records(&self, edition: &Edition) -> Result<Vec<&[u8]>> {
        let leaf = raw::member(&self.bytes, "leaf").and_then(raw::elements);
        leaf.ok_or_else(|| damaged(edition))
    }
}

impl<S: Store> Request<S> {
    /// As many of these leaves (in order) as one read gives, unparsed; none where the request may not read more.
    pub(crate) async fn raw_leaves(
        &mut self,
        edition: &Edition,
        index: &str,
        first: u64,
        numbers: &[u64],
    ) -> Result<Vec<RawLeaf>> {
        let ordinals: Vec<u64> = numbers.iter().filter_map(|number| first.checked_add(*number)).collect();
        let members = self.members(edition.folder(), PACK, &ordinals).await?;
        let leaves = members.into_iter().map(|(ordinal, bytes)| {
            let named = raw::member(&bytes, "index").and_then(raw::text).is_some_and(|name| name == index);
            let known = raw::member(&bytes, "schema").and_then(raw::text);
            if known.as_deref().is_some_and(|known| known != elfscope_schema::documents::schema::LOOKUP) {
                let schema = known.unwrap_or_default().into_owned();
                return Err(Error::Unsupported { path: format!("{}/{PACK}", edition.folder()), schema });
            }
            named.then_some(RawLeaf { number: ordinal - first, bytes }).ok_or_else(|| damaged(edition))
        });
        leaves.collect()
    }

    /// Parses a record of an unparsed leaf.
    pub(crate) fn parse_record<R: Entry>(&mut self, edition: &Edition, record: &[u8]) -> Result<R> {
        self.parse_part(&format!("{}/{PACK}", edition.folder()), record)
    }

    /// How many leaves an index has that doesn't stand in the root.
    pub(crate) async fn leaves_of(
        &mut self,
        edition: &Edition,
        index: &str,
        root: &IndexRoot,
    ) -> Result<u64> {
        let end = Key::Text("\u{10ffff}".repeat(4));
        let Some((ordinal, _)) = self.descend(edition, index, root, &end, Seek::Last).await? else {
            return Ok(1);
        };
        Ok(ordinal.saturating_sub(root.first_leaf.unwrap_or(0)).saturating_add(1))
    }

    /// The root of an index; `None` where the edition has no such records.
    pub(crate) async fn index_root(&mut self, edition: &Edition, index: &str) -> Result<Option<IndexRoot>> {
        let path = format!("{}/lookup.json", edition.folder());
        let lookup = self.document::<Lookup>(&path).await?;
        let lookup = lookup.ok_or(Error::Damaged { path, expected: "a file of that name", source: None })?;
        Ok(lookup.indices.get(index).cloned())
    }

    /// Goes down an index to a leaf.
    pub(crate) async fn seek<R: Entry>(
        &mut self,
        edition: &Edition,
        index: &str,
        key: &Key,
        seek: Seek,
    ) -> Result<Option<Leaf<R>>> {
        let Some(root) = self.index_root(edition, index).await? else { return Ok(None) };
        let Some((ordinal, last)) = self.descend(edition, index, &root, key, seek).await? else {
            return Ok(root_leaf(root));
        };
        let first = root.first_leaf.unwrap_or(0);
        let number = ordinal.checked_sub(first).ok_or_else(|| damaged(edition))?;
        let leaf = self.leaf_at::<R>(edition, index, first, number).await?.ok_or_else(|| damaged(edition))?;
        Ok(Some(Leaf { last, ..leaf }))
    }

    /// A leaf by its number; `None` past the last one.
    pub(crate) async fn leaf<R: Entry>(
        &mut self,
        edition: &Edition,
        index: &str,
        number: u64,
    ) -> Result<Option<Leaf<R>>> {
        match self.index_root(edition, index).await? {
            Some(IndexRoot { first_leaf: Some(first), .. }) => {
                self.leaf_at(edition, index, first, number).await
            }
            Some(root) if number == 0 => Ok(root_leaf(root)),
            _ => Ok(None),
        }
    }

    /// Goes down the tables of an index, to the ordinal of a leaf (or, in `data`, of the page of another pack) and
    /// whether it is the last one. `None` where the records stand in the root.
    pub(crate) async fn descend(
        &mut self,
        edition: &Edition,
        index: &str,
        root: &IndexRoot,
        key: &Key,
        seek: Seek,
    ) -> Result<Option<(u64, bool)>> {
        let Some(mut table) = root.table.clone() else { return Ok(None) };
        let mut last = true;
        for level in (1..=root.levels.max(1)).rev() {
            let compared: Option<Vec<Ordering>> = table.iter().map(|entry| key.compare(entry)).collect();
            let compared = compared.ok_or_else(|| damaged(edition))?;
            let at = match seek {
                Seek::First => compared.partition_point(|order| order.is_lt()),
                Seek::Last => compared.partition_point(|order| order.is_le()),
            };
            let at = at.saturating_sub(1);
            let ordinal = table.get(at).ok_or_else(|| damaged(edition))?.1;
            last &= at + 1 == table.len();
            if level == 1 {
                return Ok(Some((ordinal, last)));
            }
            let page = self.member::<LookupPage>(edition.folder(), PACK, ordinal).await?;
            let page = page.filter(|page| page.index == index).ok_or_else(|| damaged(edition))?;
            table = page.table.clone().ok_or_else(|| damaged(edition))?;
        }
        Err(damaged(edition))
    }

    /// Whether one more leaf fits what the request may still use.
    pub(crate) fn room_for_leaf(&self) -> bool {
        self.has_room(1, limits::INDEX_PAGE)
    }

    async fn leaf_at<R: Entry>(
        &mut self,
        edition: &Edition,
        index: &str,
        first: u64,
        number: u64,
    ) -> Result<Option<Leaf<R>>> {
        let Some(ordinal) = first.checked_add(number) else { return Ok(None) };
        // What follows the last leaf is another index's page, whose records have another type, or a table.
        let page = match self.member::<LookupPage<R>>(edition.folder(), PACK, ordinal).await {
            Ok(page) => page,
            Err(Error::Damaged { .. }) if number > 0 => {
                self.member::<LookupPage<serde::de::IgnoredAny>>(edition.folder(), PACK, ordinal)
                    .await?
                    .filter(|page| page.index != index)
                    .ok_or_else(|| damaged(edition))?;
                None
            }
            Err(error) => return Err(error),
        };
        let Some(page) = page.filter(|page| page.index == index) else { return Ok(None) };
        let page = Arc::unwrap_or_clone(page);
        Ok(page.leaf.map(|records| Leaf { number, records, last: false }))
    }
}

fn root_leaf<R: Entry>(root: IndexRoot) -> Option<Leaf<R>> {
    let records = root.leaf?.into_iter().filter_map(|record| R::try_from(record).ok()).collect();
    Some(Leaf { number: 0, records, last: true })
}

pub(crate) fn damaged(edition: &Edition) -> Error {
    let path = format!("{}/{PACK}", edition.folder());
    Error::Damaged { path, expected: "the pages that its tables name", source: None }
}
