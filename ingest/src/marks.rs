//! Mapping symbols: where a compiler or assembler put data among code.

use elfscope_schema::Address;
use std::ops::Range;

use crate::{
    disasm::Family,
    elf::{Elf, Region, Symbol},
    names::place_of,
};

/// All marks of a file, by place.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    all: Vec<(Address, bool)>,
}

impl Marks {
    /// Finds them in all symbol tables.
    pub(crate) fn find(elf: &Elf<'_>, more: &[Symbol<'_>], family: &dyn Family) -> Self {
        let symbols =
            elf.symbols.iter().chain(more).filter(|symbol| symbol.kind.0 == object::elf::STT_NOTYPE.0);
        let marks =
            symbols.filter_map(|symbol| Some((place_of(elf, symbol)?, family.mapping_symbol(symbol.name)?)));
        let mut all: Vec<(Address, bool)> = marks.collect();
        all.sort_unstable();
        // Where both stand at one place, the one for code counts: data of no size.
        all.dedup_by_key(|(place, _)| *place);
        Self { all }
    }

    /// The ranges of data in a body's code, as offsets from its start.
    pub(crate) fn data_in(&self, region: &Region<'_>, start: Address, size: u64) -> Vec<Range<usize>> {
        let after = self.all.partition_point(|(place, _)| *place <= start);
        let before = after.checked_sub(1).map(|index| self.all[index]);
        // A mark holds to the end of its section.
        let mut data = before.is_some_and(|(place, data)| data && place >= region.start);
        let mut ranges = Vec::new();
        let mut from = 0;
        let end = start.plus(size);
        for (place, starts_data) in self.all[after..].iter().take_while(|(place, _)| *place < end) {
            let at = (place.offset - start.offset) as usize;
            if data && !starts_data {
                ranges.push(from..at);
            } else if !data && *starts_data {
                from = at;
            }
            data = *starts_data;
        }
        if data {
            ranges.push(from..size as usize);
        }
        ranges
    }
}
