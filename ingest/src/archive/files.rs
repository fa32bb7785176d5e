//! Files that are written whole or not at all.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use super::ArchiveError;

/// Writes a file beside the archive's own, syncs it and renames it into place: a reader sees the old bytes or the new
/// ones. The folder of `to` is not synced.
///
/// `temp` is a name that no other writer uses at the same time.
pub(super) fn replace(temp: &Path, to: &Path, bytes: &[u8]) -> Result<(), ArchiveError> {
    write_synced(temp, to, bytes)?;
    fs::rename(temp, to).map_err(ArchiveError::write(to))
}

/// The first half of [`replace`].
pub(super) fn write_synced(temp: &Path, to: &Path, bytes: &[u8]) -> Result<(), ArchiveError> {
    let write = || {
        let mut file = File::create(temp)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|source| {
        // On a full disk its bytes are missed elsewhere.
        let _ = fs::remove_file(temp);
        ArchiveError::Write { path: to.to_owned(), source }
    })
}

/// Most files that are synced at once.
const SYNCS: usize = 128;
/// Bytes of stack of a thread that does nothing else.
const STACK: usize = 128 * 1024;

/// Makes the bytes of files last: of those that are open, and of those that are named. Many are asked for at once, since a file
/// system makes one commit of that: one after the other took 4 ms each on a busy ext4. See `sources.rs` for thousands.
pub(super) fn sync_all(open: &[File], named: &[PathBuf]) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            match (open.get(at), named.get(at.saturating_sub(open.len()))) {
                (Some(file), _) => file.sync_all()?,
                (None, Some(path)) => OpenOptions::new().write(true).open(path)?.sync_all()?,
                (None, None) => return Ok(()),
            }
        }
    };
    thread::scope(|scope| {
        // This thread is one of them. Where no further one can be had, those that there are do it.
        let others = 1..(open.len() + named.len()).min(SYNCS);
        let started: Vec<_> = others
            .map_while(|_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok())
            .collect();
        let own = work();
        let results = started
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|_| Err(io::Error::other("a thread panicked"))));
        results.fold(own, Result::and)
    })
}

/// Makes the entries of a folder last: the names that were made, renamed or deleted in it.
pub(super) fn sync_folder(folder: &Path) -> Result<(), ArchiveError> {
    File::open(folder).and_then(|opened| opened.sync_all()).map_err(ArchiveError::write(folder))
}

/// The bytes of a file, or `None` where there is none.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, ArchiveError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(source) => Err(ArchiveError::Read { path: path.to_owned(), source }),
    }
}

/// Deletes a file that may not be there.
pub(super) fn delete(path: &Path) -> Result<(), ArchiveError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(error) if is_absent(&error) => Ok(()),
        Err(source) => Err(ArchiveError::Write { path: path.to_owned(), source }),
    }
}

/// Deletes a folder that may not be there, with all that is in it.
pub(super) fn delete_folder(path: &Path) -> Result<(), ArchiveError> {
    match fs::remove_dir_all(path) {
        Ok(()) => Ok(()),
        Err(error) if is_absent(&error) => Ok(()),
        Err(source) => Err(ArchiveError::Write { path: path.to_owned(), source }),
    }
}

/// What stands in a folder, sorted by name: name, whether it is a folder, whether it is a plain file. Nothing where
/// there is no such folder.
pub(super) fn list(folder: &Path) -> Result<Vec<Entry>, ArchiveError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(source) => return Err(ArchiveError::Read { path: folder.to_owned(), source }),
    };
    let mut listed = Vec::new();
    for entry in entries {
        let read = entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?)));
        let (name, kind) = match read {
            Ok(read) => read,
            // It went while we looked.
            Err(error) if is_absent(&error) => continue,
            Err(source) => return Err(ArchiveError::Read { path: folder.to_owned(), source }),
        };
        listed.push(Entry {
            name: name.to_string_lossy().into_owned(),
            is_folder: kind.is_dir(),
            is_file: kind.is_file(),
        });
    }
    listed.sort();
    Ok(listed)
}

/// One entry of a folder.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// Its name.
    pub(super) name: String,
    /// Whether it is a folder (not a link to one).
    pub(super) is_folder: bool,
    /// Whether it is a plain file.
    pub(super) is_file: bool,
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
