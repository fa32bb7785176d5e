//! `show`: what a binary is, or a listing of one of its functions, or what is at an address, or lines of a source.

mod data;
mod linked;
mod source;
mod summary;

use elfscope_core::{
    Answer, Edition, Error, LeftOut, Link, Place, Window, escape,
    link::View,
    listing::{self, Options},
    window::{From, MOST_ROWS},
};
use elfscope_schema::FunctionEntry;

use super::Context;
use crate::{args, exit::Exit, failure::Failure};

/// Shows what a binary is, a listing of one of its functions, or one of its sources.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  elfscope show libc.so.6\n  elfscope show libc.so.6 puts\n  \
    elfscope show libc.so.6 puts --source\n  elfscope show libc.so.6 0x80e50\n  \
    elfscope show libc.so.6 src:libio/ioputs.c:30-50\n  elfscope show ./a.out main --all | less -R\n  \
    elfscope show libc.so.6 puts --from 3 --rows 4 --cite\n  elfscope show '#v=1&b=…&w=listing&f=…&r=3-6'")]
pub(crate) struct Show {
    #[arg(value_name = "BUILD|LINK", help = args::BUILD_OR_LINK)]
    build: String,
    #[arg(value_name = "FUNCTION|0xADDRESS|src:PATH[:FROM-TO]", help = args::SHOWN)]
    function: Option<String>,
    /// Show the source's lines between the rows, where the archive has them
    #[arg(long)]
    source: bool,
    /// First row to show, from 0
    #[arg(long, value_name = "ROW")]
    from: Option<u32>,
    /// Most rows to show [default: 200, and 40 around an address]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rows: Option<u32>,
    /// Show all rows
    #[arg(long, conflicts_with = "rows")]
    all: bool,
    /// Leave the bytes of the instructions out
    #[arg(long)]
    no_bytes: bool,
    /// Print what a citation needs: the link of exactly these rows, pinned to the edition, and the rows
    #[arg(long, conflicts_with = "all")]
    cite: bool,
}

/// Rows of a function that are shown where nothing else is asked for.
const ROWS: u32 = 200;
/// So few rows are not shown in smaller parts to make room for their source.
const FEW: u32 = 20;
/// Rows around an address, and before it.
const AROUND: (u32, u32) = (40, 12);

impl Show {
    pub(crate) fn run(&self, context: &mut Context) -> Result<Exit, Failure> {
        if Link::is_meant(&self.build) {
            linked::show(context, &self.build)?;
            return Ok(Exit::Done);
        }
        let edition = context.location.edition(&self.build)?;
        let Some(function) = &self.function else {
            summary::show(context, &edition, &self.build)?;
            return Ok(Exit::Done);
        };
        if let Some(asked) = function.strip_prefix(source::SOURCE) {
            if self.from.is_some() || self.rows.is_some() {
                return Err(Failure::new(Exit::Usage, "`--from` and `--rows` are for functions")
                    .hint("lines of a source are asked for as `src:PATH:FROM-TO`"));
            }
            source::show(context, &edition, &self.build, asked, self.all)?;
            return Ok(Exit::Done);
        }
        let place = pollster::block_on(context.location.request().place(&edition, function))?;
        match place {
            Place::Body(entry, at) => {
                let (from, rows) = match self.from {
                    Some(row) => (From::Row(row), ROWS),
                    None if at == entry.0 => (From::Row(0), ROWS),
                    None if self.all => (From::Row(0), ROWS),
                    None => (From::Address(at, AROUND.1), AROUND.0),
                };
                let rows = if self.all { u32::MAX } else { self.rows.unwrap_or(rows) };
                self.listing(context, &edition, &entry, from, rows)?;
            }
            Place::Data(at) => data::show(context, &edition, at)?,
            Place::Tls(name, at) => {
                let name = escape::name(name.text());
                let offset = elfscope_core::spell(at);
                context
                    .out
                    .plain(format!("{name} is thread-local: it stands at {offset} of each thread's block"))?;
            }
            Place::Import(name, version) => {
                let name = elfscope_core::versioned(&name, version.as_ref(), false);
                let shown = escape::name(&name);
                return Err(Failure::new(
                    Exit::Usage,
                    format!("`{shown}` is imported here: its code is in another file"),
                )
                .hint(format!(
                    "who calls it: {}",
                    context.location.command(&["callers", &self.build, &format!("import:{name}")])
                )));
            }
        }
        Ok(Exit::Done)
    }

    /// A listing, in as many requests as it takes.
    fn listing(
        &self,
        context: &mut Context,
        edition: &Edition,
        entry: &FunctionEntry,
        from: From,
        rows: u32,
    ) -> Result<(), Failure> {
        let mut from = from;
        let mut left = rows;
        let mut options = Options { bytes: !self.no_bytes, ..Options::default() };
        loop {
            let answer = self.window(context, edition, entry, from, left.min(MOST_ROWS))?;
            let window = &answer.value;
            if self.cite {
                return self.citation(context, edition, window);
            }
            options.rows = Some(left);
            left = left.saturating_sub(window.len());
            let next = window.next_row;
            if context.out.json {
                context.out.document(&answer)?;
            } else {
                let lines = listing::render(edition, window, options);
                context.out.lines(&lines)?;
                options.head = false;
                if let Some(row) = next.filter(|_| left == 0) {
                    let key = elfscope_core::key_of(entry).to_string();
                    let row = row.to_string();
                    let mut args = vec!["show", &self.build, &key, "--from", &row];
                    args.extend(self.source.then_some("--source"));
                    let line = context.location.command(&args);
                    context.out.note(format!("  go on: {line}"))?;
                }
            }
            match next {
                Some(row) if left > 0 => from = From::Row(row),
                _ => return Ok(()),
            }
        }
    }
}

impl Show {
    /// The link of these rows, and the rows.
    fn citation(&self, context: &mut Context, edition: &Edition, window: &Window) -> Result<(), Failure> {
        let mut link = Link::of(edition, View::Listing);
        link.function = Some(window.key);
        link.shown = self.source.then(|| "source".to_owned());
        let (from, len) = (u64::from(window.rows_from), u64::from(window.len()));
        link.rows = len.checked_sub(1).map(|last| (from, from + last));
        link.focus = window.focus.map(u64::from);
        context.out.plain(link.url(""))?;
        context.out.plain("")?;
        let options = Options {
            head: false,
            numbers: true,
            bytes: !self.no_bytes,
            rows: Some(window.len()),
            ..Options::default()
        };
        let mut cited = window.clone();
        cited.next_row = None;
        context.out.lines(&listing::render(edition, &cited, options))
    }

    /// One window, with its source where that is asked for: of fewer rows where their source would not all fit a request.
    fn window(
        &self,
        context: &Context,
        edition: &Edition,
        entry: &FunctionEntry,
        from: From,
        rows: u32,
    ) -> Result<Answer<Window>, Failure> {
        let mut rows = rows;
        loop {
            let mut request = context.location.request();
            let answer = pollster::block_on(request.window(edition, entry, from, rows));
            let mut answer = answer.map_err(|error| out_of_range(error, entry))?;
            if !self.source {
                return Ok(answer);
            }
            pollster::block_on(request.source_text(edition, &mut answer.value))?;
            let len = answer.value.len();
            let is_left_out = answer.value.files.iter().any(|file| file.left_out == Some(LeftOut::Budget));
            if !is_left_out || len <= FEW {
                return Ok(answer);
            }
            rows = len / 2;
        }
    }
}

fn out_of_range(error: Error, entry: &FunctionEntry) -> Failure {
    let is_range = matches!(error, Error::OutOfRange { .. });
    let failure = Failure::from(error);
    if is_range { failure.hint(format!("the body is {}", elfscope_core::key_of(entry))) } else { failure }
}
