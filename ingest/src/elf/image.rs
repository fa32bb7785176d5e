//! What is at which address: sections where there are any, else loaded segments.

use elfscope_schema::Address;
use object::elf;

use super::{Section, Segment, header::available};
use crate::diagnostics::Diagnostics;

/// The address space of a file, as sorted regions that don't overlap.
#[derive(Debug, Default)]
pub(crate) struct Image<'data> {
    regions: Box<[Region<'data>]>,
    relro: Vec<(u64, u64)>,
}

/// One region.
#[derive(Clone, Debug)]
pub(crate) struct Region<'data> {
    /// Its first address.
    pub(crate) start: Address,
    /// Its size in memory.
    pub(crate) size: u64,
    /// Its bytes in the file: fewer than `size` where memory is zeroed, or the file is cut.
    pub(crate) data: &'data [u8],
    /// The section's name; none where segments stand for sections.
    pub(crate) name: Option<&'data [u8]>,
    /// Whether it holds code.
    pub(crate) executable: bool,
    /// `sh_entsize`.
    pub(crate) entry_size: u64,
}

impl<'data> Image<'data> {
    pub(super) fn new(
        sections: &[Section<'data>],
        segments: &[Segment],
        data: &'data [u8],
        relocatable: bool,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let mut regions: Vec<Region<'data>> = if sections.is_empty() {
            segments
                .iter()
                .filter(|segment| segment.p_type == elf::PT_LOAD.0)
                .map(|segment| Region {
                    start: Address::virt(segment.address),
                    size: segment.memory_size,
                    data: available(data, segment.offset, segment.file_size.min(segment.memory_size)),
                    name: None,
                    executable: segment.flags & elf::PF_X.0 != 0,
                    entry_size: 0,
                })
                .collect()
        } else {
            // .tbss takes no addresses of its own: what follows it starts at the same one.
            let in_memory = |section: &&Section<'data>| {
                section.has(elf::SHF_ALLOC)
                    && section.size > 0
                    && !(section.has(elf::SHF_TLS) && section.sh_type == elf::SHT_NOBITS.0)
            };
            sections
                .iter()
                .filter(in_memory)
                .map(|section| Region {
                    start: section.address,
                    size: section.size,
                    data: section.data,
                    name: Some(section.name),
                    executable: section.has(elf::SHF_EXECINSTR) && section.sh_type != elf::SHT_NOBITS.0,
                    entry_size: section.entry_size,
                })
                .collect()
        };
        regions.sort_by_key(|region| (region.start, !region.executable));
        Self::separate(&mut regions, diagnostics);
        let relro = segments.iter().filter(|segment| segment.p_type == elf::PT_GNU_RELRO.0 && !relocatable);
        let relro =
            relro.map(|segment| (segment.address, segment.address.saturating_add(segment.memory_size)));
        Self { regions: regions.into(), relro: relro.collect() }
    }

    /// Makes every address belong to one region: a header that lies costs the part that it claims twice.
    fn separate(regions: &mut Vec<Region<'data>>, diagnostics: &mut Diagnostics) {
        let mut kept: Vec<Region<'data>> = Vec::with_capacity(regions.len());
        for mut region in regions.drain(..) {
            let room = u64::MAX - region.start.offset;
            if region.size > room {
                let message = format!(
                    "{:#x} bytes from {:#x} pass the end of the address space",
                    region.size, region.start.offset
                );
                diagnostics.add("region-wraps", region.name.unwrap_or_default(), message);
                region.size = room;
                region.data =
                    &region.data[..region.data.len().min(usize::try_from(room).unwrap_or(usize::MAX))];
            }
            if let Some(last) = kept.last()
                && last.start.section == region.start.section
            {
                let end = last.start.offset + last.size;
                if let Some(overlap) = end.checked_sub(region.start.offset).filter(|overlap| *overlap > 0) {
                    let message = format!(
                        "{} of its bytes from {:#x} belong to another section already and are left out here",
                        overlap.min(region.size),
                        region.start.offset
                    );
                    diagnostics.add("regions-overlap", region.name.unwrap_or_default(), message);
                    let cut = usize::try_from(overlap).unwrap_or(usize::MAX);
                    region.data = region.data.get(cut..).unwrap_or_default();
                    region.size = region.size.saturating_sub(overlap);
                    region.start = region.start.plus(overlap);
                }
            }
            if region.size > 0 {
                kept.push(region);
            }
        }
        *regions = kept;
    }

    /// All regions, by address.
    pub(crate) fn regions(&self) -> &[Region<'data>] {
        &self.regions
    }

    /// The region that an address is in.
    pub(crate) fn find_region(&self, address: Address) -> Option<&Region<'data>> {
        let after = self.regions.partition_point(|region| region.start <= address);
        let region = self.regions.get(after.checked_sub(1)?)?;
        let inside =
            region.start.section == address.section && address.offset - region.start.offset < region.size;
        inside.then_some(region)
    }

    /// The bytes from an address to the end of what its region has in the file.
    pub(crate) fn bytes_from(&self, address: Address) -> Option<&'data [u8]> {
        let region = self.find_region(address)?;
        region.data.get(usize::try_from(address.offset - region.start.offset).ok()?..)
    }

    /// Whether the loader makes this place read-only once it is relocated.
    pub(crate) fn is_relro(&self, address: Address) -> bool {
        address.section == 0 && self.relro.iter().any(|(start, end)| (*start..*end).contains(&address.offset))
    }
}
