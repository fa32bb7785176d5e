//! Entries that only a direct call proves: code that no source names, but that known code calls.

use elfscope_schema::{Address, BodyKind, Origin};

use super::{Body, entries::Entry, entries::plain};
use crate::{
    disasm::{Facts, Family, Flow, Target, Unit, decode::Decoder},
    elf::Elf,
    marks::Marks,
};

/// Most rounds of calls that lead to calls: what is deeper in code that no source names stays a gap, and says so.
pub(super) const ROUNDS: usize = 1000;

/// The entries that calls prove inside gaps, and inside bodies whose end nothing claims. `fresh` are the starts of the
/// bodies that are looked at: those that the last round found, none for all.
pub(super) fn entries(
    elf: &Elf<'_>,
    marks: &Marks,
    bodies: &[Body],
    fresh: Option<&[Entry]>,
    family: &'static dyn Family,
) -> Vec<Entry> {
    let open: Vec<&Body> = bodies.iter().filter(|body| is_open(body)).collect();
    if open.is_empty() {
        return Vec::new();
    }
    let is_new = |address: Address| {
        let after = open.partition_point(|body| body.start <= address);
        let body = after.checked_sub(1).map(|index| open[index]).filter(|body| body.contains(address));
        body.is_some_and(|body| body.kind == BodyKind::Gap || body.start != address)
    };
    let looked_at = bodies.iter().filter(|body| {
        let is_fresh =
            |fresh: &[Entry]| fresh.binary_search_by_key(&body.start, |entry| entry.address).is_ok();
        body.is_function() && fresh.is_none_or(is_fresh)
    });
    let mut found: Vec<Address> = Vec::new();
    let mut decoder = None;
    for body in looked_at {
        let region = &elf.image.regions()[body.region as usize];
        let from = (body.start.offset - region.start.offset) as usize;
        let code = &region.data[from..from + body.size as usize];
        // A scan of the bytes finds all calls there can be, and more; only where one of them leads to a new place is the
        // body decoded to see whether it is one.
        let mut candidate = false;
        family.scan_calls(code, body.start.offset, &mut |target| candidate |= is_new(Address::virt(target)));
        if !candidate {
            continue;
        }
        let Some(decoder) = decoder.get_or_insert_with(|| Decoder::new(family).ok()) else {
            return Vec::new();
        };
        decoder.decode(code, body.start.offset, &marks.data_in(region, body.start, body.size));
        let facts = family.facts(decoder.units(), code, body.start.offset, None);
        let proven =
            if is_open(body) { reach(decoder.units(), &facts, body.start.offset) } else { facts.len() };
        found.extend(facts[..proven].iter().filter_map(|facts| match facts.flow {
            Flow::Call(Target::Address(target)) => {
                Some(Address::virt(target)).filter(|target| is_new(*target))
            }
            _ => None,
        }));
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|address| plain(address, 0, Origin::Inferred)).collect()
}

/// Whether where a body ends is a guess, so that another entry may lie in it.
fn is_open(body: &Body) -> bool {
    body.kind == BodyKind::Gap
        || (body.is_function() && matches!(body.origin, Origin::Inferred | Origin::Entry))
}

/// How many units from the start on are code for sure: up to a return, jump or trap that no branch so far leads beyond.
fn reach(units: &[Unit], facts: &[Facts], start: u64) -> usize {
    let mut furthest = 0;
    for (index, (unit, facts)) in units.iter().zip(facts).enumerate() {
        if !unit.decoded {
            return index;
        }
        if let Flow::Jump { target: Target::Address(target), .. } = facts.flow {
            // A target before the start, or far away, is another function's.
            let last = units.last().map_or(0, |last| last.offset);
            let inside = target.checked_sub(start).and_then(|offset| u32::try_from(offset).ok());
            furthest = furthest.max(inside.filter(|offset| *offset <= last).unwrap_or(0));
        }
        let ends = matches!(facts.flow, Flow::Return | Flow::Stop | Flow::Jump { conditional: false, .. });
        if ends && unit.offset >= furthest {
            return index + 1;
        }
    }
    facts.len()
}
