//! Symbol tables and symbol versions (gABI; LSB "Symbol Versioning").

use elfscope_schema::Origin;
use object::{
    Endianness, SymbolIndex,
    elf::{self},
    read::elf::{FileHeader, SectionTable, Sym},
};

use super::{Section, header::shown};
use crate::{diagnostics::Diagnostics, limits};

/// One symbol.
#[derive(Clone, Debug)]
pub(crate) struct Symbol<'data> {
    /// Its name, without version.
    pub(crate) name: &'data [u8],
    /// Its version.
    pub(crate) version: Option<&'data [u8]>,
    /// Whether it is the default of its version.
    pub(crate) default: bool,
    /// The library that its version is asked of.
    pub(crate) library: Option<&'data [u8]>,
    /// `st_value`.
    pub(crate) value: u64,
    /// `st_size`.
    pub(crate) size: u64,
    /// `st_info`'s type.
    pub(crate) kind: SymbolKind,
    /// `st_info`'s binding.
    pub(crate) binding: u8,
    /// `st_other`'s visibility.
    pub(crate) visibility: u8,
    /// Where it is defined.
    pub(crate) place: Place,
    /// The table that it stands in.
    pub(crate) origin: Origin,
}

/// A symbol's type, `STT_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SymbolKind(pub(crate) u8);

impl SymbolKind {
    /// Whether it names code as such.
    pub(crate) fn is_function(self) -> bool {
        self.0 == elf::STT_FUNC.0 || self.is_ifunc()
    }

    /// Whether it names a resolver.
    pub(crate) fn is_ifunc(self) -> bool {
        self.0 == elf::STT_GNU_IFUNC.0
    }

    /// Its name in documents.
    pub(crate) fn name(self) -> String {
        match elf::SymbolType(self.0) {
            elf::STT_NOTYPE => "notype".to_owned(),
            elf::STT_OBJECT => "object".to_owned(),
            elf::STT_FUNC => "func".to_owned(),
            elf::STT_SECTION => "section".to_owned(),
            elf::STT_FILE => "file".to_owned(),
            elf::STT_COMMON => "common".to_owned(),
            elf::STT_TLS => "tls".to_owned(),
            elf::STT_GNU_IFUNC => "ifunc".to_owned(),
            elf::SymbolType(other) => other.to_string(),
        }
    }
}

/// Where a symbol is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In another file.
    Undefined,
    /// Nowhere: its value is a number.
    Absolute,
    /// In a common block that has no place yet.
    Common,
    /// In a section.
    Section(u32),
}

/// The symbols of a file and what reading relocations needs.
pub(super) struct Tables<'data> {
    pub(super) symbols: Vec<Symbol<'data>>,
    /// Index in `symbols` of `.symtab`'s first, and how many there are.
    pub(super) symtab: Table,
    /// The same of `.dynsym`.
    pub(super) dynsym: Table,
    /// Libraries and the versions asked of each.
    pub(super) needs: Vec<(&'data [u8], Vec<&'data [u8]>)>,
}

/// Where one table's symbols stand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Table {
    pub(super) first: u32,
    pub(super) count: u32,
}

impl Table {
    /// The index, among all symbols, of one that a relocation names.
    pub(super) fn symbol(&self, index: u32) -> Option<u32> {
        (index != 0 && index < self.count).then(|| self.first + index)
    }
}

type VersionOf<'data> = Option<(&'data [u8], Option<&'data [u8]>)>;
type Versions<'data> = Vec<VersionOf<'data>>;

pub(super) fn read<'data, H: FileHeader<Endian = Endianness>>(
    header: &H,
    endian: Endianness,
    data: &'data [u8],
    sections: &[Section<'data>],
    diagnostics: &mut Diagnostics,
) -> Tables<'data> {
    let mut tables =
        Tables { symbols: Vec::new(), symtab: Table::default(), dynsym: Table::default(), needs: Vec::new() };
    if sections.is_empty() {
        return tables;
    }
    let Ok(raw) = header.sections(endian, data) else { return tables };
    tables.symtab = read_table(
        &raw,
        endian,
        data,
        elf::SHT_SYMTAB,
        Origin::Symtab,
        &[],
        &mut tables.symbols,
        diagnostics,
    );
    let versions = read_versions(&raw, endian, data, &mut tables.needs).unwrap_or_else(|error| {
        diagnostics.add(
            "versions-unreadable",
            b".gnu.version",
            format!("the symbol versions can't be read ({error})"),
        );
        Vec::new()
    });
    tables.dynsym = read_table(
        &raw,
        endian,
        data,
        elf::SHT_DYNSYM,
        Origin::Dynsym,
        &versions,
        &mut tables.symbols,
        diagnostics,
    );
    tables
}

#[expect(clippy::too_many_arguments, reason = "one call a table")]
fn read_table<'data, H: FileHeader<Endian = Endianness>>(
    sections: &SectionTable<'data, H>,
    endian: Endianness,
    data: &'data [u8],
    kind: elf::SectionType,
    origin: Origin,
    versions: &[VersionOf<'data>],
    symbols: &mut Vec<Symbol<'data>>,
    diagnostics: &mut Diagnostics,
) -> Table {
    let subject: &[u8] = if origin == Origin::Symtab { b".symtab" } else { b".dynsym" };
    let table = match sections.symbols(endian, data, kind) {
        Ok(table) => table,
        Err(error) => {
            diagnostics.add(
                "symbols-unreadable",
                subject,
                format!("the table can't be read ({error}): its names are lost"),
            );
            return Table::default();
        }
    };
    let first = u32::try_from(symbols.len()).unwrap_or(u32::MAX);
    let versym =
        if origin == Origin::Dynsym { sections.gnu_versym(endian, data).ok().flatten() } else { None };
    if table.len() > limits::SYMBOLS {
        let message =
            format!("the table has {} symbols; the first {} are read", table.len(), limits::SYMBOLS);
        diagnostics.add("symbols-too-many", subject, message);
    }
    let mut bytes_left = data.len().saturating_mul(limits::NAME_SHARES);
    for (index, symbol) in table.iter().enumerate().take(limits::SYMBOLS) {
        let name = symbol.name(endian, table.strings()).ok();
        let bounded =
            name.filter(|name| bytes_left.checked_sub(name.len()).map(|left| bytes_left = left).is_some());
        let name = bounded.unwrap_or_else(|| {
            let message = format!(
                "symbol {index} at {:#x} has no readable name, or all names together are too long",
                Into::<u64>::into(symbol.st_value(endian))
            );
            diagnostics.add("symbol-name-unreadable", subject, message);
            b""
        });
        let shndx = symbol.st_shndx(endian);
        let place = match shndx {
            elf::SHN_UNDEF => Place::Undefined,
            elf::SHN_ABS => Place::Absolute,
            elf::SHN_COMMON => Place::Common,
            elf::SHN_XINDEX => {
                table.shndx(endian, SymbolIndex(index)).map_or(Place::Absolute, Place::Section)
            }
            other => Place::Section(other.0.into()),
        };
        let mut parsed = Symbol {
            name,
            version: None,
            default: false,
            library: None,
            value: symbol.st_value(endian).into(),
            size: symbol.st_size(endian).into(),
            kind: SymbolKind(symbol.st_type().0),
            binding: symbol.st_bind().0,
            visibility: symbol.st_visibility().0,
            place,
            origin,
        };
        match versym.as_ref().and_then(|(versym, _)| versym.get(index)) {
            Some(entry) => {
                let entry = entry.0.get(endian);
                let number = usize::from(entry.index().0);
                if let Some(Some((version, library))) = versions.get(number) {
                    parsed.version = Some(version);
                    parsed.library = *library;
                    // A version that is asked for is no definition's default, also where a COPY relocation defines the
                    // symbol here.
                    parsed.default = library.is_none() && !entry.is_hidden() && place != Place::Undefined;
                } else if number > 1 && index > 0 {
                    let message = format!(
                        "symbol {index} `{}` has version {number}, which nothing defines",
                        shown(name)
                    );
                    diagnostics.add("version-unknown", subject, message);
                }
            }
            // ld writes versions into the names of `.symtab`: `foo@@V2` is the default, `foo@V1` is not.
            None => split_version(&mut parsed),
        }
        symbols.push(parsed);
    }
    Table { first, count: u32::try_from(symbols.len()).unwrap_or(u32::MAX) - first }
}

fn split_version(symbol: &mut Symbol<'_>) {
    let Some(at) = symbol.name.iter().position(|byte| *byte == b'@').filter(|at| *at > 0) else { return };
    let (name, version) = symbol.name.split_at(at);
    let (default, version) = match version {
        [b'@', b'@', version @ ..] => (true, version),
        [b'@', version @ ..] => (false, version),
        _ => return,
    };
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-+".contains(byte);
    if !version.is_empty() && version.iter().all(plain) {
        (symbol.name, symbol.version, symbol.default) =
            (name, Some(version), default && symbol.place != Place::Undefined);
    }
}

fn read_versions<'data, H: FileHeader<Endian = Endianness>>(
    sections: &SectionTable<'data, H>,
    endian: Endianness,
    data: &'data [u8],
    needs: &mut Vec<(&'data [u8], Vec<&'data [u8]>)>,
) -> object::Result<Versions<'data>> {
    let mut versions: Versions<'data> = Vec::new();
    let mut put = |index: elf::VersionIndex, name, library| {
        let index = usize::from(index.0);
        if versions.len() <= index {
            versions.resize(index + 1, None);
        }
        versions[index] = Some((name, library));
    };
    if let Some((mut definitions, link)) = sections.gnu_verdef(endian, data)? {
        let strings = sections.strings(endian, data, link)?;
        while let Some((definition, mut names)) = definitions.next()? {
            if definition.vd_flags.get(endian).contains(elf::VER_FLG_BASE) {
                continue;
            }
            if let Some(name) = names.next()? {
                put(definition.vd_ndx.get(endian), name.name(endian, strings)?, None);
            }
        }
    }
    if let Some((mut libraries, link)) = sections.gnu_verneed(endian, data)? {
        let strings = sections.strings(endian, data, link)?;
        while let Some((library, mut names)) = libraries.next()? {
            let file = library.file(endian, strings)?;
            let mut asked = Vec::new();
            while let Some(name) = names.next()? {
                let text = name.name(endian, strings)?;
                put(name.vna_other(endian).index(), text, Some(file));
                asked.push(text);
            }
            needs.push((file, asked));
        }
    }
    Ok(versions)
}
