//! What is at which address: sections where there are any, else loaded segments.

use elfscope_schema::Address;
use object::elf;

use super::{
    Section, Segment,
    header::{Shares, available},
};
use crate::{diagnostics::Diagnostics, limits};

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

impl Region<'_> {
    fn shrink(&mut self, size: u64) {
        self.size = self.size.min(size);
        self.data = clipped(self.data, self.size);
    }
}

/// The first bytes, at most so many.
fn clipped(data: &[u8], size: u64) -> &[u8] {
    &data[..data.len().min(usize::try_from(size).unwrap_or(usize::MAX))]
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
            let mut shares = Shares::of(data);
            let mut loaded: Vec<&Segment> = loaded(segments);
            loaded.retain(|segment| {
                let honest = shares.take(usize::try_from(segment.file_size).unwrap_or(usize::MAX));
                if !honest {
                    let message = "the segments claim more bytes than the file has: this one's are not read";
                    diagnostics.add(
                        "bytes-claimed-again",
                        format!("{:x}", segment.address).as_bytes(),
                        message,
                    );
                }
                honest
            });
            loaded
                .iter()
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
            let loaded = loaded(segments);
            let placed = sections.iter().filter(in_memory).filter_map(|section| {
                let room = if relocatable { section.size } else { room(section, &loaded, diagnostics)? };
                Some((section, section.size.min(room)))
            });
            placed
                .map(|(section, size)| Region {
                    start: section.address,
                    size,
                    data: clipped(section.data, size),
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
        Self { regions: regions.into(), relro: relro.take(limits::RELRO).collect() }
    }

    /// Makes every address belong to one region: one that claims to reach over the next one's start ends there.
    fn separate(regions: &mut Vec<Region<'data>>, diagnostics: &mut Diagnostics) {
        let mut kept: Vec<Region<'data>> = Vec::with_capacity(regions.len());
        for mut region in regions.drain(..) {
            region.shrink(u64::MAX - region.start.offset);
            match kept.last_mut().filter(|last| last.start.section == region.start.section) {
                Some(last) if last.start == region.start => {
                    let message = format!(
                        "it claims the address {} as another section does: it is left out",
                        region.start
                    );
                    diagnostics.add("regions-overlap", region.name.unwrap_or_default(), message);
                    continue;
                }
                Some(last) if last.start.offset + last.size > region.start.offset => {
                    let message = format!(
                        "its {:#x} bytes from {:#x} reach over the start of another section at {:#x}: it ends there",
                        last.size, last.start.offset, region.start.offset
                    );
                    diagnostics.add("regions-overlap", last.name.unwrap_or_default(), message);
                    last.shrink(region.start.offset - last.start.offset);
                }
                _ => {}
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

/// The segments that are loaded, by address.
fn loaded(segments: &[Segment]) -> Vec<&Segment> {
    let mut loaded: Vec<&Segment> = segments
        .iter()
        .filter(|segment| segment.p_type == elf::PT_LOAD.0 && segment.memory_size > 0)
        .collect();
    loaded.sort_by_key(|segment| segment.address);
    loaded
}

/// How many bytes a section of a linked file can have at its address: to the end of the segment that maps it. None where
/// no segment maps these bytes of the file to that address: then the header lies, since segments are what is loaded.
fn room(section: &Section<'_>, loaded: &[&Segment], diagnostics: &mut Diagnostics) -> Option<u64> {
    let after = loaded.partition_point(|segment| segment.address <= section.address.offset);
    let room = after.checked_sub(1).map(|index| loaded[index]).and_then(|segment| {
        let inside = section.address.offset.checked_sub(segment.address)?;
        if section.sh_type == elf::SHT_NOBITS.0 {
            return segment.memory_size.checked_sub(inside).filter(|room| *room > 0);
        }
        let mapped = segment.offset.checked_add(inside) == Some(section.offset);
        segment.file_size.checked_sub(inside).filter(|room| mapped && *room > 0)
    });
    let Some(room) = room else {
        let message = format!(
            "no segment maps offset {:#x} of the file to its address {:#x}: it is left out",
            section.offset, section.address.offset
        );
        diagnostics.add("section-misplaced", section.name, message);
        return None;
    };
    if section.size > room {
        let message =
            format!("its {:#x} bytes pass the {room:#x} that its segment has room for", section.size);
        diagnostics.add("section-cut", section.name, message);
    }
    Some(room)
}
