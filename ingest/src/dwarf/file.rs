//! One file of debug data: its units, and the references between their entries.

use std::collections::BTreeMap;

use gimli::{
    AttributeValue, DebugInfoOffset, DebugTypes, Reader as _, Section as _, UnitHeader, UnitOffset, UnitType,
    constants as dw,
};

use super::{
    Sections, Slice,
    abbreviations::Tables,
    unit::{self, Programs, Unit},
};
use crate::{diagnostics::Diagnostics, limits};

/// An attribute's value.
pub(super) type Value<'a> = AttributeValue<Slice<'a>>;

/// The file itself and the one that a dwz file shares with others.
pub(super) struct Files<'a> {
    main: File<'a>,
    alternate: Option<File<'a>>,
}

/// One file.
pub(super) struct File<'a> {
    /// Its sections.
    pub(super) dwarf: gimli::Dwarf<Slice<'a>>,
    /// Its units, by offset; none in place of one that can't be read. Those of `.debug_types` come last, as if they stood
    /// behind the others.
    pub(super) units: Vec<(usize, Option<Unit<'a>>)>,
    /// Types in units of their own, by signature: the number of the unit, and where it has the type.
    types: BTreeMap<u64, (u32, UnitOffset)>,
}

/// Which of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Which {
    /// The file itself.
    Main,
    /// The one that it shares with others.
    Alternate,
}

/// A unit, by file and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UnitId {
    /// The file.
    pub(super) which: Which,
    /// The number among its units.
    pub(super) number: u32,
}

/// A debugging information entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Die {
    /// Its unit.
    pub(super) unit: UnitId,
    /// Where it is in the unit.
    pub(super) offset: UnitOffset,
}

impl<'a> Files<'a> {
    /// Reads the units' headers.
    pub(super) fn read(
        sections: &'a Sections<'_>,
        alternate: Option<&'a Sections<'_>>,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        Self {
            main: File::read(sections.borrow(alternate), diagnostics),
            alternate: alternate.map(|sections| File::read(sections.borrow(None), diagnostics)),
        }
    }

    /// The file itself.
    pub(super) fn main(&self) -> &File<'a> {
        &self.main
    }

    /// A file.
    pub(super) fn file(&self, which: Which) -> Option<&File<'a>> {
        match which {
            Which::Main => Some(&self.main),
            Which::Alternate => self.alternate.as_ref(),
        }
    }

    /// A unit, with its file.
    pub(super) fn unit(&self, id: UnitId) -> Option<(&File<'a>, &Unit<'a>)> {
        let file = self.file(id.which)?;
        Some((file, file.units.get(id.number as usize)?.1.as_ref()?))
    }

    /// The entry that an attribute of a unit's entry refers to.
    pub(super) fn follow(&self, from: UnitId, value: &Value<'a>) -> Option<Die> {
        let (which, offset) = match value {
            AttributeValue::UnitRef(offset) => return Some(Die { unit: from, offset: *offset }),
            AttributeValue::DebugInfoRef(offset) => (from.which, *offset),
            AttributeValue::DebugInfoRefSup(offset) => (Which::Alternate, *offset),
            AttributeValue::DebugTypesRef(signature) => {
                let (number, offset) = *self.file(from.which)?.types.get(&signature.0)?;
                return Some(Die { unit: UnitId { which: from.which, number }, offset });
            }
            _ => return None,
        };
        let file = self.file(which)?;
        let number = file.units.partition_point(|(start, _)| *start <= offset.0).checked_sub(1)?;
        let unit = file.units[number].1.as_ref()?;
        let number = u32::try_from(number).ok()?;
        Some(Die { unit: UnitId { which, number }, offset: offset.to_unit_offset(&unit.header)? })
    }

    /// The attributes of an entry.
    pub(super) fn entry(&self, die: Die) -> Option<gimli::DebuggingInformationEntry<Slice<'a>>> {
        self.unit(die.unit)?.1.entry(die.offset).ok()
    }

    /// The text of an attribute, see [`unit::text`].
    pub(super) fn text(&self, unit: UnitId, value: Value<'a>, left: &mut usize) -> Option<&'a [u8]> {
        let (file, unit) = self.unit(unit)?;
        unit::text(&file.dwarf, unit, value, left)
    }

    /// The name of a subprogram: its linkage name, else its name, its own or that of the entry it is an instance or the
    /// definition of. At most `left` bytes are read.
    pub(super) fn name(&self, mut die: Die, left: &mut usize) -> Option<&'a [u8]> {
        let mut name = None;
        for _ in 0..limits::DEBUG_CHAIN {
            let entry = self.entry(die)?;
            let mut text = |at| entry.attr_value(at).and_then(|value| self.text(die.unit, value, left));
            let linkage = text(dw::DW_AT_linkage_name).or_else(|| text(dw::DW_AT_MIPS_linkage_name));
            if let Some(linkage) = linkage.filter(|name| !name.is_empty()) {
                return Some(linkage);
            }
            name = name.or_else(|| text(dw::DW_AT_name).filter(|name| !name.is_empty()));
            match self.origin(die.unit, &entry) {
                Some(origin) => die = origin,
                None => break,
            }
        }
        name
    }

    /// What an entry is an instance or the definition of.
    pub(super) fn origin(
        &self,
        unit: UnitId,
        entry: &gimli::DebuggingInformationEntry<Slice<'a>>,
    ) -> Option<Die> {
        let origin = entry.attr_value(dw::DW_AT_abstract_origin);
        let value = origin.or_else(|| entry.attr_value(dw::DW_AT_specification))?;
        self.follow(unit, &value)
    }
}

impl<'a> File<'a> {
    fn read(dwarf: gimli::Dwarf<Slice<'a>>, diagnostics: &mut Diagnostics) -> Self {
        let mut units = Vec::new();
        let mut types = BTreeMap::new();
        let mut tables = Tables::new(&dwarf);
        let mut programs = Programs::new(&dwarf);
        let info = *dwarf.debug_info.reader();
        // Before DWARF 5 units of types have a section of their own.
        let sections = [(&b".debug_info"[..], info), (b".debug_types", *dwarf.debug_types.reader())];
        for (section, whole) in sections {
            let has_types_only = section == b".debug_types";
            let base = if has_types_only { info.len() } else { 0 };
            let mut rest = whole;
            while !rest.is_empty() {
                let offset = whole.len() - rest.len();
                let mut lost = |what: &str, error: String| {
                    let message = format!("the unit at {offset:#x} can't be read ({error}): {what} is lost");
                    diagnostics.add("debug-unit-unreadable", section, message);
                };
                let start = rest;
                // Where a unit ends is known even where nothing else of it is.
                if let Err(error) = rest.read_initial_length().and_then(|(length, _)| rest.skip(length)) {
                    lost("it and what follows", error.to_string());
                    break;
                }
                let header = if has_types_only {
                    type_header(start)
                } else {
                    dwarf.debug_info.header_from_offset(DebugInfoOffset(offset))
                };
                let unit = header
                    .map_err(|error| error.to_string())
                    .and_then(|header| {
                        let table = tables.find(&dwarf, header.debug_abbrev_offset())?;
                        Unit::open(&dwarf, header, table, &mut programs).map_err(|error| error.to_string())
                    })
                    .inspect_err(|error| lost("what it says", error.clone()));
                if let (Ok(unit), Ok(number)) = (&unit, u32::try_from(units.len()))
                    && let UnitType::Type { type_signature, type_offset } = unit.header.type_()
                {
                    // Of several, which linkers leave one of, the first counts.
                    types.entry(type_signature.0).or_insert((number, type_offset));
                }
                units.push((base + offset, unit.ok()));
            }
        }
        Self { dwarf, units, types }
    }
}

/// The header of the first unit of types in what is left of `.debug_types`.
fn type_header(rest: Slice<'_>) -> gimli::Result<UnitHeader<Slice<'_>>> {
    DebugTypes::from(rest).units().next()?.ok_or(gimli::Error::UnexpectedEof(rest.offset_id()))
}
