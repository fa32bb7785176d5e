//! `sources.jsonl.gz`: the source files that the debug data cites, and what the indices know of them.

use elfscope_schema::{
    Address, Name, SourceEntry, SourceFile, SourceFunctions, SourcesPage, documents::schema, limits,
    to_canonical,
};

use super::{LazyPack, items};
use crate::archive::ArchiveError;

/// What a page takes beside its files.
const FRAME: usize = 100;

/// What files are sorted by: the sort key of their path's text, then the path.
pub(crate) fn key(file: &SourceFile) -> (std::borrow::Cow<'_, str>, &Name) {
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

#[cfg(test)]
mod tests {
    use std::{fs, io::Read as _};

    use elfscope_schema::{Lines, Sha256Digest, SourceLevel, from_slice};

    use super::*;
    use crate::archive::Archive;

    fn file(path: &[u8]) -> SourceFile {
        let text = "int a;\n".repeat(path.len() * 7);
        SourceFile {
            also: Vec::new(),
            last_line: 7,
            level: SourceLevel::PathMatched,
            lines: Some(Lines::of(text.as_bytes())),
            mismatch: None,
            names: Some((1, 2)),
            path: Name::from_bytes(path),
            raw: Some((Name::from_bytes(b"/x"), Name::from_bytes(path))),
            sha256: Some(Sha256Digest::of(text.as_bytes())),
            tree: Some(0),
        }
    }

    /// Pages, and which of them each record names.
    fn written(files: &[SourceFile]) -> (Vec<String>, Vec<SourceEntry>) {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::create(folder.path().join("archive")).unwrap();
        let stage = archive.stage().unwrap();
        let mut pack = LazyPack::new(&stage, "sources.jsonl.gz");
        let entries = write(files, &mut pack).unwrap();
        pack.finish().unwrap();
        let Ok(packed) = fs::read(stage.edition().join("sources.jsonl.gz")) else {
            return (Vec::new(), entries);
        };
        let mut text = String::new();
        flate2::read::MultiGzDecoder::new(packed.as_slice()).read_to_string(&mut text).unwrap();
        (text.split_inclusive('\n').map(str::to_owned).collect(), entries)
    }

    #[test]
    fn every_file_stands_on_the_page_that_its_record_names() {
        let long = [b'/'].repeat(limits::NAME + 1);
        let mut files: Vec<SourceFile> =
            (0..500u32).map(|n| file(format!("/src/{}/{n}.c", n % 7).as_bytes())).collect();
        files.extend([file(b"\xff.c"), file(b"\xfe.c"), file(&long), file(&[1; limits::NAME])]);
        files.sort_by(|a, b| key(a).cmp(&key(b)));
        let (pages, entries) = written(&files);
        assert!(pages.len() > 10);
        let mut all = Vec::new();
        for (number, page) in (0u64..).zip(&pages) {
            let read: SourcesPage = from_slice(page.as_bytes()).unwrap();
            assert!(page.len() <= limits::INDEX_PAGE || read.sources.len() == 1, "{}", page.len());
            let named: Vec<&Name> =
                entries.iter().filter(|entry| entry.page == number).map(|entry| &entry.path).collect();
            assert_eq!(named, read.sources.iter().map(|file| &file.path).collect::<Vec<_>>());
            all.extend(read.sources);
        }
        assert_eq!(all, files);
        assert_eq!(written(&[]), (Vec::new(), Vec::new()));
    }

    #[test]
    fn who_cites_a_file_is_told_in_order_and_in_parts() {
        let files = [file(b"a.c"), file(b"b.c"), file(b"c.c")];
        let many: Vec<Address> = (0..600).rev().chain(0..600).map(|at| Address::virt(at * 16)).collect();
        let records = functions(&files, vec![many, Vec::new(), vec![Address::virt(1)]]);
        let told: Vec<(&str, usize)> =
            records.iter().map(|record| (record.0.text(), record.1.len())).collect();
        assert_eq!(told, [("a.c", 256), ("a.c", 256), ("a.c", 88), ("c.c", 1)]);
        let all: Vec<Address> = records[..3].iter().flat_map(|record| record.1.clone()).collect();
        assert!(all.is_sorted() && all.len() == 600);
    }
}
