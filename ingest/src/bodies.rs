//! Bodies: every executable byte in exactly one of them.
//!
//! Entries come from the sources in order of trust; a body runs from its entry for the size that its most trusted source
//! claims, and ends at the next entry or its region's end at the latest. What no entry claims is a gap. An entry is never
//! invented inside what a symbol claims.

mod entries;
mod inferred;

use elfscope_schema::{Address, BodyKind, FunctionKey, Origin};

use crate::{
    diagnostics::Diagnostics,
    disasm::{Family, Leads, Stub},
    dwarf::Function,
    elf::{Elf, Region},
    limits,
    marks::Marks,
    names::CodeNames,
};
use entries::Entry;

/// One body.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// Its first byte.
    pub(crate) start: Address,
    /// Its size, at least 1.
    pub(crate) size: u64,
    /// What it is.
    pub(crate) kind: BodyKind,
    /// Where its bounds come from.
    pub(crate) origin: Origin,
    /// The size that the most trusted source claims, where that is not the body's own size.
    pub(crate) claimed: Option<u64>,
    /// Where a stub leads.
    pub(crate) leads: Option<Leads>,
    /// Index of its region in the image.
    pub(crate) region: u32,
    /// Its names, as a range of [`CodeNames`].
    pub(crate) names: std::ops::Range<u32>,
}

impl Body {
    /// Its key.
    pub(crate) fn key(&self) -> FunctionKey {
        FunctionKey { address: self.start, size: self.size }
    }

    /// Whether it is a function, as opposed to a stub or a gap.
    pub(crate) fn is_function(&self) -> bool {
        matches!(self.kind, BodyKind::Function | BodyKind::Ifunc)
    }

    /// The address after its last byte.
    pub(crate) fn end(&self) -> Address {
        self.start.plus(self.size)
    }

    fn contains(&self, address: Address) -> bool {
        self.start.section == address.section
            && address.offset.checked_sub(self.start.offset).is_some_and(|offset| offset < self.size)
    }
}

/// All bodies of a file, by address.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    all: Box<[Body]>,
}

impl Bodies {
    /// Finds the bodies of a file.
    pub(crate) fn find(
        elf: &Elf<'_>,
        names: &CodeNames<'_>,
        functions: &[Function<'_>],
        marks: &Marks,
        family: Option<&'static dyn Family>,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let mut entries = entries::collect(elf, names, functions, diagnostics);
        let mut all = Self::cut(elf, names, family, &entries);
        if let Some(family) = family
            && !elf.is_relocatable()
        {
            // Calls to bytes that no source knows are entries too, and so is what is called from there.
            let found = inferred::find(elf, marks, &all, family, diagnostics);
            for entry in &mut entries {
                entry.extent = found.get(&entry.address).copied();
            }
            let known = entries.len();
            for (address, extent) in &found {
                if entries[..known].binary_search_by_key(address, |entry| entry.address).is_err() {
                    entries.push(Entry {
                        extent: Some(*extent),
                        ..entries::plain(*address, 0, Origin::Inferred)
                    });
                }
            }
            entries.sort_by_key(|entry| entry.address);
            all = Self::cut(elf, names, Some(family), &entries);
        }
        Self { all: all.into() }
    }

    /// All of them.
    pub(crate) fn all(&self) -> &[Body] {
        &self.all
    }

    /// The body that an address is in.
    pub(crate) fn find_at(&self, address: Address) -> Option<u32> {
        let after = self.all.partition_point(|body| body.start <= address);
        let index = after.checked_sub(1)?;
        self.all[index].contains(address).then(|| u32::try_from(index).ok())?
    }

    /// The bodies that the claimed size of one runs into.
    pub(crate) fn runs_into(&self, index: usize) -> Vec<FunctionKey> {
        let body = &self.all[index];
        let Some(claimed) = body.claimed.filter(|claimed| *claimed > body.size) else { return Vec::new() };
        let end = body.start.offset.saturating_add(claimed);
        let after = self.all[index + 1..].iter();
        let inside =
            after.take_while(|next| next.start.section == body.start.section && next.start.offset < end);
        inside.filter(|next| next.kind != BodyKind::Gap).take(limits::RUNS_INTO).map(Body::key).collect()
    }

    fn cut(
        elf: &Elf<'_>,
        names: &CodeNames<'_>,
        family: Option<&'static dyn Family>,
        entries: &[Entry],
    ) -> Vec<Body> {
        let mut all = Vec::with_capacity(entries.len() * 2);
        for (index, region) in (0u32..).zip(elf.image.regions()) {
            if !region.executable || region.data.is_empty() {
                continue;
            }
            let end = region.start.plus(region.data.len() as u64);
            let first = entries.partition_point(|entry| entry.address < region.start);
            let last = entries.partition_point(|entry| entry.address < end);
            if is_stub_region(region) {
                cut_stubs(region, index, names, family, &mut all);
            } else {
                let from = all.len();
                cut_region(region.start, end, index, names, &entries[first..last], &mut all);
                for veneer in all[from..].iter_mut().filter(|body| body.kind == BodyKind::Stub) {
                    let start = (veneer.start.offset - region.start.offset) as usize;
                    let code = &region.data[start..start + veneer.size as usize];
                    let leads = family.and_then(|family| family.veneer(code, veneer.start.offset));
                    veneer.leads = Some(leads.map_or(Leads::Unknown, Leads::Address));
                }
            }
        }
        all
    }
}

/// Whether a region is one of the linker's stub sections.
pub(crate) fn is_stub_region(region: &Region<'_>) -> bool {
    region.name.is_some_and(|name| {
        name == b".plt" || name == b".iplt" || name.starts_with(b".plt.") || name.starts_with(b".iplt.")
    })
}

fn cut_region(
    start: Address,
    end: Address,
    region: u32,
    names: &CodeNames<'_>,
    entries: &[Entry],
    all: &mut Vec<Body>,
) {
    let gap = |from: Address, to: Address| Body {
        start: from,
        size: to.offset - from.offset,
        kind: BodyKind::Gap,
        origin: Origin::Inferred,
        claimed: None,
        leads: None,
        region,
        names: 0..0,
    };
    let mut at = start;
    for (index, entry) in entries.iter().enumerate() {
        if at < entry.address {
            all.push(gap(at, entry.address));
        }
        let limit = entries.get(index + 1).map_or(end, |next| next.address);
        let room = limit.offset - entry.address.offset;
        let size = match (entry.claimed, entry.extent) {
            (0, extent) => extent.unwrap_or(room).min(room),
            (claimed, _) => claimed.min(room),
        };
        all.push(Body {
            start: entry.address,
            size,
            kind: if entry.ifunc {
                BodyKind::Ifunc
            } else if entry.stub {
                BodyKind::Stub
            } else {
                BodyKind::Function
            },
            origin: entry.origin,
            claimed: (entry.claimed != size).then_some(entry.claimed),
            leads: None,
            region,
            names: names.find_at(entry.address),
        });
        at = entry.address.plus(size);
    }
    if at < end {
        all.push(gap(at, end));
    }
}

fn cut_stubs(
    region: &Region<'_>,
    index: u32,
    names: &CodeNames<'_>,
    family: Option<&'static dyn Family>,
    all: &mut Vec<Body>,
) {
    let whole = || {
        let size = region.data.len() as u64;
        vec![Stub { address: region.start.offset, size, leads: Leads::Unknown }]
    };
    let stubs =
        family.map_or_else(whole, |family| family.stubs(region.data, region.start.offset, region.entry_size));
    for stub in stubs.iter().filter(|stub| stub.size > 0) {
        let start = Address { section: region.start.section, offset: stub.address };
        all.push(Body {
            start,
            size: stub.size,
            kind: BodyKind::Stub,
            origin: Origin::Stub,
            claimed: None,
            leads: Some(stub.leads),
            region: index,
            names: names.find_at(start),
        });
    }
}
