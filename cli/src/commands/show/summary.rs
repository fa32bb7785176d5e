//! What a binary is, and where every claim comes from.

use elfscope_core::{
    Edition, escape,
    listing::{Kind, Line},
    spell,
};
use elfscope_schema::{Found, Meta};

use crate::{
    commands::Context,
    failure::Failure,
    output::{Out, count, grouped, share},
};

/// Needed libraries, compilers and diagnostics that are shown.
const SHOWN: usize = 8;

pub(super) fn show(context: &mut Context, edition: &Edition, build: &str) -> Result<(), Failure> {
    let meta = pollster::block_on(context.location.request().meta(edition))?;
    let out = &mut context.out;
    if out.json {
        return out.document(&*meta);
    }
    out.line(&Line::of(Kind::Title, escape::name(meta.file.name.text())))?;
    let mut kind =
        format!("{}-bit {}, {}, {} endian", meta.class, meta.machine.name, elf_type(&meta), meta.byte_order);
    if let Some(entry) = meta.entry {
        kind = format!("{kind}, entry {}", spell(entry));
    }
    say(out, "is", Line::of(Kind::Plain, escape::text(&kind)))?;
    say(out, "build id", Line::of(Kind::Address, meta.build_id.as_str()))?;
    let mut this = Line::of(Kind::Address, edition.told.edition.as_str());
    this.push(Kind::Note, if edition.is_current { "" } else { " (not the current one)" });
    say(out, "edition", this)?;
    say(
        out,
        "sha256",
        Line::of(Kind::Plain, meta.file.sha256.to_string())
            .and(Kind::Note, format!(", {} bytes", grouped(meta.file.size))),
    )?;
    if let Some(soname) = &meta.soname {
        say(out, "soname", Line::of(Kind::Plain, escape::name(soname.text())))?;
    }
    if let Some(package) = &edition.told.package {
        say(out, "package", Line::of(Kind::Plain, escape::text(package)))?;
    }
    let needed: Vec<String> =
        meta.needed.iter().take(SHOWN).map(|needed| escape::name(needed.library.text())).collect();
    if !needed.is_empty() {
        say(out, "needs", Line::of(Kind::Plain, more(&needed, meta.needed.len())))?;
    }
    let compilers: Vec<String> =
        meta.compilers.iter().take(3).map(|compiler| escape::text(compiler.text.text())).collect();
    if !compilers.is_empty() {
        say(out, "made by", Line::of(Kind::Plain, more(&compilers, meta.compilers.len())))?;
    }
    evidence(out, &meta)?;
    out.plain("")?;
    counts(out, &meta, edition.told.named)?;
    out.plain("")?;
    say(out, "evidence", Line::of(Kind::Plain, escape::line(&edition.told.provenance)))?;
    for diagnostic in meta.diagnostics.items.iter().take(SHOWN) {
        let line = Line::of(Kind::Plain, escape::line(&diagnostic.message)).and(
            Kind::Note,
            format!(" ({}, {})", escape::name(&diagnostic.code), escape::name(diagnostic.subject.text())),
        );
        say(out, "note", line)?;
    }
    let left = meta.diagnostics.total.saturating_sub(SHOWN as u64);
    if left > 0 {
        say(out, "", Line::of(Kind::Note, format!("{} more", count(left, "note", "notes"))))?;
    }
    out.plain("")?;
    let mut next = vec![("a function", vec!["show", build, "NAME"])];
    if edition.told.sources > 0 {
        next.push(("with its source", vec!["show", build, "NAME", "--source"]));
    }
    next.push(("find one", vec!["search", build, "TEXT"]));
    for (what, args) in next {
        out.note(format!("{what}: {}", context.location.command(&args)))?;
    }
    Ok(())
}

/// The debug files and source trees that were used.
fn evidence(out: &mut Out, meta: &Meta) -> Result<(), Failure> {
    for debug in meta.debug.iter().take(SHOWN) {
        let mut line = Line::of(Kind::Plain, escape::name(debug.file.name.text()));
        line.push(Kind::Note, format!("  ({}", found(debug.found)));
        if let Some(package) = &debug.package {
            line.push(
                Kind::Note,
                format!(", in {} {}", escape::text(&package.name), escape::text(&package.version)),
            );
        }
        say(out, "debug", line.and(Kind::Note, ")"))?;
    }
    rest(out, meta.debug.len(), "debug file", "debug files")?;
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
        say(out, "sources", line)?;
    }
    rest(out, meta.sources.len(), "source tree", "source trees")
}

fn rest(out: &mut Out, total: usize, one: &str, many: &str) -> Result<(), Failure> {
    match total.saturating_sub(SHOWN) {
        0 => Ok(()),
        left => say(out, "", Line::of(Kind::Note, format!("and {} more", count(left as u64, one, many)))),
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

fn counts(out: &mut Out, meta: &Meta, named: u64) -> Result<(), Failure> {
    let counts = &meta.counts;
    let bounds: Vec<String> =
        counts.bodies.iter().map(|(from, bodies)| format!("{} {from}", grouped(*bodies))).collect();
    say(
        out,
        "functions",
        Line::of(Kind::Plain, grouped(counts.functions)).and(
            Kind::Note,
            format!("  ({} with a name; bodies by their bounds: {})", grouped(named), bounds.join(", ")),
        ),
    )?;
    let rows = Line::of(Kind::Plain, grouped(counts.rows)).and(
        Kind::Note,
        format!(
            "  ({} with a source line, {} undecoded)",
            share(counts.rows_with_line, counts.rows),
            grouped(counts.undecoded)
        ),
    );
    say(out, "rows", rows)?;
    let cited: u64 = counts.sources.values().sum();
    let sources: Vec<String> = counts
        .sources
        .iter()
        .map(|(level, sources)| format!("{} {}", grouped(*sources), escape::name(level)))
        .collect();
    if cited > 0 {
        let line = Line::of(Kind::Plain, count(cited, "source file", "source files"))
            .and(Kind::Note, format!("  ({})", sources.join(", ")));
        say(out, "cites", line)?;
    }
    let edges: Vec<String> =
        counts.edges.iter().map(|(class, edges)| format!("{} {class}", grouped(*edges))).collect();
    say(out, "edges", Line::of(Kind::Plain, edges.join(", ")))?;
    let data: Vec<String> =
        counts.data.iter().map(|(kind, items)| format!("{} {kind}", grouped(*items))).collect();
    say(out, "data", Line::of(Kind::Plain, data.join(", ")))?;
    let coverage = &meta.coverage;
    let line = Line::of(Kind::Plain, format!("{} executable bytes", grouped(coverage.executable))).and(
        Kind::Note,
        format!(
            "  ({} in functions, {} in no function)",
            share(coverage.functions, coverage.executable),
            share(coverage.gaps, coverage.executable)
        ),
    );
    say(out, "coverage", line)
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

fn say(out: &mut Out, label: &str, line: Line) -> Result<(), Failure> {
    let mut all = Line::of(Kind::Label, format!("  {label:<10}"));
    all.spans.extend(line.spans);
    if all.text().len() <= label.len() + 2 {
        // Nothing to say under this label.
        return Ok(());
    }
    out.line(&all)
}
