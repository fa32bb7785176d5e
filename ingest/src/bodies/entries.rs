//! Where functions start, from every source in order of trust.

use elfscope_schema::{Address, Origin};

use super::is_stub_region;
use crate::{diagnostics::Diagnostics, dwarf::Function, elf::Elf, names::CodeNames};

/// One entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Its address.
    pub(crate) address: Address,
    /// The size that its most trusted source claims, 0 where none does.
    pub(crate) claimed: u64,
    /// The most trusted source.
    pub(crate) origin: Origin,
    /// The bytes from it on that are code for sure, where nothing claims a size.
    pub(crate) extent: Option<u64>,
    /// Whether a symbol says that it is a resolver.
    pub(crate) ifunc: bool,
    /// Whether its name is one that linkers give to their veneers.
    pub(crate) stub: bool,
}

/// All entries, by address, one an address.
pub(crate) fn collect(
    elf: &Elf<'_>,
    names: &CodeNames<'_>,
    functions: &[Function<'_>],
    diagnostics: &mut Diagnostics,
) -> Vec<Entry> {
    let mut entries = from_symbols(names);
    let claims = Claims::of(&entries);
    let mut more: Vec<Entry> = Vec::new();
    let is_code = |address: Address| {
        let region = elf.image.find_region(address);
        region.is_some_and(|region| {
            let inside = address.offset - region.start.offset < region.data.len() as u64;
            region.executable && inside && !is_stub_region(region)
        })
    };
    // Each range of a subprogram is a body of its own (`.cold`).
    for &(start, end) in functions.iter().flat_map(|function| &function.ranges) {
        let (address, size) = (Address::virt(start), end - start);
        if !is_code(address) || claims.inside(address) {
            continue;
        }
        match entries.binary_search_by_key(&address, |entry| entry.address) {
            Ok(known) if entries[known].claimed == 0 => entries[known].claimed = size,
            Ok(_) => {}
            Err(_) => more.push(plain(address, size, Origin::Dwarf)),
        }
    }
    merge(&mut entries, &mut more);
    let claims = Claims::of(&entries);
    for frame in &elf.frames {
        // One entry of ld's covers a whole PLT, which is cut into its stubs instead.
        if !is_code(frame.start) {
            let stubs = elf.image.find_region(frame.start).is_some_and(is_stub_region);
            if !stubs && frame.start.offset != 0 {
                let message = format!("a frame entry starts at {}, where no code is", frame.start);
                diagnostics.add("frame-outside-code", b".eh_frame", message);
            }
            continue;
        }
        if claims.inside(frame.start) {
            continue;
        }
        match entries.binary_search_by_key(&frame.start, |entry| entry.address) {
            Ok(known) if entries[known].claimed == 0 => entries[known].claimed = frame.size,
            Ok(_) => {}
            Err(_) => more.push(plain(frame.start, frame.size, Origin::EhFrame)),
        }
    }
    merge(&mut entries, &mut more);
    let claims = Claims::of(&entries);
    for address in points(elf) {
        let address = Address::virt(address);
        if is_code(address) && !claims.inside(address) {
            more.push(plain(address, 0, Origin::Entry));
        }
    }
    merge(&mut entries, &mut more);
    entries
}

/// An entry that is a function and nothing else.
pub(super) fn plain(address: Address, claimed: u64, origin: Origin) -> Entry {
    Entry { address, claimed, origin, extent: None, ifunc: false, stub: false }
}

/// Adds entries whose addresses are not known yet.
fn merge(entries: &mut Vec<Entry>, more: &mut Vec<Entry>) {
    more.sort_by_key(|entry| (entry.address, entry.origin, std::cmp::Reverse(entry.claimed)));
    more.dedup_by_key(|entry| entry.address);
    more.retain(|new| entries.binary_search_by_key(&new.address, |entry| entry.address).is_err());
    entries.append(more);
    entries.sort_by_key(|entry| entry.address);
}

fn from_symbols(names: &CodeNames<'_>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for name in names.all() {
        let entry = Entry {
            address: name.address,
            claimed: name.size,
            origin: name.from[0],
            extent: None,
            ifunc: name.kind.is_ifunc(),
            stub: name.is_veneer(),
        };
        match entries.last_mut() {
            Some(last) if last.address == entry.address => {
                // The most trusted source's largest size; a source that claims none leaves it to the next.
                let (new, old) = ((entry.claimed == 0, entry.origin), (last.claimed == 0, last.origin));
                if new < old || (new == old && entry.claimed > last.claimed) {
                    last.claimed = entry.claimed;
                }
                last.origin = last.origin.min(entry.origin);
                last.ifunc |= entry.ifunc;
                last.stub |= entry.stub;
            }
            _ => entries.push(entry),
        }
    }
    entries
}

/// The entry point, init and fini, and the entries of their arrays.
fn points(elf: &Elf<'_>) -> Vec<u64> {
    if elf.is_relocatable() {
        return Vec::new();
    }
    let mut points = elf.dynamic.init_fini.clone();
    points.push(elf.entry);
    for (address, size) in &elf.dynamic.arrays {
        let end = address.saturating_add(*size);
        let from = elf.relocations.partition_point(|relocation| relocation.place.offset < *address);
        let slots = elf.relocations[from..].iter().take_while(|relocation| relocation.place.offset < end);
        points.extend(slots.filter(|slot| slot.symbol.is_none()).filter_map(|slot| elf.filled(slot)));
    }
    points.retain(|point| *point != 0);
    points
}

/// What the entries so far claim.
struct Claims {
    /// Starts, with the furthest end of all claims up to this one.
    ends: Vec<(Address, u64)>,
}

impl Claims {
    fn of(entries: &[Entry]) -> Self {
        let mut furthest = Address::virt(0);
        let ends = entries.iter().map(|entry| {
            let end = Address {
                section: entry.address.section,
                offset: entry.address.offset.saturating_add(entry.claimed),
            };
            furthest = furthest.max(end);
            (entry.address, if furthest.section == entry.address.section { furthest.offset } else { 0 })
        });
        Self { ends: ends.collect() }
    }

    /// Whether an address is inside a claim, and not its start.
    fn inside(&self, address: Address) -> bool {
        let before = self.ends.partition_point(|(start, _)| *start < address);
        before.checked_sub(1).is_some_and(|index| {
            let (start, end) = self.ends[index];
            start.section == address.section && address.offset < end
        }) && self.ends.get(before).is_none_or(|(start, _)| *start != address)
    }
}
