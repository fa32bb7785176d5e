//! Where the rows of a body are in the source, with files and frames numbered for the body.

use std::collections::BTreeMap;

use elfscope_schema::{Frame, Name, Place};

use crate::{
    disasm::Unit,
    dwarf::{self, At, Dwarf, NONE},
};

/// Places of a body's rows.
#[derive(Default)]
pub(crate) struct Places {
    /// The cited files, as numbers among [`Dwarf::paths`].
    pub(crate) files: Vec<u32>,
    /// The frames, parents first, with files numbered as in [`Self::files`].
    pub(crate) frames: Vec<Frame>,
    /// The place of each row, with files and frames numbered as here.
    pub(crate) rows: Vec<Option<Place>>,
}

impl Places {
    /// Finds the places of units that start at an address.
    pub(super) fn find(dwarf: &Dwarf<'_>, start: u64, units: &[Unit]) -> Self {
        let mut finding = Finding {
            found: Self::default(),
            files: BTreeMap::new(),
            frames: BTreeMap::new(),
            known: BTreeMap::new(),
        };
        let mut look_up = dwarf.places();
        let mut last: Option<(At, Place)> = None;
        for unit in units {
            let at = look_up.find(start.wrapping_add(unit.offset.into()));
            let place = at.map(|at| match last {
                Some((same, place)) if same == at => place,
                _ => finding.place(&look_up, at),
            });
            last = at.zip(place);
            finding.found.rows.push(place);
        }
        finding.found
    }

    /// Rows that a line is known of.
    pub(super) fn with_line(&self) -> u64 {
        self.rows.iter().flatten().filter(|place| place.line.is_some()).count() as u64
    }
}

struct Finding {
    found: Places,
    files: BTreeMap<u32, u32>,
    /// By unit and number there.
    frames: BTreeMap<(u32, u32), u32>,
    /// By what it says: two of a unit that say the same are one here.
    known: BTreeMap<Frame, u32>,
}

impl Finding {
    fn place(&mut self, look_up: &dwarf::Places<'_, '_>, at: At) -> Place {
        let frame = (at.frame != NONE).then(|| self.frame(look_up, at.unit, at.frame)).flatten();
        Place { file: self.file(at.path), frame, line: (at.line > 0).then_some(at.line) }
    }

    fn file(&mut self, path: u32) -> u32 {
        let files = &mut self.found.files;
        *self.files.entry(path).or_insert_with(|| {
            files.push(path);
            count(files.len() - 1)
        })
    }

    fn frame(&mut self, look_up: &dwarf::Places<'_, '_>, unit: u32, number: u32) -> Option<u32> {
        // Up to a frame that is known, then down again: chains may be long.
        let mut chain = Vec::new();
        let mut next = number;
        let mut parent = loop {
            if next == NONE {
                break None;
            }
            if let Some(known) = self.frames.get(&(unit, next)) {
                break Some(*known);
            }
            let frame = look_up.frame(next)?;
            chain.push((next, frame));
            next = frame.parent;
        };
        for (number, frame) in chain.into_iter().rev() {
            let has_call = frame.call_path != NONE;
            let told = Frame {
                call_file: has_call.then(|| self.file(frame.call_path)),
                call_line: (frame.call_line > 0).then_some(frame.call_line),
                function: frame.function.map(Name::from_bytes),
                parent,
            };
            let frames = &mut self.found.frames;
            let place = *self.known.entry(told).or_insert_with_key(|told| {
                frames.push(told.clone());
                count(frames.len() - 1)
            });
            self.frames.insert((unit, number), place);
            parent = Some(place);
        }
        parent
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
