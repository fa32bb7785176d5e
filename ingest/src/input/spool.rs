//! The spool: where members of packages wait on disk, under numbers, never under their own names.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    Trouble,
    package::{self, CopyError, Member},
};
use crate::archive::{Archive, ArchiveError, Stage};

/// A folder of an archive's own for files that nobody needs afterwards. It is made with the first of them.
pub(crate) struct Spool<'a> {
    archive: &'a Archive,
    /// It deletes the folder when it is dropped; after a crash the next writer does.
    stage: Option<(Stage<'a>, PathBuf)>,
    next: u64,
}

/// A file on disk: somebody's own, or one in the spool, which is deleted when nobody refers to it any more.
#[derive(Clone, Debug)]
pub(crate) enum OnDisk {
    /// Not ours.
    Plain(PathBuf),
    /// In the spool.
    Spooled(Arc<Spooled>),
}

/// A file in the spool.
#[derive(Debug)]
pub(crate) struct Spooled(PathBuf);

impl OnDisk {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Plain(path) => path,
            Self::Spooled(spooled) => &spooled.0,
        }
    }

    /// Where it is, where that is a place that somebody gave.
    pub(crate) fn plain(&self) -> Option<&Path> {
        match self {
            Self::Plain(path) => Some(path),
            Self::Spooled(_) => None,
        }
    }
}

impl Drop for Spooled {
    fn drop(&mut self) {
        // What stays is deleted with the stage.
        let _ = fs::remove_file(&self.0);
    }
}

impl<'a> Spool<'a> {
    /// An empty spool: nothing is written yet.
    pub(crate) fn new(archive: &'a Archive) -> Self {
        Self { archive, stage: None, next: 0 }
    }

    /// An empty folder in the spool.
    pub(crate) fn folder(&mut self) -> Result<PathBuf, ArchiveError> {
        let folder = self.next()?;
        match fs::create_dir(&folder) {
            Ok(()) => Ok(folder),
            Err(source) => Err(ArchiveError::Write { path: folder, source }),
        }
    }

    /// A path in the spool that nothing has yet.
    fn next(&mut self) -> Result<PathBuf, ArchiveError> {
        let folder = match &self.stage {
            Some((_, folder)) => folder,
            None => {
                let stage = self.archive.stage()?;
                let folder = stage.scratch()?;
                &self.stage.insert((stage, folder)).1
            }
        };
        self.next += 1;
        Ok(folder.join(self.next.to_string()))
    }

    /// Writes a member of the package at `path`.
    pub(crate) fn keep(&mut self, path: &Path, member: &mut Member<'_, '_>) -> Result<OnDisk, Trouble> {
        let to = self.next()?;
        let unwritable = |source| ArchiveError::Write { path: to.clone(), source };
        let mut file = File::create_new(&to).map_err(unwritable)?;
        let spooled = Spooled(to.clone());
        match member.copy_to(&mut file) {
            Ok(()) => Ok(OnDisk::Spooled(Arc::new(spooled))),
            Err(CopyError::Write(source)) => Err(unwritable(source).into()),
            Err(CopyError::Read(error)) => Err(package::unreadable(path, error).into()),
        }
    }
}
