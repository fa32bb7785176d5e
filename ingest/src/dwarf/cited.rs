//! The source files that the debug data cites, numbered for the whole file.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    file::{File, Files, UnitId},
    lines::LineRow,
    paths::{self, SourcePath},
    unit::Unit,
    walk::{self, DeclaredAt, NONE},
};
use crate::{limits, source::Md5};

/// A cited source file.
#[derive(Clone, Debug)]
pub(crate) struct CitedPath {
    /// The path, folded.
    pub(crate) path: Vec<u8>,
    /// Whether it is below a compilation folder, as every relative path is.
    pub(crate) is_below: bool,
    /// Folder and name as the debug data gives them, where joined they are not the path.
    pub(crate) raw: Option<(Vec<u8>, Vec<u8>)>,
    /// Its MD5.
    pub(crate) md5: Md5,
    /// The greatest line that is cited.
    pub(crate) last_line: u32,
    /// Functions that are declared in it: name and line.
    pub(crate) declared: BTreeSet<(u32, Vec<u8>)>,
}

/// Where a function is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    /// The file's number.
    pub(crate) path: u32,
    /// The line.
    pub(crate) line: u32,
}

/// A file that a unit cites.
pub(super) struct Used {
    /// Its number in the unit's table.
    pub(super) index: u32,
    /// The greatest line.
    last_line: u32,
    /// Its path.
    pub(super) path: SourcePath,
}

/// The files that a unit's rows and call sites cite, by their number, and how many of them have no path that can be told.
pub(super) fn used<'a>(
    file: &File<'a>,
    unit: &Unit<'a>,
    frames: &[walk::Frame<'a>],
    rows: &[LineRow],
) -> (Vec<Used>, usize) {
    let mut lines: BTreeMap<u32, u32> = BTreeMap::new();
    let calls = frames.iter().map(|frame| (frame.call_file, frame.call_line));
    for (index, line) in rows.iter().map(|row| (row.file, row.line)).chain(calls) {
        if index != NONE {
            let last = lines.entry(index).or_default();
            *last = line.max(*last);
        }
    }
    let (all, mut left) = (lines.len(), most(file));
    let found = lines.into_iter().take(limits::UNIT_FILES).filter_map(|(index, last_line)| {
        let path = paths::find(file, unit, index).filter(|path| path.size() <= left)?;
        left -= path.size();
        Some(Used { index, last_line, path })
    });
    let found: Vec<Used> = found.collect();
    let lost = all - found.len();
    (found, lost)
}

/// How many bytes all cited paths may have.
fn most(file: &File<'_>) -> usize {
    use gimli::Section as _;
    let tables =
        file.dwarf.debug_line.reader().slice().len() + file.dwarf.debug_line_str.reader().slice().len();
    tables.saturating_mul(limits::CITED_RATIO).saturating_add(limits::CITED_LEAST)
}

/// For the files of a unit's table that it cites, by their number there, the number of their path.
#[derive(Debug, Default)]
pub(super) struct FileTable(Box<[(u32, u32)]>);

impl FileTable {
    /// The number of a file's path.
    pub(super) fn find(&self, index: u32) -> Option<u32> {
        let found = self.0.binary_search_by_key(&index, |(index, _)| *index).ok()?;
        Some(self.0[found].1)
    }
}

/// All cited files.
#[derive(Debug)]
pub(super) struct PathTable {
    all: Vec<CitedPath>,
    numbers: BTreeMap<Vec<u8>, u32>,
    /// Numbers of files that functions are declared in, by unit and number in its table.
    declaring: BTreeMap<(UnitId, u32), Option<u32>>,
    /// Bytes that further paths may have.
    left: usize,
}

impl PathTable {
    /// For the files of a debug file.
    pub(super) fn new(file: &File<'_>) -> Self {
        Self { all: Vec::new(), numbers: BTreeMap::new(), declaring: BTreeMap::new(), left: most(file) }
    }

    /// Enters the files of a unit.
    pub(super) fn enter(&mut self, used: &[Used]) -> FileTable {
        let numbers =
            used.iter().filter_map(|file| Some((file.index, self.add(&file.path, file.last_line)?)));
        FileTable(numbers.collect())
    }

    /// Enters functions that a unit declares in files that are cited.
    pub(super) fn declare(&mut self, table: &FileTable, declared: &[(&[u8], u32, u32)]) {
        for (name, file, line) in declared {
            let path = table.find(*file);
            let Some(cited) = path.and_then(|path| self.all.get_mut(path as usize)) else { continue };
            if cited.declared.len() < limits::DECLARED_A_FILE {
                cited.declared.insert((*line, name.to_vec()));
            }
        }
    }

    /// Enters the file that a function is declared in.
    pub(super) fn declared(&mut self, files: &Files<'_>, at: DeclaredAt) -> Option<Declared> {
        let known = self.declaring.get(&(at.unit, at.file)).copied();
        let path = known.unwrap_or_else(|| {
            let path = files.unit(at.unit).and_then(|(file, unit)| paths::find(file, unit, at.file));
            let path = path.and_then(|path| self.add(&path, at.line));
            self.declaring.insert((at.unit, at.file), path);
            path
        })?;
        let cited = &mut self.all[path as usize];
        cited.last_line = cited.last_line.max(at.line);
        Some(Declared { path, line: at.line })
    }

    /// All of them.
    pub(super) fn all(&self) -> &[CitedPath] {
        &self.all
    }

    fn add(&mut self, path: &SourcePath, line: u32) -> Option<u32> {
        let number = match self.numbers.get(&path.path) {
            Some(number) => *number,
            None => {
                self.left = self.left.checked_sub(path.size())?;
                let number = u32::try_from(self.all.len()).unwrap_or(NONE);
                self.numbers.insert(path.path.clone(), number);
                self.all.push(CitedPath {
                    path: path.path.clone(),
                    is_below: path.is_below,
                    raw: path.raw.clone(),
                    md5: Md5::of(path.md5),
                    last_line: 0,
                    declared: BTreeSet::new(),
                });
                number
            }
        };
        let cited = &mut self.all[number as usize];
        cited.last_line = cited.last_line.max(line);
        cited.is_below |= path.is_below;
        cited.md5 = cited.md5.and(Md5::of(path.md5));
        cited.raw = match (cited.raw.take(), &path.raw) {
            (Some(old), Some(new)) => Some(old.min(new.clone())),
            (old, new) => old.or_else(|| new.clone()),
        };
        Some(number)
    }
}
