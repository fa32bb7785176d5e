//! What a listing says first: names, bounds, digests of the body.

use elfscope_schema::{BodyKind, FunctionName, Origin};

use super::{Kind, Line, Options, notes, numbers, title};
use crate::{Edition, Window, escape, versioned};

/// Most names that are shown beside the first.
const NAMES: usize = 6;
/// Most parts of the same subprogram that are shown.
const PARTS: usize = 8;

pub(super) fn lines(edition: &Edition, window: &Window, options: Options) -> Vec<Line> {
    let mut first = Line::of(Kind::Title, title(window));
    first.push(Kind::Note, format!("  in {}", escape::name(edition.source().name.text())));
    let mut lines = vec![first];
    let mut say = |label: &str, line: Line| {
        let mut all = Line::of(Kind::Label, format!("  {label:<10}"));
        all.spans.extend(line.spans);
        lines.push(all);
    };
    match options.brief {
        true => say("key", Line::of(Kind::Address, window.key.to_string())),
        false => whole(window, &mut say),
    }
    rows(window, options, &mut say);
    lines.push(Line::default());
    lines
}

/// Which rows these are.
fn rows(window: &Window, options: Options, say: &mut impl FnMut(&str, Line)) {
    let head = &window.head;
    if head.rows_total > 0 {
        let shown = window.len().max(options.rows.unwrap_or(0));
        let end = window.rows_from.saturating_add(shown).min(head.rows_total);
        let text = match window.rows_from {
            0 if end == head.rows_total => format!("all {end}"),
            from => format!("{from} to {} of {}", end.saturating_sub(1), head.rows_total),
        };
        say(
            "rows",
            Line::of(Kind::Plain, text).and(
                Kind::Note,
                match head.edges_total {
                    0 => "; no calls or jumps out".to_owned(),
                    1 => "; 1 call or jump out".to_owned(),
                    edges => format!("; {edges} calls and jumps out"),
                },
            ),
        );
    }
}

/// All else that is said of the body.
fn whole(window: &Window, say: &mut impl FnMut(&str, Line)) {
    let head = &window.head;
    let (what, beside) = kind(head.kind);
    let mut is = Line::of(Kind::Plain, what);
    if let Some(section) = &head.section {
        is.push(Kind::Plain, format!(" in {}", escape::name(section.text())));
    }
    is.push(Kind::Plain, format!(", {}", numbers::bytes(window.key.size)));
    is.push(Kind::Note, format!("; bounds from {}", origin(head.bounds)));
    is.push(Kind::Note, beside);
    say("is", is);
    say("key", Line::of(Kind::Address, window.key.to_string()));
    let mut names = Line::default();
    for (at, name) in head.names.iter().take(NAMES).enumerate() {
        names.push(Kind::Plain, if at > 0 { ", " } else { "" });
        names.push(Kind::Symbol, escape::name(&versioned(&name.name, name.version.as_ref(), name.default)));
        names.push(Kind::Note, about(name));
    }
    let left = (head.names_total as usize).saturating_sub(NAMES.min(head.names.len()));
    if left > 0 {
        names.push(Kind::Note, format!(", and {left} more"));
    }
    if names.spans.is_empty() {
        names.push(Kind::Note, "none: no symbol table names it");
    }
    say("names", names);
    if let Some(signature) = &head.signature {
        say("signature", Line::of(Kind::Plain, escape::name(signature)));
    }
    if let Some(declared) = &head.declared {
        let place = format!("{}:{}", escape::path(declared.file.text()), declared.line);
        say("declared", Line::of(Kind::Source, place));
    }
    if let Some(target) = &head.leads {
        let mut leads = Line::default();
        notes::target(&mut leads, target);
        say("leads to", leads);
    }
    if let Some(claimed) = head.claimed_size {
        let mut size = if claimed == 0 {
            Line::of(Kind::Plain, "nothing gives its size: it is inferred from the code and what follows")
        } else {
            Line::of(Kind::Plain, format!("its symbol claims {claimed} bytes"))
        };
        if let Some(next) = head.runs_into.first() {
            size.push(Kind::Plain, format!(", which would run into {next}"));
            if head.runs_into.len() > 1 {
                size.push(Kind::Plain, format!(" and {} more", head.runs_into.len() - 1));
            }
        }
        say("size", size);
    }
    if !head.parts.is_empty() {
        let parts: Vec<String> = head.parts.iter().take(PARTS).map(ToString::to_string).collect();
        let left = head.parts.len() - parts.len();
        let line = Line::of(Kind::Address, parts.join(", "));
        say(
            "parts",
            line.and(Kind::Note, if left > 0 { format!(", and {left} more") } else { String::new() }),
        );
    }
    if let Some(digests) = &head.digests {
        let mut line = Line::of(Kind::Bytes, digests.body.to_string());
        line.push(
            Kind::Note,
            match digests.unknown {
                0 => " body, nothing unknown".to_owned(),
                1 => " body, 1 field unknown".to_owned(),
                unknown => format!(" body, {unknown} fields unknown"),
            },
        );
        line.push(Kind::Plain, "; ");
        line.push(Kind::Bytes, digests.shape.to_string());
        line.push(Kind::Note, " shape");
        say("digests", line);
    }
}

fn about(name: &FunctionName) -> String {
    let mut words: Vec<&str> = Vec::new();
    words.extend(name.binding.as_deref().filter(|binding| *binding != "global"));
    words.extend(name.visibility.as_deref().filter(|visibility| *visibility != "default"));
    words.extend(name.symbol_type.as_deref().filter(|kind| *kind != "func"));
    if words.is_empty() { String::new() } else { format!(" ({})", escape::name(&words.join(", "))) }
}

fn kind(kind: BodyKind) -> (&'static str, &'static str) {
    match kind {
        BodyKind::Function => ("function", ""),
        BodyKind::Ifunc => {
            ("resolver", "; it runs at load time and chooses the function that is then called")
        }
        BodyKind::Stub => ("linker's stub", ""),
        BodyKind::Gap => ("gap", "; nothing says that this is a function"),
    }
}

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Symtab => ".symtab",
        Origin::Dynsym => ".dynsym",
        Origin::Dwarf => "a DWARF subprogram",
        Origin::Minidebuginfo => ".gnu_debugdata",
        Origin::Gopclntab => ".gopclntab",
        Origin::EhFrame => ".eh_frame",
        Origin::Exidx => ".ARM.exidx",
        Origin::Entry => "the file's entry points",
        Origin::Stub => "the shape of the stub section",
        Origin::Inferred => "what lies around it",
    }
}
