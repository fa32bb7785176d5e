//! Places inside bodies at which control may arrive from outside of them.
//!
//! What a register holds is proven only as far as no other path leads in between: so families that follow registers
//! must know every such place. Direct branches and pointers to labels are found by scanning; a body in which exceptions
//! may land counts as unknown.

use elfscope_schema::Address;

use crate::{
    bodies::Body,
    disasm::Family,
    elf::Elf,
    slots::{Content, Slots},
};

/// All landings of a file.
#[derive(Debug, Default)]
pub(crate) struct Landings {
    /// By section, then address.
    found: Vec<Address>,
    /// Frames in which exceptions may land: start and end.
    unknown: Vec<(Address, Address)>,
}

impl Landings {
    /// Finds them.
    pub(crate) fn find(elf: &Elf<'_>, family: &dyn Family) -> Self {
        let mut found = Vec::new();
        for region in elf.image.regions().iter().filter(|region| region.executable) {
            family.scan_landings(region.data, region.start.offset, &mut |target| {
                found.push(Address { section: region.start.section, offset: target });
            });
        }
        if !found.is_empty() {
            found.extend(Slots::of_any(elf).filter_map(|content| match content {
                Content::Address(address) | Content::Ifunc(address) => Some(address),
                Content::Symbol(_) => None,
            }));
        }
        found.sort_unstable();
        found.dedup();
        let lands = elf.frames.iter().filter(|frame| frame.lands);
        let unknown = lands.map(|frame| (frame.start, frame.start.plus(frame.size))).collect();
        Self { found, unknown }
    }

    /// The landings in a body, as addresses of its section; `None` where they aren't all known.
    pub(crate) fn find_in(&self, body: &Body) -> Option<Vec<u64>> {
        let end = body.end();
        let after = self.unknown.partition_point(|(start, _)| *start < end);
        if after > 0 && self.unknown[after - 1].1 > body.start {
            return None;
        }
        let first = self.found.partition_point(|landing| *landing <= body.start);
        let inside = self.found[first..].iter().take_while(|landing| **landing < end);
        Some(inside.map(|landing| landing.offset).collect())
    }
}
