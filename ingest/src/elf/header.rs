//! The file header, program and section headers; and what is refused whole.

use elfscope_schema::{Address, name::Name};
use object::{
    Endianness, ReadRef,
    elf::{self, FileHeader32, FileHeader64},
    read::elf::{FileHeader, ProgramHeader, SectionHeader},
};

use super::{Dynamic, Elf, Image, Section, Segment, dynamic, frames, note, relocation, symbol};
use crate::{diagnostics::Diagnostics, error::InputError, limits};

/// Reads an ELF file.
///
/// # Errors
/// [`InputError::NotElf`] for a bad ident, [`InputError::BadElf`] for cut program headers, a `PT_LOAD` past the end of
/// the file, or a core file. All else costs itself and is in the diagnostics.
pub(crate) fn load<'data>(data: &'data [u8], name: &str) -> Result<Elf<'data>, InputError> {
    match class(data, name)? {
        1 => read::<FileHeader32<Endianness>>(data, name),
        _ => read::<FileHeader64<Endianness>>(data, name),
    }
}

/// The class of an ELF file, 1 or 2, whose ident was checked.
pub(super) fn class(data: &[u8], name: &str) -> Result<u8, InputError> {
    let not_elf = |reason: String| InputError::NotElf { name: name.to_owned(), reason };
    if !data.starts_with(&elf::ELFMAG) {
        return Err(not_elf(starts_with(data)));
    }
    let ident =
        data.get(..16).ok_or_else(|| not_elf(format!("it ends after {} of 16 ident bytes", data.len())))?;
    if !matches!(ident[5], 1 | 2) {
        return Err(not_elf(format!("its byte order is {}, not 1 (little) or 2 (big)", ident[5])));
    }
    match ident[4] {
        class @ (1 | 2) => Ok(class),
        class => Err(not_elf(format!("its class is {class}, not 1 (32-bit) or 2 (64-bit)"))),
    }
}

/// The machine's name: its `EM_` constant in lowercase, `EM_` left out.
pub(crate) fn machine_name(machine: u16) -> String {
    let named = elf::Machine::NAMES.name(elf::Machine(machine)).and_then(|name| name.strip_prefix("EM_"));
    named.map_or_else(|| format!("machine-{machine}"), str::to_lowercase)
}

/// The file type's `ET_` constant.
pub(crate) fn type_name(elf_type: u16) -> String {
    let named = elf::FileType::NAMES.name(elf::FileType(elf_type));
    named.map_or_else(|| format!("{elf_type:#x}"), str::to_owned)
}

fn starts_with(data: &[u8]) -> String {
    match data {
        [] => "it is empty".to_owned(),
        [0x1f, 0x8b, ..] => "it is gzip-compressed".to_owned(),
        [b'#', b'!', ..] => "it is a script".to_owned(),
        [b'!', b'<', b'a', b'r', b'c', b'h', b'>', ..] => {
            "it is an ar archive without `debian-binary` as its first member: a static library, or no whole package"
                .to_owned()
        }
        [b'M', b'Z', ..] => "it is a PE file".to_owned(),
        [0xcf, 0xfa, 0xed, 0xfe, ..] | [0xfe, 0xed, 0xfa, 0xcf, ..] => "it is a Mach-O file".to_owned(),
        _ => {
            let start: Vec<String> = data.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
            format!("it starts with `{}`, not `7f 45 4c 46`", start.join(" "))
        }
    }
}

fn read<'data, H: FileHeader<Endian = Endianness>>(
    data: &'data [u8],
    name: &str,
) -> Result<Elf<'data>, InputError> {
    let (header, endian) = file_header::<H>(data, name)?;
    let class = if size_of::<H>() == size_of::<FileHeader64<Endianness>>() { 64 } else { 32 };
    let elf_type = header.e_type(endian);
    let segments = segments(header, endian, data, name)?;
    let mut diagnostics = Diagnostics::default();
    let relocatable = elf_type == elf::ET_REL;
    let sections = sections(header, endian, data, relocatable, &mut diagnostics);
    let image = Image::new(&sections, &segments, data, relocatable, &mut diagnostics);
    // The outline gives the id; here is said what is wrong with its note.
    let _ = note::build_id(&sections, &segments, data, endian, &mut diagnostics);
    let tables = symbol::read::<H>(header, endian, data, &sections, &mut diagnostics);
    let dynamic = if relocatable {
        Dynamic::default()
    } else {
        dynamic::read::<H>(endian, data, &sections, &segments, tables.needs, &mut diagnostics)
    };
    let relocations = relocation::read::<H>(
        endian,
        header,
        &sections,
        relocatable.then_some(tables.symtab),
        &tables.dynsym,
        dynamic.jmprel,
        &mut diagnostics,
    );
    let frames =
        if relocatable { Vec::new() } else { frames::read(&sections, endian, class, &mut diagnostics) };
    let interpreter =
        segments.iter().find(|segment| segment.p_type == elf::PT_INTERP.0).and_then(|segment| {
            let text = data.read_bytes_at(segment.offset, segment.file_size).ok()?;
            Some(text.split(|byte| *byte == 0).next().unwrap_or(text))
        });
    let comments = sections
        .iter()
        .filter(|section| section.name == b".comment" && section.sh_type == elf::SHT_PROGBITS.0)
        .flat_map(|section| section.data.split(|byte| *byte == 0))
        .filter(|text| !text.is_empty())
        .take(64)
        .collect();
    Ok(Elf {
        class,
        big_endian: endian == Endianness::Big,
        machine: header.e_machine(endian).0,
        elf_type: elf_type.0,
        entry: header.e_entry(endian).into(),
        sections,
        segments,
        image,
        symbols: tables.symbols,
        dynamic,
        relocations: relocations.all,
        plt_relocations: relocations.plt,
        frames,
        interpreter,
        comments,
        diagnostics,
    })
}

/// The file header, and the byte order that it says.
pub(super) fn file_header<'data, H: FileHeader<Endian = Endianness>>(
    data: &'data [u8],
    name: &str,
) -> Result<(&'data H, Endianness), InputError> {
    let bad = |reason: String| InputError::BadElf { name: name.to_owned(), reason };
    let header = data
        .read_at::<H>(0)
        .map_err(|()| bad(format!("its file header is cut: {} of {} bytes", data.len(), size_of::<H>())))?;
    let endian = header.endian().map_err(|error| bad(error.to_string()))?;
    if header.e_type(endian) == elf::ET_CORE {
        return Err(bad("it is a core file: give the executable and libraries that it names".to_owned()));
    }
    Ok((header, endian))
}

pub(super) fn segments<H: FileHeader<Endian = Endianness>>(
    header: &H,
    endian: Endianness,
    data: &[u8],
    name: &str,
) -> Result<Vec<Segment>, InputError> {
    let bad = |reason: String| InputError::BadElf { name: name.to_owned(), reason };
    let headers = header.program_headers(endian, data).map_err(|error| {
        bad(format!("its program headers can't be read ({error}); the file has {} bytes", data.len()))
    })?;
    let segments: Vec<Segment> = headers
        .iter()
        .map(|segment| Segment {
            p_type: segment.p_type(endian).0,
            flags: segment.p_flags(endian).0,
            offset: segment.p_offset(endian).into(),
            address: segment.p_vaddr(endian).into(),
            file_size: segment.p_filesz(endian).into(),
            memory_size: segment.p_memsz(endian).into(),
        })
        .collect();
    for (index, segment) in
        segments.iter().enumerate().filter(|(_, segment)| segment.p_type == elf::PT_LOAD.0)
    {
        let end = segment.offset.checked_add(segment.file_size);
        if end.is_none_or(|end| end > data.len() as u64) {
            return Err(bad(format!(
                "segment {index} (PT_LOAD) takes {:#x} bytes from offset {:#x}, but the file has {:#x}",
                segment.file_size,
                segment.offset,
                data.len()
            )));
        }
    }
    Ok(segments)
}

pub(super) fn sections<'data, H: FileHeader<Endian = Endianness>>(
    header: &H,
    endian: Endianness,
    data: &'data [u8],
    relocatable: bool,
    diagnostics: &mut Diagnostics,
) -> Vec<Section<'data>> {
    let headers = match header.section_headers(endian, data) {
        Ok([]) => {
            let message =
                "the file has no section headers: code is taken from its segments, and symbols are not read";
            diagnostics.add("no-section-headers", b"e_shoff", message);
            return Vec::new();
        }
        Ok(headers) => headers,
        Err(error) => {
            let message = format!(
                "the section headers can't be read ({error}); code is taken from the segments, and symbols are not read"
            );
            diagnostics.add("section-headers-unreadable", b"e_shoff", message);
            return Vec::new();
        }
    };
    let strings = header.section_strings(endian, data, headers);
    if let Err(error) = &strings {
        diagnostics.add(
            "section-names-unreadable",
            b"e_shstrndx",
            format!("the section names can't be read ({error})"),
        );
    }
    let strings = strings.unwrap_or_default();
    let mut sections = Vec::with_capacity(headers.len());
    let mut shares = Shares::of(data);
    for (index, section) in (0u32..).zip(headers) {
        let name = section.name(endian, strings).unwrap_or_else(|_| {
            diagnostics.add("section-name-unreadable", b"", format!("section {index} has no readable name"));
            b""
        });
        let sh_type = section.sh_type(endian);
        let offset: u64 = section.sh_offset(endian).into();
        let size: u64 = section.sh_size(endian).into();
        let has_bytes = sh_type != elf::SHT_NOBITS && sh_type != elf::SHT_NULL;
        let mut bytes = if has_bytes { available(data, offset, size) } else { &[] };
        if !shares.take(bytes.len()) {
            let message = format!(
                "the sections claim more bytes than the file has ({:#x}), each counted {} times: this one's are not read",
                data.len(),
                limits::SHARES
            );
            diagnostics.add("bytes-claimed-again", name, message);
            bytes = &[];
        }
        if has_bytes && (bytes.len() as u64) < size {
            let message = format!(
                "the section claims {size:#x} bytes from offset {offset:#x}, but the file holds {:#x} of them",
                bytes.len()
            );
            diagnostics.add("section-cut", name, message);
        }
        let address = if relocatable {
            Address { section: index, offset: 0 }
        } else {
            Address::virt(section.sh_addr(endian).into())
        };
        sections.push(Section {
            name,
            sh_type: sh_type.0,
            flags: section.sh_flags(endian).0,
            address,
            offset,
            size,
            info: section.sh_info(endian),
            entry_size: section.sh_entsize(endian).into(),
            data: bytes,
        });
    }
    sections
}

/// How many bytes headers may claim in all. Ranges of an honest file don't overlap; of another, a megabyte with a thousand
/// headers over it would be a gigabyte of work.
pub(super) struct Shares {
    left: usize,
}

impl Shares {
    pub(super) fn of(data: &[u8]) -> Self {
        Self { left: data.len().saturating_mul(limits::SHARES) }
    }

    /// Takes so many; not where that is more than are left.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        self.left.checked_sub(bytes).map(|left| self.left = left).is_some()
    }
}

/// The bytes of a range that the file really holds.
pub(super) fn available(data: &[u8], offset: u64, size: u64) -> &[u8] {
    let length = data.len() as u64;
    let start = offset.min(length);
    let end = offset.saturating_add(size).min(length);
    // Both are at most the slice's own length.
    &data[start as usize..end as usize]
}

/// A name for a sentence: escaped, and short.
pub(crate) fn shown(name: &[u8]) -> String {
    let name = Name::from_bytes(&name[..name.len().min(120)]);
    name.text().escape_debug().to_string()
}
