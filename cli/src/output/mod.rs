//! What the program prints: lines of styled spans, tables, JSON; nothing else writes to the terminal.

pub(crate) mod progress;
pub(crate) mod style;

pub(crate) use elfscope_core::listing::{
    numbers::{count, grouped, share},
    table,
};
pub(crate) use progress::bar;

use std::io::{self, Write as _};

use anstream::AutoStream;
use elfscope_core::listing::{Kind, Line};
use elfscope_schema::to_canonical;
use serde::Serialize;

use crate::{exit::Exit, failure::Failure};

/// Text is written in pieces of about this size.
const PIECE: usize = 32 * 1024;

/// Standard output. Colour only on a terminal, and not where `NO_COLOR` is set.
pub(crate) struct Out {
    stream: AutoStream<io::Stdout>,
    text: String,
    /// Whether data goes out as JSON.
    pub(crate) json: bool,
}

impl Out {
    pub(crate) fn new(json: bool) -> Self {
        Self { stream: AutoStream::auto(io::stdout()), text: String::new(), json }
    }

    /// A line.
    pub(crate) fn line(&mut self, line: &Line) -> Result<(), Failure> {
        style::push(&mut self.text, line);
        self.text.push('\n');
        if self.text.len() > PIECE { self.flush() } else { Ok(()) }
    }

    /// A line of plain text.
    pub(crate) fn plain(&mut self, text: impl Into<String>) -> Result<(), Failure> {
        self.line(&Line::of(Kind::Plain, text))
    }

    /// A line that is said beside.
    pub(crate) fn note(&mut self, text: impl Into<String>) -> Result<(), Failure> {
        self.line(&Line::of(Kind::Note, text))
    }

    /// Lines.
    pub(crate) fn lines<'a>(&mut self, lines: impl IntoIterator<Item = &'a Line>) -> Result<(), Failure> {
        lines.into_iter().try_for_each(|line| self.line(line))
    }

    /// A document, on one line.
    pub(crate) fn document<T: Serialize>(&mut self, document: &T) -> Result<(), Failure> {
        self.text.push_str(&String::from_utf8_lossy(&to_canonical(document)));
        if self.text.len() > PIECE { self.flush() } else { Ok(()) }
    }

    /// Writes what is still to be written.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        let written = self.stream.write_all(self.text.as_bytes()).and_then(|()| self.stream.flush());
        self.text.clear();
        written.map_err(|error| Failure::output(&error))
    }
}

/// Says what went wrong, on standard error. Where even that can't be written, the exit code says it.
pub(crate) fn report(failure: &Failure) -> Exit {
    if failure.message.is_empty() {
        return failure.exit;
    }
    let mut text = String::new();
    style::push(&mut text, &Line::of(Kind::Mark, "error: ").and(Kind::Plain, failure.message.as_str()));
    for line in &failure.list {
        text.push_str("\n  ");
        text.push_str(line);
    }
    for hint in &failure.hints {
        text.push('\n');
        style::push(&mut text, &Line::of(Kind::Source, "hint: ").and(Kind::Plain, hint.as_str()));
    }
    text.push('\n');
    let _ = AutoStream::auto(io::stderr()).write_all(text.as_bytes());
    failure.exit
}

/// Says something beside the answer, on standard error.
pub(crate) fn aside(line: &Line) {
    let mut text = String::new();
    style::push(&mut text, line);
    text.push('\n');
    let _ = AutoStream::auto(io::stderr()).write_all(text.as_bytes());
}
