//! Relocations: the dynamic ones of a linked file, those of what is loaded of a relocatable one.

use elfscope_schema::Address;
use object::{
    Endianness,
    elf::{self},
    read::elf::{FileHeader, Rel, Rela, RelrIterator},
};

use super::{Section, symbol::Table};
use crate::{diagnostics::Diagnostics, limits};

/// One relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Relocation {
    /// The place that it fills.
    pub(crate) place: Address,
    /// Its type (psABI); [`RELR`] for an entry of `SHT_RELR`, which is always a relative one.
    pub(crate) r_type: u32,
    /// The index of its symbol among the file's symbols.
    pub(crate) symbol: Option<u32>,
    /// Its addend; none where the place itself holds it (`SHT_REL`, `SHT_RELR`).
    pub(crate) addend: Option<i64>,
}

/// The type of entries of `SHT_RELR`, which have none: no psABI gives this number.
pub(crate) const RELR: u32 = u32::MAX;

/// All relocations of a file that are used.
pub(super) struct Relocations {
    /// By place.
    pub(super) all: Vec<Relocation>,
    /// Those of the PLT in table order, as indices into `all`.
    pub(super) plt: Vec<u32>,
}

pub(super) fn read<'data, H: FileHeader<Endian = Endianness>>(
    endian: Endianness,
    header: &H,
    sections: &[Section<'data>],
    symtab_of_relocatable: Option<Table>,
    dynsym: &Table,
    jmprel: Option<u64>,
    diagnostics: &mut Diagnostics,
) -> Relocations {
    let mips64el = header.is_mips64el(endian);
    let mut all: Vec<Relocation> = Vec::new();
    let mut plt = 0..0;
    for section in sections {
        let linked = section.has(elf::SHF_ALLOC);
        // `--emit-relocs` keeps link-time relocations in a linked file: they are done, and say nothing of run time.
        let (table, base) = match symtab_of_relocatable {
            None if linked => (*dynsym, Address::virt(0)),
            Some(symtab) if !linked => {
                let target = sections.get(section.info as usize);
                if !target.is_some_and(|target| target.has(elf::SHF_ALLOC) && target.name != b".eh_frame") {
                    continue;
                }
                (symtab, Address { section: section.info, offset: 0 })
            }
            _ => continue,
        };
        let start = all.len();
        match elf::SectionType(section.sh_type) {
            elf::SHT_RELA => {
                for relocation in entries::<H::Rela>(section, diagnostics) {
                    all.push(Relocation {
                        place: base.plus(relocation.r_offset(endian).into()),
                        r_type: relocation.r_type(endian, mips64el).0,
                        symbol: table.symbol(relocation.r_sym(endian, mips64el)),
                        addend: Some(relocation.r_addend(endian).into()),
                    });
                }
            }
            elf::SHT_REL => {
                for relocation in entries::<H::Rel>(section, diagnostics) {
                    all.push(Relocation {
                        place: base.plus(relocation.r_offset(endian).into()),
                        r_type: relocation.r_type(endian).0,
                        symbol: table.symbol(relocation.r_sym(endian)),
                        addend: None,
                    });
                }
            }
            elf::SHT_RELR if linked => {
                let packed = entries::<H::Relr>(section, diagnostics);
                for place in RelrIterator::<H>::new(endian, packed).take(limits::RELOCATIONS) {
                    let place = Address::virt(place.into());
                    all.push(Relocation { place, r_type: RELR, symbol: None, addend: None });
                }
            }
            _ => continue,
        }
        if linked && jmprel.is_some_and(|jmprel| section.address.offset == jmprel) {
            plt = start..all.len();
        }
        if all.len() > limits::RELOCATIONS {
            let message = format!("more than {} relocations: the rest is not read", limits::RELOCATIONS);
            diagnostics.add("relocations-too-many", section.name, message);
            all.truncate(limits::RELOCATIONS);
            break;
        }
    }
    // Sorted by place, with each one's number before: the PLT's are known by it.
    let mut order: Vec<u32> = (0..u32::try_from(all.len()).unwrap_or(u32::MAX)).collect();
    order.sort_by_key(|index| all[*index as usize].place);
    let mut now_at = vec![u32::MAX; all.len()];
    for (now, before) in (0u32..).zip(&order) {
        now_at[*before as usize] = now;
    }
    let plt = plt.filter_map(|before| now_at.get(before).copied()).collect();
    let all = order.iter().map(|before| all[*before as usize]).collect();
    Relocations { all, plt }
}

fn entries<'data, T: object::Pod>(section: &Section<'data>, diagnostics: &mut Diagnostics) -> &'data [T] {
    let count = section.data.len() / size_of::<T>();
    if !section.data.len().is_multiple_of(size_of::<T>()) {
        let message =
            format!("{} bytes are no whole number of entries of {}", section.data.len(), size_of::<T>());
        diagnostics.add("relocations-cut", section.name, message);
    }
    // This many entries fit by the division above; object's types have alignment 1.
    object::slice_from_bytes(section.data, count).map_or(&[], |(entries, _)| entries)
}
