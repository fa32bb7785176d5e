//! Where addresses are in the source.

use std::sync::Arc;

use super::{Detail, Dwarf, NONE, lines::LineRow};
use crate::limits;

/// Looks up addresses, quickest in rising order.
pub(crate) struct Places<'d, 'a> {
    dwarf: &'d Dwarf<'a>,
    unit: Option<(u32, Arc<Detail<'a>>)>,
    range: (u64, u64),
    line: Option<LineRow>,
    line_range: (u64, u64),
    frame: u32,
    frame_range: (u64, u64),
}

/// Where an address is in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct At {
    /// The unit that says so.
    pub(crate) unit: u32,
    /// The file's number among [`Dwarf::paths`].
    pub(crate) path: u32,
    /// The line; 0 for code that the compiler made.
    pub(crate) line: u32,
    /// The innermost frame's number in the unit, or [`NONE`].
    pub(crate) frame: u32,
}

/// One frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StackFrame<'a> {
    /// The function's name.
    pub(crate) function: Option<&'a [u8]>,
    /// The frame that it was inlined into, or [`NONE`].
    pub(crate) parent: u32,
    /// The file of the call among [`Dwarf::paths`], or [`NONE`].
    pub(crate) call_path: u32,
    /// The line of the call; 0 for none.
    pub(crate) call_line: u32,
}

impl<'d, 'a> Places<'d, 'a> {
    pub(super) fn of(dwarf: &'d Dwarf<'a>) -> Self {
        Self {
            dwarf,
            unit: None,
            range: (0, 0),
            line: None,
            line_range: (0, 0),
            frame: NONE,
            frame_range: (0, 0),
        }
    }

    /// Where an address is; `None` where no line table row covers it, or it stands in more frames than fit a page.
    pub(crate) fn find(&mut self, address: u64) -> Option<At> {
        if !(self.range.0..self.range.1).contains(&address) {
            self.turn(address);
        }
        let (unit, detail) = self.unit.as_ref()?;
        if !(self.line_range.0..self.line_range.1).contains(&address) {
            let found = detail.lines.find(address);
            self.line = found.map(|(row, _)| row);
            self.line_range = (address, found.map_or(address, |(_, end)| end));
        }
        if !(self.frame_range.0..self.frame_range.1).contains(&address) {
            let found = detail.spans.find(address);
            self.frame = found.map_or(NONE, |span| span.owner);
            self.frame_range = found.map_or((0, 0), |span| (span.start, span.end));
        }
        let line = self.line?;
        let path = self.dwarf.units[*unit as usize].paths.find(line.file)?;
        if detail.frames.get(self.frame as usize).is_some_and(|frame| frame.cost > limits::PLACE) {
            return None;
        }
        Some(At { unit: *unit, path, line: line.line, frame: self.frame })
    }

    /// A frame of the unit that the last address found is in.
    pub(crate) fn frame(&self, number: u32) -> Option<StackFrame<'a>> {
        let (unit, detail) = self.unit.as_ref()?;
        let frame = detail.frames.get(number as usize)?;
        let paths = &self.dwarf.units[*unit as usize].paths;
        let call_path = paths.find(frame.call_file).unwrap_or(NONE);
        Some(StackFrame {
            function: frame.function,
            parent: frame.parent,
            call_path,
            call_line: frame.call_line,
        })
    }

    fn turn(&mut self, address: u64) {
        let found = self.dwarf.by_address.find(address);
        self.range = found.map_or((0, 0), |span| (span.start, span.end));
        let unit = found.map(|span| u32::MAX - span.owner);
        if self.unit.as_ref().map(|(unit, _)| *unit) != unit {
            self.unit = unit.map(|unit| (unit, self.dwarf.detail(unit)));
        }
        (self.line_range, self.frame_range) = ((0, 0), (0, 0));
    }
}
