//! Units of relocatable files: what their relocations fill them with.

use elfscope_schema::{Address, Name, Relocation as Document};

use super::Teller;
use crate::{
    bodies::Body,
    disasm::{Family, Fill, Unit},
    elf::{Place, Relocation, Symbol},
};

/// The relocations of one unit.
pub(super) struct Relocated<'a> {
    /// As the row tells them.
    pub(super) documents: Vec<Document>,
    /// The first of them.
    pub(super) first: &'a Relocation,
    /// The symbol of the one that an address or slot is filled from.
    pub(super) symbol: Option<u32>,
    /// The distance from that symbol to what the unit refers to.
    pub(super) distance: i64,
    /// Whether it makes the unit refer to that place: not where it fills half an address.
    pub(super) refers: bool,
    /// Whether it fills half an address.
    pub(super) half: bool,
}

impl Teller<'_, '_, '_> {
    /// The relocations that fill a unit's fields; none in a linked file.
    pub(super) fn relocated(&self, body: &Body, family: &dyn Family, unit: &Unit) -> Option<Relocated<'_>> {
        let elf = self.resolver.elf;
        if !elf.is_relocatable() {
            return None;
        }
        let start = body.start.plus(u64::from(unit.offset));
        let end = start.plus(u64::from(unit.size));
        let from = elf.relocations.partition_point(|relocation| relocation.place < start);
        let inside = elf.relocations[from..].iter().take_while(|relocation| relocation.place < end);
        let all: Vec<&Relocation> = inside.collect();
        let first = *all.first()?;
        let documents = all.iter().map(|relocation| self.document(start, relocation)).collect();
        let mut relocated =
            Relocated { documents, first, symbol: None, distance: 0, refers: false, half: false };
        for relocation in all {
            let (from_end, half) = match family.relocation(relocation.r_type) {
                Fill::Address { from_end, half } => (from_end, half),
                // The slot holds the symbol itself: the addend only leads to the slot.
                Fill::Slot { half, .. } => {
                    relocated.symbol = relocation.symbol;
                    (relocated.distance, relocated.refers, relocated.half) = (0, !half, half);
                    break;
                }
                Fill::Other => continue,
            };
            let Some(symbol) = relocation.symbol else { continue };
            let to_end = if from_end { end.offset.wrapping_sub(relocation.place.offset) as i64 } else { 0 };
            relocated.symbol = Some(symbol);
            relocated.distance = relocation.addend.unwrap_or(0).wrapping_add(to_end);
            (relocated.refers, relocated.half) = (!half, half);
            break;
        }
        Some(relocated)
    }

    fn document(&self, start: Address, relocation: &Relocation) -> Document {
        let addend = relocation.addend.unwrap_or(0);
        let sign = if addend < 0 { "-" } else { "" };
        let symbol = relocation.symbol.and_then(|index| self.resolver.elf.symbols.get(index as usize));
        Document {
            addend: format!("{sign}{:x}", addend.unsigned_abs()),
            at: u8::try_from(relocation.place.offset - start.offset).unwrap_or(u8::MAX),
            symbol: symbol.map(|symbol| self.symbol_name(symbol)),
            r_type: relocation.r_type,
        }
    }

    /// A symbol's name; a section symbol's is its section's.
    fn symbol_name(&self, symbol: &Symbol<'_>) -> Name {
        let section = match symbol.place {
            Place::Section(index) if symbol.name.is_empty() => self.resolver.elf.sections.get(index as usize),
            _ => None,
        };
        Name::from_bytes(section.map_or(symbol.name, |section| section.name))
    }
}
