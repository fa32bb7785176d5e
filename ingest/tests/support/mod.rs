//! Reading an edition back, without the code that serves it.
#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

pub(crate) mod elf;
pub(crate) mod packing;

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use elfscope_ingest::{AddOptions, Added, add, archive::Archive};
use elfscope_schema::{
    CallersPage, DataItem, DataPage, Diagnostic, Edge, FunctionPage, Head, Lookup, LookupPage, Meta, More,
    MoreItems, Name, Record, Row, Run, SourceFile, SourcesPage, from_slice,
};
use flate2::read::MultiGzDecoder;

/// A folder of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// A temporary folder in memory where there is one: thousands of editions are synced by these tests.
pub(crate) fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Adds one file to a new archive.
pub(crate) fn add_alone(file: &Path) -> (tempfile::TempDir, Added) {
    add_with(file, &[])
}

/// Adds one file with its debug files to a new archive.
pub(crate) fn add_with(file: &Path, debug: &[PathBuf]) -> (tempfile::TempDir, Added) {
    let inputs = [file.to_owned()];
    added_by(&AddOptions { debug, only_given: true, ..AddOptions::new(&inputs) })
}

/// Adds one file with source trees to a new archive.
pub(crate) fn add_with_sources(file: &Path, sources: &[PathBuf]) -> (tempfile::TempDir, Added) {
    let inputs = [file.to_owned()];
    added_by(&AddOptions { sources, only_given: true, ..AddOptions::new(&inputs) })
}

fn added_by(options: &AddOptions<'_>) -> (tempfile::TempDir, Added) {
    let folder = in_memory();
    let archive = Archive::create(folder.path()).unwrap();
    let report = add(&archive, options, &()).unwrap();
    assert!(report.failed.is_empty(), "{:?}", report.failed);
    let added = report.added.into_iter().next().unwrap();
    (folder, added)
}

/// Where a row is in the source, from the inside out.
pub(crate) type Stack = Vec<Level>;

/// One level of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    /// The file's path.
    pub(crate) path: Option<Name>,
    /// The line; none for code that the compiler made.
    pub(crate) line: Option<u32>,
    /// The function.
    pub(crate) function: Option<Name>,
}

/// One body with all its pages put together.
pub(crate) struct Function {
    pub(crate) key: elfscope_schema::FunctionKey,
    pub(crate) head: Head,
    pub(crate) rows: Vec<Row>,
    /// Where each row is in the source.
    pub(crate) places: Vec<Option<Stack>>,
    pub(crate) edges: Vec<Edge>,
}

/// An edition, read whole.
pub(crate) struct Edition {
    pub(crate) meta: Meta,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) functions: Vec<Function>,
    pub(crate) callers: Vec<CallersPage>,
    pub(crate) data: Vec<DataItem>,
    pub(crate) sources: Vec<SourceFile>,
    pub(crate) records: Vec<(String, Record)>,
}

impl Edition {
    pub(crate) fn read(root: &Path, added: &Added) -> Self {
        let folder = root.join(added.build_id.as_str()).join(added.edition.as_str());
        let meta: Meta = from_slice(&fs::read(folder.join("meta.json")).unwrap()).unwrap();
        let mut diagnostics = meta.diagnostics.items.clone();
        for page in pack::<More>(&folder.join("more.jsonl.gz")) {
            if let MoreItems::Diagnostics(more) = page.items {
                diagnostics.extend(more);
            }
        }
        assert_eq!(diagnostics.len() as u64, meta.diagnostics.total);
        let mut functions: Vec<Function> = Vec::new();
        for page in pack::<FunctionPage>(&folder.join("fn.jsonl.gz")) {
            let places: Vec<_> =
                page.runs.iter().flat_map(|run| vec![stack(&page, run); run.rows.len()]).collect();
            let rows = page.runs.into_iter().flat_map(|run| run.rows);
            if let Some(head) = page.head {
                let rows = rows.collect();
                functions.push(Function { key: page.key, head, rows, places, edges: page.edges });
            } else {
                let last = functions.last_mut().unwrap();
                assert_eq!(last.key, page.key, "pages of one body follow each other");
                assert_eq!(last.rows.len(), page.rows_from as usize);
                last.head.names.extend(page.names);
                last.rows.extend(rows);
                last.places.extend(places);
                last.edges.extend(page.edges);
            }
        }
        let data =
            pack::<DataPage>(&folder.join("data.jsonl.gz")).into_iter().flat_map(|page| page.items).collect();
        let root: Lookup = from_slice(&fs::read(folder.join("lookup.json")).unwrap()).unwrap();
        let mut records = Vec::new();
        for (name, index) in root.indices {
            records.extend(index.leaf.into_iter().flatten().map(|record| (name.clone(), record)));
        }
        for page in pack::<LookupPage>(&folder.join("lookup.jsonl.gz")) {
            records.extend(page.leaf.into_iter().flatten().map(|record| (page.index.clone(), record)));
        }
        let pages = pack::<SourcesPage>(&folder.join("sources.jsonl.gz"));
        let sources = pages.into_iter().flat_map(|page| page.sources).collect();
        let callers = pack(&folder.join("callers.jsonl.gz"));
        Self { meta, diagnostics, functions, callers, data, sources, records }
    }

    /// What must be so of every edition: bodies don't overlap and together hold every executable byte, rows hold every
    /// byte of a body, edges leave from rows.
    pub(crate) fn holds_together(&self) {
        let mut bytes = 0;
        for pair in self.functions.windows(2) {
            let (a, b) = (pair[0].key, pair[1].key);
            assert!(a.address < b.address, "{a} before {b}");
            assert!(
                a.address.section != b.address.section || a.address.offset + a.size <= b.address.offset,
                "{a} over {b}"
            );
        }
        for function in &self.functions {
            bytes += function.key.size;
            let mut at = 0;
            for row in &function.rows {
                assert_eq!(u64::from(row.offset), at, "{}", function.key);
                at += row.bytes.len() as u64;
            }
            assert!(self.meta.decoder.is_none() || at == function.key.size, "{}", function.key);
            for edge in &function.edges {
                assert!(function.rows.iter().any(|row| row.offset == edge.row), "{}: {edge:?}", function.key);
            }
        }
        let coverage = &self.meta.coverage;
        assert_eq!(bytes, coverage.executable);
        assert_eq!(coverage.functions + coverage.stubs + coverage.gaps, coverage.executable);
    }

    /// The body that a place is in.
    pub(crate) fn function_at(&self, address: elfscope_schema::Address) -> Option<&Function> {
        self.functions.iter().find(|function| {
            let start = function.key.address;
            start.section == address.section
                && start.offset <= address.offset
                && address.offset - start.offset < function.key.size
        })
    }
}

fn stack(page: &FunctionPage, run: &Run) -> Option<Stack> {
    let levels = page.stack(run.at.as_ref()?);
    let level = levels.iter().map(|level| Level {
        path: level.file.map(|file| file.path.clone()),
        line: level.line,
        function: level.function.cloned(),
    });
    Some(level.collect())
}

fn pack<T: serde::de::DeserializeOwned>(path: &Path) -> Vec<T> {
    documents(path).iter().map(|document| from_slice(document).unwrap()).collect()
}

/// The documents of a pack; none where there is no such file.
pub(crate) fn documents(path: &Path) -> Vec<Vec<u8>> {
    let Ok(bytes) = fs::read(path) else { return Vec::new() };
    let mut text = Vec::new();
    MultiGzDecoder::new(&bytes[..]).read_to_end(&mut text).unwrap();
    text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}
