//! Why an input can't be read at all.

use std::{io, path::PathBuf};

use elfscope_schema::BuildId;

use crate::source::SourceError;

/// A refusal: nothing can be said of the input. What can be read in part gives an edition with diagnostics instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// Sources that can't be taken.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It can't be opened or read.
    #[error("`{}` can't be read", path.display())]
    Unreadable {
        /// The input.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is neither a file nor a folder.
    #[error("`{}` is neither a file nor a folder", path.display())]
    NotAFile {
        /// The input.
        path: PathBuf,
    },
    /// It is too large.
    #[error("`{}` has {size} bytes, more than the {allowed} that are read", path.display())]
    TooLarge {
        /// The input.
        path: PathBuf,
        /// Its size.
        size: u64,
        /// The most that is read.
        allowed: u64,
    },
    /// It isn't an ELF file.
    #[error("`{name}` is not an ELF file: {reason}")]
    NotElf {
        /// The input's name.
        name: String,
        /// What is there instead.
        reason: String,
    },
    /// It is an ELF file that can't be loaded, or of a kind that holds no program.
    #[error("`{name}` can't be taken: {reason}")]
    BadElf {
        /// The input's name.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A debug file that belongs to none of the inputs.
    #[error("the debug file `{}` is of build {given}, which is none of the inputs", path.display())]
    OtherBuild {
        /// The debug file.
        path: PathBuf,
        /// Its build id.
        given: BuildId,
    },
    /// Two debug files of one build.
    #[error("`{}` and `{}` are both debug files of build {build}: give one of them", other.display(), path.display())]
    TwoDebugFiles {
        /// The second.
        path: PathBuf,
        /// The first.
        other: PathBuf,
        /// The build.
        build: BuildId,
    },
    /// A debug file without build id.
    #[error("the debug file `{}` has no build id, so nothing says which binary it belongs to", path.display())]
    NoBuildId {
        /// The debug file.
        path: PathBuf,
    },
    /// A package that is damaged, cut, out of order or larger than is read.
    #[error("the package `{}` can't be read: {reason}", path.display())]
    BadPackage {
        /// The package.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A folder or package without an ELF in it.
    #[error("the {kind} `{}` holds no ELF file ({files} other files)", path.display())]
    NoElf {
        /// Whether it is a folder or a package.
        kind: &'static str,
        /// The folder or package.
        path: PathBuf,
        /// How many files are in it.
        files: u64,
    },
    /// A package of which nothing is taken, because members are refused.
    #[error(
        "nothing is taken of the package `{}`: {refused} of its members are refused, the first of them `{member}`, because {reason} \
        ({debug} separate debug files, {files} other files)",
        path.display()
    )]
    AllRefused {
        /// The package.
        path: PathBuf,
        /// How many members are refused.
        refused: u64,
        /// The first of them.
        member: String,
        /// Why.
        reason: &'static str,
        /// How many separate debug files are in it.
        debug: u64,
        /// How many files are no ELF files.
        files: u64,
    },
    /// A folder or package with separate debug files and no binary.
    #[error(
        "the {kind} `{}` holds {debug} separate debug files and no binary: give it with `--debug` beside what it belongs to",
        path.display()
    )]
    OnlyDebug {
        /// Whether it is a folder or a package.
        kind: &'static str,
        /// The folder or package.
        path: PathBuf,
        /// How many debug files are in it.
        debug: u64,
    },
    /// A folder or package of debug data, of which nothing belongs to any input.
    #[error("{} in the {kind} `{}` is debug data of an input", none_of(*files), path.display())]
    NoneBelongs {
        /// Whether it is a folder or a package.
        kind: &'static str,
        /// The folder or package.
        path: PathBuf,
        /// How many ELF files are in it.
        files: u64,
    },
    /// A folder with more in it than is walked.
    #[error("the folder `{}` holds more than {allowed} {what}", path.display())]
    FolderTooLarge {
        /// The folder.
        path: PathBuf,
        /// What there is too much of.
        what: &'static str,
        /// How much is walked.
        allowed: u64,
    },
}

/// `none of the 3 ELF files`, or that there is none.
fn none_of(files: u64) -> String {
    match files {
        0 => "nothing".to_owned(),
        1 => "not the one ELF file".to_owned(),
        _ => format!("none of the {files} ELF files"),
    }
}
