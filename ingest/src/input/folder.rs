//! Folders: every ELF file in them, by what it starts with.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use crate::{error::InputError, limits};

/// What is in a folder.
#[derive(Debug, Default)]
pub(super) struct Folder {
    /// Its ELF files, in order of their paths.
    pub(super) files: Vec<PathBuf>,
    /// How many other files it has.
    pub(super) others: u64,
}

/// Walks a folder and those in it.
pub(super) fn walk(root: &Path) -> Result<Folder, InputError> {
    let mut found = Folder::default();
    walk_in(root, root, 0, &mut found)?;
    found.files.sort();
    Ok(found)
}

fn walk_in(root: &Path, folder: &Path, depth: usize, found: &mut Folder) -> Result<(), InputError> {
    let too_large = |what, allowed: usize| InputError::FolderTooLarge {
        path: root.to_owned(),
        what,
        allowed: allowed as u64,
    };
    if depth > limits::FOLDER_DEPTH {
        return Err(too_large("levels of folders", limits::FOLDER_DEPTH));
    }
    let unreadable = |source| InputError::Unreadable { path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        // Links are not followed: what they lead to is in the folder too, or not of it.
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() {
            walk_in(root, &path, depth + 1, found)?;
        } else if kind.is_file() {
            if starts_like_elf(&path)
                .map_err(|source| InputError::Unreadable { path: path.clone(), source })?
            {
                found.files.push(path);
            } else {
                found.others += 1;
            }
        }
        if found.files.len() as u64 + found.others > limits::FOLDER_FILES as u64 {
            return Err(too_large("files", limits::FOLDER_FILES));
        }
    }
    Ok(())
}

fn starts_like_elf(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut start)?;
    Ok(start == object::elf::ELFMAG)
}
