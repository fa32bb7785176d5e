//! One source tree: a folder, read.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use elfscope_schema::{Name, Sha256Digest, SourcePackage, to_canonical};

use super::{
    SourceError, changelog,
    path::to_relative,
    walk::{self, TreeFile},
};
use crate::{InputError, limits};

/// A folder of sources.
#[derive(Debug)]
pub(super) struct Tree {
    /// Where it is.
    pub(super) root: PathBuf,
    /// Its digest: see `elfscope_schema::manifest::Given::sources`.
    pub(super) digest: Sha256Digest,
    /// Its files, by the bytes of their paths.
    pub(super) files: Vec<TreeFile>,
    /// The source package that it says it is.
    pub(super) package: Option<SourcePackage>,
}

impl Tree {
    /// Reads a folder.
    pub(super) fn open(root: &Path) -> Result<Self, InputError> {
        let files = walk::files(root)?;
        if files.is_empty() {
            return Err(SourceError::Empty { path: root.to_owned() }.into());
        }
        let told: Vec<(Name, Sha256Digest)> =
            files.iter().map(|file| (Name::from_bytes(&file.path), file.sha256)).collect();
        let digest = Sha256Digest::of(&to_canonical(&told));
        let mut tree = Self { root: root.to_owned(), digest, files, package: None };
        if tree.find(changelog::PATH).is_some() {
            tree.package = changelog::parse(&tree.start_of(changelog::PATH)?);
        }
        Ok(tree)
    }

    /// The number of the file with this path.
    pub(super) fn find(&self, path: &[u8]) -> Option<usize> {
        self.files.binary_search_by(|file| file.path.as_slice().cmp(path)).ok()
    }

    /// Whether it has a file of this path, or one below it. The empty path is its root.
    pub(super) fn has(&self, path: &[u8]) -> bool {
        let folder = [path, b"/"].concat();
        let after = self.files.partition_point(|file| file.path < folder);
        let below = self.files.get(after).is_some_and(|file| file.path.starts_with(&folder));
        path.is_empty() || below || self.find(path).is_some()
    }

    /// Where a file of it is.
    pub(super) fn place(&self, file: &TreeFile) -> PathBuf {
        self.root.join(to_relative(&file.path))
    }

    /// A file's bytes, which are those that its digest was taken of.
    pub(super) fn read(&self, file: &TreeFile) -> Result<Vec<u8>, InputError> {
        let path = self.place(file);
        let mut bytes = Vec::new();
        let opened = File::open(&path);
        // One byte more than it had, so that a file that grew is told from one that did not.
        let read = opened.and_then(|opened| opened.take(file.size + 1).read_to_end(&mut bytes));
        match read {
            Err(source) => Err(InputError::Unreadable { path, source }),
            Ok(_) if Sha256Digest::of(&bytes) != file.sha256 => Err(SourceError::Changed { path }.into()),
            Ok(_) => Ok(bytes),
        }
    }

    fn start_of(&self, path: &[u8]) -> Result<Vec<u8>, InputError> {
        let path = self.root.join(to_relative(path));
        let mut bytes = Vec::new();
        let opened = File::open(&path);
        opened
            .and_then(|opened| opened.take(limits::SOURCE_CHANGELOG).read_to_end(&mut bytes))
            .map_err(|source| InputError::Unreadable { path, source })?;
        Ok(bytes)
    }
}
