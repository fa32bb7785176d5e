//! Entries that only a direct call proves: code that no source names, but that known code calls.

use std::collections::BTreeMap;

use elfscope_schema::{Address, BodyKind, Origin};

use super::Body;
use crate::{
    diagnostics::Diagnostics,
    disasm::{Facts, Family, Flow, Target, Unit, decode::Decoder},
    elf::Elf,
    limits,
    marks::Marks,
};

/// Finds, from the bodies that other sources give, the entries that calls prove in gaps, and what is called from there,
/// to a fixpoint. Each with its extent: the bytes from it on that are code for sure. Entry points, whose end nothing claims
/// either, are among them.
pub(super) fn find(
    elf: &Elf<'_>,
    marks: &Marks,
    bodies: &[Body],
    family: &'static dyn Family,
    diagnostics: &mut Diagnostics,
) -> BTreeMap<Address, u64> {
    let open: Vec<&Body> = bodies.iter().filter(|body| is_open(body)).collect();
    let (false, Ok(decoder)) = (open.is_empty(), Decoder::new(family)) else { return BTreeMap::new() };
    let around = |address: Address| {
        let after = open.partition_point(|body| body.start <= address);
        after.checked_sub(1).map(|index| open[index]).filter(|body| body.contains(address))
    };
    let mut found = BTreeMap::new();
    let mut search = Search { elf, marks, family, decoder };
    let mut waiting: Vec<Address> =
        open.iter().filter(|body| body.is_function()).map(|body| body.start).collect();
    for body in bodies.iter().filter(|body| body.is_function() && !is_open(body)) {
        // A scan of the bytes finds all calls there can be, and more; only where one of them leads to an open place is
        // the body decoded to see whether it is one.
        let mut candidate = false;
        family.scan_calls(search.code(body, 0, body.size), body.start.offset, &mut |target| {
            candidate |= around(Address::virt(target)).is_some();
        });
        if candidate {
            let calls = search.calls(body, 0, body.size, false).calls;
            waiting.extend(calls.into_iter().filter(|target| around(*target).is_some()));
        }
    }
    let mut left = bodies.iter().map(|body| body.size).sum::<u64>().saturating_mul(limits::INFERRED_WORK);
    while let Some(entry) = waiting.pop() {
        let Some(body) = around(entry).filter(|_| !found.contains_key(&entry)) else { continue };
        let from = entry.offset - body.start.offset;
        // Most functions are short: look at little first, and at more while no end shows.
        let mut window = 128;
        let reached = loop {
            let size = (body.size - from).min(window);
            left = left.saturating_sub(size);
            let reached = search.calls(body, from, size, true);
            if reached.ended || size == body.size - from {
                break reached;
            }
            window *= 4;
        };
        if left == 0 {
            let message =
                "following calls into code without names takes too long: the rest of it stays a gap";
            diagnostics.add("inferred-too-much", entry.to_string().as_bytes(), message);
            return found;
        }
        // What doesn't begin with an instruction is no function, whatever calls it.
        if reached.bytes == 0 {
            continue;
        }
        found.insert(entry, reached.bytes);
        waiting.extend(reached.calls.into_iter().filter(|target| around(*target).is_some()));
    }
    found
}

/// Whether where a body ends is a guess, so that another entry may lie in it.
fn is_open(body: &Body) -> bool {
    body.kind == BodyKind::Gap
        || (body.is_function() && matches!(body.origin, Origin::Inferred | Origin::Entry))
}

struct Search<'elf, 'data> {
    elf: &'elf Elf<'data>,
    marks: &'elf Marks,
    family: &'static dyn Family,
    decoder: Decoder,
}

/// What was found in some code.
struct Reached {
    /// The targets of its direct calls.
    calls: Vec<Address>,
    /// How many of its bytes are code for sure.
    bytes: u64,
    /// Whether its end was seen.
    ended: bool,
}

impl Search<'_, '_> {
    fn code(&self, body: &Body, from: u64, size: u64) -> &[u8] {
        let region = &self.elf.image.regions()[body.region as usize];
        let start = (body.start.offset - region.start.offset + from) as usize;
        &region.data[start..start + size as usize]
    }

    /// The calls in a part of a body; of an open one only as far as it is code for sure.
    fn calls(&mut self, body: &Body, from: u64, size: u64, open: bool) -> Reached {
        let region = &self.elf.image.regions()[body.region as usize];
        let start = body.start.plus(from);
        let offset = (start.offset - region.start.offset) as usize;
        let code = &region.data[offset..offset + size as usize];
        self.decoder.decode(code, start.offset, &self.marks.data_in(region, start, size));
        let units = self.decoder.units();
        let facts = self.family.facts(units, code, start.offset, None);
        let (proven, ended) = if open { reach(units, &facts, start.offset) } else { (facts.len(), true) };
        let calls = facts[..proven].iter().filter_map(|facts| match facts.flow {
            Flow::Call(Target::Address(target)) => Some(Address::virt(target)),
            _ => None,
        });
        let bytes = units[..proven].last().map_or(0, |last| u64::from(last.offset) + u64::from(last.size));
        Reached { calls: calls.collect(), bytes, ended }
    }
}

/// How many units from the start on are code for sure, and whether they end: up to a return, jump or trap that no branch so
/// far leads beyond, or to what is no instruction.
fn reach(units: &[Unit], facts: &[Facts], start: u64) -> (usize, bool) {
    let mut furthest = 0;
    for (index, (unit, facts)) in units.iter().zip(facts).enumerate() {
        if !unit.decoded {
            return (index, true);
        }
        if let Flow::Jump { target: Target::Address(target), conditional } = facts.flow {
            // A target before the start is another function's, or a loop; an unconditional jump far ahead a tail call.
            let ahead = target.checked_sub(start).and_then(|offset| u32::try_from(offset).ok());
            let most = unit.offset.saturating_add(if conditional { 1 << 20 } else { 4096 });
            furthest = furthest.max(ahead.filter(|ahead| *ahead <= most).unwrap_or(0));
        }
        let ends = matches!(facts.flow, Flow::Return | Flow::Stop | Flow::Jump { conditional: false, .. });
        if ends && unit.offset >= furthest {
            return (index + 1, true);
        }
    }
    (facts.len(), false)
}
