//! What is at an address of data, and who refers to it.

use elfscope_core::{
    Edition, escape,
    listing::{Kind, Line},
    spell, versioned,
};
use elfscope_schema::{Address, DataItem, DataKind, Slot};

use crate::{
    commands::Context,
    failure::Failure,
    output::{
        Out, count, grouped,
        table::{Table, cell},
    },
};

/// References and slots of an item that are shown.
const SHOWN: usize = 40;

pub(super) fn show(context: &mut Context, edition: &Edition, at: Address) -> Result<(), Failure> {
    let answer = pollster::block_on(context.location.request().data(edition, at, None))?;
    if context.out.json {
        return context.out.document(&answer);
    }
    for item in &answer.value.items {
        self::item(&mut context.out, edition, at, item)?;
    }
    Ok(())
}

fn item(out: &mut Out, edition: &Edition, at: Address, item: &DataItem) -> Result<(), Failure> {
    let kind = match item.kind {
        DataKind::String => "string",
        DataKind::Object => "object",
        DataKind::Table => "pointer table",
        DataKind::Place => "place that code refers to, without a name",
    };
    let mut title = match (item.names.first(), &item.text) {
        (Some(name), _) => {
            Line::of(Kind::Title, escape::name(name.demangled.as_deref().unwrap_or(name.name.text())))
        }
        (None, Some(text)) => Line::of(Kind::String, escape::quoted(text.text(), false)),
        (None, None) => Line::of(Kind::Title, spell(item.address)),
    };
    title.push(Kind::Note, format!("  in {}", escape::name(edition.source().name.text())));
    out.line(&title)?;
    let mut is = Line::of(Kind::Plain, kind);
    if let Some(section) = &item.section {
        is.push(Kind::Plain, format!(" in {}", escape::name(section.text())));
    }
    if let Some(size) = item.size {
        is.push(Kind::Plain, format!(", {}", count(size, "byte", "bytes")));
    }
    say(out, "is", is)?;
    let mut place = Line::of(Kind::Address, spell(item.address));
    if item.address != at {
        place.push(Kind::Note, format!("  (asked for {}, inside)", spell(at)));
    }
    say(out, "at", place)?;
    let names: Vec<String> = item
        .names
        .iter()
        .map(|name| escape::name(&versioned(&name.name, name.version.as_ref(), name.default)))
        .collect();
    if !names.is_empty() {
        say(out, "names", Line::of(Kind::Symbol, names.join(", ")))?;
    }
    if !item.entries.is_empty() {
        out.line(&Line::of(Kind::Label, format!("  {}", count(item.entries_total, "slot", "slots"))))?;
        let mut table = Table::new(&["", ""]);
        for slot in item.entries.iter().take(SHOWN) {
            table.row(vec![cell(Kind::Address, slot.at.to_string()), self::slot(slot)]);
        }
        out.lines(&table.lines(4))?;
        rest(out, item.entries.len().min(SHOWN), item.entries_total)?;
    }
    if item.slots_total > 0 {
        let slots: Vec<String> = item.slots.iter().take(8).map(ToString::to_string).collect();
        let left = item.slots_total.saturating_sub(slots.len() as u64);
        let mut line = Line::of(Kind::Address, slots.join(", "));
        line.push(Kind::Note, if left > 0 { format!(", and {} more", grouped(left)) } else { String::new() });
        say(out, "held by", line)?;
    }
    if item.refs_total == 0 {
        return out.line(&Line::of(
            Kind::Label,
            "  no row of this binary refers to it by an address that is known",
        ));
    }
    out.line(&Line::of(Kind::Label, format!("  referred to by {}", count(item.refs_total, "row", "rows"))))?;
    let mut table = Table::new(&["", "", ""]);
    for reference in item.refs.iter().take(SHOWN) {
        let name = match &reference.name {
            Some(name) => cell(Kind::Symbol, escape::name(name.text())),
            None => cell(Kind::Address, reference.from.to_string()),
        };
        let mut how =
            Line::of(Kind::Note, if reference.taken { "takes its address" } else { "reads or writes" });
        if let Some(offset) = reference.offset {
            how.push(Kind::Note, format!(" at +0x{offset:x}"));
        }
        table.row(vec![cell(Kind::Address, reference.at.to_string()), name, how]);
    }
    out.lines(&table.lines(4))?;
    rest(out, item.refs.len().min(SHOWN), item.refs_total)
}

fn slot(slot: &Slot) -> Line {
    let offset = slot.offset.map(|offset| format!("+0x{offset:x}")).unwrap_or_default();
    match (&slot.name, &slot.text, slot.address) {
        (Some(name), _, address) => {
            let kind = if address.is_some() { Kind::Symbol } else { Kind::Import };
            Line::of(
                kind,
                escape::name(&format!("{}{offset}", versioned(name, slot.version.as_ref(), false))),
            )
        }
        (None, Some(text), _) => Line::of(Kind::String, escape::quoted(text, false)),
        (None, None, Some(address)) => Line::of(Kind::Address, spell(address)),
        (None, None, None) => Line::of(Kind::Note, "not known"),
    }
}

fn rest(out: &mut Out, shown: usize, total: u64) -> Result<(), Failure> {
    match total.saturating_sub(shown as u64) {
        0 => Ok(()),
        left => out.note(format!("    … {} more", grouped(left))),
    }
}

fn say(out: &mut Out, label: &str, line: Line) -> Result<(), Failure> {
    let mut all = Line::of(Kind::Label, format!("  {label:<8}"));
    all.spans.extend(line.spans);
    out.line(&all)
}
