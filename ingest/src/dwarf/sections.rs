//! The `.debug_*` sections of a file, decompressed.

use std::borrow::Cow;

use flate2::{Decompress, FlushDecompress, Status};
use gimli::{DwarfSections, RunTimeEndian, SectionId};
use object::elf::{
    ELFCOMPRESS_ZLIB, ELFCOMPRESS_ZSTD, SHF_COMPRESSED, SHT_NOBITS, SHT_REL, SHT_RELA, SectionType,
};

use super::Slice;
use crate::{
    diagnostics::Diagnostics,
    elf::{Elf, Section},
    limits,
};

/// The sections of one file.
pub(crate) struct Sections<'data> {
    sections: DwarfSections<Cow<'data, [u8]>>,
    endian: RunTimeEndian,
}

impl<'data> Sections<'data> {
    /// Loads the sections of a file; `None` where it has no `.debug_info`. A section that can't be decompressed is empty and
    /// in the diagnostics.
    pub(crate) fn load(elf: &Elf<'data>, size: u64, diagnostics: &mut Diagnostics) -> Option<Self> {
        let named = |name: &str| {
            let mut sections = elf.sections.iter();
            sections.find(|section| section.name == name.as_bytes() && section.sh_type != SHT_NOBITS.0)
        };
        // Before SHF_COMPRESSED there were sections with names of their own.
        let old = |name: &str| named(&format!(".z{}", name.strip_prefix('.').unwrap_or(name)));
        let info = SectionId::DebugInfo.name();
        named(info).or_else(|| old(info)).filter(|section| !section.data.is_empty())?;
        // What dwz shares among files is of type ET_REL too, but nothing is left to be filled in it.
        let is_filled = |section: &Section<'_>| {
            let of = elf.sections.get(section.info as usize).map_or(&b""[..], |of| of.name);
            matches!(SectionType(section.sh_type), SHT_REL | SHT_RELA)
                && (of.starts_with(b".debug_") || of.starts_with(b".zdebug_"))
        };
        if elf.is_relocatable() && elf.sections.iter().any(is_filled) {
            let message = "the debug data of a relocatable file is filled by relocations, which this version does not \
                           apply: there are no lines";
            diagnostics.add("debug-relocatable", info.as_bytes(), message);
            return None;
        }
        // What all sections may take together: hostile files unpack to anything.
        let mut left = size.saturating_mul(limits::DEBUG_RATIO).saturating_add(limits::DEBUG_LEAST);
        let load = |id: SectionId| -> Result<Cow<'data, [u8]>, std::convert::Infallible> {
            let name = id.name();
            let found = named(name).map(|section| (section, false)).or_else(|| Some((old(name)?, true)));
            let Some((section, is_old)) = found else { return Ok(Cow::Borrowed(&[])) };
            Ok(bytes(elf, section, is_old, &mut left).unwrap_or_else(|reason| {
                let message = format!("the section can't be decompressed ({reason}): what it holds is lost");
                diagnostics.add("debug-section-unreadable", section.name, message);
                Cow::Borrowed(&[])
            }))
        };
        let Ok(sections) = DwarfSections::load(load);
        let endian = if elf.big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little };
        Some(Self { sections, endian })
    }

    /// What gimli reads, with the alternate that a dwz file points to.
    pub(super) fn borrow<'a>(&'a self, alternate: Option<&'a Self>) -> gimli::Dwarf<Slice<'a>> {
        let endian = self.endian;
        self.sections.borrow_with_sup(alternate.map(|alternate| &alternate.sections), |bytes| {
            Slice::new(bytes, endian)
        })
    }
}

fn bytes<'data>(
    elf: &Elf<'_>,
    section: &Section<'data>,
    is_old: bool,
    left: &mut u64,
) -> Result<Cow<'data, [u8]>, String> {
    let (kind, size, packed) = if is_old {
        // `ZLIB` and the size as 8 bytes, big-endian.
        let Some((head, packed)) =
            section.data.split_at_checked(12).filter(|(head, _)| head.starts_with(b"ZLIB"))
        else {
            return Err("it does not start with `ZLIB` and a size".to_owned());
        };
        let size = head[4..].iter().fold(0, |size, byte| size << 8 | u64::from(*byte));
        (ELFCOMPRESS_ZLIB.0, size, packed)
    } else if section.has(SHF_COMPRESSED) {
        compression_header(elf, section.data).ok_or("its header is cut")?
    } else {
        return Ok(Cow::Borrowed(section.data));
    };
    if size > *left {
        return Err(format!(
            "it would take {size} bytes, more than the {left} left of what all of them may take"
        ));
    }
    *left -= size;
    let size = usize::try_from(size).map_err(|error| error.to_string())?;
    let unpacked = if kind == ELFCOMPRESS_ZLIB.0 {
        zlib(packed, size)?
    } else if kind == ELFCOMPRESS_ZSTD.0 {
        zstd::bulk::decompress(packed, size).map_err(|error| error.to_string())?
    } else {
        return Err(format!("compression {kind} is not zlib (1) or zstd (2)"));
    };
    if unpacked.len() != size {
        return Err(format!("it has {} bytes where its header says {size}", unpacked.len()));
    }
    Ok(Cow::Owned(unpacked))
}

/// `Elf32_Chdr` or `Elf64_Chdr` (gABI, "Section Compression"): type, size, and what follows.
fn compression_header<'data>(elf: &Elf<'_>, data: &'data [u8]) -> Option<(u32, u64, &'data [u8])> {
    let word = |at: usize| -> Option<u32> {
        let bytes = *data.get(at..)?.first_chunk::<4>()?;
        Some(if elf.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    };
    let kind = word(0)?;
    if elf.class == 64 {
        let (first, second) = (u64::from(word(8)?), u64::from(word(12)?));
        let size = if elf.big_endian { first << 32 | second } else { second << 32 | first };
        Some((kind, size, data.get(24..)?))
    } else {
        Some((kind, word(4)?.into(), data.get(12..)?))
    }
}

fn zlib(packed: &[u8], size: usize) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::with_capacity(size);
    let status = Decompress::new(true).decompress_vec(packed, &mut unpacked, FlushDecompress::Finish);
    match status {
        Ok(Status::StreamEnd) => Ok(unpacked),
        Ok(_) => Err(format!("it ends early, or has more than the {size} bytes that its header says")),
        Err(error) => Err(error.to_string()),
    }
}
