//! The source files that the debug data cites, numbered for the whole file.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    file::{File, Files, Unit, UnitId},
    lines::LineRow,
    paths::{self, SourcePath},
    walk::{self, DeclaredAt, NONE},
};
use crate::limits;

/// A cited source file.
#[derive(Clone, Debug)]
pub(crate) struct CitedPath {
    /// The path, folded.
    pub(crate) path: Vec<u8>,
    /// How many of its last parts stand below the compilation folder, where it is below it.
    pub(crate) below: Option<usize>,
    /// Folder and name as the debug data gives them, where joined they are not the path.
    pub(crate) raw: Option<(Vec<u8>, Vec<u8>)>,
    /// Its MD5, where the units that give one agree.
    pub(crate) md5: Option<[u8; 16]>,
    /// Whether units disagree about its MD5: it was another file for each.
    pub(crate) differs: bool,
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
    index: u32,
    /// The greatest line.
    last_line: u32,
    path: SourcePath,
}

/// The files that a unit's rows and call sites cite.
pub(super) fn used<'a>(
    file: &File<'a>,
    unit: &Unit<'a>,
    frames: &[walk::Frame<'a>],
    rows: &[LineRow],
) -> Vec<Used> {
    let mut lines: BTreeMap<u32, u32> = BTreeMap::new();
    let calls = frames.iter().map(|frame| (frame.call_file, frame.call_line));
    for (index, line) in rows.iter().map(|row| (row.file, row.line)).chain(calls) {
        if index != NONE {
            let last = lines.entry(index).or_default();
            *last = line.max(*last);
        }
    }
    let found = lines.into_iter().take(limits::UNIT_FILES);
    found
        .filter_map(|(index, last_line)| {
            Some(Used { index, last_line, path: paths::find(file, unit, index)? })
        })
        .collect()
}

/// All cited files.
#[derive(Debug, Default)]
pub(super) struct PathTable {
    all: Vec<CitedPath>,
    numbers: BTreeMap<Vec<u8>, u32>,
    /// Numbers of files that functions are declared in, by unit and number in its table.
    declaring: BTreeMap<(UnitId, u32), u32>,
}

impl PathTable {
    /// Enters the files of a unit. Returns, for each file of its line table, the number here or [`NONE`].
    pub(super) fn enter(&mut self, files: &Files<'_>, id: UnitId, used: &[Used]) -> Box<[u32]> {
        let length = used.last().map_or(0, |last| last.index as usize + 1);
        debug_assert!(files.unit(id).is_some() || used.is_empty(), "what is used was read");
        let mut table = vec![NONE; length];
        for file in used {
            table[file.index as usize] = self.add(&file.path, file.last_line);
        }
        table.into()
    }

    /// Enters functions that a unit declares in files that are cited.
    pub(super) fn declare(&mut self, table: &[u32], declared: &[(&[u8], u32, u32)]) {
        for (name, file, line) in declared {
            let path = table.get(*file as usize).filter(|path| **path != NONE);
            let Some(cited) = path.and_then(|path| self.all.get_mut(*path as usize)) else { continue };
            if cited.declared.len() < limits::DECLARED_A_FILE {
                cited.declared.insert((*line, name.to_vec()));
            }
        }
    }

    /// Enters the file that a function is declared in.
    pub(super) fn declared(&mut self, files: &Files<'_>, at: DeclaredAt) -> Option<Declared> {
        let known = self.declaring.get(&(at.unit, at.file)).copied();
        let path = match known {
            Some(path) => path,
            None => {
                let (file, unit) = files.unit(at.unit)?;
                let path = self.add(&paths::find(file, unit, at.file)?, at.line);
                self.declaring.insert((at.unit, at.file), path);
                path
            }
        };
        let cited = &mut self.all[path as usize];
        cited.last_line = cited.last_line.max(at.line);
        Some(Declared { path, line: at.line })
    }

    /// All of them.
    pub(super) fn all(&self) -> &[CitedPath] {
        &self.all
    }

    fn add(&mut self, path: &SourcePath, line: u32) -> u32 {
        let number = match self.numbers.get(&path.path) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.all.len()).unwrap_or(NONE);
                self.numbers.insert(path.path.clone(), number);
                self.all.push(CitedPath {
                    path: path.path.clone(),
                    below: path.below,
                    raw: path.raw.clone(),
                    md5: path.md5,
                    differs: false,
                    last_line: 0,
                    declared: BTreeSet::new(),
                });
                number
            }
        };
        let cited = &mut self.all[number as usize];
        cited.last_line = cited.last_line.max(line);
        cited.below = cited.below.max(path.below);
        if let (Some(old), Some(new)) = (cited.md5, path.md5)
            && old != new
        {
            cited.differs = true;
        }
        cited.md5 = cited.md5.or(path.md5);
        cited.raw = match (cited.raw.take(), &path.raw) {
            (Some(old), Some(new)) => Some(old.min(new.clone())),
            (old, new) => old.or_else(|| new.clone()),
        };
        number
    }
}
