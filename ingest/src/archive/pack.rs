//! Packs: one gzip member a document, one document a line.

use std::{
    cell::RefCell,
    fs::File,
    io::{self, BufWriter, Write as _},
    path::PathBuf,
    sync::Arc,
};

use elfscope_schema::{GZIP_HEADER, ManifestFile, Pack, Sha256Digest, index_name};
use miniz_oxide::deflate::core::{
    CompressionStrategy, CompressorOxide, TDEFLFlush, TDEFLStatus, compress,
    create_comp_flags_from_zip_params,
};
use sha2::{Digest as _, Sha256};

use super::stage::Parts;

/// Level of deflate: the fastest, since every document is deflated while someone waits for `add`.
const LEVEL: i32 = 1;
/// Documents of fewer bytes are small.
const SMALL: usize = 512;

/// A complete gzip member (RFC 1952) that inflates to `text`: header and trailer are fixed, deflate is miniz_oxide's.
/// The same text always gives the same bytes; call it from as many threads as there are documents.
#[must_use]
pub fn deflate_member(text: &[u8]) -> Vec<u8> {
    let mut member = vec![0; GZIP_HEADER.len() + text.len() / 2 + 64];
    member[..GZIP_HEADER.len()].copy_from_slice(&GZIP_HEADER);
    let compressor = if text.len() < SMALL { &STATIC } else { &DYNAMIC };
    let end = compressor.with_borrow_mut(|compressor| {
        compressor.reset();
        deflate(compressor, text, &mut member, GZIP_HEADER.len())
    });
    member.truncate(end);
    member.extend_from_slice(&crc32fast::hash(text).to_le_bytes());
    // RFC 1952: ISIZE is the length modulo 2^32.
    member.extend_from_slice(&(text.len() as u32).to_le_bytes());
    member
}

thread_local! {
    /// A compressor's tables take a third of a megabyte: made anew for every document of a few hundred bytes they would
    /// cost more than deflating it. A reset one gives the bytes that a new one gives; a test holds it to that.
    static DYNAMIC: RefCell<Box<CompressorOxide>> = compressor(CompressionStrategy::Default);
    /// For small documents: with the codes of RFC 1951 section 3.2.6, since codes of their own take as much room as they save.
    static STATIC: RefCell<Box<CompressorOxide>> = compressor(CompressionStrategy::Fixed);
}

fn compressor(strategy: CompressionStrategy) -> RefCell<Box<CompressorOxide>> {
    let flags = create_comp_flags_from_zip_params(LEVEL, 0, strategy as i32);
    RefCell::new(Box::new(CompressorOxide::new(flags)))
}

/// Deflates into `out` from `at` on, which grows as it must. Gives where the last byte ends.
fn deflate(compressor: &mut CompressorOxide, mut text: &[u8], out: &mut Vec<u8>, mut at: usize) -> usize {
    loop {
        let (status, read, written) = compress(compressor, text, &mut out[at..], TDEFLFlush::Finish);
        text = &text[read..];
        at += written;
        match status {
            TDEFLStatus::Done => return at,
            TDEFLStatus::Okay => out.resize(out.len() * 2, 0),
            // Neither flags nor buffers are wrong, and nothing is flushed to: the other two can't be.
            other => unreachable!("deflate says {other:?}"),
        }
    }
}

/// Writes one pack of a [`super::Stage`], member after member, in order.
///
/// A writer that is dropped without [`Self::finish`] makes the stage unfit to be published.
#[derive(Debug)]
pub struct PackWriter {
    name: String,
    path: PathBuf,
    file: BufWriter<File>,
    offsets: Vec<u64>,
    stored: Sha256,
    stored_size: u64,
    inflated: Sha256,
    inflated_size: u64,
    parts: Arc<Parts>,
}

/// A finished pack, as the manifest and `packs.json` tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// What the manifest says.
    pub file: ManifestFile,
    /// What `packs.json` says.
    pub pack: Pack,
}

impl PackWriter {
    pub(super) fn new(name: &str, path: PathBuf, file: File, parts: Arc<Parts>) -> Self {
        Self {
            name: name.to_owned(),
            path,
            file: BufWriter::with_capacity(256 * 1024, file),
            offsets: Vec::new(),
            stored: Sha256::new(),
            stored_size: 0,
            inflated: Sha256::new(),
            inflated_size: 0,
            parts,
        }
    }

    /// Appends one document: its canonical text, which ends in `\n`, and what [`deflate_member`] made of it. Returns its
    /// ordinal.
    ///
    /// # Errors
    /// What the file system says.
    pub fn push(&mut self, text: &[u8], member: &[u8]) -> io::Result<u64> {
        debug_assert!(text.ends_with(b"\n"), "a document ends its line");
        debug_assert!(member.starts_with(&GZIP_HEADER), "a member is what `deflate_member` gives");
        self.file.write_all(member)?;
        let ordinal = self.offsets.len() as u64;
        self.offsets.push(self.stored_size);
        self.stored.update(member);
        self.stored_size += member.len() as u64;
        self.inflated.update(text);
        self.inflated_size += text.len() as u64;
        Ok(ordinal)
    }

    /// How many members it has: the ordinal of the next one.
    #[must_use]
    pub fn members(&self) -> u64 {
        self.offsets.len() as u64
    }

    /// Ends the pack, writes its table of offsets beside it and enters both into the stage.
    ///
    /// # Errors
    /// What the file system says.
    pub fn finish(mut self) -> io::Result<Packed> {
        let members = self.offsets.len() as u64;
        self.offsets.push(self.stored_size);
        let index: Vec<u8> = self.offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let mut index_file = File::create_new(self.path.with_file_name(index_name(&self.name)))?;
        index_file.write_all(&index)?;
        let packed = Packed {
            file: ManifestFile {
                name: self.name.clone(),
                sha256: Sha256Digest::from_bytes(self.inflated.finalize().into()),
                size: self.inflated_size,
            },
            pack: Pack {
                members,
                name: self.name,
                sha256: Sha256Digest::from_bytes(self.stored.finalize().into()),
                size: self.stored_size,
            },
        };
        self.parts.enter(packed.file.clone(), Some(packed.pack.clone()), [file, index_file]);
        Ok(packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compressor_that_was_used_before_gives_the_same_bytes() {
        let texts: Vec<Vec<u8>> = (0..200u32)
            .map(|number| {
                let words = (0..number * 37)
                    .map(|word| format!("{{\"{}\":{}}}", word % 91, word.wrapping_mul(number)));
                words.collect::<String>().into_bytes()
            })
            .collect();
        for text in &texts {
            let member = deflate_member(text);
            let deflated = &member[GZIP_HEADER.len()..member.len() - 8];
            if text.len() >= SMALL {
                assert_eq!(deflated, miniz_oxide::deflate::compress_to_vec(text, 1), "{} bytes", text.len());
            }
            assert_eq!(deflate_member(text), member, "{} bytes", text.len());
            assert_eq!(&miniz_oxide::inflate::decompress_to_vec(deflated).unwrap(), text);
        }
    }

    #[test]
    fn a_member_is_fixed_to_the_bit() {
        // Pinned: another deflate would rename nothing, but every copy of every pack would differ.
        let member = deflate_member(b"{\"a\":1}\n");
        assert_eq!(member[..10], GZIP_HEADER);
        assert_eq!(member[member.len() - 4..], 8u32.to_le_bytes());
        assert_eq!(
            elfscope_schema::hex::encode(&member),
            "1f8b08000000000000ffab564a54b232ace5020046a3e87408000000"
        );
    }
}
