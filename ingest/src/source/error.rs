//! Why sources can't be taken.

use std::{io, path::PathBuf};

/// What was given as sources, or said of them, can't be used: nothing is added, since what was asked for can't be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// A source map that says nothing, or leads nowhere.
    #[error("`{}` is no source map: {reason}", given.escape_debug())]
    BadMap {
        /// What was given.
        given: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A folder or package without a file in it.
    #[error("the sources `{}` hold no file", path.display())]
    Empty {
        /// The sources.
        path: PathBuf,
    },
    /// More than is read.
    #[error("the sources `{}` hold more than {allowed} {what}", path.display())]
    TooLarge {
        /// The sources.
        path: PathBuf,
        /// What there is too much of.
        what: &'static str,
        /// How much is read.
        allowed: u64,
    },
    /// A file is not what it was when its digest was taken.
    #[error("`{}` was changed while it was read", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// What was unpacked can't be kept.
    #[error("`{}` can't be written", path.display())]
    Unwritable {
        /// Where it was to be kept.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A tarball or a `.dsc` that is not unpacked.
    #[error("the sources `{}` are not unpacked: {reason}", path.display())]
    BadPackage {
        /// The tarball or `.dsc`.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is no `dpkg-source` here.
    #[error(
        "`{}` is unpacked by `dpkg-source`, which is not here: unpack it on a Debian machine and give the folder",
        path.display()
    )]
    NoDpkgSource {
        /// The `.dsc`.
        path: PathBuf,
    },
    /// `dpkg-source` failed.
    #[error("`dpkg-source` can't unpack `{}` ({status}): {said}", path.display())]
    DpkgSource {
        /// The `.dsc`.
        path: PathBuf,
        /// How it ended.
        status: String,
        /// The end of what it said.
        said: String,
    },
}
