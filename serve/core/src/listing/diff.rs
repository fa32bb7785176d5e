//! What differs between two builds or two functions, as a listing.

use elfscope_schema::Row;

use super::{
    Kind, Line, Table, called, cell,
    numbers::{count, grouped},
};
use crate::{
    HitKind,
    diff::{
        Change, Changed, FunctionDiff, RowPair, Summary,
        builds::{Basis, Counts},
        functions::{Side, Verdict},
    },
    escape,
    functions::spell,
    versioned,
};

/// How many names differ how.
#[must_use]
pub fn change_counts(counts: &Counts) -> String {
    let mut text = format!(
        "{} changed, {} only in the first, {} only in the second, {} equal",
        grouped(counts.changed),
        grouped(counts.removed),
        grouped(counts.added),
        grouped(counts.equal)
    );
    if counts.same_shape > 0 {
        let names = count(counts.same_shape, "has", "have");
        text = format!("{text}; {names} equal digests but references without names, so may differ in those");
    }
    if counts.unknown > 0 {
        text = format!("{text}; {} without digests", grouped(counts.unknown));
    }
    text
}

/// The differences of two builds, a line each.
#[must_use]
pub fn changes(changes: &[Change]) -> Vec<Line> {
    let mut table = Table::new(&["", "", "", "", ""]);
    for change in changes {
        let (word, kind) = match change.change {
            Changed::Added => ("added", Kind::Code),
            Changed::Removed => ("removed", Kind::Mark),
            Changed::Changed => ("changed", Kind::Label),
            Changed::Moved => ("moved", Kind::Source),
        };
        let address = |at: &Option<elfscope_schema::Address>| at.map(spell).unwrap_or_default();
        table.row(vec![
            cell(kind, word),
            cell(Kind::Note, kind_name(change.kind)),
            cell(Kind::Address, address(&change.a)),
            cell(Kind::Address, address(&change.b)),
            change_line(change),
        ]);
    }
    table.lines(0)
}

fn change_line(change: &Change) -> Line {
    let name = match &change.demangled {
        Some(demangled) => escape::name(demangled),
        None => escape::name(&versioned(&change.name, change.version.as_ref(), false)),
    };
    let mut line = Line::of(Kind::Symbol, name);
    let same: Vec<String> = change
        .same_code
        .iter()
        .flatten()
        .map(|same| same.name.as_ref().map_or_else(|| same.key.to_string(), called))
        .collect();
    if !same.is_empty() {
        line.push(Kind::Note, format!("  equal code: {}", same.join(", ")));
    }
    if change.basis == Some(Basis::SameNameInOrder) {
        line.push(Kind::Note, "  of several so named, paired in order of address");
    }
    line
}

/// What both files are, and what they need that differs.
#[must_use]
pub fn diff_summary(summary: &Summary) -> Vec<Line> {
    let mut lines = Vec::new();
    for (side, file) in [("a", &summary.a), ("b", &summary.b)] {
        let digest = file.file.sha256.to_string();
        lines.push(
            Line::of(Kind::Label, format!("{side}  "))
                .and(Kind::Title, escape::name(file.file.name.text()))
                .and(
                    Kind::Note,
                    format!(
                        "  {}, {}, {}, sha256 {}",
                        file.machine,
                        count(file.functions, "function", "functions"),
                        count(file.rows, "row", "rows"),
                        &digest[..12]
                    ),
                ),
        );
    }
    if summary.same_file {
        lines.push(Line::of(Kind::Note, "the same file"));
    }
    for (word, list) in [("no longer needs", &summary.needed_removed), ("now needs", &summary.needed_added)] {
        if !list.is_empty() {
            let list: Vec<String> = list.iter().map(|one| escape::name(one)).collect();
            lines.push(Line::of(Kind::Note, format!("{word} ")).and(Kind::Import, list.join(", ")));
        }
    }
    lines
}

fn kind_name(kind: HitKind) -> &'static str {
    match kind {
        HitKind::Function => "function",
        HitKind::Data => "data",
        HitKind::Tls => "thread-local",
        HitKind::Import => "import",
        HitKind::String => "string",
        HitKind::Source => "source",
    }
}

/// What is said of two functions before their rows.
#[must_use]
pub fn diff_head(diff: &FunctionDiff) -> Vec<Line> {
    let mut lines = Vec::new();
    for (side, body) in [("a", &diff.function_a), ("b", &diff.function_b)] {
        let name = body.name.as_ref().map(called).unwrap_or_default();
        let about = format!("  {}, {}", body.key, count(body.rows, "row", "rows"));
        lines.push(Line::of(Kind::Label, format!("{side}  ")).and(Kind::Title, name).and(Kind::Note, about));
    }
    let verdict = match diff.verdict {
        Verdict::Equal => "equal: the same code, by its digest",
        Verdict::SameShape => "same shape: what its fields refer to differs or isn't known",
        Verdict::Different => "different code",
        Verdict::Unknown => "no digest says whether the code is the same",
    };
    let total = &diff.total;
    lines.push(Line::of(
        Kind::Note,
        format!(
            "{verdict}; rows: {} equal, {} changed, {} only in a, {} only in b",
            grouped(total.equal),
            grouped(total.changed),
            grouped(total.only_a),
            grouped(total.only_b)
        ),
    ));
    lines
}

/// Aligned rows: numbers in `a` and in `b`, and what the row says.
#[must_use]
pub fn pairs(aligned: &[RowPair]) -> Vec<Line> {
    let mut table = Table::new(&["", ">", ">", ""]);
    let number = |row: &Option<(u32, Row)>| {
        cell(Kind::Address, row.as_ref().map(|(number, _)| number.to_string()).unwrap_or_default())
    };
    let text = |row: &(u32, Row)| {
        let row = &row.1;
        let space = if row.operands.is_empty() { "" } else { " " };
        Line::of(Kind::Mnemonic, escape::text(&row.mnemonic))
            .and(Kind::Plain, format!("{space}{}", escape::text(&row.operands)))
            .and(Kind::Note, referent(row))
    };
    let none = || cell(Kind::Plain, "");
    for pair in aligned {
        let mut row = |mark: &str, kind, a, b, text| table.row(vec![cell(kind, mark), a, b, text]);
        match (pair.side, &pair.a, &pair.b) {
            (Side::Changed, Some(a), Some(b)) => {
                row("<", Kind::Mark, number(&pair.a), none(), text(a));
                row(">", Kind::Code, none(), number(&pair.b), text(b));
            }
            (Side::OnlyA, Some(a), _) => row("-", Kind::Mark, number(&pair.a), none(), text(a)),
            (Side::OnlyB, _, Some(b)) => row("+", Kind::Code, none(), number(&pair.b), text(b)),
            (_, _, Some(b)) => row(" ", Kind::Plain, number(&pair.a), number(&pair.b), text(b)),
            _ => {}
        }
    }
    table.lines(0)
}

/// What a row refers to.
fn referent(row: &Row) -> String {
    let Some(to) = &row.notes.to else { return String::new() };
    let offset = to.offset.map(|offset| format!("+0x{offset:x}")).unwrap_or_default();
    match (&to.text, &to.name) {
        (Some(text), _) => format!("  {}", escape::quoted(text, to.cut)),
        (None, Some(name)) => {
            format!("  {}{offset}", escape::name(&versioned(name, to.version.as_ref(), false)))
        }
        (None, None) => String::new(),
    }
}
