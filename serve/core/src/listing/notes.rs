//! What stands beside a row: where control goes, and what its operand refers to.

use elfscope_schema::{Edge, EdgeClass, EdgeKind, EdgeTarget, Name, Referent, ReferentKind, Relocation, Row};

use super::{Kind, Line};
use crate::{escape, functions::spell};

/// Adds a row's notes to its line, from the column `at` on.
pub(super) fn add(line: &mut Line, at: usize, row: &Row, edges: &[&Edge], decimals: &[String]) {
    let mut notes = Line::default();
    for edge in edges {
        separate(&mut notes);
        self::edge(&mut notes, edge);
    }
    if let Some(to) = &row.notes.to
        && (edges.is_empty() || to.kind == ReferentKind::String)
    {
        separate(&mut notes);
        referent(&mut notes, to);
    }
    for relocation in &row.notes.relocations {
        separate(&mut notes);
        self::relocation(&mut notes, relocation);
    }
    for decimal in decimals {
        separate(&mut notes);
        notes.push(Kind::Note, decimal.as_str());
    }
    if !notes.spans.is_empty() {
        line.pad(at);
        line.push(Kind::Note, if line.width() > at { " ; " } else { "; " });
        line.spans.append(&mut notes.spans);
    }
}

/// The immediate numbers of operands that read otherwise in decimal, with what they are there: `0x408 = 1032`. One that could be
/// negative is told both ways.
pub(super) fn decimals(operands: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = operands;
    while let Some(at) = rest.find(['$', '#']) {
        let marked = &rest[at + 1..];
        let (sign, digits) = match marked.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", marked),
        };
        rest = marked;
        let Some(digits) = digits.strip_prefix("0x") else { continue };
        let end = digits.bytes().take_while(u8::is_ascii_hexdigit).count();
        let Ok(value) = u64::from_str_radix(&digits[..end], 16) else { continue };
        let signed = match end {
            16 if value >> 63 == 1 => Some(value.cast_signed()),
            8 if value >> 31 == 1 => Some(i64::from(u32::try_from(value).unwrap_or(0).cast_signed())),
            _ => None,
        };
        match (signed, value) {
            (_, 0..10) => {}
            (Some(signed), _) => found.push(format!("{sign}0x{value:x} = {value}, signed {signed}")),
            (None, _) => found.push(format!("{sign}0x{value:x} = {sign}{value}")),
        }
    }
    found
}

fn separate(notes: &mut Line) {
    if !notes.spans.is_empty() {
        notes.push(Kind::Note, ", ");
    }
}

/// One edge: where it leads, and how sure that is.
pub(super) fn edge(notes: &mut Line, edge: &Edge) {
    let word = match edge.kind {
        EdgeKind::Fallthrough => "falls through to ",
        EdgeKind::Call | EdgeKind::Jump => "-> ",
    };
    notes.push(Kind::Note, word);
    let class = match &edge.class {
        EdgeClass::Direct | EdgeClass::IntoBody => String::new(),
        EdgeClass::Tail => {
            if edge.kind == EdgeKind::Fallthrough {
                String::new()
            } else {
                "tail ".to_owned()
            }
        }
        EdgeClass::Import => "import ".to_owned(),
        EdgeClass::Ifunc => "chosen at run time by ".to_owned(),
        EdgeClass::InternalUnresolved => "no known function: ".to_owned(),
        EdgeClass::Indirect if edge.switch => "indirect, maybe a switch in this body".to_owned(),
        EdgeClass::Indirect => "indirect: not statically resolvable".to_owned(),
        EdgeClass::Other(name) => format!("{} ", escape::name(name)),
    };
    notes.push(Kind::Note, class);
    if let Some(target) = &edge.target {
        self::target(notes, target);
    }
}

/// Where an edge or a stub leads: a name with its offset, version and the stub it goes through, or an address.
pub(super) fn target(notes: &mut Line, target: &EdgeTarget) {
    // What is imported lies in no body here.
    let kind = if target.key.is_none() && target.address.is_none() { Kind::Import } else { Kind::Symbol };
    match (target.names.first(), target.address) {
        (Some(name), _) => notes.push(kind, with(name, target.version.as_ref(), target.offset)),
        (None, Some(address)) => notes.push(Kind::Address, spell(address)),
        (None, None) => {}
    }
    if let Some(library) = &target.library {
        notes.push(Kind::Note, format!(" of {}", escape::name(library.text())));
    }
    match (target.stub, target.slot) {
        (Some(stub), _) => notes.push(Kind::Note, format!(" (via stub {})", stub.address)),
        (None, Some(slot)) => notes.push(Kind::Note, format!(" (via slot {slot})")),
        (None, None) => {}
    }
}

fn referent(notes: &mut Line, to: &Referent) {
    let name = to.name.as_ref().map(|name| with(name, to.version.as_ref(), to.offset));
    let address = to.address.map(spell);
    match to.kind {
        ReferentKind::String => {
            notes.push(Kind::String, escape::quoted(to.text.as_deref().unwrap_or_default(), to.cut));
            if let Some(offset) = to.offset {
                notes.push(Kind::Note, format!(" from +0x{offset:x}"));
            }
        }
        ReferentKind::Function | ReferentKind::Object => {
            let shown = name.or(address).unwrap_or_default();
            notes.push(Kind::Symbol, format!("<{shown}>"));
        }
        ReferentKind::Import => {
            notes.push(Kind::Note, "import ");
            notes.push(Kind::Import, name.unwrap_or_default());
            if let Some(address) = address {
                notes.push(Kind::Note, format!(" (slot {})", address.trim_start_matches("0x")));
            }
        }
        ReferentKind::Ifunc => {
            notes.push(Kind::Note, "slot filled at load time by ");
            notes.push(Kind::Symbol, name.or(address).unwrap_or_default());
        }
        ReferentKind::Pointer => {
            notes.push(Kind::Note, "slot that holds ");
            notes.push(Kind::Symbol, format!("<{}>", name.or(address).unwrap_or_default()));
        }
        ReferentKind::Data => {
            notes.push(Kind::Address, address.unwrap_or_default());
            if let Some(section) = &to.name {
                notes.push(Kind::Note, format!(" in {}", escape::name(section.text())));
            }
        }
    }
}

fn relocation(notes: &mut Line, relocation: &Relocation) {
    notes.push(Kind::Note, format!("relocation {} at +{}: ", relocation.r_type, relocation.at));
    if let Some(symbol) = &relocation.symbol {
        notes.push(Kind::Symbol, escape::name(symbol.text()));
    }
    match relocation.addend.as_str() {
        "0" => {}
        addend if addend.starts_with('-') || relocation.symbol.is_none() => {
            notes.push(Kind::Plain, escape::name(addend));
        }
        addend => notes.push(Kind::Plain, format!("+{}", escape::name(addend))),
    }
}

/// A name as a note shows it: demangled where it has such a form, with version and offset.
fn with(name: &Name, version: Option<&Name>, offset: Option<u64>) -> String {
    let demangled = elfscope_demangle::demangle(name.text().as_bytes());
    let mut text = demangled.unwrap_or_else(|| crate::versioned(name, version, false));
    if let Some(offset) = offset {
        text = format!("{text}+0x{offset:x}");
    }
    escape::name(&text)
}

#[cfg(test)]
mod tests {
    use super::decimals;

    #[test]
    fn numbers_are_told_both_ways() {
        for (operands, expected) in [
            ("$0x408, %edi", &["0x408 = 1032"][..]),
            ("$0x9, %edi", &[]),
            ("0x10(%rsp), %rax", &[]),
            ("x0, x1, #0x20", &["0x20 = 32"]),
            ("$-0x10, %rsp", &["-0x10 = -16"]),
            ("$0xffffffff, %eax", &["0xffffffff = 4294967295, signed -1"]),
            ("$0xfffffffffffffff0, %rsp", &["0xfffffffffffffff0 = 18446744073709551600, signed -16"]),
            ("$0x10, $0x20", &["0x10 = 16", "0x20 = 32"]),
            ("$", &[]),
        ] {
            assert_eq!(decimals(operands), expected, "{operands}");
        }
    }
}
