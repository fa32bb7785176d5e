//! The catalogue `index*`: a pure function of the builds' pointers.
//!
//! [`derive`] is that function. While all builds fit `index.json` there are no pages; from then on each build stands in
//! up to four trees of pages, by id, name, soname and package. `update` changes the pages of one build only, to the same bytes.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use elfscope_schema::{
    BuildId, Current, Index, IndexEntry, IndexPage, documents::schema, limits, to_canonical,
};
use rayon::prelude::*;

use super::{Archive, ArchiveError, files, store};

/// The folder of the catalogue's pages.
pub(super) const FOLDER: &str = "index";

/// What a tree of pages is by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Id,
    Name,
    Soname,
    Package,
}

impl By {
    pub(super) const ALL: [Self; 4] = [Self::Id, Self::Name, Self::Soname, Self::Package];

    /// The key under which a build is looked for.
    pub(super) fn key(self, entry: &IndexEntry) -> Option<&str> {
        match self {
            Self::Id => Some(entry.build_id.as_str()),
            Self::Name => Some(entry.name.text()),
            Self::Soname => entry.soname.as_ref().map(elfscope_schema::Name::text),
            Self::Package => {
                entry.package.as_ref().map(|package| package.split(' ').next().unwrap_or(package))
            }
        }
    }

    /// The digits that a key is sorted by.
    pub(super) fn digits(self, key: &str) -> String {
        match self {
            Self::Id => IndexPage::id_digits(key),
            _ => IndexPage::digits(key),
        }
    }

    /// The path of a page, from the archive's root.
    pub(super) fn page(self, prefix: &str) -> String {
        let folder = match self {
            Self::Id => "id",
            Self::Name => "name",
            Self::Soname => "soname",
            Self::Package => "package",
        };
        let prefix = if prefix.is_empty() { "root" } else { prefix };
        format!("{FOLDER}/{folder}/{prefix}.json")
    }

    /// The path of a page that goes on, from 1.
    pub(super) fn further(self, prefix: &str, number: usize) -> String {
        self.page(&format!("{}.{number}", if prefix.is_empty() { "root" } else { prefix }))
    }
}

/// An entry with the key that it stands under in one tree.
#[derive(Clone, Debug)]
pub(super) struct Keyed {
    /// The digits that the key is sorted by.
    pub(super) digits: String,
    /// The key.
    pub(super) key: String,
    /// What the page says.
    pub(super) entry: IndexEntry,
    /// How many bytes that takes.
    pub(super) size: usize,
}

impl Keyed {
    pub(super) fn new(by: By, entry: &IndexEntry) -> Option<Self> {
        let key = by.key(entry)?.to_owned();
        let digits = by.digits(&key);
        let size = to_canonical(entry).len() - 1;
        Some(Self { digits, key, entry: entry.clone(), size })
    }
}

/// What the catalogue says of a build: none where its current file has no edition left.
pub(super) fn entry(current: &Current) -> Option<IndexEntry> {
    let edition = current.edition()?;
    Some(IndexEntry {
        build_id: current.build_id.clone(),
        edition: edition.edition.clone(),
        functions: edition.functions,
        machine: edition.machine.clone(),
        name: edition.name.clone(),
        package: edition.package.clone(),
        rows: edition.rows,
        rows_with_line: edition.rows_with_line,
        soname: edition.soname.clone(),
    })
}

/// The catalogue's files, by path from the archive's root: the same for the same builds, in whatever order they come.
pub(super) fn derive(mut entries: Vec<IndexEntry>) -> BTreeMap<String, Vec<u8>> {
    let total = entries.len() as u64;
    entries.sort_by(|a, b| (a.name.text(), &a.build_id).cmp(&(b.name.text(), &b.build_id)));
    let index = |builds| Index { builds, schema: schema::INDEX.to_owned(), total };
    let mut files = BTreeMap::new();
    // Most catalogues that don't fit are much too large: their text need not be made to see it.
    if entries.len() <= MOST_INLINE {
        let inline = to_canonical(&index(Some(entries.clone())));
        if inline.len() <= limits::INDEX_PAGE {
            files.insert(store::INDEX.to_owned(), inline);
            return files;
        }
    }
    files.insert(store::INDEX.to_owned(), to_canonical(&index(None)));
    let trees = By::ALL.par_iter().map(|by| {
        let keyed = entries.iter().filter_map(|entry| Keyed::new(*by, entry)).collect();
        let mut tree = BTreeMap::new();
        pages(*by, "", keyed, &mut tree);
        tree
    });
    files.extend(trees.collect::<Vec<_>>().into_iter().flatten());
    files
}

/// The pages of one tree, from the one of `prefix` on. No entries, no page.
pub(super) fn pages(by: By, prefix: &str, mut keyed: Vec<Keyed>, into: &mut BTreeMap<String, Vec<u8>>) {
    let Some(first) = keyed.first() else { return };
    let one_key = keyed.iter().all(|other| other.key == first.key);
    if fits(&keyed) || one_key {
        keyed.sort_by(|a, b| (&a.key, &a.entry.build_id).cmp(&(&b.key, &b.entry.build_id)));
        let parts = cut(keyed);
        let further = Some(parts.len() as u64 - 1).filter(|further| *further != 0);
        for (number, part) in parts.into_iter().enumerate() {
            let builds = Some(part.into_iter().map(|keyed| keyed.entry).collect());
            let (path, pages) =
                if number == 0 { (by.page(prefix), further) } else { (by.further(prefix, number), None) };
            into.insert(
                path,
                to_canonical(&IndexPage { builds, pages, schema: schema::INDEX.to_owned(), split: None }),
            );
        }
        return;
    }
    let mut split: BTreeMap<char, Vec<Keyed>> = BTreeMap::new();
    for keyed in keyed {
        // Keys that differ have digits that differ, so one follows.
        if let Some(digit) = keyed.digits[prefix.len()..].chars().next() {
            split.entry(digit).or_default().push(keyed);
        }
    }
    let digits = Some(split.keys().collect());
    let page = IndexPage { builds: None, pages: None, schema: schema::INDEX.to_owned(), split: digits };
    into.insert(by.page(prefix), to_canonical(&page));
    for (digit, keyed) in split {
        pages(by, &format!("{prefix}{digit}"), keyed, into);
    }
}

/// Whether these entries fit one page.
pub(super) fn fits(keyed: &[Keyed]) -> bool {
    envelope() + keyed.iter().map(|keyed| keyed.size + 1).sum::<usize>() <= limits::INDEX_PAGE
}

/// Cuts entries of one key into pages. `clip` keeps every entry to a fraction of a page.
fn cut(keyed: Vec<Keyed>) -> Vec<Vec<Keyed>> {
    let mut parts = vec![Vec::new()];
    // Room for `"pages":<number>,`.
    let start = envelope() + if fits(&keyed) { 0 } else { 32 };
    let mut size = start;
    for keyed in keyed {
        if size + keyed.size + 1 > limits::INDEX_PAGE {
            parts.push(Vec::new());
            size = start;
        }
        size += keyed.size + 1;
        if let Some(part) = parts.last_mut() {
            part.push(keyed);
        }
    }
    parts
}

/// Bytes that a page takes beside its entries and their commas (one more than there are).
fn envelope() -> usize {
    "{\"builds\":[],\"schema\":\"\"}\n".len() + schema::INDEX.len()
}

/// The pointers of all builds, and the builds whose pointers are damaged.
pub(super) fn read_pointers(archive: &Archive) -> Result<(Vec<Current>, Vec<BuildId>), ArchiveError> {
    let builds = archive.builds()?;
    let read: Vec<_> = builds.into_par_iter().map(|build| (archive.current(&build), build)).collect();
    let (mut pointers, mut damaged) = (Vec::new(), Vec::new());
    for (current, build) in read {
        match current {
            Ok(current) => pointers.extend(current),
            Err(ArchiveError::Damaged { .. }) => damaged.push(build),
            Err(error) => return Err(error),
        }
    }
    Ok((pointers, damaged))
}

/// Moves a build's pointer and brings the catalogue up to date. Only for who holds the lock alone. Returns the builds whose
/// pointers are damaged, where it came across them: the catalogue leaves them out.
pub(super) fn around(
    archive: &Archive,
    build: &BuildId,
    change: impl FnOnce() -> Result<(), ArchiveError>,
) -> Result<Vec<BuildId>, ArchiveError> {
    let stale = is_stale(archive);
    if !stale {
        fs::write(mark(archive), b"").map_err(ArchiveError::write(mark(archive)))?;
        files::sync_folder(&archive.temp())?;
    }
    change()?;
    if !stale && super::index_update::update(archive, build)? {
        unmark(archive)?;
        return Ok(Vec::new());
    }
    rebuild(archive)
}

/// Writes the catalogue where its last writer didn't. Only for who holds the lock alone.
pub(super) fn complete(archive: &Archive) -> Result<Vec<BuildId>, ArchiveError> {
    if is_stale(archive) { rebuild(archive) } else { Ok(Vec::new()) }
}

/// Derives the whole catalogue again and writes what differs. Only for who holds the lock alone.
pub(super) fn rebuild(archive: &Archive) -> Result<Vec<BuildId>, ArchiveError> {
    let (pointers, damaged) = read_pointers(archive)?;
    let derived = derive(pointers.iter().filter_map(entry).collect());
    let old = stored(archive)?;
    let mut changes: BTreeMap<String, Option<Vec<u8>>> =
        old.into_iter().filter(|path| !derived.contains_key(path)).map(|path| (path, None)).collect();
    let differs: Vec<(String, Vec<u8>)> = derived
        .into_par_iter()
        .filter(|(path, bytes)| !fs::read(archive.root().join(path)).is_ok_and(|old| old == *bytes))
        .collect();
    changes.extend(differs.into_iter().map(|(path, bytes)| (path, Some(bytes))));
    write(archive, changes)?;
    unmark(archive)?;
    Ok(damaged)
}

/// Writes and deletes files of the catalogue: pages before the pages that lead to them, deletions last.
pub(super) fn write(
    archive: &Archive,
    changes: BTreeMap<String, Option<Vec<u8>>>,
) -> Result<(), ArchiveError> {
    let root = archive.root();
    let mut folders = std::collections::BTreeSet::new();
    let mut order: Vec<(String, Option<Vec<u8>>)> = changes.into_iter().collect();
    order.sort_by_key(|(path, bytes)| {
        // The root's page is reached before those of any prefix, `index.json` before all.
        let depth = if path.ends_with("/root.json") { 1 } else { path.len() };
        (bytes.is_none(), std::cmp::Reverse(if path == store::INDEX { 0 } else { depth }), path.clone())
    });
    for batch in order.chunks(BATCH) {
        // All are synced before the first is renamed: a file system makes one commit of that, not one a file.
        batch.par_iter().enumerate().try_for_each(|(number, (path, bytes))| match bytes {
            Some(bytes) => files::write_synced(&scratch(archive, number), &root.join(path), bytes),
            None => Ok(()),
        })?;
        for (number, (path, bytes)) in batch.iter().enumerate() {
            let to = root.join(path);
            let folder = parent(root, path);
            if bytes.is_some() {
                if !folders.contains(&folder) {
                    fs::create_dir_all(&folder).map_err(ArchiveError::write(&folder))?;
                }
                fs::rename(scratch(archive, number), &to).map_err(ArchiveError::write(&to))?;
            } else {
                files::delete(&to)?;
            }
            folders.insert(folder);
        }
    }
    for folder in folders {
        files::sync_folder(&folder)?;
    }
    for folder in By::ALL.map(|by| parent(root, &by.page(""))).iter().chain([&root.join(FOLDER)]) {
        // Only succeeds where it is empty.
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

/// The paths of the catalogue's files as they stand, whether they belong or not.
pub(super) fn stored(archive: &Archive) -> Result<Vec<String>, ArchiveError> {
    let mut paths = Vec::new();
    if archive.index_path().exists() {
        paths.push(store::INDEX.to_owned());
    }
    for folder in files::list(&archive.root().join(FOLDER))? {
        let inside = format!("{FOLDER}/{}", folder.name);
        if !folder.is_folder {
            paths.push(inside);
            continue;
        }
        let entries = files::list(&archive.root().join(&inside))?;
        paths.extend(entries.into_iter().map(|entry| format!("{inside}/{}", entry.name)));
    }
    Ok(paths)
}

/// Whether a writer died while it wrote the catalogue, or writes it now.
pub(super) fn is_stale(archive: &Archive) -> bool {
    mark(archive).exists()
}

fn unmark(archive: &Archive) -> Result<(), ArchiveError> {
    files::delete(&mark(archive))
}

fn mark(archive: &Archive) -> PathBuf {
    archive.temp().join("reindex")
}

/// A file for a page that is about to be renamed into place.
fn scratch(archive: &Archive, number: usize) -> PathBuf {
    archive.scratch().with_extension(number.to_string())
}

fn parent(root: &Path, path: &str) -> PathBuf {
    root.join(path).parent().unwrap_or(root).to_owned()
}

/// Pages that are written at once.
const BATCH: usize = 256;
/// More builds than this never fit `index.json`: an entry takes at least 130 bytes.
pub(super) const MOST_INLINE: usize = 128;

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
