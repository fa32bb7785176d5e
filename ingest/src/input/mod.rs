//! Inputs: ELF files, folders and packages, and the debug data that belongs to what is in them.

pub(crate) mod debug;
mod expand;
mod folder;
pub(crate) mod package;
mod spool;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use elfscope_schema::{BuildId, FileId, Name, Package, Sha256Digest};
use memmap2::Mmap;

pub(crate) use self::{
    expand::{Entry, expand},
    spool::{OnDisk, Spool},
};
use crate::{
    archive::ArchiveError,
    elf::{self, Elf, Outline},
    error::InputError,
    limits,
};

/// A file, mapped, or bytes that were packed in one.
pub(crate) struct Input {
    /// What reports call it.
    pub(crate) path: PathBuf,
    /// What it is.
    pub(crate) id: FileId,
    /// The package that it came in.
    pub(crate) package: Option<Package>,
    bytes: Bytes,
}

/// Bytes to read.
pub(crate) enum Bytes {
    /// A file's; none where it is empty.
    Mapped(Option<Mmap>),
    /// Our own.
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps a file. `shown` is what errors call it.
    pub(crate) fn map(path: &Path, shown: &Path) -> Result<Self, InputError> {
        let unreadable = |source| InputError::Unreadable { path: shown.to_owned(), source };
        let meta = fs::metadata(path).map_err(unreadable)?;
        if !meta.is_file() {
            return Err(InputError::NotAFile { path: shown.to_owned() });
        }
        if meta.len() > limits::FILE {
            let (size, allowed) = (meta.len(), limits::FILE);
            return Err(InputError::TooLarge { path: shown.to_owned(), size, allowed });
        }
        let file = File::open(path).map_err(unreadable)?;
        // SAFETY: the map is only read. Who cuts the file while it is read ends this process, which loses nothing that
        // was published; who writes to it gets an edition of what was read, under a digest that may not match.
        let map = if meta.len() == 0 { None } else { Some(unsafe { Mmap::map(&file) }.map_err(unreadable)?) };
        Ok(Self::Mapped(map))
    }

    /// The bytes.
    pub(crate) fn get(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map.as_deref().unwrap_or_default(),
            Self::Owned(bytes) => bytes,
        }
    }
}

impl Input {
    /// Maps a file and takes its digest.
    pub(crate) fn open(path: &Path) -> Result<Self, InputError> {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        Ok(Self::new(path.to_owned(), name, Bytes::map(path, path)?, None))
    }

    /// Takes the digest of bytes that have a name.
    pub(crate) fn new(path: PathBuf, name: &[u8], bytes: Bytes, package: Option<Package>) -> Self {
        let id = FileId {
            name: Name::from_bytes(name),
            sha256: Sha256Digest::of(bytes.get()),
            size: bytes.get().len() as u64,
        };
        Self { path, id, package, bytes }
    }

    /// Its bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get()
    }

    /// The ELF in it.
    pub(crate) fn elf(&self) -> Result<Elf<'_>, InputError> {
        elf::load(self.bytes(), &self.path.display().to_string())
    }

    /// The headers of the ELF in it.
    pub(crate) fn outline(&self) -> Result<Outline<'_>, InputError> {
        Outline::read(self.bytes(), &self.path.display().to_string())
    }

    /// The build that its ELF is: its note says it, else its digest.
    pub(crate) fn build_id(&self, noted: Option<&BuildId>) -> BuildId {
        noted.cloned().unwrap_or_else(|| BuildId::from_file(self.id.sha256))
    }
}

/// What goes wrong with an input: with itself, or with the archive, where its members wait.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The input can't be read.
    Input(InputError),
    /// The archive can't be written.
    Archive(ArchiveError),
}

impl From<InputError> for Trouble {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl From<ArchiveError> for Trouble {
    fn from(error: ArchiveError) -> Self {
        Self::Archive(error)
    }
}
