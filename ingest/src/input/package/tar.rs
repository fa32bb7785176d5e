//! A tar archive as a stream: regular files are members, all else is counted and passed over.
//!
//! The walk is our own over the crate's headers: the crate reads an extended header whole, however large it claims to be.

use std::io::{self, Read};

use tar::{EntryType, Header};

use super::{Contents, Entries, Limits, Member, Refusal, path};
use crate::{elf::shown, limits};

const BLOCK: usize = 512;
const SPARSE: &str = "it is stored as a sparse file, which is not read";

/// Whether a block is a tar header: its checksum fits.
pub(super) fn is_header(block: &[u8]) -> bool {
    let Some(block) = block.first_chunk::<BLOCK>() else { return false };
    let header = Header::from_byte_slice(block);
    let sum = block[..148].iter().chain(&block[156..]).map(|byte| u32::from(*byte)).sum::<u32>() + 8 * 32;
    header.cksum().is_ok_and(|cksum| cksum == sum)
}

/// Why a walk ended early.
pub(super) enum Stop<E> {
    /// The archive can't be read on.
    Archive(io::Error),
    /// The visitor wants no more.
    Visitor(E),
}

impl<E> From<io::Error> for Stop<E> {
    fn from(error: io::Error) -> Self {
        Self::Archive(error)
    }
}

impl<E> From<Refusal> for Stop<E> {
    fn from(refusal: Refusal) -> Self {
        Self::Archive(refusal.into())
    }
}

/// What headers before a member say of it.
#[derive(Default)]
struct Ahead {
    long_name: Option<Result<Vec<u8>, &'static str>>,
    long_link: Option<Result<Vec<u8>, &'static str>>,
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
    sparse: bool,
}

/// Walks an archive to the end of the stream, one regular file after the other.
pub(super) fn walk<E>(
    reader: &mut dyn Read,
    limits: &Limits,
    entries: &mut Entries,
    visit: &mut dyn FnMut(&mut Member<'_, '_>) -> Result<(), E>,
) -> Result<(), Stop<E>> {
    let mut ahead = Ahead::default();
    let mut first = true;
    loop {
        let Some(block) = read_block(reader)? else {
            return Err(Refusal(if first {
                "it is empty".to_owned()
            } else {
                "it is cut: it ends without the blocks of zeros that end an archive".to_owned()
            })
            .into());
        };
        if block.iter().all(|byte| *byte == 0) {
            break;
        }
        if !is_header(&block) {
            return Err(Refusal(if first {
                format!("what is in it is no tar archive: it starts with `{}`", shown(&block[..16]))
            } else {
                format!("it is damaged: the checksum of header {} is wrong", entries.total + 1)
            })
            .into());
        }
        first = false;
        entries.total += 1;
        if entries.total > limits.entries {
            return Err(Refusal(format!("it has more than {} entries", limits.entries)).into());
        }
        entry(reader, Header::from_byte_slice(&block), &mut ahead, entries, visit)?;
    }
    // The rest is read too: a decoder checks its sums at the end.
    let mut rest = vec![0; 64 << 10];
    loop {
        match reader.read(&mut rest)? {
            0 => return Ok(()),
            count => entries.after_end |= rest[..count].iter().any(|byte| *byte != 0),
        }
    }
}

fn entry<E>(
    reader: &mut dyn Read,
    header: &Header,
    ahead: &mut Ahead,
    entries: &mut Entries,
    visit: &mut dyn FnMut(&mut Member<'_, '_>) -> Result<(), E>,
) -> Result<(), Stop<E>> {
    let Ok(claimed) = header.entry_size() else {
        return Err(
            Refusal(format!("the size of `{}` in it is no number", shown(&header.path_bytes()))).into()
        );
    };
    let kind = header.entry_type();
    match kind {
        EntryType::GNULongName | EntryType::GNULongLink => {
            let text = extended(reader, claimed)?;
            let text = text.map(|text| text.split(|byte| *byte == 0).next().unwrap_or_default().to_vec());
            let text = Some(text.ok_or("its path is too long"));
            *(if kind == EntryType::GNULongName { &mut ahead.long_name } else { &mut ahead.long_link }) =
                text;
            return Ok(());
        }
        EntryType::XHeader => {
            let Some(text) = extended(reader, claimed)? else {
                let allowed = limits::MEMBER_HEADER;
                let reason = format!(
                    "an extended header in it has {claimed} bytes, more than the {allowed} that are read"
                );
                return Err(Refusal(reason).into());
            };
            pax(&text, ahead)?;
            return Ok(());
        }
        // What is said of all members at once (git writes its commit there).
        EntryType::XGlobalHeader => {
            skip(reader, claimed, header)?;
            return Ok(());
        }
        _ => {}
    }
    let ahead = std::mem::take(ahead);
    let raw = match (ahead.path, ahead.long_name) {
        (Some(path), _) => Ok(path),
        (None, Some(name)) => name,
        (None, None) => Ok(header.path_bytes().into_owned()),
    };
    let size = ahead.size.unwrap_or(claimed);
    match kind {
        EntryType::Regular | EntryType::Continuous
            if raw.as_ref().is_ok_and(|path| path.ends_with(b"/")) && size == 0 =>
        {
            // How the oldest archives write a folder.
            entries.folders += 1;
        }
        EntryType::Regular | EntryType::Continuous => {
            entries.files += 1;
            let path = match &raw {
                _ if ahead.sparse => Err(SPARSE),
                Ok(raw) => path::normalised(raw),
                Err(reason) => Err(*reason),
            };
            match path {
                Ok(path) => {
                    let mut contents = Contents::new(reader, size);
                    visit(&mut Member { path: &path, size, contents: &mut contents })
                        .map_err(Stop::Visitor)?;
                    contents.finish(&path)?;
                    pad(reader, size, header)?;
                    return Ok(());
                }
                Err(reason) => entries.refuse(&raw.unwrap_or_default(), reason),
            }
        }
        EntryType::Link | EntryType::Symlink if size != 0 => {
            // Programs differ in whether its bytes follow, so what comes next would be a guess.
            let reason = format!("`{}` in it is a link of {size} bytes", shown(&header.path_bytes()));
            return Err(Refusal(reason).into());
        }
        EntryType::Link | EntryType::Symlink => {
            entries.links += 1;
            let to = match (ahead.link, ahead.long_link) {
                (Some(link), _) => Ok(link),
                (None, Some(link)) => link,
                (None, None) => Ok(header.link_name_bytes().unwrap_or_default().into_owned()),
            };
            let path = raw.as_ref().map_err(|reason| *reason).and_then(|raw| path::normalised(raw));
            match (kind, path, to) {
                (EntryType::Symlink, Ok(path), Ok(to)) => entries.symbolic_link(path, to),
                (EntryType::Symlink, ..) => {}
                (_, path, to) => {
                    entries.link(path, to.and_then(|to| path::normalised(&to)), &raw.unwrap_or_default());
                }
            }
        }
        EntryType::Directory => entries.folders += 1,
        EntryType::GNUSparse => {
            entries.files += 1;
            entries.refuse(&raw.unwrap_or_default(), SPARSE);
            // More of its map stands in blocks that the size doesn't count.
            let mut more = header.as_gnu().is_some_and(tar::GnuHeader::is_extended);
            while more {
                let block = read_block(reader)?.ok_or_else(|| cut(&header.path_bytes()))?;
                more = block[504] == 1;
            }
        }
        _ => entries.special += 1,
    }
    skip(reader, size, header)?;
    Ok(())
}

/// The contents of an extended header; none where it has more than is read, which are passed over then.
fn extended(reader: &mut dyn Read, size: u64) -> io::Result<Option<Vec<u8>>> {
    let padded = size.checked_next_multiple_of(BLOCK as u64).ok_or_else(|| cut(b"an extended header"))?;
    if size > limits::MEMBER_HEADER {
        discard(reader, padded)?.ok_or_else(|| cut(b"an extended header"))?;
        return Ok(None);
    }
    let mut text = Vec::new();
    reader.take(padded).read_to_end(&mut text)?;
    if (text.len() as u64) < padded {
        return Err(cut(b"an extended header").into());
    }
    // It is at most what was just read.
    text.truncate(size as usize);
    Ok(Some(text))
}

/// Reads pax records: `<length> <key>=<value>\n`.
fn pax(mut text: &[u8], ahead: &mut Ahead) -> Result<(), Refusal> {
    let bad = || Refusal("an extended header in it is damaged".to_owned());
    while !text.is_empty() && text[0] != 0 {
        let space = text.iter().take(20).position(|byte| *byte == b' ').ok_or_else(bad)?;
        let length: usize =
            number(&text[..space]).and_then(|length| length.try_into().ok()).ok_or_else(bad)?;
        let record =
            text.get(space + 1..length).and_then(|record| record.strip_suffix(b"\n")).ok_or_else(bad)?;
        text = &text[length..];
        let equals = record.iter().position(|byte| *byte == b'=').ok_or_else(bad)?;
        let (key, value) = (&record[..equals], &record[equals + 1..]);
        match key {
            b"path" => ahead.path = Some(value.to_vec()),
            b"linkpath" => ahead.link = Some(value.to_vec()),
            b"size" => ahead.size = Some(number(value).ok_or_else(bad)?),
            key if key.starts_with(b"GNU.sparse.") => ahead.sparse = true,
            _ => {}
        }
    }
    Ok(())
}

fn number(digits: &[u8]) -> Option<u64> {
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    plain.then(|| std::str::from_utf8(digits).ok()?.parse().ok()).flatten()
}

/// Reads one block; none at the end.
fn read_block(reader: &mut dyn Read) -> io::Result<Option<[u8; BLOCK]>> {
    let mut block = [0; BLOCK];
    let mut have = 0;
    while have < BLOCK {
        match reader.read(&mut block[have..]) {
            Ok(0) if have == 0 => return Ok(None),
            Ok(0) => return Err(Refusal("it is cut: it ends inside a header".to_owned()).into()),
            Ok(count) => have += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(block))
}

fn skip(reader: &mut dyn Read, size: u64, header: &Header) -> io::Result<()> {
    let name = || cut(&header.path_bytes());
    let padded = size.checked_next_multiple_of(BLOCK as u64).ok_or_else(name)?;
    discard(reader, padded)?.ok_or_else(|| name().into())
}

/// Passes over what fills the last block of a member.
fn pad(reader: &mut dyn Read, size: u64, header: &Header) -> io::Result<()> {
    let padding = (BLOCK as u64 - size % BLOCK as u64) % BLOCK as u64;
    discard(reader, padding)?.ok_or_else(|| cut(&header.path_bytes()).into())
}

/// Reads so many bytes; none where there are fewer.
fn discard(reader: &mut dyn Read, count: u64) -> io::Result<Option<()>> {
    let read = io::copy(&mut reader.take(count), &mut io::sink())?;
    Ok((read == count).then_some(()))
}

/// The archive ends inside what it tells the size of.
pub(super) fn cut(name: &[u8]) -> Refusal {
    Refusal(format!("it is cut: it ends inside `{}`", shown(name)))
}
