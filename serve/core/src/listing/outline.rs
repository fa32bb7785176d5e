//! Outlines: a window in short, a line for each stretch of one source and function, and one for each way out and each string.
//!
//! ```text
//! rows 0-11  1000  libio/ioputs.c:33-36
//!   row 7    1012    -> strlen
//! ```

use elfscope_schema::{Edge, Place, ReferentKind};

use super::{Kind, Line, Options, called, edge, head};
use crate::{Edition, Window, escape, functions::spell};

/// Neighbouring runs of one file and function.
struct Stretch {
    first: u32,
    last: u32,
    at: Option<Place>,
    lines: Option<(u32, u32)>,
}

/// A window's outline.
#[must_use]
pub fn outline(edition: &Edition, window: &Window, options: Options) -> Vec<Line> {
    let mut lines = if options.head { head::lines(edition, window, options) } else { Vec::new() };
    let address = |number: u32| {
        let row = window.rows().nth((number - window.rows_from) as usize);
        row.map(|(_, row)| spell(window.key.address.plus(u64::from(row.offset)))).unwrap_or_default()
    };
    let stretches = stretches(window);
    let last = stretches.last().map_or(0, |stretch| stretch.last);
    let width = format!("rows {last}-{last}").len();
    let mut rows = window.rows().peekable();
    let mut edges = window.edges.iter().peekable();
    for stretch in stretches {
        let numbers = match stretch.first == stretch.last {
            true => format!("row {}", stretch.first),
            false => format!("rows {}-{}", stretch.first, stretch.last),
        };
        let mut line = Line::of(Kind::Note, format!("{numbers:<width$}  "));
        line.push(Kind::Address, format!("{}  ", address(stretch.first)));
        match (&stretch.at, stretch.lines) {
            (Some(at), lines) => {
                let path = window.file(at).map(|file| escape::path(file.path.text()));
                line.push(Kind::Source, path.unwrap_or_else(|| "a file without name".to_owned()));
                line.push(
                    Kind::Source,
                    match lines {
                        Some((first, last)) if first == last => format!(":{first}"),
                        Some((first, last)) => format!(":{first}-{last}"),
                        None => String::new(),
                    },
                );
                let stack = window.stack(at);
                if let [inner, .., _] = stack.as_slice()
                    && let Some(function) = inner.function
                {
                    line.push(Kind::Note, "  inlined ");
                    line.push(Kind::Symbol, called(function));
                }
            }
            (None, _) => line.push(Kind::Note, "no source line"),
        }
        lines.push(line);
        while let Some((number, row)) = rows.next_if(|(number, _)| *number <= stretch.last) {
            let mut leaving: Vec<&Edge> = Vec::new();
            while let Some(edge) = edges.next_if(|edge| edge.row <= row.offset) {
                leaving.push(edge);
            }
            let text = row.notes.to.as_ref().filter(|to| to.kind == ReferentKind::String);
            if leaving.is_empty() && text.is_none() {
                continue;
            }
            let numbers = format!("  row {number}");
            let mut line = Line::of(Kind::Note, format!("{numbers:<width$}  "));
            let at = spell(window.key.address.plus(u64::from(row.offset)));
            line.push(Kind::Address, format!("{at}    "));
            for (count, leaving) in leaving.iter().enumerate() {
                line.push(Kind::Note, if count > 0 { ", " } else { "" });
                line.spans.extend(edge(leaving).spans);
            }
            if let Some(text) = text {
                line.push(Kind::Note, if leaving.is_empty() { "" } else { ", " });
                line.push(Kind::String, escape::quoted(text.text.as_deref().unwrap_or_default(), text.cut));
            }
            lines.push(line);
        }
    }
    if let Some(next) = window.next_row {
        let left = window.head.rows_total - next;
        lines.push(Line::of(Kind::Note, format!("… {left} rows more, from row {next}")));
    }
    lines
}

fn stretches(window: &Window) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut number = window.rows_from;
    for run in window.runs.iter().filter(|run| !run.rows.is_empty()) {
        let count = u32::try_from(run.rows.len()).unwrap_or(u32::MAX);
        let last = number + count - 1;
        let line = run.at.as_ref().and_then(|at| at.line).filter(|line| *line > 0);
        let key = |at: &Option<Place>| at.as_ref().map(|at| (at.file, at.frame));
        match stretches.last_mut() {
            Some(before) if key(&before.at) == key(&run.at) => {
                before.last = last;
                before.lines = match (before.lines, line) {
                    (Some((first, last)), Some(line)) => Some((first.min(line), last.max(line))),
                    (None, Some(line)) => Some((line, line)),
                    (lines, None) => lines,
                };
            }
            _ => stretches.push(Stretch {
                first: number,
                last,
                at: run.at,
                lines: line.map(|line| (line, line)),
            }),
        }
        number += count;
    }
    stretches
}
