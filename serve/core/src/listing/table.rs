//! Tables: columns as wide as what stands in them.

use super::{Kind, Line};

/// A table. Numbers stand to the right, all else to the left.
#[derive(Clone, Debug, Default)]
pub struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<Line>>,
    right: Vec<bool>,
}

impl Table {
    /// A table with these headings; one that starts with `>` is of numbers.
    #[must_use]
    pub fn new(head: &[&'static str]) -> Self {
        Self {
            head: head.iter().map(|name| name.trim_start_matches('>')).collect(),
            rows: Vec::new(),
            right: head.iter().map(|name| name.starts_with('>')).collect(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Line>) {
        self.rows.push(cells);
    }

    /// The table's lines, each after `indent` spaces.
    #[must_use]
    pub fn lines(&self, indent: usize) -> Vec<Line> {
        let head: Vec<Line> = self.head.iter().map(|name| Line::of(Kind::Label, *name)).collect();
        let has_head = self.head.iter().any(|name| !name.is_empty());
        let all: Vec<&Vec<Line>> = has_head.then_some(&head).into_iter().chain(&self.rows).collect();
        let width =
            |column: usize| all.iter().filter_map(|row| row.get(column)).map(Line::width).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        all.iter()
            .map(|row| {
                let mut line = Line::of(Kind::Plain, " ".repeat(indent));
                let mut end = indent;
                for (column, cell) in row.iter().enumerate() {
                    let free = widths[column].saturating_sub(cell.width());
                    let before = if self.right[column] { free } else { 0 };
                    line.push(Kind::Plain, " ".repeat(before));
                    line.spans.extend(cell.spans.iter().cloned());
                    end += widths[column] + 2;
                    line.pad(end);
                }
                line
            })
            .collect()
    }
}

/// A cell of one kind.
#[must_use]
pub fn cell(kind: Kind, text: impl Into<String>) -> Line {
    Line::of(kind, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align() {
        let mut table = Table::new(&["name", ">rows"]);
        for (name, rows) in [("a", "1"), ("longer", "12,345")] {
            table.row(vec![cell(Kind::Symbol, name), cell(Kind::Plain, rows)]);
        }
        let lines: Vec<String> = table.lines(1).iter().map(Line::text).collect();
        assert_eq!(lines, [" name      rows", " a            1", " longer  12,345"]);
    }
}
