//! Slots: places that the dynamic linker fills before the program runs, and what it puts there. In a relocatable file,
//! those that a linker will fill.

use elfscope_schema::Address;

use crate::{
    disasm::{Dynamic, Family},
    elf::{Elf, Place, RELR, Relocation},
};

/// What a slot holds once the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// The address of a symbol (its index among the file's symbols), which another file may provide.
    Symbol(u32),
    /// A place in this file.
    Address(Address),
    /// What the resolver function at this place returns.
    Ifunc(Address),
}

/// All slots of a file.
pub(crate) struct Slots<'elf, 'data> {
    elf: &'elf Elf<'data>,
    family: Option<&'static dyn Family>,
}

impl<'elf, 'data> Slots<'elf, 'data> {
    /// The slots of a file.
    pub(crate) fn of(elf: &'elf Elf<'data>, family: Option<&'static dyn Family>) -> Self {
        Self { elf, family }
    }

    /// What the slots of a file hold, whatever its machine.
    pub(crate) fn of_any(elf: &'elf Elf<'data>) -> impl Iterator<Item = Content> + 'elf {
        let family = crate::disasm::family_of(elf.machine, elf.class == 64, elf.big_endian);
        let slots = Self::of(elf, family);
        elf.relocations.iter().filter_map(move |relocation| slots.content(relocation))
    }

    /// All slots whose content is known, by place.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Address, Content)> + '_ {
        let in_data =
            |relocation: &&Relocation| !self.elf.is_relocatable() || !self.is_code(relocation.place);
        let slots = self.elf.relocations.iter().filter(in_data);
        slots.filter_map(|relocation| Some((relocation.place, self.content(relocation)?)))
    }

    /// What the dynamic linker puts into a place; none where it puts nothing there, or nothing that is an address.
    pub(crate) fn find(&self, place: Address) -> Option<Content> {
        let relocation = self.relocation_at(place)?;
        self.content(relocation)
    }

    /// What a place holds for good: what the dynamic linker puts there, or in a place that it makes read-only (or that
    /// never was writable) what the file holds.
    pub(crate) fn find_fixed(&self, place: Address) -> Option<Content> {
        match self.find(place) {
            Some(Content::Address(address)) => {
                self.elf.image.is_relro(place).then_some(Content::Address(address))
            }
            Some(content) => Some(content),
            // Without a relocation, the word of a file that is loaded at its own addresses is what it will be.
            None => {
                let fixed = self.elf.elf_type == object::elf::ET_EXEC.0 && self.elf.image.is_relro(place);
                let unfilled = fixed && self.relocation_at(place).is_none();
                let word = if unfilled { self.elf.word_at(place)? } else { return None };
                (word != 0).then_some(Content::Address(Address::virt(word)))
            }
        }
    }

    /// The slot of an entry of the lazy PLT's relocations.
    pub(crate) fn find_lazy(&self, entry: u32) -> Option<Address> {
        let index = *self.elf.plt_relocations.get(entry as usize)?;
        self.elf.relocations.get(index as usize).map(|relocation| relocation.place)
    }

    fn relocation_at(&self, place: Address) -> Option<&Relocation> {
        let at = self.elf.relocations.partition_point(|relocation| relocation.place < place);
        self.elf.relocations.get(at).filter(|relocation| relocation.place == place)
    }

    fn is_code(&self, place: Address) -> bool {
        self.elf.image.find_region(place).is_some_and(|region| region.executable)
    }

    fn content(&self, relocation: &Relocation) -> Option<Content> {
        let filled = || self.elf.filled(relocation).map(Address::virt);
        if relocation.r_type == RELR {
            return filled().map(Content::Address);
        }
        match self.family?.dynamic(relocation.r_type) {
            Dynamic::Symbol => {
                let index = relocation.symbol?;
                let symbol = self.elf.symbols.get(index as usize)?;
                let addend = relocation.addend.unwrap_or(0);
                match symbol.place {
                    // What another file may provide instead, no linker knows yet of a relocatable file.
                    Place::Section(section) if self.elf.is_relocatable() => Some(Content::Address(Address {
                        section,
                        offset: symbol.value.wrapping_add(addend as u64),
                    })),
                    _ if addend == 0 => Some(Content::Symbol(index)),
                    // A place inside what the symbol names: known only where it is this file's own.
                    Place::Section(_) => {
                        Some(Content::Address(Address::virt(symbol.value.wrapping_add(addend as u64))))
                    }
                    _ => None,
                }
            }
            Dynamic::Relative => filled().map(Content::Address),
            Dynamic::Ifunc => filled().map(Content::Ifunc),
            Dynamic::Other => None,
        }
    }
}
