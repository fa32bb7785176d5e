//! One side of a walk over the names of two builds: its records in order, unparsed, some leaves at a time.

use std::collections::VecDeque;

use elfscope_schema::{IndexRoot, Name, NameEntry, lookup::NamedKind, to_canonical};

use crate::{Edition, Request, Result, Store, raw, tree};

/// Leaves that one read is asked for: both sides go on in step.
const AT_ONCE: u64 = 64;
/// Most records of one name that are held against each other at once.
pub(super) const ALIKE: usize = 500;

/// A place in the index: leaf, record.
pub(super) type At = [u64; 2];

/// A record of the index of names, unparsed.
pub(super) struct Item {
    pub(super) at: At,
    /// What the index sorts it by.
    pub(super) key: String,
    pub(super) kind: NamedKind,
    /// Its version as it stands.
    pub(super) version: Option<Vec<u8>>,
    /// Its body's digest as it stands, and whether nothing in it is unknown.
    pub(super) code: Option<(Vec<u8>, bool)>,
    pub(super) record: Vec<u8>,
}

impl Item {
    fn read(at: At, record: &[u8]) -> Option<Self> {
        let name = raw::member(record, "name").and_then(raw::text)?;
        let code = match raw::member(record, "code") {
            Some(code) => {
                let parts = raw::elements(code)?;
                Some((parts.first()?.to_vec(), parts.get(1) == Some(&&b"true"[..])))
            }
            None => None,
        };
        Some(Self {
            at,
            key: Name::sort_key(&name).into_owned(),
            kind: serde_json::from_slice(raw::member(record, "kind")?).ok()?,
            version: raw::member(record, "version").map(<[u8]>::to_vec),
            code,
            record: record.to_vec(),
        })
    }
}

/// The names of one build from a place on.
pub(super) struct Side<'a> {
    edition: &'a Edition,
    root: Option<IndexRoot>,
    leaves: u64,
    next: At,
    items: VecDeque<Item>,
}

impl<'a> Side<'a> {
    /// The names from `at` on.
    pub(super) async fn open<S: Store>(
        request: &mut Request<S>,
        edition: &'a Edition,
        at: At,
    ) -> Result<Self> {
        let root = request.index_root(edition, tree::index::NAME).await?;
        let leaves = match &root {
            Some(root) => request.leaves_of(edition, tree::index::NAME, root).await?,
            None => 0,
        };
        Ok(Self { edition, root, leaves, next: at, items: VecDeque::new() })
    }

    /// The key of the next record; none at the end. Only where something is loaded or all is read.
    pub(super) fn key(&self) -> Option<&str> {
        self.items.front().map(|item| item.key.as_str())
    }

    /// Where the next record is.
    pub(super) fn at(&self) -> At {
        self.items.front().map_or(self.next, |item| item.at)
    }

    fn is_read(&self) -> bool {
        self.next[0] >= self.leaves
    }

    /// Makes sure that all records of a key are loaded (or as many as are compared at once), or with no key that any is.
    /// `false` where the request may not read what is missing.
    pub(super) async fn load<S: Store>(
        &mut self,
        request: &mut Request<S>,
        key: Option<&str>,
    ) -> Result<bool> {
        loop {
            let enough = match key {
                None => !self.items.is_empty(),
                Some(key) => {
                    self.items.back().is_some_and(|last| last.key.as_str() > key) || self.items.len() >= ALIKE
                }
            };
            if enough || self.is_read() {
                return Ok(true);
            }
            if !self.read(request).await? {
                return Ok(false);
            }
        }
    }

    async fn read<S: Store>(&mut self, request: &mut Request<S>) -> Result<bool> {
        let Some(root) = &self.root else { return Ok(true) };
        let [from, skip] = self.next;
        let first_record = usize::try_from(skip).unwrap_or(usize::MAX);
        let damaged = || tree::damaged(self.edition);
        let Some(first) = root.first_leaf else {
            for (place, record) in (0..).zip(root.leaf.iter().flatten()).skip(first_record) {
                let entry = NameEntry::try_from(record.clone()).ok().ok_or_else(damaged)?;
                let mut record = to_canonical(&entry);
                record.pop();
                self.items.push_back(Item::read([0, place], &record).ok_or_else(damaged)?);
            }
            self.next = [1, 0];
            self.drop_forms();
            return Ok(true);
        };
        let wanted: Vec<u64> = (from..self.leaves.min(from.saturating_add(AT_ONCE))).collect();
        if !request.budget().has(KEEP.0 + 2, 0) || request.scan_room() < KEEP.1 {
            return Ok(false);
        }
        let read = request.raw_leaves(self.edition, tree::index::NAME, first, &wanted).await?;
        if read.is_empty() {
            return Ok(false);
        }
        for leaf in read {
            let skip = if leaf.number == from { first_record } else { 0 };
            for (place, record) in (0..).zip(leaf.records(self.edition)?).skip(skip) {
                self.items.push_back(Item::read([leaf.number, place], record).ok_or_else(damaged)?);
            }
            self.next = [leaf.number + 1, 0];
        }
        self.drop_forms();
        Ok(true)
    }

    /// Demangled forms go: they say nothing that the names don't.
    fn drop_forms(&mut self) {
        self.items.retain(|item| item.kind != NamedKind::Demangled);
    }

    /// The records of a key, at most [`ALIKE`].
    pub(super) fn take(&mut self, key: &str) -> Vec<Item> {
        let same = self.items.iter().take(ALIKE).take_while(|item| item.key == key).count();
        self.items.drain(..same).collect()
    }
}

/// Reads, and bytes to look through, that the walk leaves for what comes after it.
const KEEP: (usize, usize) = (10, 4 * 1024 * 1024);
