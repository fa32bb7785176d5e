//! One request: what it has read, what it may still read, and the documents it has already parsed.

use std::{collections::BTreeMap, sync::Arc};

use elfscope_schema::{
    CallersPage, Current, DataPage, FunctionPage, GZIP_HEADER, Index, IndexPage, Lookup, LookupPage, Meta,
    Packs, Sha256Digest, SourcesPage, documents::schema, from_slice, index_name, limits,
};
use serde::de::DeserializeOwned;

use crate::{
    Cache, Error, Result, Store,
    cache::{Decoded, Slot},
    inflate::{MEMBER, inflate_all, inflated},
    limits::SOURCE_BYTES,
};

/// Offsets of a pack that are read at once (8 KiB): a walk over neighbouring members reads them only once.
const OFFSETS: u64 = 1024;
/// Most bytes of documents that one request looks through without parsing them, as inflated.
pub const SCAN_BYTES: usize = 16 * 1024 * 1024;
/// Most bytes of a pack that are read at once to look through the members in them.
const SPAN: u64 = 512 * 1024;
/// What is looked through at once stays in the cache where it has at most so many bytes: a walk through a large index would
/// push out all else.
const KEPT: usize = 1024 * 1024;

/// What a request has used of what it may use (promise 6 of the archive).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Store reads made.
    pub reads: usize,
    /// Bytes of JSON parsed.
    pub json: usize,
    /// Bytes of sources read: at most [`SOURCE_BYTES`].
    pub source: u64,
    /// Bytes of documents looked through without parsing them: at most [`SCAN_BYTES`].
    pub scanned: usize,
}

impl Budget {
    /// Whether so many more reads and bytes of JSON still fit.
    #[must_use]
    pub fn has(&self, reads: usize, json: usize) -> bool {
        self.reads + reads <= limits::REQUEST_READS && self.json + json <= limits::REQUEST_JSON
    }
}

/// A document that says what it is.
pub(crate) trait Document: DeserializeOwned + Send + Sync + 'static {
    /// What it should say.
    const SCHEMA: &'static str;
    /// Whether it is an edition's, which never changes.
    const IMMUTABLE: bool;

    /// What it says.
    fn schema(&self) -> &str;
}

macro_rules! documents {
    ($($type:ty, $schema:expr, $immutable:expr;)*) => {$(
        impl Document for $type {
            const SCHEMA: &'static str = $schema;
            const IMMUTABLE: bool = $immutable;

            fn schema(&self) -> &str {
                &self.schema
            }
        }
    )*};
}

documents! {
    CallersPage, schema::CALLERS, true;
    Current, schema::CURRENT, false;
    DataPage, schema::DATA, true;
    FunctionPage, schema::FN, true;
    Index, schema::INDEX, false;
    IndexPage, schema::INDEX, false;
    Lookup, schema::LOOKUP, true;
    Meta, schema::META, true;
    Packs, schema::PACKS, true;
    SourcesPage, schema::SOURCES, true;
}

impl<R: DeserializeOwned + Send + Sync + 'static> Document for LookupPage<R> {
    const SCHEMA: &'static str = schema::LOOKUP;
    const IMMUTABLE: bool = true;

    fn schema(&self) -> &str {
        &self.schema
    }
}

/// One request to an archive. Make a new one for every question: its budget is the question's.
pub struct Request<S> {
    store: S,
    budget: Budget,
    parsed: BTreeMap<Slot, Decoded>,
    /// Blocks of offsets that this request has paid for; without their values where a cached document made them needless.
    offsets: BTreeMap<Slot, Option<Arc<Offsets>>>,
    cache: Option<Arc<Cache>>,
}

type Offsets = Vec<u64>;

/// A cached document and how many bytes its JSON has.
struct Cached<T> {
    document: Arc<T>,
    bytes: usize,
}

impl<S: Store> Request<S> {
    /// A request that has read nothing yet.
    pub fn new(store: S) -> Self {
        let (parsed, offsets) = (BTreeMap::new(), BTreeMap::new());
        Self { store, budget: Budget::default(), parsed, offsets, cache: None }
    }

    /// A request that shares a cache. What it finds there counts as read and parsed all the same: how far an answer goes must
    /// not depend on what was asked before.
    pub fn cached(store: S, cache: Arc<Cache>) -> Self {
        Self { cache: Some(cache), ..Self::new(store) }
    }

    /// The same question once more from here, with what was read and used so far: to ask for less where an answer turned out to
    /// be too long. What both read, the shared cache gives the second time.
    #[must_use]
    pub fn fork(&self) -> Self
    where
        S: Clone,
    {
        Self {
            store: self.store.clone(),
            budget: self.budget,
            parsed: self.parsed.clone(),
            offsets: self.offsets.clone(),
            cache: self.cache.clone(),
        }
    }

    /// What it has used so far.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Whether so many more members of a pack, of at most `size` bytes each, still fit.
    pub(crate) fn has_room(&self, members: usize, size: usize) -> bool {
        self.budget.has(members * 2, members * size)
    }

    /// A document that is a file of its own; `None` where there is none.
    pub(crate) async fn document<T>(&mut self, path: &str) -> Result<Option<Arc<T>>>
    where
        T: Document,
    {
        let slot = (path.to_owned(), 0);
        if let Some(known) = self.known(&slot) {
            return Ok(Some(known));
        }
        self.count_read(path)?;
        if let Some(cached) = self.find_cached(&slot) {
            return self.take_cached(slot, &cached).map(Some);
        }
        let bytes = self.store.get(path).await.map_err(|source| store_error(path, source))?;
        match bytes {
            Some(bytes) => self.parse(slot, &bytes).map(Some),
            None => Ok(None),
        }
    }

    /// A document of a pack; `None` past the pack's end.
    pub(crate) async fn member<T>(&mut self, folder: &str, pack: &str, ordinal: u64) -> Result<Option<Arc<T>>>
    where
        T: Document,
    {
        let slot = (format!("{folder}/{pack}"), ordinal);
        if let Some(known) = self.known(&slot) {
            return Ok(Some(known));
        }
        if let Some(cached) = self.find_cached(&slot) {
            let block = (format!("{folder}/{}", index_name(pack)), ordinal / OFFSETS);
            if !self.offsets.contains_key(&block) {
                self.count_read(&block.0)?;
                self.offsets.insert(block, None);
            }
            self.count_read(&slot.0)?;
            return self.take_cached(slot, &cached).map(Some);
        }
        match self.member_bytes(folder, pack, ordinal).await? {
            Some(bytes) => self.parse(slot, &bytes).map(Some),
            None => Ok(None),
        }
    }

    /// As many of these members (in order) as one read of a pack gives, inflated and unparsed. Members past the pack's end
    /// are none. Empty where the request may not read or look through more.
    pub(crate) async fn members(
        &mut self,
        folder: &str,
        pack: &str,
        wanted: &[u64],
    ) -> Result<Vec<(u64, Arc<Vec<u8>>)>> {
        let path = format!("{folder}/{pack}");
        let mut ranges: Vec<(u64, u64, u64)> = Vec::new();
        for ordinal in wanted {
            // One read for the members, and one for the offsets of those that stand further on.
            let block = (format!("{folder}/{}", index_name(pack)), ordinal / OFFSETS);
            if !self.budget.has(1 + usize::from(!self.offsets.contains_key(&block)), 0) {
                break;
            }
            let Some((start, end)) = self.member_range(folder, pack, *ordinal).await? else { break };
            // In order, and offsets that grow: each starts where one before ends, or later.
            if ranges.last().is_some_and(|last| start < last.2 || end.saturating_sub(ranges[0].1) > SPAN) {
                break;
            }
            ranges.push((*ordinal, start, end));
        }
        let (Some(first), Some(last)) = (ranges.first().copied(), ranges.last().copied()) else {
            return Ok(Vec::new());
        };
        if self.scan_room() < limits::REQUEST_JSON {
            return Ok(Vec::new());
        }
        self.count_read(&path)?;
        // Unparsed members are kept beside the parsed ones, under a name that no file has.
        let kept = |ordinal: u64| (format!("{path}#"), ordinal);
        let cached: Option<Vec<Arc<Vec<u8>>>> = self.cache.as_ref().and_then(|cache| {
            ranges.iter().map(|(ordinal, ..)| cache.get(&kept(*ordinal))?.downcast().ok()).collect()
        });
        let all = match cached {
            Some(all) => all,
            None => {
                let stored = self.store.get_range(&path, first.1, last.2 - first.1).await;
                let stored = stored.map_err(|source| store_error(&path, source))?;
                let all = inflate_all(&path, stored.as_deref(), &ranges)?;
                if let Some(cache) = &self.cache
                    && all.iter().map(|bytes| bytes.len()).sum::<usize>() <= KEPT
                {
                    for ((ordinal, ..), bytes) in ranges.iter().zip(&all) {
                        cache.put(&kept(*ordinal), Arc::clone(bytes) as Decoded, bytes.len());
                    }
                }
                all
            }
        };
        let mut members = Vec::with_capacity(all.len());
        for ((ordinal, ..), bytes) in ranges.into_iter().zip(all) {
            self.budget.scanned += bytes.len();
            members.push((ordinal, bytes));
            if self.scan_room() < limits::REQUEST_JSON {
                break;
            }
        }
        Ok(members)
    }

    /// Bytes of documents that may still be looked through.
    pub(crate) fn scan_room(&self) -> usize {
        SCAN_BYTES.saturating_sub(self.budget.scanned)
    }

    /// Parses a part of a document that was looked through.
    pub(crate) fn parse_part<T: DeserializeOwned>(&mut self, path: &str, part: &[u8]) -> Result<T> {
        self.count_json(path, part.len())?;
        let expected = "a document of the archive";
        from_slice::<T>(part).map_err(|source| Error::Damaged {
            path: path.to_owned(),
            expected,
            source: Some(source),
        })
    }

    /// The inflated bytes of a member, unparsed.
    pub(crate) async fn member_bytes(
        &mut self,
        folder: &str,
        pack: &str,
        ordinal: u64,
    ) -> Result<Option<Vec<u8>>> {
        let Some(stored) = self.member_stored(folder, pack, ordinal).await? else { return Ok(None) };
        inflated(&stored, &format!("{folder}/{pack}")).map(Some)
    }

    /// The stored bytes of a member: gzip of one document.
    pub(crate) async fn member_stored(
        &mut self,
        folder: &str,
        pack: &str,
        ordinal: u64,
    ) -> Result<Option<Vec<u8>>> {
        let path = format!("{folder}/{pack}");
        let Some((start, end)) = self.member_range(folder, pack, ordinal).await? else { return Ok(None) };
        self.count_read(&path)?;
        let stored = self.store.get_range(&path, start, end - start).await;
        let stored = stored.map_err(|source| store_error(&path, source))?;
        let damaged = |expected| Error::Damaged { path: path.clone(), expected, source: None };
        let stored = stored.ok_or_else(|| damaged("the pack that its `.idx` describes"))?;
        if stored.len() as u64 != end - start {
            return Err(damaged("a pack as long as its `.idx` says"));
        }
        if !stored.starts_with(&GZIP_HEADER) {
            return Err(damaged(MEMBER));
        }
        Ok(Some(stored))
    }

    /// The bytes of a document that is a file of its own, unparsed.
    pub(crate) async fn file_bytes(&mut self, path: &str) -> Result<Option<Vec<u8>>> {
        self.count_read(path)?;
        self.store.get(path).await.map_err(|source| store_error(path, source))
    }

    /// The inflated bytes of a member, unparsed, by way of the cache.
    pub(crate) async fn member_kept(
        &mut self,
        folder: &str,
        pack: &str,
        ordinal: u64,
    ) -> Result<Option<Arc<Vec<u8>>>> {
        let slot = (format!("{folder}/{pack}#bytes"), ordinal);
        let cached: Option<Arc<Vec<u8>>> =
            self.cache.as_ref().and_then(|cache| cache.get(&slot)?.downcast().ok());
        if let Some(bytes) = cached {
            // What finding its place takes is counted as where it isn't cached.
            let block = (format!("{folder}/{}", index_name(pack)), ordinal / OFFSETS);
            if !self.offsets.contains_key(&block) {
                self.count_read(&block.0)?;
                self.offsets.insert(block, None);
            }
            self.count_read(&slot.0)?;
            return Ok(Some(bytes));
        }
        let Some(bytes) = self.member_bytes(folder, pack, ordinal).await? else { return Ok(None) };
        let bytes = Arc::new(bytes);
        if let Some(cache) = &self.cache {
            cache.put(&slot, Arc::clone(&bytes) as Decoded, bytes.len());
        }
        Ok(Some(bytes))
    }

    /// The bytes of a published source from `offset` on, fewer than `length` where it ends before.
    pub(crate) async fn source_bytes(
        &mut self,
        sha256: Sha256Digest,
        offset: u64,
        length: u64,
    ) -> Result<Vec<u8>> {
        let path = format!("src/{sha256}");
        self.count_read(&path)?;
        if length > self.source_room() {
            let limit = usize::try_from(SOURCE_BYTES).unwrap_or(usize::MAX);
            return Err(Error::OverBudget { path, what: "read", limit });
        }
        let read = self.store.get_range(&path, offset, length).await;
        let bytes =
            read.map_err(|source| store_error(&path, source))?.filter(|got| got.len() as u64 <= length);
        let expected = "the source that the edition publishes";
        let bytes = bytes.ok_or(Error::Damaged { path, expected, source: None })?;
        self.budget.source += bytes.len() as u64;
        Ok(bytes)
    }

    /// Bytes of sources that may still be read.
    pub(crate) fn source_room(&self) -> u64 {
        SOURCE_BYTES.saturating_sub(self.budget.source)
    }

    async fn member_range(&mut self, folder: &str, pack: &str, ordinal: u64) -> Result<Option<(u64, u64)>> {
        let path = format!("{folder}/{}", index_name(pack));
        let block = ordinal / OFFSETS;
        let slot = (path, block);
        if !self.offsets.contains_key(&slot) {
            self.count_read(&slot.0)?;
            self.offsets.insert(slot.clone(), None);
        }
        if self.offsets[&slot].is_none() {
            let cached = self.cache.as_ref().and_then(|cache| cache.get(&slot)?.downcast().ok());
            self.offsets.insert(slot.clone(), cached);
        }
        if self.offsets[&slot].is_none() {
            let read = self.store.get_range(&slot.0, block * OFFSETS * 8, (OFFSETS + 1) * 8).await;
            let bytes = read.map_err(|source| store_error(&slot.0, source))?.unwrap_or_default();
            let offsets: Offsets =
                bytes.as_chunks::<8>().0.iter().map(|offset| u64::from_le_bytes(*offset)).collect();
            let offsets = Arc::new(offsets);
            if let Some(cache) = &self.cache {
                cache.put(&slot, Arc::clone(&offsets) as Decoded, bytes.len());
            }
            self.offsets.insert(slot.clone(), Some(offsets));
        }
        let offsets = self.offsets[&slot].as_ref().map_or(&[][..], |offsets| offsets.as_slice());
        let at = usize::try_from(ordinal % OFFSETS).unwrap_or(usize::MAX);
        let (Some(&start), Some(&end)) = (offsets.get(at), offsets.get(at + 1)) else { return Ok(None) };
        let size = end.checked_sub(start).filter(|size| *size <= 2 * limits::REQUEST_JSON as u64);
        if size.is_none() {
            let expected = "offsets that grow, of members within the limits";
            return Err(Error::Damaged { path: slot.0, expected, source: None });
        }
        Ok(Some((start, end)))
    }

    fn find_cached<T: Document>(&self, slot: &Slot) -> Option<Arc<Cached<T>>> {
        self.cache.as_ref().filter(|_| T::IMMUTABLE)?.get(slot)?.downcast().ok()
    }

    /// Takes a cached document, and pays for parsing it.
    fn take_cached<T: Document>(&mut self, slot: Slot, cached: &Cached<T>) -> Result<Arc<T>> {
        self.count_json(&slot.0, cached.bytes)?;
        self.parsed.insert(slot, Arc::clone(&cached.document) as _);
        Ok(Arc::clone(&cached.document))
    }

    /// Counts JSON that was parsed elsewhere.
    pub(crate) fn count_json(&mut self, path: &str, bytes: usize) -> Result<()> {
        if !self.budget.has(0, bytes) {
            let path = path.to_owned();
            return Err(Error::OverBudget { path, what: "parse", limit: limits::REQUEST_JSON });
        }
        self.budget.json += bytes;
        Ok(())
    }

    fn known<T: Send + Sync + 'static>(&self, slot: &Slot) -> Option<Arc<T>> {
        Arc::clone(self.parsed.get(slot)?).downcast().ok()
    }

    fn parse<T>(&mut self, slot: Slot, bytes: &[u8]) -> Result<Arc<T>>
    where
        T: Document,
    {
        self.count_json(&slot.0, bytes.len())?;
        let parsed = from_slice::<T>(bytes).map_err(|source| unreadable(&slot.0, bytes, source))?;
        if parsed.schema() != T::SCHEMA {
            return Err(Error::Unsupported { path: slot.0, schema: parsed.schema().to_owned() });
        }
        let parsed = Arc::new(parsed);
        if let Some(cache) = self.cache.as_ref().filter(|_| T::IMMUTABLE) {
            let cached = Cached { document: Arc::clone(&parsed), bytes: bytes.len() };
            cache.put(&slot, Arc::new(cached) as Decoded, bytes.len());
        }
        self.parsed.insert(slot, Arc::clone(&parsed) as _);
        Ok(parsed)
    }

    fn count_read(&mut self, path: &str) -> Result<()> {
        if !self.budget.has(1, 0) {
            let path = path.to_owned();
            return Err(Error::OverBudget { path, what: "read", limit: limits::REQUEST_READS });
        }
        self.budget.reads += 1;
        Ok(())
    }
}

fn unreadable(path: &str, bytes: &[u8], source: serde_json::Error) -> Error {
    #[derive(serde::Deserialize)]
    struct Named {
        schema: String,
    }
    // Another version of a document isn't damage.
    if let Ok(Named { schema }) = from_slice(bytes)
        && !elfscope_schema::documents::DOCUMENTS.iter().any(|known| known.schema == schema)
    {
        return Error::Unsupported { path: path.to_owned(), schema };
    }
    Error::Damaged { path: path.to_owned(), expected: "a document of the archive", source: Some(source) }
}

fn store_error(path: &str, source: std::io::Error) -> Error {
    Error::Store { path: path.to_owned(), source }
}
