//! What of an ELF file says which debug data it has and which it belongs to: enough to sort hundreds of files without
//! reading their symbols.

use elfscope_schema::BuildId;
use object::{
    Endianness,
    elf::{self, FileHeader32, FileHeader64},
    read::elf::FileHeader,
};

use super::{Section, header, note};
use crate::{diagnostics::Diagnostics, error::InputError};

/// The headers of an ELF file and its build id.
#[derive(Debug)]
pub(crate) struct Outline<'data> {
    /// The id in its note; none where it has no usable one.
    pub(crate) build_id: Option<BuildId>,
    sections: Vec<Section<'data>>,
    big_endian: bool,
}

/// `.gnu_debuglink`: the debug file's name, and the CRC-32 of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DebugLink {
    /// The name: one part of a path.
    pub(crate) name: Vec<u8>,
    /// The CRC-32, as zlib computes it.
    pub(crate) crc: u32,
}

/// `.gnu_debugaltlink`: where dwz put what several debug files share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AlternateLink {
    /// Where it was when it was linked: a hint.
    pub(crate) path: Vec<u8>,
    /// Its build id.
    pub(crate) build: BuildId,
}

impl<'data> Outline<'data> {
    /// Reads the headers.
    ///
    /// # Errors
    /// What [`super::load`] refuses.
    pub(crate) fn read(data: &'data [u8], name: &str) -> Result<Self, InputError> {
        match header::class(data, name)? {
            1 => Self::of::<FileHeader32<Endianness>>(data, name),
            _ => Self::of::<FileHeader64<Endianness>>(data, name),
        }
    }

    fn of<H: FileHeader<Endian = Endianness>>(data: &'data [u8], name: &str) -> Result<Self, InputError> {
        let (header, endian) = header::file_header::<H>(data, name)?;
        let segments = header::segments(header, endian, data, name)?;
        // Whoever loads the file says what is wrong with it.
        let mut unsaid = Diagnostics::default();
        let relocatable = header.e_type(endian) == elf::ET_REL;
        let sections = header::sections(header, endian, data, relocatable, &mut unsaid);
        let build_id = note::build_id(&sections, &segments, data, endian, &mut unsaid);
        Ok(Self { build_id, sections, big_endian: endian == Endianness::Big })
    }

    /// Whether it is a separate debug file: its code was taken out, or it never had any, as what dwz shares.
    pub(crate) fn is_debug_only(&self) -> bool {
        let mut code = self.sections.iter().filter(|section| {
            section.has(elf::SHF_ALLOC) && section.has(elf::SHF_EXECINSTR) && section.size > 0
        });
        let mut any = false;
        let emptied = code.all(|section| {
            any = true;
            section.sh_type == elf::SHT_NOBITS.0
        });
        if any {
            return emptied;
        }
        let loads =
            |section: &&Section<'_>| section.has(elf::SHF_ALLOC) && section.sh_type != elf::SHT_NOTE.0;
        self.has_dwarf() && !self.sections.iter().any(|section| loads(&section))
    }

    /// Whether it has DWARF itself.
    pub(crate) fn has_dwarf(&self) -> bool {
        self.bytes(b".debug_info").or_else(|| self.bytes(b".zdebug_info")).is_some()
    }

    /// Whether it has a symbol table for debuggers.
    pub(crate) fn has_symtab(&self) -> bool {
        self.bytes(b".symtab").is_some()
    }

    /// `.gnu_debugdata`: an xz-compressed ELF file with symbols.
    pub(crate) fn mini(&self) -> Option<&'data [u8]> {
        self.bytes(b".gnu_debugdata")
    }

    /// `.gnu_debuglink`; an error says what is wrong with it.
    pub(crate) fn link(&self) -> Option<Result<DebugLink, &'static str>> {
        Some(self.debug_link(self.bytes(b".gnu_debuglink")?))
    }

    fn debug_link(&self, data: &[u8]) -> Result<DebugLink, &'static str> {
        let end = data.iter().position(|byte| *byte == 0).ok_or("its name has no end")?;
        let name = &data[..end];
        // A path would lead anywhere; linkers write a name.
        if name.is_empty() || name == b"." || name == b".." || name.contains(&b'/') || name.len() > 255 {
            return Err("its name is none of a file");
        }
        let crc = data.get((end + 1).next_multiple_of(4)..).and_then(<[u8]>::first_chunk::<4>);
        let crc = *crc.ok_or("it ends before its checksum")?;
        let crc = if self.big_endian { u32::from_be_bytes(crc) } else { u32::from_le_bytes(crc) };
        Ok(DebugLink { name: name.to_vec(), crc })
    }

    /// `.gnu_debugaltlink`; an error says what is wrong with it.
    pub(crate) fn alternate(&self) -> Option<Result<AlternateLink, &'static str>> {
        let data = self.bytes(b".gnu_debugaltlink")?;
        let Some(end) = data.iter().position(|byte| *byte == 0) else {
            return Some(Err("its path has no end"));
        };
        let Some(build) = BuildId::from_note(&data[end + 1..]) else {
            return Some(Err("it has no build id of a usable length"));
        };
        Some(Ok(AlternateLink { path: data[..end].to_vec(), build }))
    }

    fn bytes(&self, name: &[u8]) -> Option<&'data [u8]> {
        let found = self.sections.iter().find(|section| section.name == name && !section.data.is_empty());
        found.map(|section| section.data)
    }
}
