//! A tarball as a source tree. Nothing is written under a member's name: each file gets a number instead, and its digest on
//! the way.

use std::{
    fs::File,
    io::{ErrorKind, Read as _, Write as _},
    path::{Path, PathBuf},
};

use elfscope_schema::Sha256Digest;
use sha2::{Digest as _, Sha256};

use super::{
    SourceError,
    tree::Tree,
    walk::{self, TreeFile},
};
use crate::{
    InputError,
    elf::shown,
    input::package::{self, Kind, Limits, Member},
    limits,
};

/// Reads a tarball; its files are kept in `folder`.
pub(super) fn open(path: &Path, folder: &Path) -> Result<Tree, InputError> {
    let most = Limits { unpacked: limits::SOURCE_TOTAL, ..Limits::default() };
    let mut files: Vec<TreeFile> = Vec::new();
    let mut buffer = vec![0; walk::BUFFER];
    let facts = package::read(path, &most, &mut |member: &mut Member<'_, '_>| {
        if files.len() == limits::SOURCE_FILES {
            return Err(too_large(path, "files", limits::SOURCE_FILES as u64));
        }
        let parts = || member.path.split(|byte| *byte == b'/');
        if parts().count() > limits::FOLDER_DEPTH + 1 {
            return Err(too_large(path, "levels of folders", limits::FOLDER_DEPTH as u64));
        }
        if !parts().any(walk::is_left_out) {
            files.push(keep(path, member, folder, files.len(), &mut buffer)?);
        }
        Ok(())
    })?;
    // Less than all of it would be another tree under a digest of its own.
    if let Some((member, reason)) = facts.entries.first_refused.first() {
        let reason = format!("`{}` in it is refused: {reason}", shown(member));
        return Err(SourceError::BadPackage { path: path.to_owned(), reason }.into());
    }
    // Of two members with one path the last counts, as `tar` unpacks them.
    files.sort_by(|a, b| (&a.path, b.stored).cmp(&(&b.path, a.stored)));
    files.dedup_by(|later, first| later.path == first.path);
    if package::recognise(path)? == Some(Kind::Tar) {
        strip(&mut files);
    }
    Tree::new(path, folder.to_owned(), files)
}

/// Where the file with this number is kept.
pub(super) fn place(folder: &Path, stored: usize) -> PathBuf {
    folder.join(format!("{stored:06}"))
}

/// Keeps a member. One that is too large to be a source is only hashed.
fn keep(
    path: &Path,
    member: &mut Member<'_, '_>,
    folder: &Path,
    stored: usize,
    buffer: &mut [u8],
) -> Result<TreeFile, InputError> {
    let place = place(folder, stored);
    let unwritable = |source| SourceError::Unwritable { path: place.clone(), source };
    let mut file = None;
    if member.size <= limits::SOURCE_FILE {
        file = Some(File::create_new(&place).map_err(unwritable)?);
    }
    let mut hasher = Sha256::new();
    loop {
        let read = match member.read(buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(package::unreadable(path, error)),
        };
        hasher.update(&buffer[..read]);
        if let Some(file) = &mut file {
            file.write_all(&buffer[..read]).map_err(unwritable)?;
        }
    }
    let sha256 = Sha256Digest::from_bytes(hasher.finalize().into());
    Ok(TreeFile { path: member.path.to_vec(), sha256, size: member.size, stored: Some(stored) })
}

/// Takes the one folder that all files are in off their paths: the root of `glibc-2.36.tar` is `glibc-2.36`.
fn strip(files: &mut [TreeFile]) {
    let first = |file: &TreeFile| file.path.iter().position(|byte| *byte == b'/').map(|end| end + 1);
    let Some(end) = files.first().and_then(first) else { return };
    let top = files[0].path[..end].to_vec();
    // Their order stays: what is taken off is the same of all.
    if files.iter().all(|file| file.path.starts_with(&top)) {
        for file in files {
            file.path.drain(..end);
        }
    }
}

fn too_large(path: &Path, what: &'static str, allowed: u64) -> InputError {
    SourceError::TooLarge { path: path.to_owned(), what, allowed }.into()
}
