//! Listings: a window as lines, for a terminal and for a model from the same function.
//!
//! A line is spans of text, each of a kind that a terminal may colour; the text is the same without. Everything that a
//! binary says of itself (names, strings, paths) is escaped and cut visibly: see [`crate::escape`].

mod calls;
mod data;
mod diff;
mod head;
mod hits;
mod notes;
pub mod numbers;
mod outline;
mod source;
mod summary;
pub mod table;

use std::fmt::Write as _;

use elfscope_schema::{Edge, FunctionName, Name, Row};

use crate::{Edition, Window, escape, functions::spell};

pub use calls::{callee, callees, callers};
pub use data::data;
pub use diff::{change_counts, changes, diff_head, diff_summary, pairs};
pub(crate) use hits::hit_width;
pub use hits::{cited_by, hits};
pub use outline::outline;
pub use source::source;
pub use summary::{builds, sections, summary};
use table::{Table, cell};

/// What a span of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Plain.
    Plain,
    /// A heading.
    Title,
    /// What a value is called.
    Label,
    /// An address.
    Address,
    /// Bytes of code.
    Bytes,
    /// A mnemonic.
    Mnemonic,
    /// A name of this binary.
    Symbol,
    /// An imported name.
    Import,
    /// A string's text.
    String,
    /// A place in a source.
    Source,
    /// A line of a source.
    Code,
    /// What is not known, or said beside.
    Note,
    /// Marks the row that was asked for.
    Mark,
}

/// Some text of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What it is.
    pub kind: Kind,
    /// The text, safe to show.
    pub text: String,
}

/// One line of spans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its spans, from left to right.
    pub spans: Vec<Span>,
}

impl Line {
    /// A line of one span.
    #[must_use]
    pub fn of(kind: Kind, text: impl Into<String>) -> Self {
        Self::default().and(kind, text)
    }

    /// The line with a span after it.
    #[must_use]
    pub fn and(mut self, kind: Kind, text: impl Into<String>) -> Self {
        self.push(kind, text);
        self
    }

    /// Adds a span.
    pub fn push(&mut self, kind: Kind, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.spans.push(Span { kind, text });
        }
    }

    /// Fills up with spaces to a width in characters.
    pub fn pad(&mut self, width: usize) {
        let have = self.width();
        if have < width {
            self.push(Kind::Plain, " ".repeat(width - have));
        }
    }

    /// Its width in characters.
    #[must_use]
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| span.text.chars().count()).sum()
    }

    /// Its text.
    #[must_use]
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect::<String>().trim_end().to_owned()
    }
}

/// What a listing shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What is said of the whole body.
    pub head: bool,
    /// Of that only what it is called, its key and which rows these are.
    pub brief: bool,
    /// The number of each row before it, and large numbers in its operands as decimals behind it.
    pub numbers: bool,
    /// The bytes of each row.
    pub bytes: bool,
    /// How many rows are shown in all, where further windows stand right below this one.
    pub rows: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self { head: true, brief: false, numbers: false, bytes: true, rows: None }
    }
}

/// Bytes of a row that its column makes room for: longer units push what follows to the right.
const BYTES: usize = 8;
/// Characters of operands that their column makes room for.
const OPERANDS: usize = 30;

/// A window as lines. Above each run of rows stands where its code comes from: the place in the source and what was inlined
/// there, or that nothing says so; and the source's lines, where [`crate::Request::source_text`] put them into the window.
#[must_use]
pub fn render(edition: &Edition, window: &Window, options: Options) -> Vec<Line> {
    let mut lines = if options.head { head::lines(edition, window, options) } else { Vec::new() };
    let columns = Columns::of(window, options);
    let mut edges = window.edges.iter().peekable();
    let mut rows = window.rows_from..;
    let mut above = source::Above::new(edition, window);
    for run in &window.runs {
        above.run(run, &mut lines);
        for (row, number) in run.rows.iter().zip(&mut rows) {
            let mut leaving = Vec::new();
            while let Some(edge) = edges.next_if(|edge| edge.row <= row.offset) {
                leaving.push(edge);
            }
            let mut line = columns.row(window, row, number, window.focus == Some(number));
            let decimals = if options.numbers { notes::decimals(&row.operands) } else { Vec::new() };
            notes::add(&mut line, columns.notes_at, row, &leaving, &decimals);
            lines.push(line);
        }
    }
    if window.head.rows_total == 0 {
        lines.push(Line::of(Kind::Note, "  no rows: this version has no decoder for the machine"));
    } else if let Some(next) =
        window.next_row.filter(|_| options.rows.is_none_or(|rows| rows <= window.len()))
    {
        let left = window.head.rows_total - next;
        lines.push(Line::of(Kind::Note, format!("  … {left} rows more, from row {next}")));
    }
    lines
}

/// Where the columns of a window stand.
struct Columns {
    number: usize,
    address: usize,
    bytes: usize,
    notes_at: usize,
}

impl Columns {
    fn of(window: &Window, options: Options) -> Self {
        let last = window.key.address.plus(window.key.size);
        let widest = |length: fn(&Row) -> usize, most: usize| {
            window.rows().map(|(_, row)| length(row).min(most)).max().unwrap_or(0)
        };
        let address = last.to_string().len();
        let bytes = if options.bytes { widest(|row| row.bytes.len(), BYTES) * 3 } else { 0 };
        let code = widest(code_width, OPERANDS + 8);
        let most = window.rows_from.saturating_add(window.len()).to_string().len();
        let number = if options.numbers { most } else { 0 };
        let before = 2 + number + usize::from(number > 0) * 2 + address + 2;
        Self { number, address, bytes, notes_at: before + bytes + usize::from(bytes > 0) + code + 2 }
    }

    fn row(&self, window: &Window, row: &Row, number: u32, marked: bool) -> Line {
        let mut line =
            Line::of(if marked { Kind::Mark } else { Kind::Plain }, if marked { "> " } else { "  " });
        if self.number > 0 {
            line.push(Kind::Note, format!("{number:>0$}  ", self.number));
        }
        let address = window.key.address.plus(u64::from(row.offset));
        line.push(Kind::Address, format!("{:>1$}", address.to_string(), self.address));
        line.push(Kind::Plain, "  ");
        if self.bytes > 0 {
            let start = line.width();
            let mut bytes = String::new();
            for byte in &row.bytes {
                let _ = write!(bytes, "{byte:02x} ");
            }
            line.push(Kind::Bytes, bytes);
            line.pad(start + self.bytes + 1);
        }
        let mnemonic = escape::name(&row.mnemonic);
        let gap = " ".repeat(MNEMONIC.saturating_sub(mnemonic.chars().count()).max(1));
        line.push(Kind::Mnemonic, mnemonic);
        if !row.operands.is_empty() {
            line.push(Kind::Plain, format!("{gap}{}", escape::name(&row.operands)));
        }
        line
    }
}

/// Characters that a mnemonic's column has.
const MNEMONIC: usize = 7;

fn code_width(row: &Row) -> usize {
    row.mnemonic.chars().count().max(MNEMONIC) + row.operands.chars().count()
}

/// Where an edge leads, as it stands beside its row.
#[must_use]
pub fn edge(edge: &Edge) -> Line {
    let mut line = Line::default();
    notes::edge(&mut line, edge);
    line
}

/// How a name of a body is shown first: demangled where it has such a form.
#[must_use]
pub fn shown_name(name: &FunctionName) -> String {
    match &name.demangled {
        Some(demangled) => escape::name(demangled),
        None => escape::name(&crate::versioned(&name.name, name.version.as_ref(), name.default)),
    }
}

/// How a name that documents repeat of another body is shown: demangled where it has such a form.
#[must_use]
pub fn called(name: &Name) -> String {
    escape::name(
        &elfscope_demangle::demangle(name.text().as_bytes()).unwrap_or_else(|| name.text().to_owned()),
    )
}

/// What a body is called: its first name, or where it is.
#[must_use]
pub fn title(window: &Window) -> String {
    match window.head.names.first() {
        Some(name) => shown_name(name),
        None => format!("the code at {}", spell(window.key.address)),
    }
}
