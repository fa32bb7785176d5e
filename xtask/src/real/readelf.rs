//! What GNU readelf says of a binary.

use std::{fs, path::Path};

use anyhow::{Context as _, Result};

use crate::run::{program, stdout};

/// A binary as readelf shows it, and its bytes.
pub(super) struct Binary {
    bytes: Vec<u8>,
    pub(super) sections: Vec<Section>,
}

/// One section header.
pub(super) struct Section {
    pub(super) name: String,
    kind: String,
    pub(super) address: u64,
    offset: u64,
    pub(super) size: u64,
    flags: String,
}

impl Section {
    /// Whether it holds code: allocated, executable, and in the file.
    pub(super) fn is_code(&self) -> bool {
        self.flags.contains('A') && self.flags.contains('X') && self.kind != "NOBITS"
    }
}

impl Binary {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = stdout(program("readelf").arg("-SW").arg(path))?;
        let sections = text.lines().filter_map(parse_section).collect();
        Ok(Self { bytes: fs::read(path).with_context(|| path.display().to_string())?, sections })
    }

    /// The bytes from an address to the end of its section.
    pub(super) fn at(&self, address: u64) -> Option<&[u8]> {
        let holds = |section: &&Section| {
            section.flags.contains('A')
                && section.kind != "NOBITS"
                && (section.address..section.address + section.size).contains(&address)
        };
        let section = self.sections.iter().find(holds)?;
        let start = section.offset + (address - section.address);
        self.bytes.get(usize::try_from(start).ok()?..usize::try_from(section.offset + section.size).ok()?)
    }
}

/// `  [12] .text PROGBITS 0000000000026380 026380 15634d 00  AX  0   0 64`
fn parse_section(line: &str) -> Option<Section> {
    let (number, rest) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    number.trim().parse::<u32>().ok().filter(|number| *number > 0)?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [name, kind, address, offset, size, _, flags, ..] = words[..] else { return None };
    Some(Section {
        name: name.to_owned(),
        kind: kind.to_owned(),
        address: hex(address)?,
        offset: hex(offset)?,
        size: hex(size)?,
        flags: flags.to_owned(),
    })
}

/// One symbol.
#[derive(Debug, PartialEq)]
pub(super) struct Symbol {
    pub(super) address: u64,
    pub(super) size: u64,
    /// `FUNC`, `IFUNC`, `OBJECT`, …
    pub(super) kind: String,
    /// `UND`, `ABS` or a section's number.
    pub(super) section: String,
    /// With its version as `name@version` or `name@@version`.
    pub(super) name: String,
}

/// Both symbol tables.
pub(super) fn symbols(path: &Path) -> Result<Vec<Symbol>> {
    let text = stdout(program("readelf").arg("-sW").arg(path))?;
    Ok(text.lines().filter_map(parse_symbol).collect())
}

/// `    23: 0000000000044e50   363 FUNC    GLOBAL DEFAULT   13 qsort@@GLIBC_2.2.5`
fn parse_symbol(line: &str) -> Option<Symbol> {
    let (number, rest) = line.trim_start().split_once(": ")?;
    number.parse::<u32>().ok()?;
    let mut words = rest.split_whitespace();
    let (address, size, kind) = (hex(words.next()?)?, words.next()?, words.next()?);
    let size = size.strip_prefix("0x").map_or_else(|| size.parse().ok(), hex)?;
    let (_bind, _visibility) = (words.next()?, words.next()?);
    // AArch64 notes its calling convention between visibility and section: `[VARIANT_PCS]`.
    let section = words.find(|word| !word.starts_with('[') && !word.ends_with(']'))?;
    let name = words.next().unwrap_or_default();
    Some(Symbol { address, size, kind: kind.to_owned(), section: section.to_owned(), name: name.to_owned() })
}

/// One relocation of the dynamic linker.
#[derive(Debug, PartialEq)]
pub(super) struct Relocation {
    /// Where it writes.
    pub(super) slot: u64,
    /// `R_X86_64_JUMP_SLOT`, …
    pub(super) kind: String,
    /// The value of its symbol: 0 for an undefined one.
    pub(super) value: u64,
    /// Its symbol, with its version as `name@version` or `name@@version`.
    pub(super) symbol: Option<String>,
}

impl Relocation {
    /// Whether it puts the address of a symbol into a slot.
    pub(super) fn is_slot(&self) -> bool {
        ["_JUMP_SLO", "_GLOB_DAT", "_X86_64_64", "_AARCH64_ABS64"].iter().any(|kind| self.kind.contains(kind))
    }
}

/// All relocations.
pub(super) fn relocations(path: &Path) -> Result<Vec<Relocation>> {
    let text = stdout(program("readelf").arg("-rW").arg(path))?;
    Ok(text.lines().filter_map(parse_relocation).collect())
}

/// `00000000001d2d60  0000001100000006 R_X86_64_GLOB_DAT      0000000000000000 puts@GLIBC_2.2.5 + 0`
fn parse_relocation(line: &str) -> Option<Relocation> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [slot, info, kind, rest @ ..] = &words[..] else { return None };
    hex(info)?;
    let (value, symbol) = match rest {
        [value, symbol, "+" | "-", ..] => (hex(value)?, Some((*symbol).to_owned())),
        _ => (0, None),
    };
    kind.starts_with("R_").then_some(Relocation { slot: hex(slot)?, kind: (*kind).to_owned(), value, symbol })
}

/// The name and the version in `name@version` or `name@@version`.
pub(super) fn split_version(name: &str) -> (&str, Option<&str>) {
    match name.split_once('@') {
        Some((name, version)) if !name.is_empty() => (name, Some(version.trim_start_matches('@'))),
        _ => (name, None),
    }
}

pub(super) fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_readelf() {
        let section =
            parse_section("  [ 9] .text   PROGBITS        0000000000026380 026380 15634d 00  AX  0   0 64")
                .unwrap();
        assert_eq!((section.address, section.offset, section.size), (0x26380, 0x26380, 0x15634d));
        assert!(section.is_code() && section.name == ".text");
        let line =
            "    23: 0000000000044e50   363 FUNC    GLOBAL DEFAULT [VARIANT_PCS]   13 qsort@@GLIBC_2.2.5";
        let symbol = parse_symbol(line).unwrap();
        assert_eq!((symbol.address, symbol.size, &*symbol.section), (0x44e50, 363, "13"));
        assert_eq!(split_version(&symbol.name), ("qsort", Some("GLIBC_2.2.5")));
        let line =
            "00000000001d2d60  0000001100000006 R_X86_64_GLOB_DAT      0000000000000000 puts@GLIBC_2.2.5 + 0";
        let relocation = parse_relocation(line).unwrap();
        assert!(relocation.is_slot() && relocation.symbol.as_deref() == Some("puts@GLIBC_2.2.5"));
        assert_eq!(
            parse_relocation("00000000001d2d60  0000000000000008 R_X86_64_RELATIVE  26520").unwrap().symbol,
            None
        );
        assert!(parse_relocation("    Offset  Info  Type").is_none());
    }
}
