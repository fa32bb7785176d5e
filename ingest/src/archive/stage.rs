//! A stage: a private folder inside the archive, where an edition is written before it has a name.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use elfscope_schema::{ManifestFile, Pack, Sha256Digest, manifest::NOT_CONTENT, to_canonical};
use serde::Serialize;

use super::{Archive, ArchiveError, PackWriter, files, sources::Staged};

/// A private folder `.tmp/<pid>-<n>` inside an archive. Its lock is held as long as it lives, so that others can tell
/// it from the leftovers of a writer that died. Dropping it deletes it.
#[derive(Debug)]
pub struct Stage<'a> {
    pub(super) archive: &'a Archive,
    pub(super) parts: Arc<Parts>,
    folder: PathBuf,
    _lock: File,
}

/// What was written into a stage so far.
#[derive(Debug, Default)]
pub(super) struct Parts(Mutex<Written>);

/// See [`Parts`].
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Names of files that were begun.
    pub(super) begun: Vec<String>,
    /// The manifest's files, in order of completion.
    pub(super) files: Vec<ManifestFile>,
    /// The packs among them.
    pub(super) packs: Vec<Pack>,
    /// The published sources, and how far they are.
    pub(super) sources: BTreeMap<Sha256Digest, Staged>,
    /// The files that are not synced yet, sources left out.
    pub(super) unsynced: Vec<File>,
}

impl Parts {
    pub(super) fn enter<const N: usize>(&self, file: ManifestFile, pack: Option<Pack>, written: [File; N]) {
        self.with(|parts| {
            parts.files.push(file);
            parts.packs.extend(pack);
            parts.unsynced.extend(written);
        });
    }

    pub(super) fn with<T>(&self, change: impl FnOnce(&mut Written) -> T) -> T {
        // A panic elsewhere leaves lists that are complete up to there; publishing checks them.
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<'a> Stage<'a> {
    pub(super) fn new(archive: &'a Archive) -> Result<Self, ArchiveError> {
        // Whoever deletes leftovers holds the lock alone, so it never sees a stage that isn't locked yet.
        let _shared = archive.lock_shared()?;
        let pid = std::process::id();
        let folder = loop {
            let folder = archive.temp().join(format!("{pid}-{}", archive.next()));
            match fs::create_dir(&folder) {
                Ok(()) => break folder,
                // Left by a dead process, or of a live one with the same id in another container.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(ArchiveError::Write { path: folder, source }),
            }
        };
        let lock_path = folder.join(LOCK);
        let lock = File::create(&lock_path).and_then(|lock| lock.lock().map(|()| lock));
        let lock = lock.map_err(ArchiveError::write(lock_path))?;
        let stage = Self { archive, parts: Arc::default(), folder, _lock: lock };
        for path in [stage.edition(), stage.sources()] {
            fs::create_dir(&path).map_err(ArchiveError::write(path))?;
        }
        Ok(stage)
    }

    /// Begins a pack, `<name>.jsonl.gz`. Several may be written at once.
    ///
    /// # Errors
    /// A name that was used before, or what the file system says.
    pub fn pack(&self, name: &str) -> Result<PackWriter, ArchiveError> {
        if !name.ends_with(".jsonl.gz") {
            return Err(ArchiveError::usage(format!("a pack's name ends in `.jsonl.gz`, unlike `{name}`")));
        }
        let (path, file) = self.begin(name)?;
        Ok(PackWriter::new(name, path, file, Arc::clone(&self.parts)))
    }

    /// Writes one document in canonical form as a file of its own.
    ///
    /// # Errors
    /// A name that was used before, or what the file system says.
    pub fn document<T: Serialize>(&self, name: &str, document: &T) -> Result<(), ArchiveError> {
        let bytes = to_canonical(document);
        let (path, mut file) = self.begin(name)?;
        file.write_all(&bytes).map_err(ArchiveError::write(path))?;
        let told = ManifestFile {
            name: name.to_owned(),
            sha256: Sha256Digest::of(&bytes),
            size: bytes.len() as u64,
        };
        self.parts.enter(told, None, [file]);
        Ok(())
    }

    /// The folder that becomes the edition.
    #[must_use]
    pub fn edition(&self) -> PathBuf {
        self.folder.join("edition")
    }

    /// The folder of the sources that become published.
    pub(super) fn sources(&self) -> PathBuf {
        self.folder.join("src")
    }

    /// A folder for what is needed no longer than the stage. No part of the edition.
    ///
    /// # Errors
    /// What the file system says.
    pub(crate) fn scratch(&self) -> Result<PathBuf, ArchiveError> {
        let folder = self.folder.join("scratch");
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                Err(ArchiveError::Write { path: folder, source: error })
            }
            _ => Ok(folder),
        }
    }

    /// The stage's own folder, for what is to be deleted with it.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    fn begin(&self, name: &str) -> Result<(PathBuf, File), ArchiveError> {
        // `meta.json` is the caller's; the other two are ours.
        if !is_plain(name) || (NOT_CONTENT.contains(&name) && name != "meta.json") {
            return Err(ArchiveError::usage(format!(
                "`{}` is no name for a file of an edition",
                name.escape_debug()
            )));
        }
        self.parts.with(|parts| {
            if parts.begun.iter().any(|begun| begun == name) {
                return Err(ArchiveError::usage(format!("`{name}` is written twice")));
            }
            parts.begun.push(name.to_owned());
            Ok(())
        })?;
        let path = self.edition().join(name);
        let file = File::create_new(&path).map_err(ArchiveError::write(&path))?;
        Ok((path, file))
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        // Whatever stays behind is found by the next writer, once the lock is gone.
        let _ = files::delete_folder(&self.folder);
    }
}

/// Whether a file of an edition can have that name: a manifest that is read back may say anything.
pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
}

/// The name of a stage's lock.
pub(super) const LOCK: &str = "lock";
