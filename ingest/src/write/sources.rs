//! `sources.jsonl.gz`: the source files that the debug data cites, and what the indices know of them.

use elfscope_schema::{
    Address, Name, SourceEntry, SourceFile, SourceFunctions, SourcesPage, documents::schema, limits,
    to_canonical,
};

use super::{LazyPack, items};
use crate::archive::ArchiveError;

/// What a page takes beside its files.
const FRAME: usize = 100;

/// Puts files into the order in which pages and indices have them: by the sort key of their path's text, then by path.
pub(crate) fn sort(files: &mut [SourceFile]) {
    files.sort_by(|a, b| key(a).cmp(&key(b)));
}

fn key(file: &SourceFile) -> (std::borrow::Cow<'_, str>, &Name) {
    (Name::sort_key(file.path.text()), &file.path)
}

/// Writes the pages of sorted files. Returns the records of the index `source`.
pub(crate) fn write(files: &[SourceFile], pack: &mut LazyPack<'_>) -> Result<Vec<SourceEntry>, ArchiveError> {
    debug_assert!(files.is_sorted_by_key(key));
    let mut entries = Vec::with_capacity(files.len());
    for range in items::cut(files, limits::INDEX_PAGE - FRAME, limits::PAGE_ITEMS) {
        let page = pack.next();
        let sources = files[range].to_vec();
        entries.extend(sources.iter().map(|file| SourceEntry {
            level: file.level,
            page,
            path: file.path.clone(),
        }));
        pack.push(to_canonical(&SourcesPage { schema: schema::SOURCES.to_owned(), sources }))?;
    }
    Ok(entries)
}

/// The records of the index `source_function`: for each of the sorted files, the starts of the bodies that cite it, in any
/// order.
pub(crate) fn functions(files: &[SourceFile], mut cited_by: Vec<Vec<Address>>) -> Vec<SourceFunctions> {
    debug_assert_eq!(files.len(), cited_by.len());
    let mut records = Vec::new();
    for (file, addresses) in files.iter().zip(&mut cited_by) {
        addresses.sort_unstable();
        addresses.dedup();
        let parts = addresses.chunks(SourceFunctions::ADDRESSES);
        records.extend(parts.map(|part| SourceFunctions(file.path.clone(), part.to_vec())));
    }
    records
}
