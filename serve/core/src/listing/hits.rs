//! What a search found, as a listing.

use super::{Kind, Line, Table, called, cell};
use crate::{CitedBy, Hit, HitKind, escape, functions::spell, versioned};

/// The results, a line each: kind, address, text.
#[must_use]
pub fn hits(hits: &[Hit]) -> Vec<Line> {
    let mut table = Table::new(&["", "", ""]);
    for hit in hits {
        let (word, kind) = match hit.kind {
            HitKind::Function => ("function", Kind::Symbol),
            HitKind::Data => ("data", Kind::Symbol),
            HitKind::Tls => ("thread-local", Kind::Symbol),
            HitKind::Import => ("import", Kind::Import),
            HitKind::String => ("string", Kind::String),
            HitKind::Source => ("source", Kind::Source),
        };
        let text = match hit.kind {
            HitKind::String => escape::quoted(hit.name.text(), false),
            HitKind::Source => escape::path(hit.name.text()),
            _ => escape::name(&versioned(&hit.name, hit.version.as_ref(), hit.default)),
        };
        let mut text = cell(kind, text);
        if let Some(other) = hit.other.as_ref().filter(|_| !hit.demangled) {
            text.push(Kind::Note, "  ");
            text.push(kind, escape::name(other.text()));
        }
        if let Some(level) = hit.not_published {
            text.push(Kind::Note, format!("  text not here: {}", level.name()));
        }
        table.row(vec![
            cell(Kind::Note, word),
            cell(Kind::Address, hit.address.map(spell).unwrap_or_default()),
            text,
        ]);
    }
    table.lines(0)
}

/// The most characters that a result takes in a listing, whatever stands beside it.
pub(crate) fn hit_width(hit: &Hit) -> usize {
    // The widest word for a kind, the widest address, and what separates them.
    const BEFORE: usize = "thread-local".len() + 2 + "s65535-0123456789abcdef".len() + 2;
    let line = hits(std::slice::from_ref(hit));
    BEFORE + line.first().map_or(0, Line::width)
}

/// The functions with code from a source, a line each.
#[must_use]
pub fn cited_by(cited: &CitedBy) -> Vec<Line> {
    let mut table = Table::new(&["", ""]);
    for function in &cited.functions {
        let name = function.name.as_ref().map(called).unwrap_or_default();
        table.row(vec![cell(Kind::Address, spell(function.key.address)), cell(Kind::Symbol, name)]);
    }
    table.lines(0)
}
