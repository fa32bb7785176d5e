//! Packages as streams: .deb, .ddeb, .udeb, and tar archives, plain or packed by gzip, xz, zstd or bzip2.
//!
//! Nothing is unpacked that nobody takes, nothing is written under a member's name, links are never followed, and every
//! size has a limit. What a package is, its first bytes say, not its name.

mod control;
mod deb;
mod path;
mod stream;
mod tar;

use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
};

use elfscope_schema::{Sha256Digest, SourcePackage};

use self::{
    stream::{Bounded, Budget, Packed, Packing, unpack},
    tar::Stop,
};
use crate::{error::InputError, limits};

/// How much is read of one package.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Most bytes that it unpacks to.
    pub(crate) unpacked: u64,
    /// How many times its own size it may unpack to…
    pub(crate) ratio: u64,
    /// … unless that is less than this.
    pub(crate) floor: u64,
    /// Most entries, links and folders included.
    pub(crate) entries: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            unpacked: limits::UNPACKED,
            ratio: limits::UNPACKED_RATIO,
            floor: limits::UNPACKED_FLOOR,
            entries: limits::PACKAGE_ENTRIES,
        }
    }
}

/// One regular file in a package.
pub(crate) struct Member<'m, 'r> {
    /// Its path, without `./` at its start and never leading out of the package. To be told, not to be written to.
    pub(crate) path: &'m [u8],
    /// How many bytes it has.
    pub(crate) size: u64,
    contents: &'m mut Contents<'r>,
}

impl Member<'_, '_> {
    /// The last part of its path.
    pub(crate) fn file_name(&self) -> &[u8] {
        self.path.rsplit(|byte| *byte == b'/').next().unwrap_or(self.path)
    }

    /// Whether it starts as an ELF file does. Nothing of it is lost to who reads on.
    pub(crate) fn is_elf(&mut self) -> io::Result<bool> {
        Ok(self.contents.start()? == object::elf::ELFMAG)
    }

    /// Writes its bytes elsewhere.
    pub(crate) fn copy_to(&mut self, to: &mut dyn Write) -> Result<(), CopyError> {
        let mut buffer = vec![0; 128 << 10];
        loop {
            match self.contents.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => to.write_all(&buffer[..count]).map_err(CopyError::Write)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(CopyError::Read(error)),
            }
        }
    }
}

impl Read for Member<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.contents.read(buffer)
    }
}

/// On which side a copy failed.
#[derive(Debug)]
pub(crate) enum CopyError {
    /// The package can't be read: [`unreadable`] says it of its path.
    Read(io::Error),
    /// What it is copied to can't be written.
    Write(io::Error),
}

/// The bytes of a member: its first four can be looked at, and it never ends early without saying so.
struct Contents<'r> {
    reader: &'r mut dyn Read,
    left: u64,
    start: Vec<u8>,
    peeked: bool,
}

impl<'r> Contents<'r> {
    fn new(reader: &'r mut dyn Read, size: u64) -> Self {
        Self { reader, left: size, start: Vec::new(), peeked: false }
    }

    fn start(&mut self) -> io::Result<&[u8]> {
        if !self.peeked {
            self.peeked = true;
            let count = self.left.min(4);
            let mut start = Vec::new();
            self.by_ref().take(count).read_to_end(&mut start)?;
            self.start = start;
        }
        Ok(&self.start)
    }

    /// Passes over what nobody read.
    fn finish(&mut self, path: &[u8]) -> io::Result<()> {
        self.start.clear();
        match io::copy(self, &mut io::sink()) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(tar::cut(path).into()),
            result => result.map(drop),
        }
    }
}

impl Read for Contents<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.start.is_empty() && !buffer.is_empty() {
            let count = self.start.len().min(buffer.len());
            buffer[..count].copy_from_slice(&self.start[..count]);
            self.start.drain(..count);
            return Ok(count);
        }
        let room = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if room == 0 {
            return Ok(0);
        }
        match self.reader.read(&mut buffer[..room])? {
            0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ends inside a member")),
            count => {
                self.left -= count as u64;
                Ok(count)
            }
        }
    }
}

/// What a package is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A Debian package.
    Deb,
    /// A tar archive.
    Tar,
}

/// What a package says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct About {
    /// Its name.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// Its architecture.
    pub(crate) architecture: String,
    /// The source package that it was built from, where it names one.
    pub(crate) source: Option<SourcePackage>,
}

/// What was found in a package that was read to its end.
#[derive(Clone, Debug)]
pub(crate) struct PackageFacts {
    /// What it says of itself; a tar archive says nothing.
    pub(crate) about: Option<About>,
    /// The SHA-256 of its file.
    pub(crate) sha256: Sha256Digest,
    /// What was in it.
    pub(crate) entries: Entries,
}

/// The entries of a package, by kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    /// All headers.
    pub(crate) total: u64,
    /// Regular files, refused ones included.
    pub(crate) files: u64,
    /// Folders.
    pub(crate) folders: u64,
    /// Links, symbolic and hard: what they lead to is a member, or not of the package.
    pub(crate) links: u64,
    /// Hard links: the path of each, and of the member before it whose bytes it has. Not more than [`limits::HARD_LINKS`]
    /// bytes of them; further ones are refused.
    pub(crate) hard_links: Vec<(Vec<u8>, Vec<u8>)>,
    /// Symbolic links: the path of each, and what it says. Those after so many bytes of them are left out.
    pub(crate) symbolic_links: Vec<(Vec<u8>, Vec<u8>)>,
    hard_link_bytes: usize,
    symbolic_link_bytes: usize,
    /// Devices, pipes, and what has no name here.
    pub(crate) special: u64,
    /// How many files were passed over for their path or form.
    pub(crate) refused: u64,
    /// The first of them: the path as it stands there, and why.
    pub(crate) first_refused: Vec<(Vec<u8>, &'static str)>,
    /// Whether something other than zeros stands after the archive's end. It is not read.
    pub(crate) after_end: bool,
}

impl Entries {
    fn link(&mut self, path: Result<Vec<u8>, &'static str>, to: Result<Vec<u8>, &'static str>, raw: &[u8]) {
        match (path, to) {
            (Ok(path), Ok(to)) if self.hard_link_bytes + path.len() + to.len() <= limits::HARD_LINKS => {
                self.hard_link_bytes += path.len() + to.len();
                self.hard_links.push((path, to));
            }
            (Ok(_), Ok(_)) => self.refuse(raw, "there are too many hard links before it"),
            (Err(reason), _) => self.refuse(raw, reason),
            (_, Err(_)) => self.refuse(raw, "it is a hard link to what is no member"),
        }
    }

    fn symbolic_link(&mut self, path: Vec<u8>, to: Vec<u8>) {
        self.symbolic_link_bytes += path.len() + to.len();
        if self.symbolic_link_bytes <= limits::HARD_LINKS {
            self.symbolic_links.push((path, to));
        }
    }

    fn refuse(&mut self, path: &[u8], reason: &'static str) {
        self.refused += 1;
        if self.first_refused.len() < limits::REFUSED_MEMBERS {
            self.first_refused.push((path[..path.len().min(limits::MEMBER_PATH)].to_vec(), reason));
        }
    }
}

/// Whether a file is a package, and of which kind. What is packed counts as a tar archive; [`read`] finds out.
pub(crate) fn recognise(path: &Path) -> Result<Option<Kind>, InputError> {
    let unreadable = |source| InputError::Unreadable { path: path.to_owned(), source };
    let mut start = Vec::new();
    File::open(path).map_err(unreadable)?.take(512).read_to_end(&mut start).map_err(unreadable)?;
    Ok(kind_of(&start))
}

fn kind_of(start: &[u8]) -> Option<Kind> {
    if let Some(rest) = start.strip_prefix(deb::MAGIC) {
        return rest.starts_with(deb::FIRST).then_some(Kind::Deb);
    }
    (Packing::of(start) != Packing::Plain || tar::is_header(start)).then_some(Kind::Tar)
}

/// Reads a package to its end and shows each regular file in it, in their order, to a visitor.
///
/// # Errors
/// [`InputError::BadPackage`] where it is damaged, cut, out of order, or more than the limits allow; what was shown
/// before that is then part of nothing. Or the visitor's own error.
pub(crate) fn read<E: From<InputError>>(
    path: &Path,
    limits: &Limits,
    visit: &mut dyn FnMut(&mut Member<'_, '_>) -> Result<(), E>,
) -> Result<PackageFacts, E> {
    let kind =
        recognise(path)?.ok_or_else(|| bad(path, "it is neither a Debian package nor a tar archive"))?;
    let mut packed = Packed::open(path)?;
    let budget = Budget::new(limits, packed.size);
    let mut entries = Entries::default();
    let about = match kind {
        Kind::Deb => read_deb(&mut packed, limits, &budget, &mut entries, visit).map(Some),
        Kind::Tar => read_tar(&mut packed, limits, &budget, &mut entries, visit).map(|()| None),
    };
    let about = about.map_err(|stop| match stop {
        Stop::Visitor(error) => error,
        Stop::Archive(error) => unreadable(path, error).into(),
    })?;
    let sha256 = packed.finish().map_err(|error| unreadable(path, error))?;
    Ok(PackageFacts { about, sha256, entries })
}

fn read_deb<E>(
    packed: &mut Packed,
    limits: &Limits,
    budget: &Budget,
    entries: &mut Entries,
    visit: &mut dyn FnMut(&mut Member<'_, '_>) -> Result<(), E>,
) -> Result<About, Stop<E>> {
    io::copy(&mut packed.by_ref().take(deb::MAGIC.len() as u64), &mut io::sink())?;
    deb::read(packed, limits, budget, entries, visit)
}

fn read_tar<E>(
    packed: &mut Packed,
    limits: &Limits,
    budget: &Budget,
    entries: &mut Entries,
    visit: &mut dyn FnMut(&mut Member<'_, '_>) -> Result<(), E>,
) -> Result<(), Stop<E>> {
    let (packing, unpacked) = unpack(packed)?;
    let part = format!("{} data", packing.name());
    tar::walk(&mut Bounded::new(unpacked, budget, &part), limits, entries, visit)
}

/// The error of a package whose reading failed: what we refuse, or what the machine says.
pub(crate) fn unreadable(path: &Path, error: io::Error) -> InputError {
    if error.raw_os_error().is_some() {
        return InputError::Unreadable { path: path.to_owned(), source: error };
    }
    bad(path, &error.to_string())
}

fn bad(path: &Path, reason: &str) -> InputError {
    InputError::BadPackage { path: path.to_owned(), reason: reason.to_owned() }
}

/// Why a package is refused. It travels through readers as an [`io::Error`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Refusal(String);

impl Refusal {
    fn is_in(error: &io::Error) -> bool {
        error.get_ref().and_then(|inner| inner.downcast_ref::<Self>()).is_some()
    }
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        Self::new(io::ErrorKind::InvalidData, refusal)
    }
}

#[cfg(test)]
mod tests;
