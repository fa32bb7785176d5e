//! Verifying an archive: finding any byte that is not as it was written.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use elfscope_schema::{BuildId, Current, EditionId};
use rayon::prelude::*;

use super::{Archive, ArchiveError, files, index, store, verify_edition, verify_sources::Sources};

/// What to verify.
#[derive(Clone, Copy, Debug)]
pub enum Scope<'a> {
    /// The whole archive, the catalogue and all published sources included.
    All,
    /// One build: its pointer, its editions and the sources that they cite.
    Build(&'a BuildId),
    /// One edition and the sources that it cites.
    Edition(&'a BuildId, &'a EditionId),
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file or folder, from the archive's root.
    pub path: String,
    /// What is wrong with it: one sentence.
    pub what: String,
    /// Whether a writer that died explains it: no edition is damaged, and [`Archive::gc`] puts it right.
    pub leftover: bool,
}

/// What verifying gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// What is not as it should be, by path. Empty where all is well.
    pub findings: Vec<Finding>,
    /// Whether it stopped at the bound of findings, so that there may be more.
    pub stopped: bool,
    /// How many editions were looked at.
    pub editions: u64,
    /// How many stored bytes were looked at.
    pub bytes: u64,
}

impl Verified {
    /// Whether every byte that was looked at is as it was written. Leftovers of dead writers don't count.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.findings.iter().all(|finding| finding.leftover)
    }
}

/// What is told of the way: stored bytes that were looked at, and how many there are.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// Collects findings up to a bound, from many threads.
pub(super) struct Findings<'a> {
    found: Mutex<Vec<Finding>>,
    most: usize,
    bytes: AtomicU64,
    total: AtomicU64,
    progress: Progress<'a>,
}

impl Findings<'_> {
    pub(super) fn add(&self, path: impl Into<String>, what: impl Into<String>) {
        self.push(Finding { path: path.into(), what: what.into(), leftover: false });
    }

    fn leftover(&self, path: impl Into<String>, what: &str) {
        self.push(Finding { path: path.into(), what: what.to_owned(), leftover: true });
    }

    /// Whether to stop looking.
    pub(super) fn is_full(&self) -> bool {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).len() >= self.most
    }

    /// Counts stored bytes that are going to be looked at.
    pub(super) fn expect(&self, bytes: u64) {
        self.total.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts stored bytes that were looked at.
    pub(super) fn looked_at(&self, bytes: u64) {
        let done = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        (self.progress)(done, self.total.load(Ordering::Relaxed).max(done));
    }

    fn push(&self, finding: Finding) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if found.len() < self.most {
            found.push(finding);
        }
    }
}

/// An edition that is to be looked at.
struct Listed<'a> {
    current: &'a Current,
    edition: &'a EditionId,
}

impl Archive {
    /// Verifies what `scope` says: names, canonical form, sizes and digests of every file and every document, boundaries of
    /// members, the manifest's own digests, the pointers' check digests, published sources by their names and lines, and that
    /// functions cite them as the edition tells of them; for the whole archive also that nothing is missing or too much, and
    /// that the catalogue is what the pointers give. Stops at `most` findings.
    ///
    /// Writers may go on meanwhile. What a damaged file would make unreadable is a finding, not an error.
    ///
    /// # Errors
    /// A build or edition that the archive doesn't have, or what the file system says.
    pub fn verify(
        &self,
        scope: Scope<'_>,
        most: usize,
        progress: Progress<'_>,
    ) -> Result<Verified, ArchiveError> {
        let findings = Findings {
            found: Mutex::default(),
            most: most.max(1),
            bytes: AtomicU64::new(0),
            total: AtomicU64::new(0),
            progress,
        };
        // While this is held no writer moves pointers, so that the catalogue and the folders can be compared with them.
        let held = self.lock_if_any();
        let pointers = match scope {
            Scope::All => {
                let pointers = self.check_pointers(&findings)?;
                self.check_root(&findings)?;
                pointers
            }
            Scope::Build(build) | Scope::Edition(build, _) => {
                let path = format!("{build}/{}", store::CURRENT);
                match self.current(build) {
                    Ok(Some(current)) => vec![current],
                    Ok(None) => return Err(ArchiveError::NotFound { what: format!("build {build}") }),
                    Err(ArchiveError::Damaged { what, .. }) => {
                        findings.add(path, what);
                        Vec::new()
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        let mut listed = Vec::new();
        for current in &pointers {
            match scope {
                Scope::Edition(_, edition) => {
                    self.expect_edition(current, edition)?;
                    listed.push(Listed { current, edition });
                }
                Scope::All | Scope::Build(_) => {
                    self.check_build(current, &findings)?;
                    let editions = current.editions.iter();
                    listed.extend(editions.map(|told| Listed { current, edition: &told.edition }));
                }
            }
        }
        drop(held);
        let sizes = listed.iter().map(|listed| self.size_of(listed)).sum::<Result<u64, ArchiveError>>()?;
        findings.expect(sizes);
        let sources = Sources::new(self);
        listed.par_iter().try_for_each(|listed| self.check_listed(listed, &sources, &findings))?;
        if matches!(scope, Scope::All) {
            sources.sweep(&findings)?;
        }

        let stopped = findings.is_full();
        let mut found = findings.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort();
        found.dedup();
        let editions = listed.len() as u64;
        Ok(Verified { findings: found, stopped, editions, bytes: findings.bytes.into_inner() })
    }

    /// The edition as the pointer tells it, or why there is none.
    pub(super) fn expect_edition<'a>(
        &self,
        current: &'a Current,
        edition: &EditionId,
    ) -> Result<&'a elfscope_schema::CurrentEdition, ArchiveError> {
        if let Some(told) = current.editions.iter().find(|told| told.edition == *edition) {
            return Ok(told);
        }
        let what = format!("edition {}/{edition}", current.build_id);
        match current.tombstones.iter().find(|tombstone| tombstone.edition == *edition) {
            Some(tombstone) => Err(ArchiveError::Removed { what, reason: tombstone.reason.clone() }),
            None => Err(ArchiveError::NotFound { what }),
        }
    }

    /// Reads all pointers and compares the catalogue with what they give.
    fn check_pointers(&self, findings: &Findings<'_>) -> Result<Vec<Current>, ArchiveError> {
        let (pointers, damaged) = index::read_pointers(self)?;
        for build in &damaged {
            if let Err(ArchiveError::Damaged { what, .. }) = self.current(build) {
                findings.add(format!("{build}/{}", store::CURRENT), what);
            }
        }
        if !damaged.is_empty() {
            let what = "it cannot be compared with what the pointers give, since some of them are damaged";
            findings.add(store::INDEX, what);
            return Ok(pointers);
        }
        let derived = index::derive(pointers.iter().filter_map(index::entry).collect());
        let stored = index::stored(self)?;
        let stale = index::is_stale(self);
        let differs = |path: &str, what: &str| {
            if stale {
                findings.leftover(path, "the catalogue is older than the pointers: its writer died");
            } else {
                findings.add(path, what);
            }
        };
        for path in derived.keys().filter(|path| !stored.contains(path)) {
            differs(path, "it is missing");
        }
        for path in &stored {
            match derived.get(path) {
                None => differs(path, "it is not part of the catalogue"),
                Some(bytes) if files::read(&self.root().join(path))?.as_ref() != Some(bytes) => {
                    differs(path, "it is not what the pointers give");
                }
                Some(_) => {}
            }
        }
        Ok(pointers)
    }

    /// Looks for what doesn't belong in the archive's own folder.
    fn check_root(&self, findings: &Findings<'_>) -> Result<(), ArchiveError> {
        for entry in files::list(self.root())? {
            match entry.name.parse::<BuildId>() {
                Ok(build) if entry.is_folder => {
                    if !self.current_path(&build).exists() {
                        findings.leftover(entry.name, "a build without a pointer: its writer died");
                    }
                }
                _ if entry.is_folder
                    && [store::TEMP, index::FOLDER, store::SOURCES, "input"].contains(&&*entry.name) => {}
                _ if entry.is_file && entry.name == store::INDEX => {}
                _ => findings.add(entry.name, "it does not belong to an archive"),
            }
        }
        Ok(())
    }

    /// Looks for what doesn't belong in a build's folder.
    fn check_build(&self, current: &Current, findings: &Findings<'_>) -> Result<(), ArchiveError> {
        let build = &current.build_id;
        for entry in files::list(&self.build_path(build))? {
            let path = format!("{build}/{}", entry.name);
            match entry.name.parse::<EditionId>() {
                Ok(edition) if entry.is_folder => {
                    if !current.editions.iter().any(|told| told.edition == edition) {
                        findings.leftover(path, "an edition that no pointer names: its writer died");
                    }
                }
                _ if entry.is_folder && entry.name == "attest" => {}
                _ if entry.is_file && entry.name == store::CURRENT => {}
                _ => findings.add(path, "it does not belong to a build"),
            }
        }
        Ok(())
    }

    fn size_of(&self, listed: &Listed<'_>) -> Result<u64, ArchiveError> {
        let folder = self.edition_path(&listed.current.build_id, listed.edition);
        let entries = files::list(&folder)?;
        Ok(entries
            .iter()
            .filter_map(|entry| folder.join(&entry.name).metadata().ok())
            .map(|file| file.len())
            .sum())
    }

    fn check_listed(
        &self,
        listed: &Listed<'_>,
        sources: &Sources<'_>,
        findings: &Findings<'_>,
    ) -> Result<(), ArchiveError> {
        if findings.is_full() {
            return Ok(());
        }
        let Listed { current, edition } = listed;
        let own = Findings {
            found: Mutex::default(),
            most: findings.most,
            bytes: AtomicU64::new(0),
            total: AtomicU64::new(0),
            progress: &|_, _| {},
        };
        let told = self.expect_edition(current, edition)?;
        verify_edition::check(self, &current.build_id, told, sources, &own, findings)?;
        let found = own.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        // It may have been removed while we looked.
        let is_gone = !found.is_empty()
            && self.current(&current.build_id)?.is_none_or(|now| self.expect_edition(&now, edition).is_err());
        if !is_gone {
            found.into_iter().for_each(|finding| findings.push(finding));
        }
        Ok(())
    }
}
