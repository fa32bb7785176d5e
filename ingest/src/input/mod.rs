//! Inputs: files and folders, read or mapped.

pub(crate) mod package;

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use elfscope_schema::{BuildId, FileId, Name, Sha256Digest};
use memmap2::Mmap;

use crate::{
    elf::{self, Elf},
    error::InputError,
    limits,
};

/// A file, mapped.
pub(crate) struct Input {
    /// Where it was found.
    pub(crate) path: PathBuf,
    /// What it is.
    pub(crate) id: FileId,
    map: Option<Mmap>,
}

impl Input {
    /// Maps a file and takes its digest.
    pub(crate) fn open(path: &Path) -> Result<Self, InputError> {
        let unreadable = |source| InputError::Unreadable { path: path.to_owned(), source };
        let meta = fs::metadata(path).map_err(unreadable)?;
        if !meta.is_file() {
            return Err(InputError::NotAFile { path: path.to_owned() });
        }
        if meta.len() > limits::FILE {
            return Err(InputError::TooLarge {
                path: path.to_owned(),
                size: meta.len(),
                allowed: limits::FILE,
            });
        }
        let file = File::open(path).map_err(unreadable)?;
        // SAFETY: the map is only read. Who cuts the file while it is read ends this process, which loses nothing that
        // was published; who writes to it gets an edition of what was read, under a digest that may not match.
        let map = if meta.len() == 0 { None } else { Some(unsafe { Mmap::map(&file) }.map_err(unreadable)?) };
        let name = path.file_name().unwrap_or_default();
        let bytes = map.as_deref().unwrap_or_default();
        let id = FileId {
            name: Name::from_bytes(name.as_encoded_bytes()),
            sha256: Sha256Digest::of(bytes),
            size: bytes.len() as u64,
        };
        Ok(Self { path: path.to_owned(), id, map })
    }

    /// Its bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// The ELF in it.
    pub(crate) fn elf(&self) -> Result<Elf<'_>, InputError> {
        let name = self.path.display().to_string();
        elf::load(self.bytes(), &name)
    }

    /// The build that its ELF is.
    pub(crate) fn build_id(&self, elf: &Elf<'_>) -> BuildId {
        elf.build_id.clone().unwrap_or_else(|| BuildId::from_file(self.id.sha256))
    }
}

/// The files that inputs stand for: a file is itself, a folder all ELF files in it, in order of their paths.
pub(crate) fn expand(path: &Path) -> Result<Expanded, InputError> {
    let unreadable = |source| InputError::Unreadable { path: path.to_owned(), source };
    let meta = fs::metadata(path).map_err(unreadable)?;
    if !meta.is_dir() {
        return Ok(Expanded { files: vec![path.to_owned()], skipped: 0 });
    }
    let mut expanded = Expanded { files: Vec::new(), skipped: 0 };
    walk(path, path, 0, &mut expanded)?;
    if expanded.files.is_empty() {
        return Err(InputError::NoElf { path: path.to_owned(), files: expanded.skipped });
    }
    expanded.files.sort();
    Ok(expanded)
}

/// What an input stands for.
pub(crate) struct Expanded {
    /// ELF files.
    pub(crate) files: Vec<PathBuf>,
    /// Files of a folder that are none.
    pub(crate) skipped: u64,
}

fn walk(root: &Path, folder: &Path, depth: usize, expanded: &mut Expanded) -> Result<(), InputError> {
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
            walk(root, &path, depth + 1, expanded)?;
        } else if kind.is_file() {
            if starts_like_elf(&path)
                .map_err(|source| InputError::Unreadable { path: path.clone(), source })?
            {
                expanded.files.push(path);
            } else {
                expanded.skipped += 1;
            }
        }
        if expanded.files.len() as u64 + expanded.skipped > limits::FOLDER_FILES as u64 {
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
