//! Deleting the sources that no edition cites.
//!
//! What editions cite is read in passes over ranges of digests, so that memory is bounded however many there are: a pass
//! keeps the [`MOST`] smallest that are past the pass before.

use std::{
    fs,
    path::Path,
    sync::{Mutex, PoisonError},
};

use elfscope_schema::{BuildId, EditionId, Sha256Digest, from_slice};
use rayon::prelude::*;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::{
    Archive, ArchiveError, files,
    members::{self, PackReader},
    publish::read_manifest,
};

/// Most digests of one pass: 32 bytes each, twice that many while it runs.
const MOST: usize = 1 << 20;
/// Most sources that are listed before they are deleted: a folder is not read on while it changes.
const BATCH: usize = 1 << 14;
/// The pack that cites sources.
const PACK: &str = "sources.jsonl.gz";

/// What became of the sources.
#[derive(Debug, Default)]
pub(super) struct Swept {
    /// How many were deleted.
    pub(super) deleted: u64,
    /// How many bytes they had.
    pub(super) bytes: u64,
    /// The files of editions that can't be read to see what they cite, by path from the root. Where there are any, nothing was
    /// deleted.
    pub(super) unread: Vec<String>,
}

/// Deletes the sources that no edition on the disk cites. Only for who holds the lock alone, and has deleted the editions that
/// no pointer names.
pub(super) fn sweep(archive: &Archive) -> Result<Swept, ArchiveError> {
    sweep_in_passes(archive, MOST)
}

fn sweep_in_passes(archive: &Archive, most: usize) -> Result<Swept, ArchiveError> {
    let mut swept = Swept::default();
    if !archive.sources().is_dir() {
        return Ok(swept);
    }
    let builds: Vec<BuildId> =
        files::list(archive.root())?.into_iter().filter_map(|entry| entry.name.parse().ok()).collect();
    let mut after = None;
    loop {
        let pass = Pass { after, most, cited: Mutex::default(), unread: Mutex::default() };
        builds.par_iter().try_for_each(|build| pass.build(archive, build))?;
        swept.unread = pass.unread.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !swept.unread.is_empty() {
            swept.unread.sort();
            return Ok(swept);
        }
        let mut cited = pass.cited.into_inner().unwrap_or_else(PoisonError::into_inner);
        cited.cut(most);
        delete(archive, after, &cited, &mut swept)?;
        after = cited.last;
        if after.is_none() {
            return Ok(swept);
        }
    }
}

/// Digests that editions cite.
#[derive(Debug, Default)]
struct Cited {
    /// The digests, sorted once they are cut.
    digests: Vec<Sha256Digest>,
    /// The greatest that is kept, where not all are.
    last: Option<Sha256Digest>,
}

impl Cited {
    fn cut(&mut self, most: usize) {
        self.digests.sort_unstable();
        self.digests.dedup();
        if self.digests.len() > most {
            self.digests.truncate(most);
            self.last = self.digests.last().copied();
        }
    }
}

/// One reading of all editions.
struct Pass {
    /// Digests up to this one were dealt with.
    after: Option<Sha256Digest>,
    most: usize,
    cited: Mutex<Cited>,
    unread: Mutex<Vec<String>>,
}

impl Pass {
    fn build(&self, archive: &Archive, build: &BuildId) -> Result<(), ArchiveError> {
        let folder = archive.build_path(build);
        for entry in files::list(&folder)? {
            let Ok(edition) = entry.name.parse::<EditionId>() else { continue };
            if !entry.is_folder {
                continue;
            }
            match self.edition(&folder.join(&entry.name), &edition) {
                Err(ArchiveError::Damaged { path, .. }) => {
                    let path = path.strip_prefix(archive.root()).unwrap_or(&path);
                    let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
                    unread.push(path.to_string_lossy().into_owned());
                }
                other => other?,
            }
        }
        Ok(())
    }

    /// Reads what an edition cites, and trusts it only if it is all there, as the edition's name and manifest say.
    fn edition(&self, folder: &Path, edition: &EditionId) -> Result<(), ArchiveError> {
        #[derive(Deserialize)]
        struct Page {
            sources: Vec<Source>,
        }
        #[derive(Deserialize)]
        struct Source {
            #[serde(default)]
            sha256: Option<Sha256Digest>,
        }
        let path = folder.join("manifest.json");
        let bytes = files::read(&path)?.ok_or_else(|| ArchiveError::damaged(&path, "it is missing"))?;
        if EditionId::of_manifest(&bytes) != *edition {
            return Err(ArchiveError::damaged(path, "it is the manifest of another edition"));
        }
        let manifest = read_manifest(&path, &bytes)?;
        let Some(told) = manifest.files.iter().find(|file| file.name == PACK) else { return Ok(()) };
        let path = folder.join(PACK);
        if !path.is_file() {
            return Err(ArchiveError::damaged(path, "it is missing"));
        }
        let bad = |what: String| ArchiveError::damaged(&path, what);
        let mut reader = PackReader::open(folder, PACK)?;
        let mut hash = Sha256::new();
        while let Some(batch) = reader.batch()? {
            for member in batch.members() {
                let text = members::inflate(member).map_err(bad)?;
                hash.update(&text);
                let page: Page = from_slice(&text).map_err(|error| bad(error.to_string()))?;
                self.cite(page.sources.into_iter().filter_map(|source| source.sha256));
            }
        }
        if Sha256Digest::from_bytes(hash.finalize().into()) != told.sha256 {
            return Err(bad("it inflates to other bytes than the manifest says".to_owned()));
        }
        Ok(())
    }

    fn cite(&self, digests: impl Iterator<Item = Sha256Digest>) {
        let mut cited = self.cited.lock().unwrap_or_else(PoisonError::into_inner);
        let last = cited.last;
        let is_ours = |digest: &Sha256Digest| {
            self.after.is_none_or(|after| *digest > after) && last.is_none_or(|last| *digest <= last)
        };
        cited.digests.extend(digests.filter(is_ours));
        if cited.digests.len() >= self.most * 2 {
            cited.cut(self.most);
        }
    }
}

/// Deletes the sources of a pass that are not cited.
fn delete(
    archive: &Archive,
    after: Option<Sha256Digest>,
    cited: &Cited,
    swept: &mut Swept,
) -> Result<(), ArchiveError> {
    let folder = archive.sources();
    loop {
        let mut doomed = Vec::new();
        for entry in fs::read_dir(&folder).map_err(ArchiveError::read(&folder))? {
            let entry = entry.map_err(ArchiveError::read(&folder))?;
            let name = entry.file_name();
            // What is called otherwise is no source: `verify` says so, and it is not ours to delete.
            let Some(digest) = name.to_str().and_then(|name| name.parse::<Sha256Digest>().ok()) else {
                continue;
            };
            let is_ours = after.is_none_or(|after| digest > after)
                && cited.last.is_none_or(|last| digest <= last)
                && cited.digests.binary_search(&digest).is_err();
            if is_ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                doomed.push(digest);
                if doomed.len() == BATCH {
                    break;
                }
            }
        }
        for digest in &doomed {
            let path = archive.source_path(*digest);
            let size = path.symlink_metadata().map_or(0, |file| file.len());
            files::delete(&path)?;
            swept.deleted += 1;
            swept.bytes += size;
        }
        if doomed.len() < BATCH {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use elfscope_schema::{Given, Name};
    use serde_json::json;

    use super::{
        super::{Facts, deflate_member},
        *,
    };

    fn publish(archive: &Archive, number: u8) {
        let stage = archive.stage().unwrap();
        let cited: Vec<Sha256Digest> =
            (0..9).map(|source| stage.source(&[number / 2, source]).unwrap()).collect();
        let mut pack = stage.pack(PACK).unwrap();
        for digests in cited.chunks(4) {
            let sources: Vec<_> = digests.iter().map(|digest| json!({ "sha256": digest })).collect();
            let text = elfscope_schema::to_canonical(&json!({ "sources": sources }));
            pack.push(&text, &deflate_member(&text)).unwrap();
        }
        pack.finish().unwrap();
        let file = Sha256Digest::of(&[number]);
        let given = Given {
            derivation: 1,
            files: vec![file],
            maps: Vec::new(),
            packages: Vec::new(),
            sources: Vec::new(),
        };
        let facts = Facts {
            diagnostics: 0,
            file,
            functions: 0,
            has_dwarf: false,
            machine: "x86-64".to_owned(),
            name: Name::from("a"),
            named: 0,
            package: None,
            package_verified: Vec::new(),
            provenance: String::new(),
            rows: 0,
            rows_with_line: 0,
            soname: None,
            sources: 9,
        };
        stage.publish(&BuildId::from_file(file), &given, facts).unwrap();
    }

    #[test]
    fn passes_over_ranges_delete_what_one_pass_would() {
        for most in [1, 2, 7, 26, 27, 28, MOST] {
            let folder = tempfile::tempdir().unwrap();
            let archive = Archive::create(folder.path().join("archive")).unwrap();
            (0..6).for_each(|number| publish(&archive, number));
            let names = || -> std::collections::BTreeSet<String> {
                files::list(&archive.sources()).unwrap().into_iter().map(|entry| entry.name).collect()
            };
            let kept = names();
            assert_eq!(kept.len(), 27);
            for number in 0..40u8 {
                fs::write(archive.source_path(Sha256Digest::of(&[number; 3])), [number; 3]).unwrap();
            }
            let swept = sweep_in_passes(&archive, most).unwrap();
            assert_eq!((swept.deleted, swept.bytes, swept.unread.len()), (40, 120, 0), "{most} at once");
            assert_eq!(names(), kept);
        }
    }
}
