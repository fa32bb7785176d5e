//! The line table of a unit (DWARF 5, section 6.2), for look-up by address.

use super::{CodeRanges, unit::Program};
use crate::limits;

/// The sequences of a unit's line table and their rows.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// By their end.
    sequences: Vec<Sequence>,
    rows: Vec<LineRow>,
}

/// A range without holes.
#[derive(Clone, Copy, Debug)]
struct Sequence {
    start: u64,
    end: u64,
    /// Its rows, as a range.
    rows: (u32, u32),
}

/// From this address up to the next row's on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineRow {
    pub(super) address: u64,
    /// The file's number in the unit's table.
    pub(super) file: u32,
    /// The line; 0 for code that the compiler made.
    pub(super) line: u32,
}

impl Lines {
    /// Runs a line program. A sequence that starts where no code is belongs to a function that the linker left out.
    /// What comes after an error is lost.
    ///
    /// # Errors
    /// What is wrong, beside what was read before it.
    pub(super) fn read(program: &Program<'_>, code: &CodeRanges) -> (Self, Option<String>) {
        let mut lines = Self::default();
        let mut rows = program.clone().rows();
        // Rows have addresses of their own, so there are no more of them than bytes of code.
        let most =
            usize::try_from(code.bytes()).unwrap_or(usize::MAX).saturating_add(limits::LINE_ROWS_LEAST);
        let mut first = 0;
        let error = loop {
            match rows.next_row() {
                Ok(Some((_, row))) if row.end_sequence() => {
                    lines.close(first, row.address(), code);
                    first = lines.rows.len();
                }
                Ok(Some((_, row))) => {
                    let line = row.line().map_or(0, |line| u32::try_from(line.get()).unwrap_or(u32::MAX));
                    let file = u32::try_from(row.file_index()).unwrap_or(u32::MAX);
                    let row = LineRow { address: row.address(), file, line };
                    match lines.rows[first..].last_mut() {
                        // Of rows at one address the last one holds.
                        Some(last) if last.address == row.address => *last = row,
                        Some(last) if (last.file, last.line) == (row.file, row.line) => {}
                        _ => lines.rows.push(row),
                    }
                    if lines.rows.len() >= most {
                        break Some(format!(
                            "it has more than {most} rows, for {} bytes of code",
                            code.bytes()
                        ));
                    }
                }
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        lines.rows.truncate(first);
        lines.rows.shrink_to_fit();
        lines.sequences.sort_by_key(|sequence| (sequence.end, sequence.start));
        (lines, error)
    }

    /// Ends a sequence, or forgets it.
    fn close(&mut self, first: usize, end: u64, code: &CodeRanges) {
        let start = self.rows.get(first).map(|row| row.address);
        let sorted = self.rows[first..].is_sorted_by_key(|row| row.address);
        match start {
            Some(start) if start < end && code.has(start) => {
                if !sorted {
                    // Producers keep them sorted (section 6.2.5); a stable sort keeps the last of equals last.
                    self.rows[first..].sort_by_key(|row| row.address);
                }
                let rows = (first as u32, self.rows.len() as u32);
                self.sequences.push(Sequence { start, end, rows });
            }
            _ => self.rows.truncate(first),
        }
    }

    /// The row that an address belongs to, and the address after the last one that does.
    pub(super) fn find(&self, address: u64) -> Option<(LineRow, u64)> {
        let at = self.sequences.partition_point(|sequence| sequence.end <= address);
        let sequence = self.sequences.get(at).filter(|sequence| sequence.start <= address)?;
        let rows = &self.rows[sequence.rows.0 as usize..sequence.rows.1 as usize];
        let after = rows.partition_point(|row| row.address <= address);
        let row = *rows[..after].last()?;
        Some((row, rows.get(after).map_or(sequence.end, |next| next.address)))
    }

    /// All rows, in no order that means something.
    pub(super) fn rows(&self) -> &[LineRow] {
        &self.rows
    }

    /// The ranges that it covers.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        self.sequences.iter().map(|sequence| (sequence.start, sequence.end))
    }

    /// The bytes that it takes in memory.
    pub(super) fn size(&self) -> usize {
        size_of_val(&*self.sequences) + size_of_val(&*self.rows)
    }
}
