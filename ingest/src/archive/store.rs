//! An archive in a folder: its paths, its lock, its pointers.

use std::{
    fs::{self, File, OpenOptions},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use elfscope_schema::{
    BuildId, Current, EditionId, Index, Sha256Digest, documents::schema, from_slice, is_canonical, limits,
    to_canonical,
};

use super::{ArchiveError, Stage, files, index};

/// An archive in a folder.
#[derive(Debug)]
pub struct Archive {
    root: PathBuf,
    counter: AtomicU64,
}

/// The archive's lock, released when dropped.
#[derive(Debug)]
pub(super) struct Held(#[expect(dead_code, reason = "closing it releases the lock")] File);

impl Archive {
    /// Opens an archive: a folder with an `index.json`, or with the pointer of at least one build, from which that file
    /// can be derived again.
    ///
    /// # Errors
    /// Where there is none.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, ArchiveError> {
        let archive = Self { root: root.into(), counter: AtomicU64::new(0) };
        if archive.index_path().is_file() || !archive.builds()?.is_empty() {
            Ok(archive)
        } else {
            Err(ArchiveError::NoArchive { root: archive.root })
        }
    }

    /// Opens an archive for writing, or makes an empty one where there is no folder or an empty one. Where a writer died over
    /// the catalogue, it is written now.
    ///
    /// # Errors
    /// A folder that holds something else, or what the file system says.
    pub fn create(root: impl Into<PathBuf>) -> Result<Self, ArchiveError> {
        let root = root.into();
        match Self::open(root.clone()) {
            Ok(archive) => {
                archive.complete()?;
                return Ok(archive);
            }
            Err(ArchiveError::NoArchive { .. }) => {}
            Err(error) => return Err(error),
        }
        let archive = Self { root, counter: AtomicU64::new(0) };
        if files::list(&archive.root)?.iter().any(|entry| entry.name != TEMP) {
            // Another process may have made it since we looked.
            return Self::open(archive.root).map_err(|error| match error {
                ArchiveError::NoArchive { root } => ArchiveError::NotEmpty { root },
                other => other,
            });
        }
        fs::create_dir_all(archive.temp()).map_err(ArchiveError::write(archive.temp()))?;
        let held = archive.lock()?;
        if !archive.index_path().is_file() {
            let empty = Index { builds: Some(Vec::new()), schema: schema::INDEX.to_owned(), total: 0 };
            files::replace(&archive.scratch(), &archive.index_path(), &to_canonical(&empty))?;
            files::sync_folder(&archive.root)?;
        }
        drop(held);
        Ok(archive)
    }

    /// Writes the catalogue where a writer died over it.
    fn complete(&self) -> Result<(), ArchiveError> {
        if index::is_stale(self) {
            let _held = self.lock()?;
            // A live writer may have been at it.
            index::complete(self)?;
        }
        Ok(())
    }

    /// Its folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Takes a private folder to write an edition in.
    ///
    /// # Errors
    /// What the file system says.
    pub fn stage(&self) -> Result<Stage<'_>, ArchiveError> {
        Stage::new(self)
    }

    /// The builds that it has a pointer of, sorted; those without an edition left are among them.
    ///
    /// # Errors
    /// What the file system says.
    pub fn builds(&self) -> Result<Vec<BuildId>, ArchiveError> {
        let entries = files::list(&self.root)?;
        let folders = entries.iter().filter(|entry| entry.is_folder);
        let builds = folders.filter_map(|entry| entry.name.parse().ok());
        Ok(builds.filter(|build| self.current_path(build).is_file()).collect())
    }

    /// The editions of a build; none where the archive doesn't have it.
    ///
    /// # Errors
    /// A pointer that is damaged, or what the file system says.
    pub fn current(&self, build: &BuildId) -> Result<Option<Current>, ArchiveError> {
        let path = self.current_path(build);
        let Some(bytes) = files::read(&path)? else { return Ok(None) };
        read_current(build, &bytes).map(Some).map_err(|what| ArchiveError::Damaged { path, what })
    }

    /// The edition that was made of these inputs ([`elfscope_schema::Given::digest`]), or of the same but for the
    /// derivation version with the same content. Who finds one need not derive.
    ///
    /// # Errors
    /// A pointer that is damaged, or what the file system says.
    pub fn find_inputs(
        &self,
        build: &BuildId,
        inputs: Sha256Digest,
    ) -> Result<Option<EditionId>, ArchiveError> {
        let Some(current) = self.current(build)? else { return Ok(None) };
        let mut editions = current.editions.into_iter();
        let found = editions.find(|edition| edition.inputs == inputs || edition.also.contains(&inputs));
        // An edition whose files were lost is no reason not to write them again.
        Ok(found
            .map(|edition| edition.edition)
            .filter(|edition| self.edition_path(build, edition).join("manifest.json").is_file()))
    }

    /// The folder of an edition.
    #[must_use]
    pub fn edition_path(&self, build: &BuildId, edition: &EditionId) -> PathBuf {
        self.build_path(build).join(edition.as_str())
    }

    /// The folder of a build.
    #[must_use]
    pub fn build_path(&self, build: &BuildId) -> PathBuf {
        self.root.join(build.as_str())
    }

    pub(super) fn current_path(&self, build: &BuildId) -> PathBuf {
        self.build_path(build).join(CURRENT)
    }

    pub(super) fn index_path(&self) -> PathBuf {
        self.root.join(INDEX)
    }

    /// The folder for what is no part of the archive.
    pub(super) fn temp(&self) -> PathBuf {
        self.root.join(TEMP)
    }

    /// A file for bytes that are about to be renamed into place; only for who holds the lock alone.
    pub(super) fn scratch(&self) -> PathBuf {
        self.temp().join(SCRATCH)
    }

    pub(super) fn next(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::Relaxed)
    }

    /// Waits until no other writer moves pointers, and keeps them from it.
    pub(super) fn lock(&self) -> Result<Held, ArchiveError> {
        self.hold(File::lock)
    }

    /// Keeps others from [`Self::lock`], but not from this.
    pub(super) fn lock_shared(&self) -> Result<Held, ArchiveError> {
        self.hold(File::lock_shared)
    }

    /// As [`Self::lock_shared`], for readers: a copy on a medium that can't be written has no lock, and needs none.
    pub(super) fn lock_if_any(&self) -> Option<Held> {
        let file = File::open(self.temp().join(LOCK)).ok()?;
        file.lock_shared().ok().map(|()| Held(file))
    }

    fn hold(&self, lock: impl Fn(&File) -> std::io::Result<()>) -> Result<Held, ArchiveError> {
        let path = self.temp().join(LOCK);
        let open = || {
            // A copy of an archive comes without this folder.
            fs::create_dir_all(self.temp())?;
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            lock(&file)?;
            Ok(Held(file))
        };
        open().map_err(ArchiveError::write(&path))
    }

    /// Seals a pointer and puts it in place. Only for who holds the lock alone.
    pub(super) fn write_current(&self, current: &mut Current) -> Result<(), ArchiveError> {
        current.seal();
        let bytes = to_canonical(current);
        if bytes.len() > limits::INDEX_PAGE {
            return Err(ArchiveError::Full { build: current.build_id.clone(), size: bytes.len() });
        }
        files::replace(&self.scratch(), &self.current_path(&current.build_id), &bytes)?;
        files::sync_folder(&self.build_path(&current.build_id))
    }
}

/// Reads and checks the bytes of a pointer; says what is wrong with them.
pub(super) fn read_current(build: &BuildId, bytes: &[u8]) -> Result<Current, String> {
    if bytes.len() > limits::INDEX_PAGE {
        return Err(format!("it has {} bytes, more than {}", bytes.len(), limits::INDEX_PAGE));
    }
    let current: Current =
        from_slice(bytes).map_err(|error| format!("it does not read as a pointer: {error}"))?;
    if !is_canonical(bytes) {
        return Err("it is not in canonical form".to_owned());
    }
    if !Current::is_sealed(bytes) {
        return Err("its check digest is another".to_owned());
    }
    if current.build_id != *build {
        return Err(format!("it is of the build {}", current.build_id));
    }
    Ok(current)
}

/// The folder for what is no part of the archive.
pub(super) const TEMP: &str = ".tmp";
/// The name of a build's pointer.
pub(super) const CURRENT: &str = "current.json";
/// The name of the catalogue's first file.
pub(super) const INDEX: &str = "index.json";
/// What files start with that are about to be renamed into place.
pub(super) const SCRATCH: &str = "write";
/// The folder of published sources.
pub(super) const SOURCES: &str = "src";
const LOCK: &str = "lock";
