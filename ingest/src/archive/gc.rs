//! Deleting what nothing refers to.

use std::{fs, fs::File, io, path::Path};

use elfscope_schema::{BuildId, EditionId};

use super::{Archive, ArchiveError, files, gc_sources, index, stage};

/// What was deleted, and what wasn't.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Folders that were deleted, by path from the archive's root, and how many bytes their files had.
    pub deleted: Vec<(String, u64)>,
    /// Builds whose pointers are damaged: nothing of them was deleted, and the catalogue leaves them out.
    pub left_out: Vec<BuildId>,
    /// How many published sources were deleted.
    pub sources: u64,
    /// How many bytes those had.
    pub source_bytes: u64,
    /// Files of editions that are damaged, so that nobody can say which sources those cite, by path from the root. Where there are
    /// any, no source was deleted.
    pub unread: Vec<String>,
}

impl Archive {
    /// Deletes the stages of writers that died, editions that no pointer names, the folders of builds that have nothing left and the
    /// sources that no edition on the disk cites, and derives the catalogue again. Needs no room on the disk for what it deletes.
    ///
    /// # Errors
    /// What the file system says.
    pub fn gc(&self) -> Result<Collected, ArchiveError> {
        let _held = self.lock()?;
        let mut deleted = delete_dead_stages(self)?;
        for entry in files::list(self.root())? {
            let Ok(build) = entry.name.parse::<BuildId>() else { continue };
            if !entry.is_folder {
                continue;
            }
            let named = match self.current(&build) {
                Ok(current) => current.map(|current| current.editions),
                // Damaged: `index::rebuild` says which.
                Err(ArchiveError::Damaged { .. }) => continue,
                Err(error) => return Err(error),
            };
            let folder = self.build_path(&build);
            for inside in files::list(&folder)? {
                let Ok(edition) = inside.name.parse::<EditionId>() else { continue };
                let is_named = named.iter().flatten().any(|told| told.edition == edition);
                if inside.is_folder && !is_named {
                    let path = folder.join(&inside.name);
                    let bytes = size(&path);
                    files::delete_folder(&path)?;
                    deleted.push((format!("{build}/{edition}"), bytes));
                }
            }
            // Only succeeds where it is empty.
            if named.is_none() && fs::remove_dir(&folder).is_ok() {
                deleted.push((build.to_string(), 0));
            }
        }
        let swept = gc_sources::sweep(self)?;
        let left_out = index::rebuild(self)?;
        Ok(Collected {
            deleted,
            left_out,
            sources: swept.deleted,
            source_bytes: swept.bytes,
            unread: swept.unread,
        })
    }
}

/// Deletes the stages whose writers are gone. Only for who holds the lock alone.
pub(super) fn delete_dead_stages(archive: &Archive) -> Result<Vec<(String, u64)>, ArchiveError> {
    let mut deleted = Vec::new();
    for entry in files::list(&archive.temp())? {
        let folder = archive.temp().join(&entry.name);
        if entry.is_file && entry.name.starts_with(super::store::SCRATCH) {
            // Who writes such a file holds the lock.
            files::delete(&folder)?;
        }
        // A stage is made under the archive's lock, so one without a lock of its own is half deleted.
        let is_dead = entry.is_folder
            && match File::open(folder.join(stage::LOCK)) {
                Ok(lock) => lock.try_lock().is_ok(),
                Err(error) => error.kind() == io::ErrorKind::NotFound,
            };
        if is_dead {
            let bytes = size(&folder);
            files::delete_folder(&folder)?;
            deleted.push((format!("{}/{}", super::store::TEMP, entry.name), bytes));
        }
    }
    Ok(deleted)
}

/// How many bytes the files in a folder have, as far as they can be read.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = files::list(folder) else { return 0 };
    let sizes = entries.iter().map(|entry| {
        let path = folder.join(&entry.name);
        if entry.is_folder { size(&path) } else { path.symlink_metadata().map_or(0, |file| file.len()) }
    });
    sizes.sum()
}
