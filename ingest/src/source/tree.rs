//! One source tree: a folder, read.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

use elfscope_schema::{Name, Sha256Digest, SourcePackage, to_canonical};

use super::{
    SourceError, changelog,
    path::to_relative,
    quilt,
    walk::{self, TreeFile},
};
use crate::{InputError, limits};

/// A folder of sources.
#[derive(Debug)]
pub(super) struct Tree {
    /// The folder that its files are in, or the file that holds the bytes of all.
    pub(super) root: PathBuf,
    /// Its digest: see `elfscope_schema::manifest::Given::sources`.
    pub(super) digest: Sha256Digest,
    /// Its files, by the bytes of their paths.
    pub(super) files: Vec<TreeFile>,
    /// The source package that it says it is.
    pub(super) package: Option<SourcePackage>,
    /// Whether the patches of that package are applied, all and no others.
    pub(super) patched: bool,
}

impl Tree {
    /// Reads a folder.
    pub(super) fn open(root: &Path) -> Result<Self, InputError> {
        Self::new(root, root.to_owned(), walk::files(root)?)
    }

    /// The tree of these files, by the bytes of their paths. `given` is what they came from.
    pub(super) fn new(given: &Path, root: PathBuf, files: Vec<TreeFile>) -> Result<Self, InputError> {
        if files.is_empty() {
            return Err(SourceError::Empty { path: given.to_owned() }.into());
        }
        let told: Vec<(Name, Sha256Digest)> =
            files.iter().map(|file| (Name::from_bytes(&file.path), file.sha256)).collect();
        let digest = Sha256Digest::of(&to_canonical(&told));
        let mut tree = Self { root, digest, files, package: None, patched: false };
        let changelog = tree.find(changelog::PATH).map(|file| &tree.files[file]);
        if let Some(file) = changelog.filter(|file| file.is_source()) {
            tree.package = changelog::parse(&tree.start(file, file.size.min(limits::SOURCE_CHANGELOG))?);
        }
        tree.patched = tree.package.is_some() && quilt::is_applied(&tree)?;
        Ok(tree)
    }

    /// The source package that it is, by what it says and with its patches applied.
    pub(super) fn whole_package(&self) -> Option<&SourcePackage> {
        self.package.as_ref().filter(|_| self.patched)
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

    /// A file's bytes, which are those that its digest was taken of.
    pub(super) fn read(&self, file: &TreeFile) -> Result<Vec<u8>, InputError> {
        // One byte more than it had, so that a file that grew is told from one that did not.
        let more = u64::from(file.stored.is_none());
        let bytes = self.start(file, file.size + more)?;
        if Sha256Digest::of(&bytes) != file.sha256 {
            return Err(SourceError::Changed { path: self.place(file) }.into());
        }
        Ok(bytes)
    }

    /// The first bytes of a file, so many at most.
    fn start(&self, file: &TreeFile, most: u64) -> Result<Vec<u8>, InputError> {
        let place = self.place(file);
        let mut bytes = Vec::new();
        let opened = File::open(&place).and_then(|mut opened| {
            opened.seek(SeekFrom::Start(file.stored.unwrap_or(0)))?;
            opened.take(most).read_to_end(&mut bytes)
        });
        opened.map_err(|source| InputError::Unreadable { path: place, source })?;
        Ok(bytes)
    }

    /// The file on disk that holds the bytes of one of its files.
    fn place(&self, file: &TreeFile) -> PathBuf {
        match file.stored {
            Some(_) => self.root.clone(),
            None => self.root.join(to_relative(&file.path)),
        }
    }
}
