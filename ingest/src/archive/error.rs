//! What can go wrong with an archive, and whose turn it is then.

use std::{io, path::PathBuf};

use elfscope_schema::{BuildId, limits};

/// What can go wrong with an archive. [`Self::class`] says what a caller can do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// There is no archive.
    #[error("there is no archive at `{}`: it has no `index.json`", root.display())]
    NoArchive {
        /// Where one was looked for.
        root: PathBuf,
    },
    /// A folder that holds something else.
    #[error("`{}` holds other files: an archive needs a folder of its own", root.display())]
    NotEmpty {
        /// The folder.
        root: PathBuf,
    },
    /// A build or edition that the archive doesn't have.
    #[error("the archive has no {what}")]
    NotFound {
        /// What it was asked for.
        what: String,
    },
    /// A build or edition that was removed.
    #[error("{what} was removed: {reason}")]
    Removed {
        /// What it was asked for.
        what: String,
        /// Why it was removed.
        reason: String,
    },
    /// A call that cannot be done as it was made.
    #[error("{message}")]
    Usage {
        /// What is wrong with it.
        message: String,
    },
    /// A build that has as many editions and tombstones as its pointer can name.
    #[error(
        "`current.json` of {build} would have {size} bytes, and {max} is the most it may have: remove editions first",
        max = limits::INDEX_PAGE
    )]
    Full {
        /// The build.
        build: BuildId,
        /// The size that it would have.
        size: usize,
    },
    /// Something stored is not as it was written.
    #[error("`{}` is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file could not be written, synced, renamed, locked or deleted.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Whose turn it is after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// The caller's: it asked for something that isn't there or cannot be.
    Usage,
    /// Nobody's: something stored differs from what was written.
    Differs,
    /// The machine's or the archive's keeper: it can't be read or written.
    Storage,
}

impl ArchiveError {
    /// Whose turn it is.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::NoArchive { .. }
            | Self::NotEmpty { .. }
            | Self::NotFound { .. }
            | Self::Removed { .. }
            | Self::Usage { .. } => ErrorClass::Usage,
            Self::Damaged { .. } => ErrorClass::Differs,
            Self::Full { .. } | Self::Read { .. } | Self::Write { .. } => ErrorClass::Storage,
        }
    }

    pub(super) fn read(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Read { path, source }
    }

    pub(super) fn write(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Write { path, source }
    }

    pub(super) fn damaged(path: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.into(), what: what.into() }
    }

    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::Usage { message: message.into() }
    }
}
