//! An archive in a folder, as the core reads it.
//!
//! Reads are plain system calls on the thread that asks. One document is tens of kilobytes at most and nearly always in the
//! page cache, where reading it takes less time than handing it to another thread would; and so the store also works where there is no
//! runtime at all, as on the command line. The server has more threads than the machine has cores instead, so that a slow disk
//! delays who waits for it and not the others. What is large is streamed piece by piece on threads that may block: see
//! [`crate::serve`].

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Component, Path, PathBuf},
};

use elfscope_core::Store;

/// Bytes that are made room for before a range is read.
const ROOM: u64 = 64 * 1024;

/// A folder.
#[derive(Clone, Debug)]
pub struct FolderStore {
    root: PathBuf,
}

impl FolderStore {
    /// The store in this folder, whether there is one or not.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The file of a path. What would lead out of the folder, or is no plain path, is refused.
    pub(crate) fn open(&self, path: &str) -> io::Result<Option<File>> {
        let plain = !path.is_empty()
            && !path.contains(['\\', '\0'])
            && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if !plain {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path leads out of the archive"));
        }
        match File::open(self.root.join(path)) {
            Ok(file) => Ok(Some(file)),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

impl Store for FolderStore {
    async fn get(&self, path: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(mut file) = self.open(path)? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    async fn get_range(&self, path: &str, offset: u64, length: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(mut file) = self.open(path)? else { return Ok(None) };
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::with_capacity(usize::try_from(length.min(ROOM)).unwrap_or(0));
        file.take(length).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_is_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("archive")).unwrap();
        std::fs::write(folder.path().join("secret"), "x").unwrap();
        std::fs::write(folder.path().join("archive/a"), "0123456789").unwrap();
        let store = FolderStore::new(folder.path().join("archive"));
        for path in ["../secret", "/etc/passwd", "a/../../secret", "", "..", "a\\b"] {
            assert!(pollster::block_on(store.get(path)).is_err(), "{path}");
        }
        assert_eq!(pollster::block_on(store.get("b")).unwrap(), None);
        assert_eq!(pollster::block_on(store.get("a/b")).unwrap(), None);
        assert_eq!(pollster::block_on(store.get_range("a", 8, 100)).unwrap().unwrap(), b"89");
        assert_eq!(pollster::block_on(store.get_range("a", 80, 100)).unwrap().unwrap(), b"");
    }
}
