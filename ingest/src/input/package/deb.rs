//! A Debian package (.deb, .ddeb, .udeb): an ar archive of `debian-binary`, `control.tar` and `data.tar`, in this order.

use std::io::{self, Read};

use super::{
    About, Entries, Limits, Member, Refusal, control,
    stream::{Bounded, Budget, Packed, unpack},
    tar::{self, Stop},
};
use crate::{elf::shown, limits};

/// What an ar archive starts with.
pub(super) const MAGIC: &[u8] = b"!<arch>\n";
/// The first member's name, which makes it a package.
pub(super) const FIRST: &[u8] = b"debian-binary";

/// Reads a package whose magic was read already.
pub(super) fn read<E>(
    packed: &mut Packed,
    limits: &Limits,
    budget: &Budget,
    entries: &mut Entries,
    visit: &mut dyn FnMut(&mut Member<'_, '_>) -> Result<(), E>,
) -> Result<About, Stop<E>> {
    let mut at = MAGIC.len() as u64;
    let mut about = None;
    let mut versioned = false;
    for _ in 0..limits::DEB_PARTS {
        let Some(part) = Part::read(packed, at)? else {
            let missing = if about.is_none() { "`control.tar`" } else { "`data.tar`" };
            return Err(Refusal(format!("it has no {missing}")).into());
        };
        at = part.end;
        let mut contents = packed.by_ref().take(part.size);
        let name = part.name.as_slice();
        if !versioned {
            version(name, &mut contents)?;
            versioned = true;
        } else if name.starts_with(b"_") {
            // deb(5) lets others add such members.
        } else if is_tar(name, b"control.tar") && about.is_none() {
            about = Some(read_control(&mut contents, limits, budget, &part)?);
        } else if is_tar(name, b"data.tar") {
            let Some(about) = about else {
                let reason = format!(
                    "`{}` stands before `control.tar`: its members are in the wrong order",
                    shown(name)
                );
                return Err(Refusal(reason).into());
            };
            let (_, unpacked) = unpack(&mut contents)?;
            let shown = part.shown();
            tar::walk(&mut Bounded::new(unpacked, budget, &shown), limits, entries, visit)?;
            return Ok(about);
        } else {
            let expected = if about.is_none() { "control.tar" } else { "data.tar" };
            let reason = format!("`{}` stands in it where `{expected}` should", shown(name));
            return Err(Refusal(reason).into());
        }
        io::copy(&mut contents, &mut io::sink())?;
        if part.size % 2 == 1 {
            io::copy(&mut packed.by_ref().take(1), &mut io::sink())?;
        }
    }
    Err(Refusal(format!("it has more than {} members", limits::DEB_PARTS)).into())
}

/// One member of the outer archive.
struct Part {
    name: Vec<u8>,
    size: u64,
    /// Where the next one starts.
    end: u64,
}

impl Part {
    /// Reads a header; none at the end.
    fn read(packed: &mut Packed, at: u64) -> io::Result<Option<Self>> {
        let mut header = Vec::with_capacity(60);
        packed.by_ref().take(60).read_to_end(&mut header)?;
        if header.is_empty() {
            return Ok(None);
        }
        let cut = || {
            Refusal(format!("it is cut: its ar archive ends inside a header, after {} bytes", packed.size))
        };
        let header = header.first_chunk::<60>().ok_or_else(cut)?;
        if !header.ends_with(b"`\n") {
            return Err(Refusal(format!("it is damaged: there is no ar header at offset {at}")).into());
        }
        // GNU ar ends names with a slash.
        let name = header[..16].trim_ascii_end();
        let name = name.strip_suffix(b"/").unwrap_or(name).to_vec();
        let digits = header[48..58].trim_ascii();
        let size =
            std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let Some(size) = size.and_then(|text| text.parse::<u64>().ok()) else {
            let reason = format!("it is damaged: the size of `{}` is `{}`", shown(&name), shown(digits));
            return Err(Refusal(reason).into());
        };
        // Sizes have at most ten digits.
        let start = at + 60;
        if packed.size < start + size {
            let reason = format!(
                "it is cut: `{}` has {size} bytes, of which the file holds {}",
                shown(&name),
                packed.size.saturating_sub(start)
            );
            return Err(Refusal(reason).into());
        }
        Ok(Some(Self { name, size, end: start + size + size % 2 }))
    }

    fn shown(&self) -> String {
        format!("`{}`", shown(&self.name))
    }
}

/// `control.tar` or `control.tar.xz`, and the like.
fn is_tar(name: &[u8], stem: &[u8]) -> bool {
    name.strip_prefix(stem).is_some_and(|rest| rest.is_empty() || rest[0] == b'.')
}

/// The first member: the format's version.
fn version(name: &[u8], contents: &mut impl Read) -> io::Result<()> {
    let mut text = Vec::new();
    contents.take(64).read_to_end(&mut text)?;
    if name == FIRST && text.starts_with(b"2.") {
        return Ok(());
    }
    let text = shown(text.trim_ascii());
    Err(Refusal(format!("`{}` says `{text}`, and only format 2 is read", shown(name))).into())
}

fn read_control<E>(
    contents: &mut impl Read,
    limits: &Limits,
    budget: &Budget,
    part: &Part,
) -> Result<About, Stop<E>> {
    let (_, unpacked) = unpack(contents)?;
    let mut text = None;
    let mut visit = |member: &mut Member<'_, '_>| -> io::Result<()> {
        if member.path != b"control" {
            return Ok(());
        }
        if member.size > limits::CONTROL {
            let (size, allowed) = (member.size, limits::CONTROL);
            return Err(Refusal(format!(
                "its control file has {size} bytes, more than the {allowed} that are read"
            ))
            .into());
        }
        let mut bytes = Vec::new();
        member.contents.read_to_end(&mut bytes)?;
        if text.replace(bytes).is_some() {
            return Err(Refusal("it has two control files".to_owned()).into());
        }
        Ok(())
    };
    let shown = part.shown();
    let walked =
        tar::walk(&mut Bounded::new(unpacked, budget, &shown), limits, &mut Entries::default(), &mut visit);
    match walked {
        Ok(()) => {}
        Err(Stop::Archive(error) | Stop::Visitor(error)) => return Err(Stop::Archive(error)),
    }
    let text = text.ok_or_else(|| Refusal(format!("its {shown} holds no `control`")))?;
    Ok(control::parse(&text)?)
}
