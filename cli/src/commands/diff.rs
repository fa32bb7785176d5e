//! `diff`: what differs between two builds, or two functions.

use std::path::Path;

use elfscope_core::{
    Compared, Edition, FunctionDiff, HitKind,
    diff::{
        Change, Changed, PairWindow, RowPair, Summary,
        builds::{Basis, BuildDiff, Counts, MOST},
        functions::{self, Side, Verdict},
    },
    escape,
    listing::{Kind, Line, called},
    spell, versioned,
};
use elfscope_schema::{FunctionEntry, Row};

use super::{Context, Paging};
use crate::{
    args,
    exit::Exit,
    failure::Failure,
    output::{
        count, grouped,
        table::{Table, cell},
    },
};

/// Tells what differs between two builds, or between two functions.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Functions of two builds belong together by name and version; one that only the first has counts as moved where \
    the second has equal code under another name. Ends with 1 where anything differs.\n\n\
    Examples:\n  elfscope diff libz.so.1.2 libz.so.1.3\n  elfscope diff libz.so.1.2:deflate libz.so.1.3\n  \
    elfscope diff ./a.out:main ./b.out:main --context 3"
)]
pub(crate) struct DiffOf {
    #[arg(value_name = "BUILD[:FUNCTION]", help = args::SIDE)]
    a: String,
    #[arg(value_name = "BUILD[:FUNCTION]", help = args::SIDE)]
    b: String,
    /// Of two functions: only rows that differ, with so many equal ones around each
    #[arg(long, value_name = "ROWS")]
    context: Option<u32>,
    #[command(flatten)]
    paging: Paging,
}

impl DiffOf {
    pub(crate) fn run(&self, context: &mut Context) -> Result<Exit, Failure> {
        let (build_a, function_a) = split(&self.a);
        let (build_b, function_b) = split(&self.b);
        let a = context.location.edition(build_a)?;
        let b = context.location.edition(build_b)?;
        let cursor = match (function_a, function_b) {
            (None, None) => self.builds(context, &a, &b)?,
            (None, Some(_)) => {
                return Err(Failure::new(Exit::Usage, "a build can't be compared with a function")
                    .hint("name a function on both sides, or on the first: `BUILD:FUNCTION`"));
            }
            (Some(one), other) => {
                let find = |edition: &Edition, text: &str| {
                    pollster::block_on(context.location.request().function(edition, text))
                };
                let (entry_a, _) = find(&a, one)?;
                let (entry_b, _) = find(&b, other.unwrap_or(one))?;
                self.functions(context, (&a, &entry_a), (&b, &entry_b))?
            }
        };
        let (differs, cursor) = cursor;
        if let Some(cursor) = cursor.filter(|_| !context.out.json) {
            let rows = self.context.map(|rows| rows.to_string());
            let mut args = vec!["diff", &self.a, &self.b, "--cursor", &cursor];
            args.extend(rows.iter().flat_map(|rows| ["--context", rows]));
            context.out.note(format!("more: {} (or `--all`)", context.location.command(&args)))?;
        }
        Ok(if differs { Exit::Differs } else { Exit::Done })
    }

    /// Whether the builds differ in what was looked at, and where to go on.
    fn builds(
        &self,
        context: &mut Context,
        a: &Edition,
        b: &Edition,
    ) -> Result<(bool, Option<String>), Failure> {
        let mut cursor = self.paging.cursor.clone();
        let (mut shown, mut differs) = (0, false);
        let mut counts = Counts::default();
        loop {
            let limit = self.paging.left(shown).min(MOST);
            let mut request = context.location.request();
            let answer = pollster::block_on(request.diff_builds(a, b, &[], limit, cursor.as_deref()))?;
            shown += answer.value.changes.len();
            differs |= !answer.value.changes.is_empty();
            add(&mut counts, &answer.value.counts);
            cursor.clone_from(&answer.next_cursor);
            if context.out.json {
                context.out.document(&answer)?;
            } else {
                tell_builds(context, &answer)?;
            }
            if cursor.is_none() || self.paging.left(shown) == 0 {
                break;
            }
        }
        if !context.out.json {
            let part = if cursor.is_some() || self.paging.cursor.is_some() { " in this part" } else { "" };
            context.out.note(format!("{}{part}", told_counts(&counts)))?;
        }
        Ok((differs, cursor))
    }

    fn functions(
        &self,
        context: &mut Context,
        a: (&Edition, &FunctionEntry),
        b: (&Edition, &FunctionEntry),
    ) -> Result<(bool, Option<String>), Failure> {
        let mut cursor = self.paging.cursor.clone();
        let (mut shown, mut head) = (0, true);
        loop {
            let limit = self.paging.left(shown).min(functions::MOST);
            let window = PairWindow { context: self.context, limit, cursor: cursor.as_deref() };
            let answer = pollster::block_on(context.location.request().diff_functions(a, b, window))?;
            shown += answer.value.pairs.len();
            cursor.clone_from(&answer.next_cursor);
            let total = answer.value.total;
            if context.out.json {
                context.out.document(&answer)?;
            } else {
                if std::mem::take(&mut head) {
                    context.out.lines(&function_head(&answer.value))?;
                }
                context.out.lines(&row_table(&answer.value.pairs))?;
            }
            if cursor.is_none() || self.paging.left(shown) == 0 {
                return Ok((total.changed + total.only_a + total.only_b > 0, cursor));
            }
        }
    }
}

/// The build and the function of a side. The path of a file may have colons, and so may a function's name.
fn split(text: &str) -> (&str, Option<&str>) {
    if Path::new(text).is_file() {
        return (text, None);
    }
    match text.split_once(':') {
        Some((build, function)) => (build, Some(function)),
        None => (text, None),
    }
}

fn add(counts: &mut Counts, more: &Counts) {
    counts.added += more.added;
    counts.removed += more.removed;
    counts.changed += more.changed;
    counts.equal += more.equal;
    counts.same_shape += more.same_shape;
    counts.unknown += more.unknown;
}

fn told_counts(counts: &Counts) -> String {
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

fn tell_builds(context: &mut Context, answer: &Compared<BuildDiff>) -> Result<(), Failure> {
    if let Some(summary) = &answer.value.summary {
        context.out.lines(&summary_lines(summary))?;
    }
    let mut table = Table::new(&["", "", "", "", ""]);
    for change in &answer.value.changes {
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
    context.out.lines(&table.lines(0))
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

fn summary_lines(summary: &Summary) -> Vec<Line> {
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

fn function_head(diff: &FunctionDiff) -> Vec<Line> {
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

fn row_table(pairs: &[RowPair]) -> Vec<Line> {
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
    for pair in pairs {
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
