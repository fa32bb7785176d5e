//! What the dynamic section says (gABI "Dynamic Section").

use object::{
    Endianness,
    elf::{self},
    read::elf::{Dyn, FileHeader},
};

use super::{Section, Segment, header::available};
use crate::diagnostics::Diagnostics;

/// The entries that are used.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dynamic<'data> {
    /// `DT_SONAME`.
    pub(crate) soname: Option<&'data [u8]>,
    /// `DT_NEEDED`, in order, with the versions asked of each.
    pub(crate) needed: Vec<(&'data [u8], Vec<&'data [u8]>)>,
    /// `DT_INIT` and `DT_FINI`.
    pub(crate) init_fini: Vec<u64>,
    /// `DT_PREINIT_ARRAY`, `DT_INIT_ARRAY` and `DT_FINI_ARRAY`: address and size in bytes.
    pub(crate) arrays: Vec<(u64, u64)>,
    /// `DT_JMPREL`.
    pub(crate) jmprel: Option<u64>,
}

pub(super) fn read<'data, H: FileHeader<Endian = Endianness>>(
    endian: Endianness,
    data: &'data [u8],
    sections: &[Section<'data>],
    segments: &[Segment],
    mut needs: Vec<(&'data [u8], Vec<&'data [u8]>)>,
    diagnostics: &mut Diagnostics,
) -> Dynamic<'data> {
    let mut dynamic = Dynamic::default();
    let Some(segment) = segments.iter().find(|segment| segment.p_type == elf::PT_DYNAMIC.0) else {
        return dynamic;
    };
    let bytes = available(data, segment.offset, segment.file_size);
    let count = bytes.len() / size_of::<H::Dyn>();
    // A slice of plain-old-data of exactly this many entries: it can't fail on a length that was just computed.
    let Ok((entries, _)) = object::slice_from_bytes::<H::Dyn>(bytes, count) else {
        diagnostics.add("dynamic-unreadable", b"PT_DYNAMIC", "the dynamic section can't be read");
        return dynamic;
    };
    let mut values: Vec<(u64, u64)> = Vec::new();
    for entry in entries {
        let tag = entry.d_tag(endian);
        if tag == elf::DT_NULL {
            break;
        }
        values.push((tag.0 as u64, entry.d_val(endian).into()));
    }
    let value = |wanted: elf::DynamicTag| {
        values.iter().find(|(tag, _)| *tag == wanted.0 as u64).map(|(_, value)| *value)
    };
    let strings = value(elf::DT_STRTAB).and_then(|address| {
        let size = value(elf::DT_STRSZ).unwrap_or(u64::MAX);
        let bytes = bytes_at(sections, segments, data, address)?;
        Some(available(bytes, 0, size))
    });
    let text = |offset: u64| -> Option<&'data [u8]> {
        let rest = strings?.get(usize::try_from(offset).ok()?..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        Some(&rest[..end])
    };
    for (tag, value) in &values {
        let known = elf::DynamicTag(*tag as _);
        match known {
            elf::DT_SONAME | elf::DT_NEEDED => match text(*value) {
                Some(name) if known == elf::DT_SONAME => dynamic.soname = Some(name),
                Some(name) => {
                    let versions = needs.iter_mut().find(|(library, _)| *library == name);
                    let versions = versions.map(|(_, versions)| std::mem::take(versions)).unwrap_or_default();
                    dynamic.needed.push((name, versions));
                }
                None => {
                    let message = format!("the name at {value:#x} of the dynamic strings can't be read");
                    diagnostics.add("dynamic-name-unreadable", b"DT_STRTAB", message);
                }
            },
            elf::DT_INIT | elf::DT_FINI => dynamic.init_fini.push(*value),
            _ => {}
        }
    }
    for (array, size) in [
        (elf::DT_PREINIT_ARRAY, elf::DT_PREINIT_ARRAYSZ),
        (elf::DT_INIT_ARRAY, elf::DT_INIT_ARRAYSZ),
        (elf::DT_FINI_ARRAY, elf::DT_FINI_ARRAYSZ),
    ] {
        if let (Some(array), Some(size)) = (value(array), value(size)) {
            dynamic.arrays.push((array, size));
        }
    }
    dynamic.jmprel = value(elf::DT_JMPREL);
    dynamic
}

/// The bytes from a virtual address on, by segment (the section's own bytes would do, but a loader reads segments).
fn bytes_at<'data>(
    sections: &[Section<'data>],
    segments: &[Segment],
    data: &'data [u8],
    address: u64,
) -> Option<&'data [u8]> {
    let in_segment = segments.iter().filter(|segment| segment.p_type == elf::PT_LOAD.0).find_map(|segment| {
        let inside = address.checked_sub(segment.address).filter(|offset| *offset < segment.file_size)?;
        Some(available(data, segment.offset.checked_add(inside)?, segment.file_size - inside))
    });
    in_segment.or_else(|| {
        let section = sections
            .iter()
            .find(|section| section.has(elf::SHF_ALLOC) && section.address.offset == address)?;
        Some(section.data)
    })
}
