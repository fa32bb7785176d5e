//! Edges as a listing: the ways out of a body, and the ways into one.

use elfscope_schema::{Caller, Edge, FunctionKey};

use super::{Kind, Line, Table, called, cell, edge};
use crate::{Callee, calls::edge_at, escape, functions::spell, versioned};

/// The ways out of a body, a line each: where, what class, where to.
#[must_use]
pub fn callees(key: FunctionKey, edges: &[Edge]) -> Vec<Line> {
    let mut table = Table::new(&["", "", ""]);
    for edge in edges {
        let mut class = Line::of(Kind::Plain, escape::name(edge.class.name()));
        class.push(Kind::Note, if edge.conditional { " (conditional)" } else { "" });
        table.row(vec![cell(Kind::Address, spell(edge_at(key, edge))), class, self::edge(edge)]);
    }
    table.lines(2)
}

/// The ways in, a line each: where, what class, out of which function.
#[must_use]
pub fn callers(callers: &[Caller]) -> Vec<Line> {
    let mut table = Table::new(&["", "", ""]);
    for caller in callers {
        let mut from = match &caller.name {
            Some(name) => cell(Kind::Symbol, called(name)),
            None => cell(Kind::Address, format!("body {}", caller.from)),
        };
        if let Some(offset) = caller.at.offset.checked_sub(caller.from.address.offset) {
            from.push(Kind::Note, format!("+0x{offset:x}"));
        }
        let mut how = Line::of(Kind::Note, escape::name(caller.class.name()));
        how.push(Kind::Note, if caller.conditional { ", conditional" } else { "" });
        if let Some(offset) = caller.offset {
            how.push(Kind::Note, format!(", to +0x{offset:x}"));
        }
        table.row(vec![cell(Kind::Address, spell(caller.at)), how, from]);
    }
    table.lines(2)
}

/// What is called: a body by its name, or an imported symbol.
#[must_use]
pub fn callee(callee: &Callee) -> Line {
    match callee {
        Callee::Body(entry) => match entry.5.first() {
            Some((name, version, default)) => {
                Line::of(Kind::Title, escape::name(&versioned(name, version.as_ref(), *default)))
            }
            None => Line::of(Kind::Title, crate::key_of(entry).to_string()),
        },
        Callee::Import(entry) => {
            let name = escape::name(&versioned(&entry.name, entry.version.as_ref(), false));
            let line = Line::of(Kind::Title, name).and(Kind::Note, "  imported");
            match &entry.library {
                Some(library) => line.and(Kind::Note, format!(" from {}", escape::name(library.text()))),
                None => line,
            }
        }
    }
}
