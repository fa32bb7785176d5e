//! A package's bytes: hashed as they are read, unpacked by what they start with, and never more than is allowed.

use std::{
    cell::Cell,
    fs::File,
    io::{self, BufReader, Read},
    path::Path,
};

use elfscope_schema::Sha256Digest;
use sha2::{Digest as _, Sha256};

use super::{Limits, Refusal};
use crate::{error::InputError, limits};

/// The file of a package. Its digest is taken on the way.
pub(super) struct Packed {
    file: File,
    hash: Sha256,
    /// How many bytes it has.
    pub(super) size: u64,
}

impl Packed {
    pub(super) fn open(path: &Path) -> Result<Self, InputError> {
        let unreadable = |source| InputError::Unreadable { path: path.to_owned(), source };
        let file = File::open(path).map_err(unreadable)?;
        let size = file.metadata().map_err(unreadable)?.len();
        if size > limits::FILE {
            return Err(InputError::TooLarge { path: path.to_owned(), size, allowed: limits::FILE });
        }
        Ok(Self { file, hash: Sha256::new(), size })
    }

    /// Reads what is left and gives the digest of all.
    pub(super) fn finish(mut self) -> io::Result<Sha256Digest> {
        io::copy(&mut self, &mut io::sink())?;
        Ok(Sha256Digest::from_bytes(self.hash.finalize().into()))
    }
}

impl Read for Packed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.hash.update(&buffer[..count]);
        Ok(count)
    }
}

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Plain,
    Gzip,
    Xz,
    Zstd,
    Bzip2,
}

impl Packing {
    /// How many bytes tell.
    pub(super) const START: usize = 6;

    /// By the first bytes: names of files and of members are only claims.
    pub(super) fn of(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            // A frame, or a skippable one, with which pzstd begins.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Self::Bzip2,
            _ => Self::Plain,
        }
    }

    /// The name of the program that makes it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Gzip => "gzip",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
        }
    }
}

/// Unpacks a stream. Several gzip members, xz streams, zstd frames and bzip2 streams after each other are one, as their
/// own programs have it.
pub(super) fn unpack<'a>(mut packed: impl Read + 'a) -> io::Result<(Packing, Box<dyn Read + 'a>)> {
    let mut start = Vec::with_capacity(Packing::START);
    packed.by_ref().take(Packing::START as u64).read_to_end(&mut start)?;
    let packing = Packing::of(&start);
    let all = BufReader::with_capacity(BUFFER, io::Cursor::new(start).chain(packed));
    let reader: Box<dyn Read + 'a> = match packing {
        Packing::Plain => Box::new(all),
        Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(all)),
        Packing::Xz => {
            let concatenated = liblzma::stream::CONCATENATED;
            let stream = liblzma::stream::Stream::new_stream_decoder(limits::XZ_MEMORY, concatenated)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(all, stream))
        }
        Packing::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(all)?;
            decoder.window_log_max(limits::ZSTD_WINDOW_LOG)?;
            Box::new(decoder)
        }
        Packing::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(all)),
    };
    Ok((packing, reader))
}

const BUFFER: usize = 128 << 10;

/// How many bytes a package may still unpack to, over all its parts.
pub(super) struct Budget {
    left: Cell<u64>,
    allowed: u64,
    packed: u64,
}

impl Budget {
    pub(super) fn new(limits: &Limits, packed: u64) -> Self {
        let allowed = packed.saturating_mul(limits.ratio).max(limits.floor).min(limits.unpacked);
        Self { left: Cell::new(allowed), allowed, packed }
    }

    fn spent(&self) -> Refusal {
        Refusal(format!(
            "it has {} bytes and unpacks to more than {}, the most that is unpacked of a file of its size",
            self.packed, self.allowed
        ))
    }
}

/// Unpacked bytes within a budget. What the decoder says of damage is said of the part's name.
pub(super) struct Bounded<'a> {
    inner: Box<dyn Read + 'a>,
    budget: &'a Budget,
    part: &'a str,
}

impl<'a> Bounded<'a> {
    pub(super) fn new(inner: Box<dyn Read + 'a>, budget: &'a Budget, part: &'a str) -> Self {
        Self { inner, budget, part }
    }
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.budget.left.get();
        // One byte more than is allowed may come, so that exactly as much as is allowed can end.
        let room = usize::try_from(left.saturating_add(1)).unwrap_or(usize::MAX).min(buffer.len());
        let count = match self.inner.read(&mut buffer[..room]) {
            // What the machine says is passed on; the rest is the decoder's.
            Err(error) if error.raw_os_error().is_none() && !Refusal::is_in(&error) => {
                return Err(Refusal(format!("its {} can't be unpacked: {error}", self.part)).into());
            }
            result => result?,
        };
        let left = left.checked_sub(count as u64).ok_or_else(|| self.budget.spent())?;
        self.budget.left.set(left);
        Ok(count)
    }
}
