//! The catalogue after a change of one build: reads and writes only the pages on its paths.
//!
//! A tree of pages is changed as it would be derived: a page that grows too large is split, one whose builds fit again is
//! whole again. Where the stored pages are not as they should be, the whole catalogue is derived again instead.

use std::{collections::BTreeMap, path::Path};

use elfscope_schema::{BuildId, Index, IndexEntry, IndexPage, documents::schema, from_slice, to_canonical};

use super::{
    Archive, ArchiveError, files,
    index::{self, By, Keyed},
    store,
};

/// Brings the catalogue up to date for one build. `false` where it has to be derived as a whole: it is small, or not as
/// it should be.
pub(super) fn update(archive: &Archive, build: &BuildId) -> Result<bool, ArchiveError> {
    let Some(bytes) = files::read(&archive.index_path())? else { return Ok(false) };
    let Ok(old) = from_slice::<Index>(&bytes) else { return Ok(false) };
    if old.builds.is_some() || old.total as usize <= index::MOST_INLINE {
        return Ok(false);
    }
    let entry = archive.current(build)?.as_ref().and_then(index::entry);
    let mut pages = Pages { root: archive.root(), changed: BTreeMap::new() };
    let Some(before) = pages.find(build)? else { return Ok(false) };
    for by in By::ALL {
        let old = before.as_ref().and_then(|entry| Keyed::new(by, entry));
        let new = entry.as_ref().and_then(|entry| Keyed::new(by, entry));
        let moved = old.filter(|old| new.as_ref().is_none_or(|new| new.key != old.key));
        for (keyed, keep) in moved.map(|old| (old, false)).into_iter().chain(new.map(|new| (new, true))) {
            if !pages.set(by, "", &keyed, keep)? {
                return Ok(false);
            }
        }
    }
    let total = old.total + u64::from(entry.is_some()) - u64::from(before.is_some());
    let root = Index { builds: None, schema: schema::INDEX.to_owned(), total };
    pages.changed.insert(store::INDEX.to_owned(), Some(to_canonical(&root)));
    let mut changes = BTreeMap::new();
    for (path, bytes) in pages.changed {
        if files::read(&archive.root().join(&path))? != bytes {
            changes.insert(path, bytes);
        }
    }
    index::write(archive, changes)?;
    Ok(true)
}

/// The stored pages, and what becomes of them.
struct Pages<'a> {
    root: &'a Path,
    changed: BTreeMap<String, Option<Vec<u8>>>,
}

/// One page with those that it goes on in.
enum Node {
    /// There is none.
    Absent,
    /// Builds, and the paths of the pages that hold them.
    Leaf(Vec<Keyed>, Vec<String>),
    /// The digits that follow.
    Split(String),
    /// Not as it should be.
    Bad,
}

impl Pages<'_> {
    /// What the catalogue says of a build so far; the outer `None` where a page is not as it should be.
    fn find(&self, build: &BuildId) -> Result<Option<Option<IndexEntry>>, ArchiveError> {
        let digits = By::Id.digits(build.as_str());
        for length in 0..=digits.len() {
            match self.load(By::Id, &digits[..length])? {
                Node::Absent => return Ok(Some(None)),
                Node::Bad => return Ok(None),
                Node::Leaf(keyed, _) => {
                    let mut found = keyed.into_iter().filter(|keyed| keyed.entry.build_id == *build);
                    return Ok(Some(found.next().map(|keyed| keyed.entry)));
                }
                Node::Split(_) => {}
            }
        }
        Ok(None)
    }

    /// Puts an entry under its key, or takes that of its build away. `false` where a page is not as it should be.
    fn set(&mut self, by: By, prefix: &str, new: &Keyed, keep: bool) -> Result<bool, ArchiveError> {
        let digits = match self.load(by, prefix)? {
            Node::Bad => return Ok(false),
            Node::Absent => {
                self.put(by, prefix, if keep { vec![new.clone()] } else { Vec::new() }, &[]);
                return Ok(true);
            }
            Node::Leaf(mut keyed, paths) => {
                keyed.retain(|old| old.entry.build_id != new.entry.build_id);
                if keep {
                    keyed.push(new.clone());
                }
                self.put(by, prefix, keyed, &paths);
                return Ok(true);
            }
            Node::Split(digits) => digits,
        };
        let Some(digit) = new.digits[prefix.len()..].chars().next() else { return Ok(false) };
        if !self.set(by, &format!("{prefix}{digit}"), new, keep)? {
            return Ok(false);
        }
        let mut digits: std::collections::BTreeSet<char> = digits.chars().collect();
        digits.insert(digit);
        self.join(by, prefix, &digits)
    }

    /// After a change below a page that is split: makes it whole where it would not be split any more, else says which
    /// digits follow now.
    fn join(
        &mut self,
        by: By,
        prefix: &str,
        digits: &std::collections::BTreeSet<char>,
    ) -> Result<bool, ArchiveError> {
        let (mut follow, mut all, mut whole) = (String::new(), Vec::new(), true);
        let mut paths = vec![by.page(prefix)];
        for digit in digits {
            match self.load(by, &format!("{prefix}{digit}"))? {
                Node::Bad => return Ok(false),
                Node::Absent => continue,
                Node::Split(_) => whole = false,
                Node::Leaf(keyed, leaf) if whole => {
                    all.extend(keyed);
                    paths.extend(leaf);
                }
                Node::Leaf(..) => {}
            }
            follow.push(*digit);
        }
        let one_key = all.windows(2).all(|pair| pair[0].key == pair[1].key);
        if whole && (one_key || index::fits(&all)) {
            self.put(by, prefix, all, &paths);
        } else {
            let page = IndexPage {
                builds: None,
                pages: None,
                schema: schema::INDEX.to_owned(),
                split: Some(follow),
            };
            self.changed.insert(by.page(prefix), Some(to_canonical(&page)));
        }
        Ok(true)
    }

    /// Replaces the pages `old` by those of these entries.
    fn put(&mut self, by: By, prefix: &str, keyed: Vec<Keyed>, old: &[String]) {
        self.changed.extend(old.iter().map(|path| (path.clone(), None)));
        let mut pages = BTreeMap::new();
        index::pages(by, prefix, keyed, &mut pages);
        self.changed.extend(pages.into_iter().map(|(path, bytes)| (path, Some(bytes))));
    }

    fn load(&self, by: By, prefix: &str) -> Result<Node, ArchiveError> {
        let mut paths = vec![by.page(prefix)];
        let Some(bytes) = self.read(&paths[0])? else { return Ok(Node::Absent) };
        let Ok(page) = from_slice::<IndexPage>(&bytes) else { return Ok(Node::Bad) };
        let Some(mut builds) = page.builds else { return Ok(page.split.map_or(Node::Bad, Node::Split)) };
        for number in 1..=page.pages.unwrap_or(0) {
            let path = by.further(prefix, number as usize);
            let further = self.read(&path)?.and_then(|bytes| from_slice::<IndexPage>(&bytes).ok());
            let Some(further) = further.and_then(|page| page.builds) else { return Ok(Node::Bad) };
            builds.extend(further);
            paths.push(path);
        }
        let keyed: Option<Vec<Keyed>> = builds.iter().map(|entry| Keyed::new(by, entry)).collect();
        Ok(keyed.map_or(Node::Bad, |keyed| Node::Leaf(keyed, paths)))
    }

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, ArchiveError> {
        match self.changed.get(path) {
            Some(bytes) => Ok(bytes.clone()),
            None => files::read(&self.root.join(path)),
        }
    }
}
