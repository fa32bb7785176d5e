//! Data as a listing: what stands at an address, what a table's slots hold, and which rows refer to it.

use elfscope_schema::{Address, DataItem, DataKind, Slot};

use super::{
    Kind, Line, Table, called, cell,
    numbers::{bytes, count, grouped},
};
use crate::{Edition, escape, functions::spell, versioned};

/// Slots that hold an item's address that are named.
const HELD: usize = 8;

/// An item as lines, with at most so many of its slots and of the rows that refer to it. An item that goes on from an earlier
/// page says only what is new.
#[must_use]
pub fn data(edition: &Edition, asked: Address, item: &DataItem, most: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let goes_on = item.refs_from > 0 || item.entries_from > 0;
    let mut title = match (item.names.first(), &item.text) {
        (Some(name), _) => {
            Line::of(Kind::Title, escape::name(name.demangled.as_deref().unwrap_or(name.name.text())))
        }
        (None, Some(text)) => Line::of(Kind::String, escape::quoted(text.text(), false)),
        (None, None) => Line::of(Kind::Title, spell(item.address)),
    };
    title.push(Kind::Note, format!("  in {}", escape::name(edition.source().name.text())));
    title.push(Kind::Note, if goes_on { ", going on" } else { "" });
    lines.push(title);
    if !goes_on {
        head(asked, item, &mut lines);
    }
    if !item.entries.is_empty() {
        lines.push(Line::of(Kind::Label, format!("  {}", count(item.entries_total, "slot", "slots"))));
        let mut table = Table::new(&["", ""]);
        for slot in item.entries.iter().take(most) {
            table.row(vec![cell(Kind::Address, spell(slot.at)), self::slot(slot)]);
        }
        lines.extend(table.lines(4));
        rest(&mut lines, item.entries_from, item.entries.len().min(most), item.entries_total);
    }
    if item.refs_total == 0 {
        let text = "  no row of this binary refers to it by an address that is known";
        lines.push(Line::of(Kind::Label, text));
        return lines;
    }
    lines.push(Line::of(Kind::Label, format!("  referred to by {}", count(item.refs_total, "row", "rows"))));
    let mut table = Table::new(&["", "", ""]);
    for reference in item.refs.iter().take(most) {
        let name = match &reference.name {
            Some(name) => cell(Kind::Symbol, called(name)),
            None => cell(Kind::Address, reference.from.to_string()),
        };
        let mut how =
            Line::of(Kind::Note, if reference.taken { "takes its address" } else { "reads or writes" });
        if let Some(offset) = reference.offset {
            how.push(Kind::Note, format!(" at +0x{offset:x}"));
        }
        table.row(vec![cell(Kind::Address, spell(reference.at)), how, name]);
    }
    lines.extend(table.lines(4));
    rest(&mut lines, item.refs_from, item.refs.len().min(most), item.refs_total);
    lines
}

fn head(asked: Address, item: &DataItem, lines: &mut Vec<Line>) {
    let mut say = |label: &str, line: Line| {
        let mut all = Line::of(Kind::Label, format!("  {label:<8}"));
        all.spans.extend(line.spans);
        lines.push(all);
    };
    let mut is = Line::of(
        Kind::Plain,
        match item.kind {
            DataKind::String => "string",
            DataKind::Object => "object",
            DataKind::Table => "pointer table",
            DataKind::Place => "place that code refers to, without a name",
        },
    );
    if let Some(section) = &item.section {
        is.push(Kind::Plain, format!(" in {}", escape::name(section.text())));
    }
    if let Some(size) = item.size {
        is.push(Kind::Plain, format!(", {}", bytes(size)));
    }
    say("is", is);
    let mut place = Line::of(Kind::Address, spell(item.address));
    if let Some(inside) = asked.offset.checked_sub(item.address.offset).filter(|inside| *inside > 0) {
        place.push(Kind::Note, format!("  (asked for {}, +0x{inside:x} inside)", spell(asked)));
    }
    say("at", place);
    let names: Vec<String> = item
        .names
        .iter()
        .take(HELD)
        .map(|name| escape::name(&versioned(&name.name, name.version.as_ref(), name.default)))
        .collect();
    if !names.is_empty() {
        let left = item.names.len() - names.len();
        let mut line = Line::of(Kind::Symbol, names.join(", "));
        line.push(Kind::Note, if left > 0 { format!(", and {left} more") } else { String::new() });
        say("names", line);
    }
    if item.slots_total > 0 {
        let slots: Vec<String> = item.slots.iter().take(HELD).copied().map(spell).collect();
        let left = item.slots_total.saturating_sub(slots.len() as u64);
        let mut line = Line::of(Kind::Address, slots.join(", "));
        line.push(Kind::Note, if left > 0 { format!(", and {} more", grouped(left)) } else { String::new() });
        say("held by", line);
    }
}

fn slot(slot: &Slot) -> Line {
    let offset = slot.offset.map(|offset| format!("+0x{offset:x}")).unwrap_or_default();
    let mut line = match (&slot.name, &slot.text, slot.address) {
        (Some(name), _, address) => {
            let kind = if address.is_some() { Kind::Symbol } else { Kind::Import };
            Line::of(
                kind,
                escape::name(&format!("{}{offset}", versioned(name, slot.version.as_ref(), false))),
            )
        }
        (None, Some(text), _) => Line::of(Kind::String, escape::quoted(text, false)),
        (None, None, Some(_)) => Line::default(),
        (None, None, None) => Line::of(Kind::Note, "not known"),
    };
    if let Some(address) = slot.address {
        let gap = if line.spans.is_empty() { "" } else { "  at " };
        line.push(Kind::Note, gap);
        line.push(Kind::Address, spell(address));
    }
    line
}

fn rest(lines: &mut Vec<Line>, from: u64, shown: usize, total: u64) {
    let left = total.saturating_sub(from + shown as u64);
    if left > 0 {
        lines.push(Line::of(Kind::Note, format!("    … {} more", grouped(left))));
    }
}
