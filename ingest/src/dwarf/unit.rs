//! One unit, opened so that a line table that can't be read costs no more than lines, and one that thousands of units share is
//! read once.

use std::{collections::BTreeMap, ops::Deref, sync::Arc};

use gimli::{
    Abbreviations, AttributeValue, DebugAddrBase, DebugLineOffset, DebugLocListsBase, DebugRngListsBase,
    DebugStrOffsetsBase, Reader as _, Section as _, UnitHeader, UnitType, constants as dw,
};

use super::{Slice, file::Value};
use crate::limits;

/// A line program with its header.
pub(super) type Program<'a> = gimli::IncompleteLineProgram<Slice<'a>>;

/// A unit whose header and first entry were read.
pub(super) struct Unit<'a> {
    unit: gimli::Unit<Slice<'a>>,
    program: Result<Option<Arc<Program<'a>>>, String>,
}

impl<'a> Deref for Unit<'a> {
    type Target = gimli::Unit<Slice<'a>>;

    fn deref(&self) -> &Self::Target {
        &self.unit
    }
}

impl<'a> Unit<'a> {
    /// Opens a unit, as gimli does it.
    ///
    /// # Errors
    /// An entry that can't be read, or a base of addresses that doesn't say where.
    pub(super) fn open(
        dwarf: &gimli::Dwarf<Slice<'a>>,
        header: UnitHeader<Slice<'a>>,
        abbreviations: Arc<Abbreviations>,
        programs: &mut Programs<'a>,
    ) -> gimli::Result<Self> {
        let encoding = header.encoding();
        let root = header.entry(&abbreviations, header.root_offset())?;
        let mut unit = gimli::Unit {
            abbreviations,
            name: None,
            comp_dir: None,
            low_pc: 0,
            str_offsets_base: DebugStrOffsetsBase::default_for_encoding_and_file(encoding, dwarf.file_type),
            addr_base: DebugAddrBase(0),
            loclists_base: DebugLocListsBase::default_for_encoding_and_file(encoding, dwarf.file_type),
            rnglists_base: DebugRngListsBase::default_for_encoding_and_file(encoding, dwarf.file_type),
            line_program: None,
            dwo_id: match header.type_() {
                UnitType::Skeleton(id) | UnitType::SplitCompilation(id) => Some(id),
                _ => None,
            },
            header,
        };
        for attribute in root.attrs() {
            match (attribute.name(), attribute.value()) {
                (dw::DW_AT_str_offsets_base, AttributeValue::DebugStrOffsetsBase(base)) => {
                    unit.str_offsets_base = base;
                }
                (dw::DW_AT_addr_base | dw::DW_AT_GNU_addr_base, AttributeValue::DebugAddrBase(base)) => {
                    unit.addr_base = base;
                }
                (dw::DW_AT_loclists_base, AttributeValue::DebugLocListsBase(base)) => {
                    unit.loclists_base = base;
                }
                (
                    dw::DW_AT_rnglists_base | dw::DW_AT_GNU_ranges_base,
                    AttributeValue::DebugRngListsBase(base),
                ) => unit.rnglists_base = base,
                (dw::DW_AT_GNU_dwo_id, AttributeValue::DwoId(id)) if unit.dwo_id.is_none() => {
                    unit.dwo_id = Some(id);
                }
                _ => {}
            }
        }
        // They may be given by number, which the bases above say how to read.
        let path = |unit: &gimli::Unit<Slice<'a>>, at| {
            let bytes = text(dwarf, unit, root.attr_value(at)?, &mut (limits::CITED_PATH + 1))?;
            Some(Slice::new(bytes, dwarf.debug_str.reader().endian()))
        };
        (unit.name, unit.comp_dir) = (path(&unit, dw::DW_AT_name), path(&unit, dw::DW_AT_comp_dir));
        if let Some(low) = root.attr_value(dw::DW_AT_low_pc)
            && let Some(address) = dwarf.attr_address(&unit, low)?
        {
            unit.low_pc = address;
        }
        let program = match root.attr_value(dw::DW_AT_stmt_list) {
            // Units of types name the table of a unit that has code (DWARF 5, section 3.1.4): its rows aren't theirs.
            Some(AttributeValue::DebugLineRef(offset)) if !has_types(&unit.header) => {
                programs.find(dwarf, &unit, offset).map(Some)
            }
            _ => Ok(None),
        };
        Ok(Self { unit, program })
    }

    /// Its line program, where it has one.
    pub(super) fn program(&self) -> Option<&Program<'a>> {
        self.program.as_ref().ok()?.as_deref()
    }

    /// Why its line program can't be read.
    pub(super) fn program_error(&self) -> Option<&str> {
        self.program.as_ref().err().map(String::as_str)
    }
}

/// Whether a unit has types, and nothing that has code.
pub(super) fn has_types(header: &UnitHeader<Slice<'_>>) -> bool {
    matches!(header.type_(), UnitType::Type { .. } | UnitType::SplitType { .. })
}

/// The text of an attribute. At most `left` bytes are read, and taken off it; one that doesn't end in them, or is longer than
/// [`limits::DEBUG_NAME`], is none.
pub(super) fn text<'a>(
    dwarf: &gimli::Dwarf<Slice<'a>>,
    unit: &gimli::Unit<Slice<'a>>,
    value: Value<'a>,
    left: &mut usize,
) -> Option<&'a [u8]> {
    let main = || dwarf.debug_str.reader().slice();
    let (section, offset) = match value {
        // Its bytes are the entry's own.
        AttributeValue::String(text) => {
            return Some(text.slice()).filter(|text| text.len() <= limits::DEBUG_NAME);
        }
        AttributeValue::DebugStrRef(offset) => (main(), offset.0),
        AttributeValue::DebugStrRefSup(offset) => (dwarf.sup()?.debug_str.reader().slice(), offset.0),
        AttributeValue::DebugLineStrRef(offset) => (dwarf.debug_line_str.reader().slice(), offset.0),
        AttributeValue::DebugStrOffsetsIndex(index) => {
            let format = unit.header.format();
            let offset = dwarf.debug_str_offsets.get_str_offset(format, unit.str_offsets_base, index).ok()?;
            (main(), offset.0)
        }
        _ => return None,
    };
    let rest = section.get(offset..)?;
    let window = &rest[..rest.len().min(*left).min(limits::DEBUG_NAME + 1)];
    let end = window.iter().position(|byte| *byte == 0);
    *left -= end.map_or(window.len(), |end| end + 1);
    Some(&window[..end?])
}

/// The headers of line programs that were read.
pub(super) struct Programs<'a> {
    /// Bytes of headers that may still be read.
    left: usize,
    /// By offset, name of the unit and its folder: before DWARF 5 the last two are file and folder 0.
    known: BTreeMap<Key<'a>, Result<Arc<Program<'a>>, String>>,
}

type Key<'a> = (usize, Option<&'a [u8]>, Option<&'a [u8]>);

impl<'a> Programs<'a> {
    pub(super) fn new(dwarf: &gimli::Dwarf<Slice<'a>>) -> Self {
        let section = dwarf.debug_line.reader().len();
        Self { left: section.saturating_mul(limits::DEBUG_SHARES as usize), known: BTreeMap::new() }
    }

    fn find(
        &mut self,
        dwarf: &gimli::Dwarf<Slice<'a>>,
        unit: &gimli::Unit<Slice<'a>>,
        offset: DebugLineOffset,
    ) -> Result<Arc<Program<'a>>, String> {
        let slice = |text: Option<Slice<'a>>| text.map(|text| text.slice());
        let key = (offset.0, slice(unit.name), slice(unit.comp_dir));
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let length = header_length(dwarf, offset).map_err(|error| error.to_string());
        let read = length.and_then(|length| {
            if length > self.left {
                return Err("its header was read too often for other units".to_owned());
            }
            self.left -= length;
            let program =
                dwarf.debug_line.program(offset, unit.header.address_size(), unit.comp_dir, unit.name);
            program.map(Arc::new).map_err(|error| error.to_string())
        });
        self.known.insert(key, read.clone());
        read
    }
}

/// The bytes of a line program's header (DWARF 5, section 6.2.4), as it says.
fn header_length<'a>(dwarf: &gimli::Dwarf<Slice<'a>>, offset: DebugLineOffset) -> gimli::Result<usize> {
    let mut reader = *dwarf.debug_line.reader();
    reader.skip(offset.0)?;
    let (length, format) = reader.read_initial_length()?;
    let mut reader = reader.split(length)?;
    if reader.read_u16()? >= 5 {
        reader.skip(2)?;
    }
    reader.read_offset(format)
}
