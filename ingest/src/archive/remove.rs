//! Removing and promoting: the changes of a pointer that a person asks for.

use std::fs;

use elfscope_schema::{BuildId, Current, EditionId, Tombstone, limits};

use super::{Archive, ArchiveError, files, index};

/// What was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The editions.
    pub editions: Vec<EditionId>,
    /// The build's current edition now. None where the current file has no edition left.
    pub current: Option<EditionId>,
}

impl Archive {
    /// Removes an edition, or all editions of a build. Each leaves a tombstone with the reason, until it is added again.
    /// Which file the build is stays as it was, see [`Self::promote`].
    ///
    /// # Errors
    /// An edition that isn't there or was removed before, a reason that is empty, longer than [`limits::REASON`] bytes or not one
    /// line of text, or what the file system says.
    pub fn remove(
        &self,
        build: &BuildId,
        edition: Option<&EditionId>,
        reason: &str,
    ) -> Result<Removed, ArchiveError> {
        if reason.trim().is_empty() || reason.len() > limits::REASON || reason.contains(char::is_control) {
            return Err(ArchiveError::usage(format!(
                "a reason is one line of 1 to {} bytes without control characters",
                limits::REASON
            )));
        }
        // Deleted, with what is moved there, once the lock is gone.
        let stage = self.stage()?;
        let _held = self.lock()?;
        let mut current = self.expect_build(build)?;
        let doomed = match edition {
            Some(edition) => vec![self.expect_edition(&current, edition)?.edition.clone()],
            None => current.editions.iter().map(|told| told.edition.clone()).collect(),
        };
        if doomed.is_empty() {
            let reason =
                current.tombstones.first().map_or("no reason was kept", |tombstone| &tombstone.reason);
            return Err(ArchiveError::Removed { what: format!("build {build}"), reason: reason.to_owned() });
        }
        current.editions.retain(|told| !doomed.contains(&told.edition));
        let tombstones =
            doomed.iter().map(|edition| Tombstone { edition: edition.clone(), reason: reason.to_owned() });
        current.tombstones.extend(tombstones);
        self.check_size(&mut current)?;
        index::around(self, build, || self.write_current(&mut current))?;
        for edition in &doomed {
            let path = self.edition_path(build, edition);
            match fs::rename(&path, stage.folder().join(edition.as_str())) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(ArchiveError::Write { path, source });
                }
                _ => {}
            }
        }
        files::sync_folder(&self.build_path(build))?;
        Ok(Removed { editions: doomed, current: current.edition().map(|told| told.edition.clone()) })
    }

    /// Makes the file of an edition the one that the build is. The current edition is then the best one of that file, which is
    /// returned: it need not be the one that was named.
    ///
    /// # Errors
    /// An edition that isn't there or was removed, or what the file system says.
    pub fn promote(&self, build: &BuildId, edition: &EditionId) -> Result<EditionId, ArchiveError> {
        let _held = self.lock()?;
        let mut current = self.expect_build(build)?;
        let told = self.expect_edition(&current, edition)?;
        if current.file != told.file {
            current.file = told.file;
            index::around(self, build, || self.write_current(&mut current))?;
        }
        Ok(current.edition().map_or_else(|| edition.clone(), |told| told.edition.clone()))
    }

    fn expect_build(&self, build: &BuildId) -> Result<Current, ArchiveError> {
        self.current(build)?.ok_or_else(|| ArchiveError::NotFound { what: format!("build {build}") })
    }
}
