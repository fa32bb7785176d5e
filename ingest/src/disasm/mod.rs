//! From code bytes to units, their text and what they do, one file a machine family.
//!
//! [`Family`] is the seam: the deriver knows no machine, a family knows nothing of symbols or documents. A new machine
//! is one more file and one more line in [`family_of`].

mod aarch64;
pub(crate) mod decode;
#[cfg(test)]
mod testing;
mod x86_64;

use std::ops::Range;

use capstone::Capstone;
use object::elf;

/// What the deriver must know about a family of machines. Everything is told from bytes, never from printed text.
pub(crate) trait Family: Sync {
    /// The name of the decoder's mode, as `archive.meta/1` states it.
    fn name(&self) -> &'static str;

    /// The syntax of operands: `att`, or `default` where the machine has one.
    fn syntax(&self) -> &'static str {
        "default"
    }

    /// A decoder for this machine, printing the syntax that objdump and gdb print by default.
    fn decoder(&self) -> capstone::CsResult<Capstone>;

    /// Size in bytes of the unit that stands for an undecodable place (`.byte`): never 0, at most `bytes.len()`.
    fn undecodable(&self, bytes: &[u8]) -> usize;

    /// What each unit of a body does. `units` are contiguous and in order, `code` is the body's bytes, `address` its
    /// first byte's address. One [`Facts`] a unit, in the same order.
    ///
    /// `landings` are the addresses in the body at which control may arrive otherwise than by its own direct branches:
    /// jumps from other bodies (a `.cold` part that jumps back), landing pads of its exception table, further entries;
    /// in any order, others may be among them. What a register holds is told only as far as they leave it proven.
    /// `None` where they aren't all known: then only what no landing could change is told. `None` too in a file that is
    /// still to be linked, where an unfilled `adrp` would pass for a page.
    fn facts(&self, units: &[Unit], code: &[u8], address: u64, landings: Option<&[u64]>) -> Vec<Facts>;

    /// Whether a unit may hold, beside its fields, an address of `image` in a file that is loaded at its own addresses: an
    /// immediate that could be one, or a part of one. Rather too often than too seldom.
    fn may_hold_address(&self, unit: &[u8], image: &Range<u64>) -> bool;

    /// The size of a unit that the decoder takes for shorter than it is; none where it is right.
    fn longer(&self, unit: &[u8], code: &[u8]) -> Option<usize> {
        let _ = (unit, code);
        None
    }

    /// The units that make the address of a table which an indexed load then reads: jump tables above all, whose
    /// entries may read as text. In ascending order. A unit too many costs a string, one too few may tell a table as text.
    fn tables(&self, units: &[Unit], code: &[u8], facts: &[Facts]) -> Vec<usize>;

    /// The entries of a linker's stub section (`.plt`, `.plt.sec`, `.plt.got`, `.iplt`), in order and contiguous: their
    /// sizes add up to `bytes.len()`. `entry_size` is the section's `sh_entsize`, 0 where it says nothing.
    fn stubs(&self, bytes: &[u8], address: u64, entry_size: u64) -> Vec<Stub>;

    /// Whether a mapping symbol of this name starts data (`true`) or code; none for any other name.
    fn mapping_symbol(&self, name: &[u8]) -> Option<bool> {
        let _ = name;
        None
    }

    /// Where a linker's veneer in code goes on to, whose bytes these are; none where they are no known form of one.
    fn veneer(&self, code: &[u8], address: u64) -> Option<u64> {
        let _ = (code, address);
        None
    }

    /// Whether these bytes do nothing but go on to what follows them: `nop`s that fill up to an alignment.
    fn is_padding(&self, code: &[u8]) -> bool;

    /// Reports the target of everything in `code` that may be a direct call, wherever units start: at least all that
    /// are. For finding the few bodies that are worth decoding to see whether it is one.
    fn scan_calls(&self, code: &[u8], address: u64, found: &mut dyn FnMut(u64)) {
        let _ = (code, address, found);
    }

    /// Reports place and target of all direct branches in `code`, for machines whose facts depend on landings; others
    /// report nothing.
    fn scan_landings(&self, code: &[u8], address: u64, found: &mut dyn FnMut(u64, u64)) {
        let _ = (code, address, found);
    }

    /// How a relocation of a relocatable file fills the field that it covers.
    fn relocation(&self, r_type: u32) -> Fill;

    /// What a dynamic relocation puts into the slot that it names.
    fn dynamic(&self, r_type: u32) -> Dynamic;
}

/// The family of an ELF machine, or `None` where this version has no decoder for it.
pub(crate) fn family_of(machine: u16, is_64: bool, big_endian: bool) -> Option<&'static dyn Family> {
    match (elf::Machine(machine), is_64, big_endian) {
        (elf::EM_X86_64, true, false) => Some(&x86_64::X86_64),
        (elf::EM_AARCH64, true, false) => Some(&aarch64::AArch64),
        _ => None,
    }
}

/// One undivided unit of code: an instruction, or bytes that are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Offset from the start of the body.
    pub(crate) offset: u32,
    /// Size in bytes.
    pub(crate) size: u8,
    /// Whether the decoder knows it.
    pub(crate) decoded: bool,
}

/// What one unit does, as far as its bytes (and those before it in the body) prove it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Where control goes.
    pub(crate) flow: Flow,
    /// The address that an operand computes or accesses, branch targets excepted.
    pub(crate) refer: Option<Refer>,
    /// The position-dependent bytes of the unit.
    pub(crate) field: Option<Field>,
}

impl Facts {
    /// A unit that goes on to the next one and refers to nothing.
    pub(crate) const PLAIN: Self = Self { flow: Flow::Next, refer: None, field: None };
}

/// Where control goes after a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// To the next unit.
    Next,
    /// To a callee, and back to the next unit.
    Call(Target),
    /// To the target, and to the next unit as well when `conditional`.
    Jump {
        /// Where to.
        target: Target,
        /// Whether the next unit may follow.
        conditional: bool,
    },
    /// Back to the caller (`ret`, `iret`, `eret`), also where it is authenticated.
    Return,
    /// To the kernel or another system (`syscall`, `svc`, `int n`), and back to the next unit unless it was asked not to
    /// (`exit`), which no byte of the unit tells.
    System,
    /// Nowhere: the unit always traps (`ud2`, `udf`, `hlt`, `brk` of the trapping kind).
    Stop,
}

/// The target of a call or jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The address is in the instruction.
    Address(u64),
    /// The address is loaded from memory at this provably known address (a GOT slot, mostly).
    Slot(u64),
    /// In a register or in computed memory.
    Computed {
        /// Whether it has the form that compilers use for a switch: a jump through an indexed or just computed place.
        switch: bool,
    },
}

/// An address that an operand computes or accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refer {
    /// The address.
    pub(crate) address: u64,
    /// `true` where the unit makes the address itself (`lea`, `adr`, `adrp`+`add`), `false` where it reads or writes
    /// the memory there.
    pub(crate) taken: bool,
}

/// The position-dependent bits of a unit: what another link of the same code would change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Offset of `mask` inside the unit.
    pub(crate) at: u8,
    /// Bits set here depend on the position. Bytes after the field's end are 0.
    pub(crate) mask: [u8; 4],
    /// What the field points to.
    pub(crate) points: Points,
}

/// What a position-dependent field points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Points {
    /// This address.
    At(u64),
    /// Half an address: the unit that completes it tells the whole (`adrp` before its `add` or `ldr`).
    Half,
    /// Not provable from these bytes.
    Unknown,
}

/// One entry of a stub section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stub {
    /// Address of its first byte.
    pub(crate) address: u64,
    /// Size in bytes.
    pub(crate) size: u64,
    /// Where it leads.
    pub(crate) leads: Leads,
}

/// Where a linker stub leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leads {
    /// Through the slot at this address.
    Slot(u64),
    /// To the dynamic linker's resolver for this entry of the PLT relocations (`DT_JMPREL`): the lazy half of a PLT
    /// whose entries that jump through slots stand in `.plt.sec`.
    Lazy(u32),
    /// The first entry of a lazy PLT: to the dynamic linker's resolver itself.
    Header,
    /// To this address: a veneer, where a branch can't reach that far.
    Address(u64),
    /// Not a form that is known.
    Unknown,
}

/// How a relocation in a relocatable file fills its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    /// With symbol + addend, counted from the field: the operand's address is that plus the bytes from the field's start
    /// to the unit's end where the machine counts from there (x86).
    Address {
        /// Whether the machine counts from the end of the unit, so that the addend holds the distance back to it.
        from_end: bool,
        /// Whether the field is half an address (AArch64 page of an `adrp`).
        half: bool,
    },
    /// With the place of a slot that holds symbol + addend at run time (GOT).
    Slot {
        /// As in [`Fill::Address`].
        from_end: bool,
        /// As in [`Fill::Address`].
        half: bool,
    },
    /// Something else: shown, but nothing is concluded from it.
    Other,
}

/// What a dynamic relocation puts into its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dynamic {
    /// The address of a symbol plus the addend (`JUMP_SLOT`, `GLOB_DAT`, word-sized absolute).
    Symbol,
    /// The load bias plus the addend (`RELATIVE`).
    Relative,
    /// What the resolver at bias plus addend returns (`IRELATIVE`).
    Ifunc,
    /// Something else (TLS, copies): nothing is concluded from it.
    Other,
}

/// How far back from an indexed load the unit is looked for that made its base.
const TABLE_DISTANCE: usize = 40;

/// The units that make the base of an indexed load: `base` says which register a load's base is, `made` which register
/// a unit puts an address into.
fn find_tables(
    units: &[Unit],
    code: &[u8],
    facts: &[Facts],
    base: impl Fn(&[u8]) -> Option<u8>,
    made: impl Fn(&[u8]) -> Option<u8>,
) -> Vec<usize> {
    let bytes = |unit: &Unit| code.get(unit.offset as usize..).unwrap_or_default();
    let mut found: Vec<usize> = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        let Some(base) = base(bytes(unit)) else { continue };
        let from = index.saturating_sub(TABLE_DISTANCE);
        let maker = (from..index).rev().find(|before| {
            facts[*before].refer.is_some_and(|refer| refer.taken)
                && made(bytes(&units[*before])) == Some(base)
        });
        found.extend(maker);
    }
    found.sort_unstable();
    found.dedup();
    found
}
