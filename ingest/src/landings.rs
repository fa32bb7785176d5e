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
    found: Vec<Landing>,
    /// Frames in which exceptions may land: start and end.
    unknown: Vec<(Address, Address)>,
    /// Whether the file is still to be linked: then fields aren't filled, and no register's value is known from them.
    relocatable: bool,
}

/// A place that is led to, and the first and last unit that lead there. Pointers lead there from anywhere.
#[derive(Debug)]
struct Landing {
    at: Address,
    first: u64,
    last: u64,
}

impl Landings {
    /// Finds them.
    pub(crate) fn find(elf: &Elf<'_>, family: &dyn Family) -> Self {
        let mut found = Vec::new();
        for region in elf.image.regions().iter().filter(|region| region.executable) {
            family.scan_landings(region.data, region.start.offset, &mut |from, to| {
                let at = Address { section: region.start.section, offset: to };
                found.push(Landing { at, first: from, last: from });
            });
        }
        if !found.is_empty() {
            found.extend(Slots::of_any(elf).filter_map(|content| match content {
                Content::Address(at) | Content::Ifunc(at) => Some(Landing { at, first: 0, last: u64::MAX }),
                Content::Symbol(_) => None,
            }));
        }
        found.sort_unstable_by_key(|landing| landing.at);
        found.dedup_by(|next, landing| {
            let same = next.at == landing.at;
            if same {
                landing.first = landing.first.min(next.first);
                landing.last = landing.last.max(next.last);
            }
            same
        });
        let lands = elf.frames.iter().filter(|frame| frame.lands);
        let unknown = lands.map(|frame| (frame.start, frame.start.plus(frame.size))).collect();
        Self { found, unknown, relocatable: elf.is_relocatable() }
    }

    /// The landings in a body from outside of it, as addresses of its section; `None` where they aren't all known.
    pub(crate) fn find_in(&self, body: &Body) -> Option<Vec<u64>> {
        if self.relocatable {
            return None;
        }
        let end = body.end();
        let after = self.unknown.partition_point(|(start, _)| *start < end);
        if after > 0 && self.unknown[after - 1].1 > body.start {
            return None;
        }
        let first = self.found.partition_point(|landing| landing.at <= body.start);
        let inside = self.found[first..].iter().take_while(|landing| landing.at < end);
        // The body's own jumps are followed, so they needn't end what is known where they lead.
        let outside =
            inside.filter(|landing| landing.first < body.start.offset || landing.last >= end.offset);
        Some(outside.map(|landing| landing.at.offset).collect())
    }
}
