//! What stands above the rows of a run: where their code comes from, and the source's lines.
//!
//! ```text
//! libio/libioP.h:848  package-verified, names 12/14
//!   inlined: _IO_acquire_lock_fct at libio/ioputs.c:36 in puts
//!      848 |   if ((fp->_flags & _IO_USER_LOCK) == 0)
//! ```
//! All rows up to the next place come from that one line; of the numbered lines it is the last.

use std::iter::Zip;

use elfscope_schema::{Name, Run};

use super::{Kind, Line, called};
use crate::{
    Edition, LeftOut, Level, SourceLines, StackLevel, Window, WindowFile, escape, interleave,
    sources::SourceLine,
};

/// Levels of inlining that are shown of a longer chain: the innermost, and last the outermost.
const LEVELS: usize = 6;
/// Digits that a line's number has room for, at least.
const DIGITS: usize = 4;
/// Spaces before the lines of a source.
const INDENT: usize = 4;

/// What was said above the runs so far.
pub(super) struct Above<'a> {
    window: &'a Window,
    /// Whether the listing tells where rows come from at all: then those of which nothing is known are told apart.
    tells: bool,
    /// Whether it tells of sources that are not published: where others are, or where their text was asked for.
    misses: bool,
    digits: usize,
    /// The lines of each run.
    shown: std::vec::IntoIter<Option<(u32, u32)>>,
    /// The file of the last place.
    file: Option<u32>,
    /// The frame of the last place, where it is still the one above.
    frame: Option<u32>,
}

impl<'a> Above<'a> {
    pub(super) fn new(edition: &Edition, window: &'a Window) -> Self {
        let shown = interleave::shown(window);
        let most = shown.iter().flatten().map(|lines| lines.1).max().unwrap_or(0);
        Self {
            window,
            tells: edition.told.rows_with_line > 0 || window.runs.iter().any(|run| run.at.is_some()),
            misses: edition.told.sources > 0
                || window.files.iter().any(|file| file.level.is_some_and(|level| !level.is_published())),
            digits: most.to_string().len().max(DIGITS),
            shown: shown.into_iter(),
            file: None,
            frame: None,
        }
    }

    /// Adds what stands above the next run.
    pub(super) fn run(&mut self, run: &Run, lines: &mut Vec<Line>) {
        let shown = self.shown.next().flatten();
        let Some(at) = &run.at else {
            if self.tells {
                lines.push(Line::of(Kind::Note, "no source line"));
            }
            self.frame = None;
            return;
        };
        let file = self.window.file(at);
        let mut place = Line::of(Kind::Source, spot(file, at.line));
        if at.line.is_none() {
            place.push(Kind::Note, "  no line: made by the compiler");
        }
        if self.file != Some(at.file) {
            place.push(Kind::Note, file.map(|file| verified(file, self.misses)).unwrap_or_default());
        }
        lines.push(place);
        let stack = self.window.stack(at);
        self.frames(&stack, at.frame.is_some() && at.frame == self.frame, lines);
        (self.file, self.frame) = (Some(at.file), at.frame);
        if let (Some(file), Some(shown)) = (file, shown) {
            self.text(file, shown, lines);
        }
    }

    /// Says what was inlined where; of code of the body's own subprogram nothing, as long as that is what the body is called.
    fn frames(&self, stack: &[StackLevel<'_>], as_above: bool, lines: &mut Vec<Line>) {
        let names = &self.window.head.names;
        let inlined: Zip<_, _> = stack.iter().zip(stack.iter().skip(1));
        let count = stack.len().saturating_sub(1);
        match stack {
            [] => {}
            [own] => {
                let other = own.function.filter(|name| !names.iter().any(|known| known.name == **name));
                if let Some(name) = other.filter(|_| !as_above) {
                    lines.push(Line::of(Kind::Note, "  in ").and(Kind::Symbol, called(name)));
                }
            }
            [inner, .., outer] if as_above && count > 1 => lines.push(
                Line::of(Kind::Note, "  inlined: ")
                    .and(Kind::Symbol, function(inner.function))
                    .and(Kind::Note, format!(" as above, {count} levels, in "))
                    .and(Kind::Symbol, function(outer.function)),
            ),
            _ => {
                for (level, (inner, outer)) in inlined.enumerate() {
                    if count > LEVELS && level + 1 == LEVELS {
                        let left = count - LEVELS;
                        lines.push(Line::of(
                            Kind::Note,
                            format!("  … {left} {} between", if left == 1 { "level" } else { "levels" }),
                        ));
                    }
                    if count > LEVELS && (LEVELS - 1..count - 1).contains(&level) {
                        continue;
                    }
                    let mut line = Line::of(Kind::Note, "  inlined: ");
                    line.push(Kind::Symbol, function(inner.function));
                    if outer.file.is_some() {
                        line.push(Kind::Note, " at ");
                        line.push(Kind::Source, spot(outer.file, outer.line));
                    }
                    line.push(Kind::Note, " in ");
                    line.push(Kind::Symbol, function(outer.function));
                    lines.push(line);
                }
            }
        }
    }

    /// Adds the source's lines, or says why they are left out.
    fn text(&self, file: &WindowFile, (first, last): (u32, u32), lines: &mut Vec<Line>) {
        let found = (first..=last).filter_map(|number| file.line(number));
        lines.extend(found.map(|line| code(line, self.digits)));
        if let (None, Some(why)) = (file.line(last), file.left_out) {
            let why = match why {
                LeftOut::Budget => "past what one request reads; ask for fewer rows",
                LeftOut::Damaged => "the archive's copy of it is damaged",
            };
            let text = format!("{}source text left out here: {why}", " ".repeat(INDENT));
            lines.push(Line::of(Kind::Note, text));
        }
    }
}

/// Lines of a source as a listing, with what is said of it where `head` asks for that.
#[must_use]
pub fn source(edition: &Edition, source: &SourceLines, head: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    if head {
        let title = Line::of(Kind::Title, escape::path(source.path.text()));
        let place = escape::name(edition.source().name.text());
        lines.push(title.and(Kind::Note, format!("  in {place}")));
        let mut say = |label: &str, line: Line| {
            let mut all = Line::of(Kind::Label, format!("  {label:<10}"));
            all.spans.extend(line.spans);
            lines.push(all);
        };
        let level = Line::of(Kind::Plain, level(source.level, source.names));
        say("level", level.and(Kind::Note, format!("; {}", source.level.about(None))));
        say("sha256", Line::of(Kind::Bytes, source.sha256.to_string()));
        let text = match (source.lines.first(), source.lines.last()) {
            (Some(first), Some(last)) if first.number > 1 || last.number < source.total => {
                format!("{} to {} of {}", first.number, last.number, source.total)
            }
            _ => format!("all {}", source.total),
        };
        say("lines", Line::of(Kind::Plain, text));
        lines.push(Line::default());
    }
    let digits = source.total.to_string().len().max(DIGITS);
    lines.extend(source.lines.iter().map(|line| code(line, digits)));
    lines
}

/// A level with how many names were found.
fn level(level: Level, names: Option<(u32, u32)>) -> String {
    let names = names.map(|(found, of)| format!(", names {found}/{of}")).unwrap_or_default();
    format!("{}{names}", level.name())
}

/// How a file was verified, as it stands behind its place.
fn verified(file: &WindowFile, misses: bool) -> String {
    match file.level {
        Some(told) if told.is_published() => format!("  {}", level(told, file.names)),
        Some(told) => format!("  source {}", told.name()),
        None if misses => "  source not published".to_owned(),
        None => String::new(),
    }
}

fn spot(file: Option<&WindowFile>, line: Option<u32>) -> String {
    let path = file.map_or_else(|| "a file without name".to_owned(), |file| escape::path(file.path.text()));
    match line {
        Some(line) => format!("{path}:{line}"),
        None => path,
    }
}

fn function(name: Option<&Name>) -> String {
    name.map_or_else(|| "a function without name".to_owned(), called)
}

fn code(line: &SourceLine, digits: usize) -> Line {
    let number = format!("{}{:>digits$} | ", " ".repeat(INDENT), line.number);
    Line::of(Kind::Note, number).and(Kind::Code, escape::code(&line.bytes))
}
