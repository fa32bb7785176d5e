//! An ELF file as the derivation needs it: one plain value, whatever the class and byte order, with everything that
//! could not be read in the diagnostics.
//!
//! Nothing here trusts a header: every offset and size is checked against the file. What the loader needs is refused
//! when it is broken ([`load`]); all else costs only itself.

mod dynamic;
mod frames;
mod header;
mod image;
mod note;
mod outline;
mod relocation;
mod symbol;

use elfscope_schema::Address;

pub(crate) use dynamic::Dynamic;
pub(crate) use frames::Frame;
pub(crate) use header::{load, machine_name, shown, type_name};
pub(crate) use image::{Image, Region};
pub(crate) use outline::{AlternateLink, DebugLink, Outline};
pub(crate) use relocation::{RELR, Relocation};
pub(crate) use symbol::{Place, Symbol, SymbolKind};

use crate::diagnostics::Diagnostics;

/// One ELF file, read.
#[derive(Debug)]
pub(crate) struct Elf<'data> {
    /// 32 or 64.
    pub(crate) class: u32,
    /// Whether it is big-endian.
    pub(crate) big_endian: bool,
    /// `e_machine`.
    pub(crate) machine: u16,
    /// `e_type`.
    pub(crate) elf_type: u16,
    /// `e_entry`.
    pub(crate) entry: u64,
    /// Section headers, the null one included.
    pub(crate) sections: Vec<Section<'data>>,
    /// Program headers.
    pub(crate) segments: Vec<Segment>,
    /// What is at which address.
    pub(crate) image: Image<'data>,
    /// Both symbol tables, `.symtab` first.
    pub(crate) symbols: Vec<Symbol<'data>>,
    /// What the dynamic section says.
    pub(crate) dynamic: Dynamic<'data>,
    /// In a linked file: dynamic relocations by place. In a relocatable one: those of its loaded sections.
    pub(crate) relocations: Vec<Relocation>,
    /// The dynamic relocations of the lazy PLT (`DT_JMPREL`), in table order, as indices into `relocations`.
    pub(crate) plt_relocations: Vec<u32>,
    /// Ranges that `.eh_frame` describes.
    pub(crate) frames: Vec<Frame>,
    /// `PT_INTERP`.
    pub(crate) interpreter: Option<&'data [u8]>,
    /// `.comment`, one text a compiler.
    pub(crate) comments: Vec<&'data [u8]>,
    /// What could not be read.
    pub(crate) diagnostics: Diagnostics,
}

impl Elf<'_> {
    /// The number that a dynamic relocation without symbol leaves in its place, load bias left out: its addend, or what
    /// stands there. `None` where the place can't be read.
    pub(crate) fn filled(&self, relocation: &Relocation) -> Option<u64> {
        relocation.addend.map(|addend| addend as u64).or_else(|| self.word_at(relocation.place))
    }

    /// The word of the file's class and byte order at an address.
    pub(crate) fn word_at(&self, address: Address) -> Option<u64> {
        let bytes = self.image.bytes_from(address)?;
        if self.class == 64 {
            let bytes = *bytes.first_chunk::<8>()?;
            Some(if self.big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
        } else {
            let bytes = *bytes.first_chunk::<4>()?;
            Some(u64::from(if self.big_endian {
                u32::from_be_bytes(bytes)
            } else {
                u32::from_le_bytes(bytes)
            }))
        }
    }

    /// Whether a relocation fills any of these bytes.
    pub(crate) fn is_filled(&self, address: Address, size: u64) -> bool {
        // A place is at most a word.
        let from =
            Address { section: address.section, offset: address.offset.saturating_sub(self.word_size() - 1) };
        let at = self.relocations.partition_point(|relocation| relocation.place < from);
        self.relocations.get(at).is_some_and(|relocation| relocation.place < address.plus(size))
    }

    /// Bytes in an address.
    pub(crate) fn word_size(&self) -> u64 {
        u64::from(self.class / 8)
    }

    /// Whether it is a relocatable file, where addresses are (section, offset).
    pub(crate) fn is_relocatable(&self) -> bool {
        self.elf_type == object::elf::ET_REL.0
    }
}

/// One section header.
#[derive(Clone, Debug)]
pub(crate) struct Section<'data> {
    /// `sh_name`; empty where it can't be read.
    pub(crate) name: &'data [u8],
    /// `sh_type`.
    pub(crate) sh_type: u32,
    /// `sh_flags`.
    pub(crate) flags: u64,
    /// `sh_addr`; in a relocatable file the section's own 0.
    pub(crate) address: Address,
    /// `sh_offset`.
    pub(crate) offset: u64,
    /// `sh_size`.
    pub(crate) size: u64,
    /// `sh_info`.
    pub(crate) info: u32,
    /// `sh_entsize`.
    pub(crate) entry_size: u64,
    /// Its bytes in the file, as far as the file goes; empty for `SHT_NOBITS`.
    pub(crate) data: &'data [u8],
}

impl Section<'_> {
    /// Whether all these `sh_flags` bits are set.
    pub(crate) fn has(&self, flags: object::elf::SectionFlags) -> bool {
        self.flags & flags.0 == flags.0
    }
}

/// One program header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// `p_type`.
    pub(crate) p_type: u32,
    /// `p_flags`.
    pub(crate) flags: u32,
    /// `p_offset`.
    pub(crate) offset: u64,
    /// `p_vaddr`.
    pub(crate) address: u64,
    /// `p_filesz`.
    pub(crate) file_size: u64,
    /// `p_memsz`.
    pub(crate) memory_size: u64,
}
