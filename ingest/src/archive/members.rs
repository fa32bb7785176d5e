//! Reading packs back, member by member.

use std::{
    fs::File,
    io::Read as _,
    ops::Range,
    path::{Path, PathBuf},
};

use elfscope_schema::{GZIP_HEADER, GZIP_TRAILER, index_name};
use miniz_oxide::inflate::{
    TINFLStatus,
    core::{DecompressorOxide, decompress, inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF},
};

use super::{ArchiveError, files};

/// Stored bytes that are read at once. Deflate can't grow by more than 1,032, so this bounds what they inflate to.
const BATCH: u64 = 256 * 1024;
/// Most bytes of one document that is read back. Pages have 64 KiB; one item may pass that alone.
const DOCUMENT: usize = 16 * 1024 * 1024;

/// A pack that is read from its start to its end, by its table of offsets.
#[derive(Debug)]
pub(super) struct PackReader {
    path: PathBuf,
    file: File,
    offsets: Vec<u64>,
    next: usize,
}

/// Consecutive members.
#[derive(Debug)]
pub(super) struct Batch {
    /// The ordinal of the first one.
    pub(super) first: usize,
    /// Their bytes.
    pub(super) bytes: Vec<u8>,
    ranges: Vec<Range<usize>>,
}

impl PackReader {
    /// Opens a pack. What is wrong with its table of offsets is said as [`ArchiveError::Damaged`] of that file.
    pub(super) fn open(folder: &Path, name: &str) -> Result<Self, ArchiveError> {
        let path = folder.join(name);
        let file = File::open(&path).map_err(ArchiveError::read(&path))?;
        let size = file.metadata().map_err(ArchiveError::read(&path))?.len();
        let index = folder.join(index_name(name));
        let Some(bytes) = files::read(&index)? else {
            return Err(ArchiveError::damaged(index, "it is missing"));
        };
        let (words, rest) = bytes.as_chunks::<8>();
        let offsets: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let good = rest.is_empty()
            && offsets.first() == Some(&0)
            && offsets.last() == Some(&size)
            && offsets.is_sorted_by(|a, b| a < b);
        if !good {
            let what = format!("its offsets do not rise from 0 to the pack's size, {size}");
            return Err(ArchiveError::damaged(index, what));
        }
        Ok(Self { path, file, offsets, next: 0 })
    }

    /// How many members there are.
    pub(super) fn members(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The next members; `None` at the end.
    pub(super) fn batch(&mut self) -> Result<Option<Batch>, ArchiveError> {
        let first = self.next;
        if first == self.members() {
            return Ok(None);
        }
        let start = self.offsets[first];
        let rest = &self.offsets[first + 1..];
        let count = rest.partition_point(|offset| offset - start <= BATCH).max(1);
        let ranges = self.offsets[first..=first + count].windows(2);
        let ranges = ranges.map(|pair| (pair[0] - start) as usize..(pair[1] - start) as usize).collect();
        let mut bytes = vec![0; (self.offsets[first + count] - start) as usize];
        self.file.read_exact(&mut bytes).map_err(ArchiveError::read(&self.path))?;
        self.next = first + count;
        Ok(Some(Batch { first, bytes, ranges }))
    }
}

impl Batch {
    /// Its members.
    pub(super) fn members(&self) -> Vec<&[u8]> {
        self.ranges.iter().map(|range| &self.bytes[range.clone()]).collect()
    }
}

/// The text of a member, which must be one gzip member of ours from its first byte to its last. Says what is wrong with it.
pub(super) fn inflate(member: &[u8]) -> Result<Vec<u8>, String> {
    let rest = member.strip_prefix(&GZIP_HEADER).ok_or("it does not start with the fixed gzip header")?;
    let (deflated, trailer) =
        rest.split_at_checked(rest.len().wrapping_sub(GZIP_TRAILER)).ok_or("it is cut short")?;
    let word =
        |at: usize| trailer[at..at + 4].iter().rev().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
    let (crc, size) = (word(0), word(4) as usize);
    if size > DOCUMENT || size > deflated.len().saturating_mul(1032) {
        return Err(format!("it claims to inflate to {size} bytes"));
    }
    let mut text = vec![0; size];
    let flags = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let mut state = Box::<DecompressorOxide>::default();
    let (status, read, written) = decompress(&mut state, deflated, &mut text, 0, flags);
    if status != TINFLStatus::Done || read != deflated.len() || written != size {
        return Err("it does not inflate to its end, or not to the length in its trailer".to_owned());
    }
    if crc32fast::hash(&text) != crc {
        return Err("its CRC is another".to_owned());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::{super::deflate_member, *};

    #[test]
    fn a_member_inflates_whole_or_not_at_all() {
        let text = br#"{"schema":"archive.fn/1","text":"a a a a a a a a a a a a a"}"#;
        let member = deflate_member(text);
        assert_eq!(inflate(&member).as_deref(), Ok(&text[..]));
        assert_eq!(inflate(&deflate_member(b"")).as_deref(), Ok(&b""[..]));
        for end in 0..member.len() {
            assert!(inflate(&member[..end]).is_err(), "{end} bytes");
        }
        let longer = [&member[..], &[0]].concat();
        assert!(inflate(&longer).is_err());
        // Two members are not one.
        assert!(inflate(&[&member[..], &member[..]].concat()).is_err());
        let mut bomb = deflate_member(&vec![0; DOCUMENT + 1]);
        assert!(inflate(&bomb).unwrap_err().contains("claims"));
        let end = bomb.len();
        bomb[end - 4..].copy_from_slice(&100u32.to_le_bytes());
        assert!(inflate(&bomb).is_err());
    }
}
