//! Entries that only a direct call proves: code that no source names, but that known code calls.

use elfscope_schema::{Address, BodyKind, Origin};

use super::{Body, entries::Entry, entries::plain};
use crate::{
    disasm::{Family, Flow, Target, decode::Decoder},
    elf::Elf,
    marks::Marks,
};

/// The entries that calls in known functions prove inside gaps, and inside bodies whose end nothing claims. Empty at the
/// fixpoint: what is called is an entry then.
pub(super) fn entries(
    elf: &Elf<'_>,
    marks: &Marks,
    bodies: &[Body],
    family: &'static dyn Family,
) -> Vec<Entry> {
    // Where an inferred body ends is a guess: another entry may lie in it.
    let is_open = |body: &&Body| {
        body.kind == BodyKind::Gap
            || (body.is_function() && matches!(body.origin, Origin::Inferred | Origin::Entry))
    };
    let gaps: Vec<&Body> = bodies.iter().filter(is_open).collect();
    if gaps.is_empty() {
        return Vec::new();
    }
    let in_gap = |address: Address| {
        let after = gaps.partition_point(|gap| gap.start <= address);
        let gap = after.checked_sub(1).map(|index| gaps[index]).filter(|gap| gap.contains(address));
        gap.is_some_and(|gap| gap.kind == BodyKind::Gap || gap.start != address)
    };
    let mut found: Vec<Address> = Vec::new();
    let mut decoder = None;
    for body in bodies.iter().filter(|body| body.is_function()) {
        let region = &elf.image.regions()[body.region as usize];
        let from = (body.start.offset - region.start.offset) as usize;
        let code = &region.data[from..from + body.size as usize];
        // A scan of the bytes finds all calls there can be, and more; only where one of them leads into a gap is the
        // body decoded to see whether it is one.
        let mut candidate = false;
        family.scan_calls(code, body.start.offset, &mut |target| candidate |= in_gap(Address::virt(target)));
        if !candidate {
            continue;
        }
        let Some(decoder) = decoder.get_or_insert_with(|| Decoder::new(family).ok()) else {
            return Vec::new();
        };
        decoder.decode(code, body.start.offset, &marks.data_in(region, body.start, body.size));
        let facts = family.facts(decoder.units(), code, body.start.offset, None);
        found.extend(facts.iter().filter_map(|facts| match facts.flow {
            Flow::Call(Target::Address(target)) => {
                Some(Address::virt(target)).filter(|target| in_gap(*target))
            }
            _ => None,
        }));
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|address| plain(address, 0, Origin::Inferred)).collect()
}
