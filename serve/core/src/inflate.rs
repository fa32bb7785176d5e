//! Members of packs: our own gzip header, one deflate stream, checksum and length.

use std::sync::Arc;

use elfscope_schema::{GZIP_HEADER, GZIP_TRAILER, limits};

use crate::{Error, Result};

pub(crate) const MEMBER: &str = "a gzip member of one document";

/// What a member that was read inflates to.
pub(crate) fn inflated(stored: &[u8], path: &str) -> Result<Vec<u8>> {
    let damaged = || Error::Damaged { path: path.to_owned(), expected: MEMBER, source: None };
    inflate(stored).ok_or_else(damaged)
}

/// The members at these ranges (ordinal, start, end) of one part of a pack, which starts at the first.
pub(crate) fn inflate_all(
    path: &str,
    stored: Option<&[u8]>,
    ranges: &[(u64, u64, u64)],
) -> Result<Vec<Arc<Vec<u8>>>> {
    let damaged = |expected| Error::Damaged { path: path.to_owned(), expected, source: None };
    let stored = stored.ok_or_else(|| damaged("the pack that its `.idx` describes"))?;
    let first = ranges.first().map_or(0, |range| range.1);
    let members = ranges.iter().map(|(_, start, end)| {
        let part = usize::try_from(start - first).ok().zip(usize::try_from(end - first).ok());
        let part = part.and_then(|(start, end)| stored.get(start..end));
        let part = part.ok_or_else(|| damaged("a pack as long as its `.idx` says"))?;
        inflate(part).map(Arc::new).ok_or_else(|| damaged(MEMBER))
    });
    members.collect()
}

/// The document of one gzip member: our own header, one deflate stream, checksum and length.
fn inflate(stored: &[u8]) -> Option<Vec<u8>> {
    let body = stored.strip_prefix(&GZIP_HEADER)?;
    let (deflated, trailer) = body.split_at_checked(body.len().checked_sub(GZIP_TRAILER)?)?;
    let length = u32::from_le_bytes(trailer[4..].try_into().ok()?) as usize;
    if length > limits::REQUEST_JSON {
        return None;
    }
    let bytes = miniz_oxide::inflate::decompress_to_vec_with_limit(deflated, length).ok()?;
    (bytes.len() == length).then_some(bytes)
}
