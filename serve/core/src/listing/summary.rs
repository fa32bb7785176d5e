//! What a binary is, and where every claim about it comes from, as a listing; and a catalogue of binaries.

use elfscope_schema::{Found, IndexEntry, Meta};

use super::{
    Kind, Line, Table, cell,
    numbers::{count, grouped, share},
};
use crate::{Edition, escape, functions::spell};

/// Needed libraries, compilers and diagnostics that are shown.
const SHOWN: usize = 8;
/// Sections that are shown.
const SECTIONS: usize = 40;
/// Flags of a section: it lies somewhere at run time, is written, is executed.
const ALLOC: u64 = 2;
const WRITE: u64 = 1;
const EXECINSTR: u64 = 4;
/// Characters of a build id that are shown: all of a usual one; the start of a longer one works in its place.
const ID: usize = 40;

/// What a binary is.
#[must_use]
pub fn summary(edition: &Edition, meta: &Meta) -> Vec<Line> {
    let mut lines = vec![Line::of(Kind::Title, escape::name(meta.file.name.text()))];
    let out = &mut lines;
    let mut kind =
        format!("{}-bit {}, {}, {} endian", meta.class, meta.machine.name, elf_type(meta), meta.byte_order);
    if let Some(entry) = meta.entry {
        kind = format!("{kind}, entry {}", spell(entry));
    }
    say(out, "is", Line::of(Kind::Plain, escape::text(&kind)));
    say(out, "build id", Line::of(Kind::Address, meta.build_id.as_str()));
    let mut this = Line::of(Kind::Address, edition.told.edition.as_str());
    this.push(Kind::Note, if edition.is_current { "" } else { " (not the current one)" });
    say(out, "edition", this);
    say(
        out,
        "sha256",
        Line::of(Kind::Plain, meta.file.sha256.to_string())
            .and(Kind::Note, format!(", {} bytes", grouped(meta.file.size))),
    );
    if let Some(soname) = &meta.soname {
        say(out, "soname", Line::of(Kind::Plain, escape::name(soname.text())));
    }
    if let Some(package) = &edition.told.package {
        say(out, "package", Line::of(Kind::Plain, escape::text(package)));
    }
    let needed: Vec<String> =
        meta.needed.iter().take(SHOWN).map(|needed| escape::name(needed.library.text())).collect();
    if !needed.is_empty() {
        say(out, "needs", Line::of(Kind::Plain, more(&needed, meta.needed.len())));
    }
    let compilers: Vec<String> =
        meta.compilers.iter().take(3).map(|compiler| escape::text(compiler.text.text())).collect();
    if !compilers.is_empty() {
        say(out, "made by", Line::of(Kind::Plain, more(&compilers, meta.compilers.len())));
    }
    evidence(out, meta);
    out.push(Line::default());
    counts(out, meta, edition.told.named);
    out.push(Line::default());
    say(out, "evidence", Line::of(Kind::Plain, escape::line(&edition.told.provenance)));
    for diagnostic in meta.diagnostics.items.iter().take(SHOWN) {
        let line = Line::of(Kind::Plain, escape::line(&diagnostic.message)).and(
            Kind::Note,
            format!(" ({}, {})", escape::name(&diagnostic.code), escape::name(diagnostic.subject.text())),
        );
        say(out, "note", line);
    }
    let left = meta.diagnostics.total.saturating_sub(SHOWN as u64);
    if left > 0 {
        say(out, "", Line::of(Kind::Note, format!("{} more", count(left, "note", "notes"))));
    }
    lines
}

/// The sections that lie somewhere when the binary runs, or in an object file all that hold something.
#[must_use]
pub fn sections(meta: &Meta) -> Vec<Line> {
    let mut table = Table::new(&["section", "address", "size", "may be"]);
    let flags = |flags: &str| u64::from_str_radix(flags, 16).unwrap_or(0);
    let placed: Vec<_> =
        meta.sections.items.iter().filter(|section| flags(&section.flags) & ALLOC != 0).collect();
    for section in placed.iter().take(SECTIONS) {
        let size = u64::from_str_radix(&section.size, 16).unwrap_or(0);
        table.row(vec![
            cell(Kind::Plain, escape::name(section.name.text())),
            cell(Kind::Address, spell(section.address)),
            cell(Kind::Plain, format!("0x{size:x} = {size}")),
            cell(
                Kind::Note,
                match flags(&section.flags) & (WRITE | EXECINSTR) {
                    0 => "read only",
                    WRITE => "written",
                    EXECINSTR => "executed",
                    _ => "written, executed",
                },
            ),
        ]);
    }
    let mut lines = table.lines(2);
    let left = placed.len().saturating_sub(SECTIONS) as u64;
    let unseen = meta.sections.total.saturating_sub(meta.sections.items.len() as u64);
    if left + unseen > 0 {
        lines.push(Line::of(
            Kind::Note,
            format!("  … {} not shown", count(left + unseen, "section", "sections")),
        ));
    }
    lines
}

/// Builds, a line each under a heading.
#[must_use]
pub fn builds(builds: &[IndexEntry]) -> Vec<Line> {
    // A column that says nothing is left out.
    let packages = builds.iter().any(|build| build.package.is_some());
    let head = ["name", "build id", "machine", ">functions", ">rows", ">with line", "package"];
    let mut table = Table::new(&head[..head.len() - usize::from(!packages)]);
    for build in builds {
        let mut row = vec![
            cell(Kind::Title, escape::name(build.name.text())),
            cell(Kind::Address, build.build_id.as_str().chars().take(ID).collect::<String>()),
            cell(Kind::Plain, escape::name(&build.machine)),
            cell(Kind::Plain, grouped(build.functions)),
            cell(Kind::Plain, grouped(build.rows)),
            cell(Kind::Plain, share(build.rows_with_line, build.rows)),
        ];
        if packages {
            row.push(cell(Kind::Plain, escape::name(build.package.as_deref().unwrap_or_default())));
        }
        table.row(row);
    }
    table.lines(0)
}

/// The debug files and source trees that were used.
fn evidence(out: &mut Vec<Line>, meta: &Meta) {
    for debug in meta.debug.iter().take(SHOWN) {
        let mut line = Line::of(Kind::Plain, escape::name(debug.file.name.text()));
        line.push(Kind::Note, format!("  ({}", found(debug.found)));
        if let Some(package) = &debug.package {
            line.push(
                Kind::Note,
                format!(", in {} {}", escape::text(&package.name), escape::text(&package.version)),
            );
        }
        say(out, "debug", line.and(Kind::Note, ")"));
    }
    rest(out, meta.debug.len(), "debug file", "debug files");
    for tree in meta.sources.iter().take(SHOWN) {
        let mut line = match &tree.package {
            Some(package) => Line::of(
                Kind::Plain,
                format!("{} {}", escape::text(&package.name), escape::text(&package.version)),
            ),
            None => Line::of(Kind::Plain, "a tree that names no package"),
        };
        let about = match (tree.package_verified, &tree.package) {
            (true, _) => "the package that the binary was built from: package-verified",
            (false, Some(_)) => "not known to be the package that the binary was built from",
            (false, None) => "path-matched at best",
        };
        line.push(Kind::Note, format!("  ({}; {about})", count(tree.files, "file", "files")));
        say(out, "sources", line);
    }
    rest(out, meta.sources.len(), "source tree", "source trees");
}

fn rest(out: &mut Vec<Line>, total: usize, one: &str, many: &str) {
    let left = total.saturating_sub(SHOWN) as u64;
    if left > 0 {
        say(out, "", Line::of(Kind::Note, format!("and {} more", count(left, one, many))));
    }
}

fn found(found: Found) -> &'static str {
    match found {
        Found::Given => "given, with the same build id",
        Found::Embedded => "in the binary itself",
        Found::Debuglink => "by .gnu_debuglink",
        Found::BuildIdPath => "by its build id, in a folder of debug files",
        Found::DwzAlternate => "by .gnu_debugaltlink",
        Found::Dwp => "a package of split DWARF",
        Found::Minidebuginfo => "in .gnu_debugdata",
    }
}

fn counts(out: &mut Vec<Line>, meta: &Meta, named: u64) {
    let counts = &meta.counts;
    let each = |counts: &std::collections::BTreeMap<String, u64>| {
        let each: Vec<String> = counts
            .iter()
            .map(|(name, count)| format!("{} {}", grouped(*count), escape::name(name)))
            .collect();
        each.join(", ")
    };
    say(
        out,
        "functions",
        Line::of(Kind::Plain, grouped(counts.functions)).and(
            Kind::Note,
            format!("  ({} with a name; bodies by their bounds: {})", grouped(named), each(&counts.bodies)),
        ),
    );
    let rows = Line::of(Kind::Plain, grouped(counts.rows)).and(
        Kind::Note,
        format!(
            "  ({} with a source line, {} undecoded)",
            share(counts.rows_with_line, counts.rows),
            grouped(counts.undecoded)
        ),
    );
    say(out, "rows", rows);
    let cited: u64 = counts.sources.values().sum();
    if cited > 0 {
        let line = Line::of(Kind::Plain, count(cited, "source file", "source files"))
            .and(Kind::Note, format!("  ({})", each(&counts.sources)));
        say(out, "cites", line);
    }
    say(out, "edges", Line::of(Kind::Plain, each(&counts.edges)));
    say(out, "data", Line::of(Kind::Plain, each(&counts.data)));
    let coverage = &meta.coverage;
    let line = Line::of(Kind::Plain, format!("{} executable bytes", grouped(coverage.executable))).and(
        Kind::Note,
        format!(
            "  ({} in functions, {} in no function)",
            share(coverage.functions, coverage.executable),
            share(coverage.gaps, coverage.executable)
        ),
    );
    say(out, "coverage", line);
}

fn elf_type(meta: &Meta) -> String {
    match meta.elf_type.as_str() {
        "ET_EXEC" => "executable".to_owned(),
        "ET_DYN" if meta.interpreter.is_some() => "position-independent executable".to_owned(),
        "ET_DYN" => "shared library".to_owned(),
        "ET_REL" => "relocatable object".to_owned(),
        other => other.to_owned(),
    }
}

fn more(shown: &[String], total: usize) -> String {
    let text = shown.join(", ");
    if total > shown.len() { format!("{text}, and {} more", total - shown.len()) } else { text }
}

fn say(out: &mut Vec<Line>, label: &str, line: Line) {
    let mut all = Line::of(Kind::Label, format!("  {label:<10}"));
    all.spans.extend(line.spans);
    // Nothing to say under this label.
    if all.text().len() > label.len() + 2 {
        out.push(all);
    }
}
