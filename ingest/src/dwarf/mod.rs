//! What the debug data says of code: functions, lines, inlined frames, where sources are.
//!
//! Every unit is read once for what is known of the whole file (functions, cited files). What a unit says of single addresses
//! is kept while it fits [`limits::DEBUG_HELD`]; of larger files it is read again when a body of the unit is told, and
//! forgotten after the last one. Nothing that is told depends on that.
//!
//! A unit that can't be read costs itself; one that breaks off keeps what came before.

mod abbreviations;
mod cited;
mod claims;
mod file;
mod lines;
mod paths;
mod places;
mod sections;
mod signature;
mod spans;
mod unit;
mod walk;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use gimli::{EndianSlice, RunTimeEndian, constants as dw};
use rayon::prelude::*;

use crate::{diagnostics::Diagnostics, elf::Elf, limits};
pub(crate) use cited::{CitedPath, Declared};
use cited::{FileTable, PathTable, Used};
use claims::{Claims, Ranges};
use file::{Die, Files, UnitId, Which};
use lines::Lines;
pub(crate) use places::{At, Places};
pub(crate) use sections::Sections;
use spans::Flat;
pub(crate) use walk::NONE;
use walk::Walked;

/// What gimli reads from.
pub(super) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// The debug data of a file.
pub(crate) struct Dwarf<'a> {
    files: Files<'a>,
    units: Vec<Slot<'a>>,
    /// Which unit has an address.
    by_address: Flat,
    /// Subprograms with code, by their entry.
    functions: Vec<Function<'a>>,
    paths: PathTable,
    producers: Vec<Vec<u8>>,
    code: CodeRanges,
}

/// Which addresses are code of the file. What else the debug data speaks of was left out by the linker.
#[derive(Debug)]
pub(crate) struct CodeRanges(Box<[(u64, u64)]>);

impl CodeRanges {
    /// The executable regions of a linked file.
    pub(crate) fn of(elf: &Elf<'_>) -> Self {
        let regions =
            elf.image.regions().iter().filter(|region| region.executable && !region.data.is_empty());
        let ranges = regions.map(|region| {
            let start = region.start.offset;
            (start, start.saturating_add(region.data.len() as u64))
        });
        let mut ranges: Vec<(u64, u64)> = ranges.collect();
        ranges.sort_unstable();
        Self(ranges.into())
    }

    /// How much code there is.
    fn bytes(&self) -> u64 {
        self.0.iter().map(|(start, end)| end - start).fold(0, u64::saturating_add)
    }

    /// Whether an address is code.
    fn has(&self, address: u64) -> bool {
        let after = self.0.partition_point(|(start, _)| *start <= address);
        self.0[..after].last().is_some_and(|(_, end)| address < *end)
    }
}

/// A subprogram with code.
#[derive(Clone, Debug)]
pub(crate) struct Function<'a> {
    /// Its name, where the debug data gives one: its linkage name where it has one.
    pub(crate) name: Option<&'a [u8]>,
    /// Its ranges, in the order in which the debug data gives them.
    pub(crate) ranges: Box<[(u64, u64)]>,
    /// Where it is entered.
    pub(crate) entry: u64,
    die: Die,
    declared: Option<Declared>,
}

/// A unit.
struct Slot<'a> {
    id: UnitId,
    /// The files that it cites.
    paths: FileTable,
    /// What it says of single addresses, while that is held.
    detail: Mutex<Option<Arc<Detail<'a>>>>,
    /// Whether it may be forgotten.
    is_held: bool,
    /// The end of the last range that it has.
    end: u64,
}

/// What a unit says of single addresses.
struct Detail<'a> {
    frames: Vec<walk::Frame<'a>>,
    spans: Flat,
    lines: Lines,
}

impl Detail<'_> {
    fn size(&self) -> usize {
        self.spans.size() + self.lines.size() + size_of_val(&*self.frames)
    }
}

/// What the first reading of a unit gave.
struct First<'a> {
    walked: Walked<'a>,
    lines: Lines,
    lines_error: Option<String>,
    used: Vec<Used>,
    /// Files without a path that can be told.
    lost_paths: usize,
    ranges: Ranges,
    /// Whether it has more than a unit of its size may have.
    lost: bool,
    producer: Option<&'a [u8]>,
}

impl<'a> Dwarf<'a> {
    /// Reads the debug data of a file. `alternate` holds what a dwz file shares with others; `code` says which addresses are
    /// its code. Names of declared functions are kept only where `wants_declared`.
    pub(crate) fn read(
        sections: &'a Sections<'_>,
        alternate: Option<&'a Sections<'_>>,
        code: CodeRanges,
        wants_declared: bool,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let files = Files::read(sections, alternate, diagnostics);
        let ids: Vec<UnitId> = (0u32..)
            .zip(&files.main().units)
            .filter(|(_, (_, unit))| unit.as_ref().is_some_and(|unit| !unit::has_types(&unit.header)))
            .map(|(number, _)| UnitId { which: Which::Main, number })
            .collect();
        let may_read_lines = lines_allowed(&files, &ids, diagnostics);
        let mut paths = PathTable::new(files.main());
        let mut units = Vec::with_capacity(ids.len());
        let mut claims = Claims::new(&code, ids.len());
        let mut functions = Vec::new();
        let mut producers = BTreeSet::new();
        let mut held = 0;
        // Each byte of code is the first of a part of a function at most once where they are true.
        let mut parts_left = code.bytes();
        let together: Vec<(UnitId, bool)> = ids.iter().copied().zip(may_read_lines).collect();
        for some in together.chunks(limits::UNITS_AT_ONCE) {
            let read = some.par_iter().map(|(id, lines)| first(&files, *id, *lines, &code, wants_declared));
            let firsts: Vec<First<'_>> = read.collect();
            for ((id, may_read_lines), mut first) in some.iter().zip(firsts) {
                first.lost |= !claims.add(units.len(), &first.ranges);
                for function in &mut first.walked.functions {
                    let parts = function.ranges.len() as u64 - 1;
                    if parts > parts_left {
                        first.lost = true;
                        function.ranges = function.ranges[..1].into();
                    } else {
                        parts_left -= parts;
                    }
                }
                tell(*id, &first, &files, diagnostics);
                let table = paths.enter(&first.used);
                if wants_declared {
                    paths.declare(&table, &first.walked.declared);
                }
                functions.extend(first.walked.functions.into_iter().map(|function| Function {
                    name: function.name,
                    ranges: function.ranges,
                    entry: function.entry,
                    die: function.die,
                    declared: function.declared.and_then(|at| paths.declared(&files, at)),
                }));
                if producers.len() < limits::PRODUCERS {
                    producers.extend(first.producer.map(<[u8]>::to_vec));
                }
                let detail =
                    Detail { frames: first.walked.frames, spans: first.walked.spans, lines: first.lines };
                held += detail.size();
                let is_held = held <= limits::DEBUG_HELD || !may_read_lines;
                let detail = Mutex::new(is_held.then(|| Arc::new(detail)));
                units.push(Slot { id: *id, paths: table, detail, is_held, end: 0 });
            }
        }
        functions.sort_by_key(|function| (function.entry, function.die));
        let by_address = claims.settle(&files, &ids, &code, diagnostics);
        for span in by_address.all() {
            if let Some(slot) = units.get_mut((u32::MAX - span.owner) as usize) {
                slot.end = span.end;
            }
        }
        let producers = producers.into_iter().collect();
        Self { files, units, by_address, functions, paths, producers, code }
    }

    /// Whether any unit was read.
    pub(crate) fn has_units(&self) -> bool {
        !self.units.is_empty()
    }

    /// Subprograms with code, by their entry.
    pub(crate) fn functions(&self) -> &[Function<'a>] {
        &self.functions
    }

    /// The functions that are entered at an address.
    pub(crate) fn find_functions(&self, entry: u64) -> &[Function<'a>] {
        let first = self.functions.partition_point(|function| function.entry < entry);
        let count = self.functions[first..].iter().take_while(|function| function.entry == entry).count();
        &self.functions[first..first + count]
    }

    /// The source files that rows, call sites and declarations of functions with code cite.
    pub(crate) fn paths(&self) -> &[CitedPath] {
        self.paths.all()
    }

    /// What the compilers said of themselves.
    pub(crate) fn producers(&self) -> &[Vec<u8>] {
        &self.producers
    }

    /// A function's declaration as C writes it.
    pub(crate) fn signature(&self, function: &Function<'a>) -> Option<String> {
        signature::write(&self.files, function.die)
    }

    /// For looking up addresses one after the other.
    pub(crate) fn places(&self) -> Places<'_, 'a> {
        Places::of(self)
    }

    /// Forgets what is only needed below an address.
    pub(crate) fn forget_below(&self, address: u64) {
        for slot in self.units.iter().filter(|slot| !slot.is_held && slot.end <= address) {
            *slot.detail.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    fn detail(&self, unit: u32) -> Arc<Detail<'a>> {
        let slot = &self.units[unit as usize];
        let mut detail = slot.detail.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(detail.get_or_insert_with(|| {
            let mut walked = walk::walk(&self.files, slot.id, &self.code);
            walk::add_up(&mut walked.frames, |file| {
                let path = slot.paths.find(file).and_then(|path| self.paths().get(path as usize));
                path.map_or(0, |cited| walk::json_size(&cited.path))
            });
            let program = self.files.unit(slot.id).and_then(|(_, unit)| unit.program());
            let lines = program.map(|program| Lines::read(program, &self.code).0).unwrap_or_default();
            Arc::new(Detail { frames: walked.frames, spans: walked.spans, lines })
        }))
    }
}

impl Function<'_> {
    /// Where the debug data declares it.
    pub(crate) fn declared(&self) -> Option<&Declared> {
        self.declared.as_ref()
    }
}

fn first<'a>(
    files: &Files<'a>,
    id: UnitId,
    may_read_lines: bool,
    code: &CodeRanges,
    wants_declared: bool,
) -> First<'a> {
    let mut walked = walk::walk(files, id, code);
    if !wants_declared {
        walked.declared = Vec::new();
    }
    let lost = walked.lost;
    let mut first = First {
        ranges: Ranges { own: std::mem::take(&mut walked.ranges), ..Ranges::default() },
        walked,
        lines: Lines::default(),
        lines_error: None,
        used: Vec::new(),
        lost_paths: 0,
        lost,
        producer: None,
    };
    let Some((file, unit)) = files.unit(id) else { return first };
    first.lines_error = unit.program_error().map(str::to_owned);
    if let Some(program) = unit.program().filter(|_| may_read_lines) {
        let (lines, error) = Lines::read(program, code);
        (first.lines, first.lines_error) = (lines, error);
    }
    (first.used, first.lost_paths) = cited::used(file, unit, &first.walked.frames, first.lines.rows());
    walk::add_up(&mut first.walked.frames, |file| {
        let used = first.used.binary_search_by_key(&file, |used| used.index);
        used.map_or(0, |used| walk::json_size(&first.used[used].path.path))
    });
    let functions = first.walked.functions.iter().flat_map(|function| function.ranges.iter().copied());
    first.ranges.complete(functions, first.lines.ranges());
    let root = unit.entry(unit.header.root_offset()).ok();
    let producer = root.and_then(|root| root.attr_value(dw::DW_AT_producer));
    let mut most = limits::DEBUG_NAME;
    first.producer = producer.and_then(|value| files.text(id, value, &mut most));
    first
}

/// Which units' line programs are read: those of units that have code, unless together they would read the section again and
/// again. Partial units name the table of the unit that they were cut out of, for its files only.
fn lines_allowed(files: &Files<'_>, ids: &[UnitId], diagnostics: &mut Diagnostics) -> Vec<bool> {
    use gimli::Section as _;
    let section = files.main().dwarf.debug_line.reader().slice().len();
    let mut left = section as u64 * limits::DEBUG_SHARES;
    let allowed = ids.iter().map(|id| {
        let unit = files.unit(*id).map(|(_, unit)| unit);
        let root = unit.and_then(|unit| unit.entry(unit.header.root_offset()).ok());
        if root.is_none_or(|root| root.tag() == dw::DW_TAG_partial_unit) {
            return false;
        }
        let program = unit.and_then(|unit| unit.program());
        let length = program.map_or(0, |program| program.header().unit_length() as u64);
        let fits = length <= left;
        left = left.saturating_sub(length);
        if !fits {
            let message =
                format!("unit {} shares its line table with too many others: its lines are lost", id.number);
            diagnostics.add("lines-shared", b".debug_line", message);
        }
        fits
    });
    allowed.collect()
}

/// Tells what of a unit could not be read.
fn tell(id: UnitId, first: &First<'_>, files: &Files<'_>, diagnostics: &mut Diagnostics) {
    let name =
        files.unit(id).and_then(|(_, unit)| unit.name.as_ref()).map(EndianSlice::slice).unwrap_or_default();
    if files.unit(id).is_some_and(|(_, unit)| matches!(unit.dwo_name(), Ok(Some(_)))) {
        let message = "the unit's entries stand in a file of split DWARF, which this version does not read: its functions and \
                       inlined frames are lost";
        diagnostics.add("split-dwarf", name, message);
    }
    if let Some(error) = &first.walked.error {
        let message = format!("the entries of unit {} break off ({error}): what follows is lost", id.number);
        diagnostics.add("debug-unit-unreadable", name, message);
    }
    if let Some(error) = &first.lines_error {
        let message =
            format!("the line table of unit {} breaks off ({error}): what follows is lost", id.number);
        diagnostics.add("lines-unreadable", name, message);
    }
    if first.lost_paths > 0 {
        let message = format!(
            "{} files that unit {} cites have no path, or one that is too long: code in them has no place",
            first.lost_paths, id.number
        );
        diagnostics.add("cited-files-unreadable", name, message);
    }
    if first.lost {
        let message = format!(
            "unit {} has more ranges, or longer names, than its size allows: what is beyond is lost",
            id.number
        );
        diagnostics.add("debug-unit-too-large", name, message);
    }
    let deep = first.walked.frames.iter().filter(|frame| frame.cost > limits::PLACE).count();
    if deep > 0 {
        let message = format!(
            "{deep} frames of unit {} don't fit a page with all the frames that they stand in: code in them has no place",
            id.number
        );
        diagnostics.add("frames-too-deep", name, message);
    }
}
