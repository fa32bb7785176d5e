//! Progress: a bar on a terminal, a line a file in a pipe; always on standard error.

use std::io::{self, IsTerminal as _};

use elfscope_core::{
    escape,
    listing::{Kind, Line},
};
use elfscope_ingest::Progress;
use indicatif::{ProgressBar, ProgressStyle};

use super::{aside, count};

/// How far a command is.
pub(crate) enum Shown {
    /// A bar.
    Bar(ProgressBar),
    /// Lines.
    Lines,
}

impl Shown {
    /// What suits standard error.
    pub(crate) fn new() -> Self {
        if !io::stderr().is_terminal() {
            return Self::Lines;
        }
        let bar = ProgressBar::new(0);
        let template = "{spinner} {bar:24} {percent:>3} %  {pos}/{len} bodies  {wide_msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸─"));
        }
        bar.enable_steady_tick(std::time::Duration::from_millis(120));
        Self::Bar(bar)
    }

    /// Takes the bar away, so that what follows stands in its place.
    pub(crate) fn clear(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Shown {
    fn total(&self, files: u64) {
        match self {
            Self::Bar(bar) => bar.set_message(count(files, "file", "files")),
            Self::Lines if files > 1 => aside(&Line::of(Kind::Note, format!("reading {files} files"))),
            Self::Lines => {}
        }
    }

    fn start(&self, name: &str, bodies: u64) {
        let name = escape::name(name);
        match self {
            Self::Bar(bar) => {
                bar.inc_length(bodies);
                bar.set_message(name);
            }
            Self::Lines => {
                let text = format!("reading {name}: {}", count(bodies, "body of code", "bodies of code"));
                aside(&Line::of(Kind::Note, text));
            }
        }
    }

    fn advance(&self, bodies: u64) {
        if let Self::Bar(bar) = self {
            bar.inc(bodies);
        }
    }
}

/// A bar over a number that is known; nothing in a pipe.
pub(crate) struct Bar(Option<ProgressBar>);

/// A bar for one thing that is done.
pub(crate) fn bar(doing: &str, of: &str) -> Bar {
    if !io::stderr().is_terminal() {
        return Bar(None);
    }
    let bar = ProgressBar::new(0);
    if let Ok(style) =
        ProgressStyle::with_template(&format!("{doing} {{bar:24}} {{percent:>3}} %  {{pos}}/{{len}} {of}"))
    {
        bar.set_style(style.progress_chars("━╸─"));
    }
    Bar(Some(bar))
}

impl Bar {
    /// So much is done of so much.
    pub(crate) fn at(&self, done: u64, total: u64) {
        if let Some(bar) = &self.0 {
            bar.set_length(total);
            bar.set_position(done);
        }
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
