//! `diff`: what differs between two builds, or two functions.

use std::path::Path;

use elfscope_core::{
    Edition,
    diff::{
        PairWindow,
        builds::{Counts, MOST},
        functions,
    },
    listing,
};
use elfscope_schema::FunctionEntry;

use super::{Context, Paging};
use crate::{args, exit::Exit, failure::Failure};

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
                if let Some(summary) = &answer.value.summary {
                    context.out.lines(&listing::diff_summary(summary))?;
                }
                context.out.lines(&listing::changes(&answer.value.changes))?;
            }
            if cursor.is_none() || self.paging.left(shown) == 0 {
                break;
            }
        }
        if !context.out.json {
            let part = if cursor.is_some() || self.paging.cursor.is_some() { " in this part" } else { "" };
            context.out.note(format!("{}{part}", listing::change_counts(&counts)))?;
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
                    context.out.lines(&listing::diff_head(&answer.value))?;
                }
                context.out.lines(&listing::pairs(&answer.value.pairs))?;
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
