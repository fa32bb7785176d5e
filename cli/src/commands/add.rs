//! `add`: binaries into the archive.

mod hints;

use std::{num::NonZeroUsize, path::PathBuf};

use elfscope_core::{
    escape,
    listing::{Kind, Line},
    short,
};
use elfscope_ingest::{AddOptions, Added, Outcome, Report, SourceMap, Standing};
use elfscope_schema::Diagnostic;
use serde::Serialize;

use super::Context;
use crate::{
    exit::Exit,
    failure::{Failure, chain},
    output::{
        self, Out, count, grouped,
        progress::Shown,
        share,
        table::{Table, cell},
    },
};

/// Adds binaries to the archive.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Adding what is there already does nothing and says so. The same input gives the same bytes.\n\n\
    Examples:\n  elfscope add /lib/x86_64-linux-gnu/libc.so.6\n  elfscope add ./target/release --jobs 2\n  \
    elfscope add libc.so.6 --debug libc.so.6.debug\n  \
    elfscope add libc6_2.36_amd64.deb --debug libc6-dbg_2.36_amd64.deb --source glibc_2.36.dsc\n  \
    elfscope add ./hello --source . --source-map /build=.\n\n\
    With --json, a document a line. For each file that is in the archive now, `outcome` is `added`, `already_there` or\n\
    `same_content`, with build_id, edition, current, name, input, functions, rows, rows_with_line, sources, diagnostics,\n\
    diagnostics_first (at most 5), and sources_to_give: each with folder, example, missing, mismatched, ambiguous, flags to add with,\n\
    and where it is known the command to fetch them. For each that can't be read `outcome` is `refused`, with input and\n\
    error. Last, where something was left out, `left_out`, with skipped_files, skipped_debug_files and all notes.\n\
    Exit code 3 if anything was refused; what could be added is in the archive."
)]
pub(crate) struct Add {
    /// ELF files; folders and packages (.deb, .ddeb, .udeb, .tar, .tar.gz, .tar.xz, .tar.zst, .tar.bz2): every ELF file
    /// in them is added
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Debug data of the inputs: a separate debug file (.debug), a package of them, or a folder
    #[arg(long, value_name = "FILE|PACKAGE|DIR")]
    debug: Vec<PathBuf>,
    /// Use only the debug data that is given: nothing beside the inputs or in /usr/lib/debug
    #[arg(long)]
    only_given: bool,
    /// Sources that the binaries were compiled from: a folder, a tarball, a Debian source package (.dsc), or a folder with
    /// one; only files that fit what the debug data says are published
    #[arg(long, value_name = "DIR|TARBALL|DSC")]
    source: Vec<PathBuf>,
    /// Where a folder of the debug data is in the sources: FROM=TO, TO inside a --source (`.` is its root)
    #[arg(long, value_name = "FROM=TO", value_parser = source_map)]
    source_map: Vec<SourceMap>,
    /// Threads to use [default: all cores]; it changes no byte of the result
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

/// Most refusals and notes that are listed for a person.
const LISTED: usize = 40;

/// What became of an input, as JSON.
#[derive(Serialize)]
struct Told<'a> {
    build_id: String,
    current: bool,
    diagnostics: u64,
    diagnostics_first: &'a [Diagnostic],
    edition: String,
    functions: u64,
    input: std::borrow::Cow<'a, str>,
    name: &'a str,
    outcome: &'static str,
    rows: u64,
    rows_with_line: u64,
    sources: u64,
    sources_to_give: Vec<hints::Told<'a>>,
}

/// What became of an input that can't be read, as JSON.
#[derive(Serialize)]
struct Refused<'a> {
    error: String,
    input: std::borrow::Cow<'a, str>,
    outcome: &'static str,
}

/// What was come across and left out, as JSON.
#[derive(Serialize)]
struct LeftOut<'a> {
    notes: &'a [String],
    outcome: &'static str,
    skipped_debug_files: u64,
    skipped_files: u64,
}

fn source_map(text: &str) -> Result<SourceMap, String> {
    SourceMap::parse(text).map_err(|error| chain(&error))
}

impl Add {
    pub(crate) fn run(&self, context: &mut Context) -> Result<Exit, Failure> {
        let archive = context.location.create()?;
        let options = AddOptions {
            debug: &self.debug,
            only_given: self.only_given,
            sources: &self.source,
            source_maps: &self.source_map,
            jobs: self.jobs,
            ..AddOptions::new(&self.inputs)
        };
        let progress = Shown::new();
        let report = elfscope_ingest::add(&archive, &options, &progress);
        progress.clear();
        let report = report?;
        if context.out.json {
            for added in &report.added {
                context.out.document(&told(added))?;
            }
            for (input, error) in &report.failed {
                let (input, error) = (input.to_string_lossy(), chain(error));
                context.out.document(&Refused { error, input, outcome: "refused" })?;
            }
            if report.skipped_files + report.skipped_debug > 0 || !report.notes.is_empty() {
                context.out.document(&LeftOut {
                    notes: &report.notes,
                    outcome: "left_out",
                    skipped_debug_files: report.skipped_debug,
                    skipped_files: report.skipped_files,
                })?;
            }
        } else {
            say(&mut context.out, &report)?;
            if let [one] = report.added.as_slice() {
                let short = short(&one.build_id);
                context.out.note(format!("look into it: {}", context.location.command(&["show", short])))?;
            }
        }
        failed(context, &report)
    }
}

/// Says what was added.
fn say(out: &mut Out, report: &Report) -> Result<(), Failure> {
    if !report.added.is_empty() {
        let added: Vec<&Added> = report.added.iter().collect();
        out.lines(&table(&added).lines(0))?;
    }
    for added in &report.added {
        let why = match added.standing {
            Standing::Current => None,
            Standing::Behind => Some("another edition of it says as much or more and stays the current one"),
            Standing::OtherFile => {
                Some("another file has this build id and stays the current one, until you promote this one")
            }
            Standing::NoneCurrent => Some(
                "another file has this build id, of which no edition is left: promote this one to find it",
            ),
        };
        if let Some(why) = why {
            let (name, build, edition) = (escape::name(&added.name), &added.build_id, &added.edition);
            out.note(format!("{name}: {why}; this one is {build}/{edition}"))?;
        }
        for diagnostic in &added.first_diagnostics {
            let line = Line::of(Kind::Note, format!("{}: ", escape::name(&added.name)))
                .and(Kind::Plain, escape::line(&diagnostic.message))
                .and(
                    Kind::Note,
                    format!(" ({}, {})", diagnostic.code, escape::name(diagnostic.subject.text())),
                );
            out.line(&line)?;
        }
        let left = added.diagnostics.saturating_sub(added.first_diagnostics.len() as u64);
        if left > 0 && !added.first_diagnostics.is_empty() {
            out.note(format!(
                "{}: {} more",
                escape::name(&added.name),
                count(left, "diagnostic", "diagnostics")
            ))?;
        }
    }
    out.lines(&hints::lines(&report.added))?;
    if report.skipped_files > 0 {
        out.note(format!("{} left out: not ELF", count(report.skipped_files, "file", "files")))?;
    }
    if report.skipped_debug > 0 {
        out.note(format!(
            "{} left out: no code in them; `--debug` takes them beside their binaries",
            count(report.skipped_debug, "separate debug file", "separate debug files")
        ))?;
    }
    for note in report.notes.iter().take(LISTED) {
        out.note(escape::line(note))?;
    }
    if report.notes.len() > LISTED {
        out.note(format!("and {} more such notes, which `--json` lists", report.notes.len() - LISTED))?;
    }
    Ok(())
}

/// What was added, one line each.
pub(crate) fn table(added: &[&Added]) -> Table {
    let mut table = Table::new(&["", "name", "build id", ">functions", ">rows", ">with line", ">sources"]);
    for added in added {
        let outcome = match added.outcome {
            Outcome::Added => cell(Kind::String, "added"),
            Outcome::AlreadyThere => cell(Kind::Note, "there already"),
            Outcome::SameContent => cell(Kind::Note, "same content"),
        };
        table.row(vec![
            outcome,
            cell(Kind::Title, escape::name(&added.name)),
            cell(Kind::Address, short(&added.build_id)),
            cell(Kind::Plain, grouped(added.functions)),
            cell(Kind::Plain, grouped(added.rows)),
            cell(Kind::Plain, share(added.rows_with_line, added.rows)),
            cell(Kind::Plain, grouped(added.sources)),
        ]);
    }
    table
}

/// The exit of a run of which some inputs may have failed; they are told last.
fn failed(context: &mut Context, report: &Report) -> Result<Exit, Failure> {
    let total = report.failed.len() + report.added.len();
    let failure = match report.failed.as_slice() {
        [] => return Ok(Exit::Done),
        [(_, error)] if total == 1 => Failure::new(Exit::Input, chain(error)),
        several => {
            let mut failure = Failure::new(
                Exit::Input,
                format!("{} of {} can't be read", several.len(), count(total as u64, "input", "inputs")),
            );
            failure.list = several.iter().take(LISTED).map(|(_, error)| chain(error)).collect();
            if several.len() > LISTED {
                failure.list.push(format!("and {} more, which `--json` lists", several.len() - LISTED));
            }
            failure
        }
    };
    // What was added stands above the refusals.
    context.out.flush()?;
    Ok(output::report(&failure))
}

fn told(added: &Added) -> Told<'_> {
    Told {
        build_id: added.build_id.to_string(),
        current: added.standing == Standing::Current,
        diagnostics: added.diagnostics,
        diagnostics_first: &added.first_diagnostics,
        edition: added.edition.to_string(),
        functions: added.functions,
        input: added.input.to_string_lossy(),
        name: &added.name,
        outcome: match added.outcome {
            Outcome::Added => "added",
            Outcome::AlreadyThere => "already_there",
            Outcome::SameContent => "same_content",
        },
        rows: added.rows,
        rows_with_line: added.rows_with_line,
        sources: added.sources,
        sources_to_give: added.hints.iter().map(hints::Told::of).collect(),
    }
}
