//! Archives in memory: packs, look-up trees and documents, made without the real writer.
#![allow(dead_code, unreachable_pub, reason = "every test uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

pub mod asking;
pub mod counting;
pub mod small;
pub mod sourced;

use std::{collections::BTreeMap, io};

use elfscope_core::Store;
use elfscope_schema::{
    Address, BuildId, Current, CurrentEdition, EditionId, GZIP_HEADER, Index, IndexEntry, IndexRoot, Lookup,
    LookupPage, Name, Record, Sha256Digest, TableEntry, TrigramEntry, documents::schema, hex, index_name,
    limits, to_canonical,
};
use miniz_oxide::deflate::compress_to_vec;
use serde::Serialize;

/// Files in memory.
#[derive(Default)]
pub struct MemoryStore(pub BTreeMap<String, Vec<u8>>);

impl Store for MemoryStore {
    async fn get(&self, path: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(self.0.get(path).cloned())
    }

    async fn get_range(&self, path: &str, offset: u64, length: u64) -> io::Result<Option<Vec<u8>>> {
        Ok(self.0.get(path).map(|bytes| {
            let start = (offset as usize).min(bytes.len());
            let end = (offset.saturating_add(length) as usize).min(bytes.len());
            bytes[start..end].to_vec()
        }))
    }
}

/// A pack being written.
#[derive(Default)]
pub struct Pack {
    bytes: Vec<u8>,
    offsets: Vec<u64>,
}

impl Pack {
    /// Adds a document and gives its ordinal.
    pub fn add<T: Serialize>(&mut self, document: &T) -> u64 {
        self.add_bytes(&to_canonical(document))
    }

    fn add_bytes(&mut self, document: &[u8]) -> u64 {
        self.offsets.push(self.bytes.len() as u64);
        self.bytes.extend(GZIP_HEADER);
        self.bytes.extend(compress_to_vec(document, 1));
        self.bytes.extend([0; 4]);
        self.bytes.extend((document.len() as u32).to_le_bytes());
        self.offsets.len() as u64 - 1
    }

    pub fn members(&self) -> u64 {
        self.offsets.len() as u64
    }

    fn store(mut self, store: &mut MemoryStore, folder: &str, name: &str) {
        self.offsets.push(self.bytes.len() as u64);
        let index = self.offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
        store.0.insert(format!("{folder}/{}", index_name(name)), index);
        store.0.insert(format!("{folder}/{name}"), self.bytes);
    }
}

/// An edition being written.
pub struct Writer {
    pub build_id: BuildId,
    pub name: &'static str,
    pub functions: Pack,
    pub callers: Pack,
    pub data: Pack,
    pub sources: Pack,
    /// What `src/` gets.
    pub blobs: Vec<Vec<u8>>,
    /// The trees whose files count as package-verified.
    pub package_verified: Vec<u32>,
    pub rows_with_line: u64,
    lookup: Pack,
    indices: BTreeMap<String, IndexRoot>,
    /// Largest leaf, so that a few records make several.
    pub page: usize,
}

impl Writer {
    pub fn new(name: &'static str, build_id: &str) -> Self {
        Self {
            build_id: build_id.parse().unwrap(),
            name,
            functions: Pack::default(),
            callers: Pack::default(),
            data: Pack::default(),
            sources: Pack::default(),
            blobs: Vec::new(),
            package_verified: Vec::new(),
            rows_with_line: 0,
            lookup: Pack::default(),
            indices: BTreeMap::new(),
            page: limits::INDEX_PAGE,
        }
    }

    /// Writes an index of records that are sorted already.
    pub fn index<R: Clone + Serialize + Into<Record>>(
        &mut self,
        name: &str,
        records: &[R],
        key: impl Fn(&R) -> String,
    ) -> Vec<std::ops::Range<usize>> {
        let sizes: Vec<usize> = records.iter().map(|record| to_canonical(record).len()).collect();
        if sizes.iter().sum::<usize>() < 600.min(self.page) {
            let leaf = Some(records.iter().cloned().map(Into::into).collect());
            let root =
                IndexRoot { entries: records.len() as u64, first_leaf: None, leaf, levels: 0, table: None };
            self.indices.insert(name.to_owned(), root);
            return std::iter::once(0..records.len()).collect();
        }
        let leaves = cut(&sizes, self.page);
        let first_leaf = self.lookup.members();
        let mut table: Vec<TableEntry> = Vec::new();
        for leaf in &leaves {
            let page = LookupPage {
                index: name.to_owned(),
                leaf: Some(records[leaf.clone()].to_vec()),
                schema: schema::LOOKUP.to_owned(),
                table: None,
            };
            table.push(TableEntry(key(&records[leaf.start]), self.lookup.add(&page)));
        }
        self.root(name, records.len(), first_leaf, table);
        leaves
    }

    /// Writes tables until the topmost is small.
    fn root(&mut self, name: &str, entries: usize, first_leaf: u64, mut table: Vec<TableEntry>) {
        let mut levels = 1;
        while to_canonical(&table).len() > 1600.min(self.page) {
            let sizes: Vec<usize> = table.iter().map(|entry| to_canonical(entry).len()).collect();
            let mut above = Vec::new();
            for part in cut(&sizes, self.page) {
                let key = table[part.start].0.clone();
                let page = LookupPage::<Record> {
                    index: name.to_owned(),
                    leaf: None,
                    schema: schema::LOOKUP.to_owned(),
                    table: Some(table[part].to_vec()),
                };
                above.push(TableEntry(key, self.lookup.add(&page)));
            }
            (table, levels) = (above, levels + 1);
        }
        let root = IndexRoot {
            entries: entries as u64,
            first_leaf: Some(first_leaf),
            leaf: None,
            levels,
            table: Some(table),
        };
        self.indices.insert(name.to_owned(), root);
    }

    /// Writes an index of texts and the index of their trigrams.
    pub fn texts<R: Clone + Serialize + Into<Record>>(
        &mut self,
        name: &str,
        records: &[R],
        text: impl Fn(&R) -> &str,
    ) {
        let leaves = self.index(name, records, |record| Name::sort_key(text(record)).into_owned());
        if leaves.len() == 1 {
            return;
        }
        let mut postings: BTreeMap<[u8; 3], Vec<u64>> = BTreeMap::new();
        for (number, leaf) in leaves.iter().enumerate() {
            for record in &records[leaf.clone()] {
                for trigram in text(record).to_ascii_lowercase().as_bytes().windows(3) {
                    let leaves = postings.entry(trigram.try_into().unwrap()).or_default();
                    if leaves.last() != Some(&(number as u64)) {
                        leaves.push(number as u64);
                    }
                }
            }
        }
        let entries: Vec<TrigramEntry> = postings
            .into_iter()
            .map(|(trigram, leaves)| {
                let mut runs = Vec::new();
                let mut at = 0;
                for leaf in leaves {
                    match runs.last_mut() {
                        Some(length) if at == leaf => *length += 1,
                        _ => runs.extend([leaf - at, 1]),
                    }
                    at = leaf + 1;
                }
                TrigramEntry(hex::encode(&trigram), runs)
            })
            .collect();
        self.index(&format!("{name}_trigram"), &entries, |entry| entry.0.clone());
    }

    /// Names the first address of each page of the data pack.
    pub fn data_index(&mut self, pages: &[Address]) {
        let table = pages
            .iter()
            .zip(0..)
            .map(|(address, ordinal)| TableEntry(address.to_string(), ordinal))
            .collect();
        self.root("data", pages.len(), 0, table);
    }

    /// Puts the edition and its pointer into a store.
    pub fn publish(self, store: &mut MemoryStore) -> CurrentEdition {
        let edition = EditionId::of_manifest(format!("{} {}", self.name, self.build_id).as_bytes());
        let folder = format!("{}/{edition}", self.build_id);
        let lookup = Lookup { indices: self.indices, schema: schema::LOOKUP.to_owned() };
        let lookup = to_canonical(&lookup);
        assert!(lookup.len() <= limits::INDEX_PAGE, "lookup.json has {} bytes", lookup.len());
        store.0.insert(format!("{folder}/lookup.json"), lookup);
        self.lookup.store(store, &folder, "lookup.jsonl.gz");
        self.functions.store(store, &folder, "fn.jsonl.gz");
        self.callers.store(store, &folder, "callers.jsonl.gz");
        self.data.store(store, &folder, "data.jsonl.gz");
        self.sources.store(store, &folder, "sources.jsonl.gz");
        let sources = self.blobs.len() as u64;
        for blob in self.blobs {
            store.0.insert(format!("src/{}", Sha256Digest::of(&blob)), blob);
        }
        let digest = Sha256Digest::of(self.name.as_bytes());
        let told = CurrentEdition {
            also: Vec::new(),
            content: digest,
            derivation: 1,
            diagnostics: 0,
            edition,
            file: digest,
            functions: 1,
            has_dwarf: self.rows_with_line > 0,
            inputs: digest,
            machine: "x86-64".to_owned(),
            name: Name::from(self.name),
            named: 1,
            package: None,
            package_verified: self.package_verified,
            provenance: format!("{}: made by a test", self.name),
            rows: 1,
            rows_with_line: self.rows_with_line,
            soname: None,
            sources,
        };
        let mut current = Current {
            build_id: self.build_id.clone(),
            check: None,
            editions: vec![told.clone()],
            file: digest,
            schema: schema::CURRENT.to_owned(),
            tombstones: Vec::new(),
        };
        current.seal();
        store.0.insert(format!("{}/current.json", self.build_id), to_canonical(&current));
        add_to_index(store, self.build_id, &told);
        told
    }
}

fn add_to_index(store: &mut MemoryStore, build_id: BuildId, told: &CurrentEdition) {
    let index = store.0.get("index.json").map(|bytes| elfscope_schema::from_slice::<Index>(bytes).unwrap());
    let mut builds = index.and_then(|index| index.builds).unwrap_or_default();
    builds.push(IndexEntry {
        build_id,
        edition: told.edition.clone(),
        functions: told.functions,
        machine: told.machine.clone(),
        name: told.name.clone(),
        package: None,
        rows: told.rows,
        rows_with_line: 0,
        soname: None,
    });
    builds.sort_by(|a, b| (a.name.text(), &a.build_id).cmp(&(b.name.text(), &b.build_id)));
    let total = builds.len() as u64;
    let index = Index { builds: Some(builds), schema: schema::INDEX.to_owned(), total };
    store.0.insert("index.json".to_owned(), to_canonical(&index));
}

/// Ranges of items whose sizes stay under a page.
fn cut(sizes: &[usize], page: usize) -> Vec<std::ops::Range<usize>> {
    let most = page.saturating_sub(100).max(1);
    let mut ranges = Vec::new();
    let (mut start, mut size) = (0, 0);
    for (at, item) in sizes.iter().enumerate() {
        if size + item > most && at > start {
            ranges.push(start..at);
            (start, size) = (at, 0);
        }
        size += item;
    }
    ranges.push(start..sizes.len());
    ranges
}
