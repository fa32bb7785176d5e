//! The functions of a unit and what was inlined into them, in one pass over its entries.

use std::collections::BTreeMap;

use gimli::{AttributeValue, RangeListsOffset, UnitOffset, constants as dw};

use super::{
    CodeRanges, Slice,
    file::{Die, Files, UnitId, Value},
    spans::{Flat, Span},
    unit::Unit,
};
use crate::limits;

/// No frame, no file.
pub(crate) const NONE: u32 = u32::MAX;

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Walked<'a> {
    /// Subprograms with code.
    pub(super) functions: Vec<Function<'a>>,
    /// Frames: subprograms with code and inlined ones, parents first.
    pub(super) frames: Vec<Frame<'a>>,
    /// Which addresses the innermost frame of which number has.
    pub(super) spans: Flat,
    /// Subprograms with a name and a place: name, file, line.
    pub(super) declared: Vec<(&'a [u8], u32, u32)>,
    /// The ranges of the unit itself.
    pub(super) ranges: Vec<(u64, u64)>,
    /// Whether there were more ranges, or longer names, than a unit of its size may have.
    pub(super) lost: bool,
    /// Where it had to stop.
    pub(super) error: Option<String>,
}

/// A subprogram with code.
#[derive(Clone, Debug)]
pub(super) struct Function<'a> {
    /// Its entry.
    pub(super) die: Die,
    /// Its name, see [`Files::name`].
    pub(super) name: Option<&'a [u8]>,
    /// Its ranges, in the order in which the debug data gives them.
    pub(super) ranges: Box<[(u64, u64)]>,
    /// Where it is entered.
    pub(super) entry: u64,
    /// Where it is declared.
    pub(super) declared: Option<DeclaredAt>,
}

/// Where a function is declared, as the entry that says so numbers files.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeclaredAt {
    /// The entry's unit.
    pub(super) unit: UnitId,
    /// The file's number in the unit's table.
    pub(super) file: u32,
    /// The line.
    pub(super) line: u32,
}

/// A frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    /// The function's name.
    pub(super) function: Option<&'a [u8]>,
    /// The frame that it was inlined into, or [`NONE`].
    pub(super) parent: u32,
    /// Where it was called: the file's number in the unit's table, or [`NONE`].
    pub(super) call_file: u32,
    /// Where it was called: line, 0 for none.
    pub(super) call_line: u32,
    /// The bytes that it takes as JSON; with [`add_up`] those of all that it stands in too.
    pub(super) cost: u32,
}

/// Counts what frames take on a page with all that they stand in. `path` gives the bytes of a file's path as JSON.
pub(super) fn add_up(frames: &mut [Frame<'_>], path: impl Fn(u32) -> u32) {
    for number in 0..frames.len() {
        let frame = frames[number];
        // Parents come first.
        let parent = frames.get(frame.parent as usize).map_or(0, |parent| parent.cost);
        let call = if frame.call_file == NONE { 0 } else { path(frame.call_file) };
        frames[number].cost = frame.cost.saturating_add(parent).saturating_add(call);
    }
}

/// The most bytes that a name or path takes as JSON, with what stands around it.
pub(super) fn json_size(text: &[u8]) -> u32 {
    // Of names longer than this a prefix is told.
    let told = &text[..text.len().min(4096)];
    let is_plain = told.iter().all(|byte| (0x20..0x7f).contains(byte) && !matches!(byte, b'"' | b'\\'));
    (if is_plain { told.len() } else { told.len() * 6 }) as u32 + 200
}

/// Goes through a unit's entries.
pub(super) fn walk<'a>(files: &Files<'a>, id: UnitId, code: &CodeRanges) -> Walked<'a> {
    let mut walked = Walked::default();
    let Some((_, unit)) = files.unit(id) else { return walked };
    let mut spans = Vec::new();
    let mut walk = Walk {
        files,
        id,
        unit,
        code,
        names: BTreeMap::new(),
        // Ranges stand in another section, where many entries may name the same.
        ranges_left: limits::RANGES_LEAST + unit.header.unit_length(),
        // So may names.
        names_left: limits::NAMES_LEAST + unit.header.unit_length().saturating_mul(limits::NAMES_RATIO),
        walked: &mut walked,
        spans: &mut spans,
    };
    let error = walk.all().err();
    walked.lost = walk.ranges_left == 0 || walk.names_left == 0;
    walked.error = error.map(|error| error.to_string());
    walked.spans = Flat::of(&spans);
    walked
}

struct Walk<'w, 'a> {
    files: &'w Files<'a>,
    id: UnitId,
    unit: &'w Unit<'a>,
    code: &'w CodeRanges,
    names: BTreeMap<Die, Option<&'a [u8]>>,
    ranges_left: usize,
    names_left: usize,
    walked: &'w mut Walked<'a>,
    spans: &'w mut Vec<Span>,
}

/// What the walk reads of an entry.
#[derive(Default)]
struct Attributes<'a> {
    low: Option<Value<'a>>,
    high: Option<Value<'a>>,
    ranges: Option<Value<'a>>,
    entry: Option<Value<'a>>,
    name: Option<Value<'a>>,
    linkage: Option<Value<'a>>,
    origin: Option<Value<'a>>,
    specification: Option<Value<'a>>,
    /// `DW_AT_decl_*` of a subprogram, `DW_AT_call_*` of an inlined one.
    file: Option<u32>,
    line: u32,
}

impl<'a> Walk<'_, 'a> {
    fn all(&mut self) -> gimli::Result<()> {
        let unit = self.unit;
        let mut entries = unit.entries_raw(None)?;
        // The frames around an entry, with their depths.
        let mut around: Vec<(isize, u32)> = Vec::new();
        while !entries.is_empty() {
            let offset = entries.next_offset();
            let depth = entries.next_depth();
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            while around.last().is_some_and(|(outer, _)| *outer >= depth) {
                around.pop();
            }
            let inlined = match abbreviation.tag() {
                dw::DW_TAG_subprogram => false,
                dw::DW_TAG_inlined_subroutine => true,
                _ if offset == unit.header.root_offset() => {
                    let mut found = Attributes::default();
                    for spec in abbreviation.attributes() {
                        let attribute = entries.read_attribute(*spec)?;
                        found.take(attribute.name(), &attribute);
                    }
                    self.walked.ranges = self.ranges(&found);
                    // It may have as many again.
                    self.ranges_left = limits::RANGES_LEAST + unit.header.unit_length();
                    continue;
                }
                _ => {
                    entries.skip_attributes(abbreviation.attributes())?;
                    continue;
                }
            };
            let mut found = Attributes::default();
            for spec in abbreviation.attributes() {
                let attribute = entries.read_attribute(*spec)?;
                found.take(attribute.name(), &attribute);
            }
            let parent = around.last().map_or(NONE, |(_, frame)| *frame);
            let frame = if inlined { self.inlined(&found, parent) } else { self.subprogram(&found, offset) };
            if frame != NONE || !inlined {
                around.push((depth, frame));
            }
        }
        Ok(())
    }

    /// Enters a subprogram. Returns its frame, where it has code.
    fn subprogram(&mut self, found: &Attributes<'a>, offset: UnitOffset) -> u32 {
        let die = Die { unit: self.id, offset };
        if let (Some(name), Some(file)) = (&found.name, found.file)
            && found.line > 0
            && let Some(name) = self.files.text(self.id, *name, &mut self.names_left)
        {
            self.walked.declared.push((name, file, found.line));
        }
        let ranges = self.ranges(found);
        let Some(&(first, _)) = ranges.first() else { return NONE };
        let name = self.name(found, Some(die));
        let entry = found.entry.as_ref().and_then(|value| match value {
            // DWARF 5, section 2.18: a constant is an offset from the entry's base, which is its lowest address here.
            AttributeValue::Udata(offset) => first.checked_add(*offset),
            value => self.address(value),
        });
        let entry = entry.filter(|entry| ranges.iter().any(|(start, end)| (start..end).contains(&entry)));
        let cost = json_size(name.unwrap_or_default());
        let frame = Frame { function: name, parent: NONE, call_file: NONE, call_line: 0, cost };
        let frame = self.push(frame, &ranges);
        let (ranges, entry, declared) = (ranges.into(), entry.unwrap_or(first), self.declared(found));
        self.walked.functions.push(Function { die, name, ranges, entry, declared });
        frame
    }

    /// Where a subprogram is declared: by its own entry, or by one that it is an instance or the definition of.
    fn declared(&self, found: &Attributes<'a>) -> Option<DeclaredAt> {
        if let Some(file) = found.file.filter(|_| found.line > 0) {
            return Some(DeclaredAt { unit: self.id, file, line: found.line });
        }
        let origin = found.origin.as_ref().or(found.specification.as_ref())?;
        let mut die = self.files.follow(self.id, origin)?;
        for _ in 0..limits::DEBUG_CHAIN {
            let entry = self.files.entry(die)?;
            let file = entry.attr_value(dw::DW_AT_decl_file).and_then(|value| file_index(&value));
            let line = entry.attr_value(dw::DW_AT_decl_line).map_or(0, |value| number(&value));
            if let Some(file) = file.filter(|_| line > 0) {
                return Some(DeclaredAt { unit: die.unit, file, line });
            }
            die = self.files.origin(die.unit, &entry)?;
        }
        None
    }

    /// Enters an inlined subprogram. Returns its frame, where it has code.
    fn inlined(&mut self, found: &Attributes<'a>, parent: u32) -> u32 {
        let ranges = self.ranges(found);
        if ranges.is_empty() {
            return NONE;
        }
        let function = self.name(found, None);
        let (call_file, call_line) = (found.file.unwrap_or(NONE), found.line);
        let cost = json_size(function.unwrap_or_default());
        self.push(Frame { function, parent, call_file, call_line, cost }, &ranges)
    }

    fn push(&mut self, frame: Frame<'a>, ranges: &[(u64, u64)]) -> u32 {
        let number = u32::try_from(self.walked.frames.len()).unwrap_or(NONE);
        if number == NONE {
            return NONE;
        }
        self.walked.frames.push(frame);
        self.spans.extend(ranges.iter().map(|&(start, end)| Span { start, end, owner: number }));
        number
    }

    /// The name of an entry, by what was read of it or by what it is an instance of. Each is looked for once.
    fn name(&mut self, found: &Attributes<'a>, die: Option<Die>) -> Option<&'a [u8]> {
        let (files, id, left) = (self.files, self.id, &mut self.names_left);
        let mut text = |value: Option<Value<'a>>| {
            value.and_then(|value| files.text(id, value, left)).filter(|name| !name.is_empty())
        };
        if let Some(linkage) = text(found.linkage) {
            return Some(linkage);
        }
        let origin = found.origin.as_ref().or(found.specification.as_ref());
        let Some(origin) = origin.and_then(|value| files.follow(id, value)) else {
            return text(found.name);
        };
        // Its own plain name counts only where the others have no linkage name: the whole chain is looked at.
        let start = if found.name.is_some() { die.unwrap_or(origin) } else { origin };
        *self.names.entry(start).or_insert_with(|| files.name(start, &mut self.names_left))
    }

    /// The ranges of an entry that are code of this file: others were left out by the linker.
    fn ranges(&mut self, found: &Attributes<'a>) -> Vec<(u64, u64)> {
        let mut ranges = Vec::new();
        let Some((file, unit)) = self.files.unit(self.id) else { return ranges };
        let mut take = |start: u64, end: u64| {
            if start < end && self.code.has(start) {
                ranges.push((start, end));
            }
        };
        if let (Some(low), Some(high)) = (&found.low, &found.high) {
            let Some(low) = self.address(low) else { return ranges };
            let high = match high {
                AttributeValue::Udata(size) => low.checked_add(*size),
                value => self.address(value),
            };
            take(low, high.unwrap_or(low));
        } else if let Some(value) = &found.ranges {
            let offset: Option<RangeListsOffset> = file.dwarf.attr_ranges_offset(unit, *value).ok().flatten();
            let Some(mut list) = offset.and_then(|offset| file.dwarf.ranges(unit, offset).ok()) else {
                return ranges;
            };
            while let Ok(Some(range)) = list.next() {
                if self.ranges_left == 0 {
                    break;
                }
                self.ranges_left -= 1;
                take(range.begin, range.end);
            }
        }
        ranges
    }

    fn address(&self, value: &Value<'a>) -> Option<u64> {
        let (file, unit) = self.files.unit(self.id)?;
        file.dwarf.attr_address(unit, *value).ok().flatten()
    }
}

impl<'a> Attributes<'a> {
    fn take(&mut self, name: dw::DwAt, attribute: &gimli::Attribute<Slice<'a>>) {
        let value = || Some(attribute.value());
        match name {
            dw::DW_AT_low_pc => self.low = value(),
            dw::DW_AT_high_pc => self.high = value(),
            dw::DW_AT_ranges => self.ranges = value(),
            dw::DW_AT_entry_pc => self.entry = value(),
            dw::DW_AT_name => self.name = value(),
            dw::DW_AT_linkage_name | dw::DW_AT_MIPS_linkage_name => self.linkage = value(),
            dw::DW_AT_abstract_origin => self.origin = value(),
            dw::DW_AT_specification => self.specification = value(),
            dw::DW_AT_decl_file | dw::DW_AT_call_file => self.file = file_index(&attribute.value()),
            dw::DW_AT_decl_line | dw::DW_AT_call_line => self.line = number(&attribute.value()),
            _ => {}
        }
    }
}

/// A file's number in its unit's table.
pub(super) fn file_index(value: &Value<'_>) -> Option<u32> {
    match value {
        AttributeValue::FileIndex(index) => u32::try_from(*index).ok(),
        value => value.udata_value().and_then(|index| u32::try_from(index).ok()),
    }
    .filter(|index| *index != NONE)
}

/// A line; 0 for none.
pub(super) fn number(value: &Value<'_>) -> u32 {
    value.udata_value().and_then(|line| u32::try_from(line).ok()).unwrap_or(0)
}
