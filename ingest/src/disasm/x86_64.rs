//! x86-64: the facts of a unit from its bytes (Intel SDM volume 2, chapter 2; AMD APM volume 3, chapter 1).
//!
//! Every fact stands in the unit itself, so there is no state: no register's value is followed, and a register-relative
//! operand is never concluded from.

mod layout;
mod padding;
mod stubs;
#[cfg(test)]
mod tests;

use capstone::Capstone;
use capstone::arch::x86::{ArchMode, ArchSyntax};
use capstone::arch::{BuildsCapstone, BuildsCapstoneSyntax};
use object::elf;
use std::ops::Range;

use self::layout::{Layout, Map, Memory};
use super::{Dynamic, Facts, Family, Field, Fill, Flow, Points, Refer, Stub, Target, Unit};

/// The family of `EM_X86_64` in its 64-bit class.
pub(super) struct X86_64;

impl Family for X86_64 {
    fn name(&self) -> &'static str {
        "x86-64"
    }

    fn syntax(&self) -> &'static str {
        "att"
    }

    fn decoder(&self) -> capstone::CsResult<Capstone> {
        Capstone::new().x86().mode(ArchMode::Mode64).syntax(ArchSyntax::Att).build()
    }

    fn undecodable(&self, _bytes: &[u8]) -> usize {
        1
    }

    fn facts(&self, units: &[Unit], code: &[u8], address: u64, _landings: Option<&[u64]>) -> Vec<Facts> {
        units
            .iter()
            .map(|unit| {
                let start = unit.offset as usize;
                match code.get(start..start + usize::from(unit.size)) {
                    Some(bytes) if unit.decoded => {
                        facts_of(bytes, address.wrapping_add(start as u64 + u64::from(unit.size)))
                    }
                    _ => Facts::PLAIN,
                }
            })
            .collect()
    }

    fn stubs(&self, bytes: &[u8], address: u64, _entry_size: u64) -> Vec<Stub> {
        stubs::find_stubs(bytes, address)
    }

    fn may_hold_address(&self, unit: &[u8], image: &Range<u64>) -> bool {
        // `mov $address, %edi`, `mov address, %eax`, `movabs $address, %rax`: four bytes tell, wherever they stand.
        unit.windows(4).skip(1).any(|window| {
            let value = window.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            image.contains(&u64::from(value))
        })
    }

    fn longer(&self, unit: &[u8], code: &[u8]) -> Option<usize> {
        // capstone ends `ud1` and `ud0` before the ModRM byte that they have (SDM volume 2, "UD").
        let [.., 0x0f, 0xb9 | 0xff] = unit else { return None };
        let modrm = code.get(unit.len())?;
        (modrm >> 6 == 3).then_some(unit.len() + 1)
    }

    fn tables(&self, units: &[Unit], code: &[u8], facts: &[Facts]) -> Vec<usize> {
        // `movslq (base, index, 4), register`: how compilers read the entries of a switch's table.
        let base = |bytes: &[u8]| match bytes {
            [rex @ 0x48..=0x4f, 0x63, modrm, sib, ..]
                if modrm & 7 == 4 && modrm >> 6 != 3 && sib >> 6 == 2 =>
            {
                Some(sib & 7 | (rex & 1) << 3)
            }
            _ => None,
        };
        // `lea address, register`.
        let made = |bytes: &[u8]| match bytes {
            [rex @ 0x48..=0x4f, 0x8d, modrm, ..] => Some(modrm >> 3 & 7 | (rex & 4) << 1),
            _ => None,
        };
        super::find_tables(units, code, facts, base, made)
    }

    fn is_padding(&self, code: &[u8]) -> bool {
        padding::is_padding(code)
    }

    fn scan_calls(&self, code: &[u8], address: u64, found: &mut dyn FnMut(u64)) {
        for (at, call) in code.windows(5).enumerate() {
            if let [0xe8, distance @ ..] = call
                && let Some(distance) = distance.first_chunk()
            {
                let next = address.wrapping_add(at as u64 + 5);
                found(next.wrapping_add_signed(i64::from(i32::from_le_bytes(*distance))));
            }
        }
    }

    fn relocation(&self, r_type: u32) -> Fill {
        match elf::RelocationType(r_type) {
            // What stands in code as an operand counted from the unit's end.
            elf::R_X86_64_PC8 | elf::R_X86_64_PC16 | elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => {
                Fill::Address { from_end: true, half: false }
            }
            elf::R_X86_64_32 | elf::R_X86_64_32S | elf::R_X86_64_64 => {
                Fill::Address { from_end: false, half: false }
            }
            elf::R_X86_64_GOTPCREL
            | elf::R_X86_64_GOTPCRELX
            | elf::R_X86_64_REX_GOTPCRELX
            | elf::R_X86_64_CODE_4_GOTPCRELX
            | elf::R_X86_64_CODE_5_GOTPCRELX
            | elf::R_X86_64_CODE_6_GOTPCRELX => Fill::Slot { from_end: true, half: false },
            // The 64-bit PC- and GOT-relative ones fill immediates of the large model, which are added to something
            // before they are an address; the TLS ones give offsets, the 8- and 16-bit ones no whole address.
            _ => Fill::Other,
        }
    }

    fn dynamic(&self, r_type: u32) -> Dynamic {
        match elf::RelocationType(r_type) {
            elf::R_X86_64_64 | elf::R_X86_64_GLOB_DAT | elf::R_X86_64_JUMP_SLOT => Dynamic::Symbol,
            elf::R_X86_64_RELATIVE | elf::R_X86_64_RELATIVE64 => Dynamic::Relative,
            elf::R_X86_64_IRELATIVE => Dynamic::Ifunc,
            _ => Dynamic::Other,
        }
    }
}

/// The facts of one unit that ends at `next`.
fn facts_of(bytes: &[u8], next: u64) -> Facts {
    let Some(layout) = Layout::parse(bytes) else {
        return Facts::PLAIN;
    };
    match transfer_of(&layout, bytes, next) {
        Some(facts) => facts,
        None => Facts { flow: Flow::Next, ..operand_of(&layout, bytes, next) },
    }
}

/// The facts of a unit that doesn't just go on to the next one.
fn transfer_of(layout: &Layout, bytes: &[u8], next: u64) -> Option<Facts> {
    let plain = |flow| Some(Facts { flow, ..Facts::PLAIN });
    let jump = |conditional| move |target| Flow::Jump { target, conditional };
    match (layout.map, layout.opcode) {
        (Map::OneByte, 0x70..=0x7f | 0xe0..=0xe3) | (Map::TwoByte, 0x80..=0x8f) => {
            branch(layout.operand, bytes, next, jump(true))
        }
        (Map::OneByte, 0xe9 | 0xeb) => branch(layout.operand, bytes, next, jump(false)),
        (Map::OneByte, 0xe8) => branch(layout.operand, bytes, next, Flow::Call),
        // `xbegin` (C7 F8): to the fallback path when the transaction aborts.
        (Map::OneByte, 0xc7) if layout.modrm == Some(0xf8) => {
            branch(layout.operand + 1, bytes, next, jump(true))
        }
        (Map::OneByte, 0xff) => match layout.modrm? >> 3 & 7 {
            2 => Some(indirect(layout, bytes, next, |target| match target {
                // Calls are never switches.
                Target::Computed { .. } => Flow::Call(Target::Computed { switch: false }),
                _ => Flow::Call(target),
            })),
            4 => Some(indirect(layout, bytes, next, jump(false))),
            // Far: the memory holds a selector too, and what that one leads to is no address in this file.
            3 => Some(Facts {
                flow: Flow::Call(Target::Computed { switch: false }),
                ..operand_of(layout, bytes, next)
            }),
            5 => Some(Facts {
                flow: Flow::Jump { target: Target::Computed { switch: false }, conditional: false },
                ..operand_of(layout, bytes, next)
            }),
            _ => None,
        },
        // `ret`, `lret`, `iret`.
        (Map::OneByte, 0xc2 | 0xc3 | 0xca | 0xcb | 0xcf) => plain(Flow::Return),
        // `sysret`, `sysexit`, `rsm`, `uiret`.
        (Map::TwoByte, 0x07 | 0x35 | 0xaa) => plain(Flow::Return),
        (Map::TwoByte, 0x01) if layout.modrm == Some(0xec) && layout.repeat == Some(0xf3) => {
            plain(Flow::Return)
        }
        // `ud2`, `ud1`, `ud0`: what compilers emit for a trap and after what can't return. `hlt` traps in user code (it
        // stands after `_start`'s call) and waits in a kernel, which always goes on by a jump or return of its own.
        (Map::TwoByte, 0x0b | 0xb9 | 0xff) | (Map::OneByte, 0xf4) => plain(Flow::Stop),
        // `syscall`, `sysenter`, `int n`.
        (Map::TwoByte, 0x05 | 0x34) | (Map::OneByte, 0xcd) => plain(Flow::System),
        // `int3`, `int1`. Compilers and linkers fill with `int3` what is never reached: after a `ret` or `jmp` against
        // straight-line speculation, between functions. Only a debugger, or a handler of `__builtin_debugtrap`, goes on
        // after one. To say that it goes on would make a fall into the next function out of padding.
        (Map::OneByte, 0xcc | 0xf1) => plain(Flow::Stop),
        _ => None,
    }
}

/// A relative branch: the rest of the unit is its displacement, counted from the unit's end.
///
/// Its width is what the decoder left for it. `66` asks for 16 bits: Intel ignores that on near branches, AMD doesn't,
/// and GNU binutils follow AMD. capstone follows Intel, so that only `xbegin` has two bytes here (and doesn't cut the
/// target to 16 bits).
fn branch(at: usize, bytes: &[u8], next: u64, flow: impl FnOnce(Target) -> Flow) -> Option<Facts> {
    let (distance, mask) = match *bytes.get(at..)? {
        [a] => (i64::from(i8::from_le_bytes([a])), [0xff, 0, 0, 0]),
        [a, b] => (i64::from(i16::from_le_bytes([a, b])), [0xff, 0xff, 0, 0]),
        [a, b, c, d] => (i64::from(i32::from_le_bytes([a, b, c, d])), [0xff; 4]),
        _ => return None,
    };
    let target = next.wrapping_add_signed(distance);
    let field = Field { at: at as u8, mask, points: Points::At(target) };
    Some(Facts { flow: flow(Target::Address(target)), refer: None, field: Some(field) })
}

/// A near branch through a register or memory.
fn indirect(layout: &Layout, bytes: &[u8], next: u64, flow: impl FnOnce(Target) -> Flow) -> Facts {
    let field = |points| layout.displacement().map(|at| Field { at, mask: [0xff; 4], points });
    let computed = |switch| Target::Computed { switch };
    let (target, field) = match (layout.memory, layout.known_address(bytes, next)) {
        (_, Some(slot)) => (Target::Slot(slot), field(Points::At(slot))),
        // Relative to a segment whose base isn't in the file.
        (Memory::Rip { .. }, None) => (computed(false), field(Points::Unknown)),
        (Memory::Absolute { .. }, None) => (computed(false), None),
        // `jmp *table(,%reg,8)`: the displacement is the table's place (or near it, where the first case isn't 0).
        (Memory::Indexed { table: Some(at) }, None) => {
            let table = layout.absolute(bytes, at);
            (computed(true), if layout.segment { None } else { table.and_then(|at| field(Points::At(at))) })
        }
        (Memory::Indexed { table: None } | Memory::Register, None) => (computed(true), None),
        (Memory::Based, None) => (computed(false), None),
    };
    Facts { flow: flow(target), refer: None, field }
}

/// What the memory operand of a unit that isn't a near branch refers to.
fn operand_of(layout: &Layout, bytes: &[u8], next: u64) -> Facts {
    let Some(address) = layout.known_address(bytes, next) else {
        let rip = matches!(layout.memory, Memory::Rip { .. });
        let field = layout.displacement().filter(|_| rip).map(|at| Field {
            at,
            mask: [0xff; 4],
            points: Points::Unknown,
        });
        return Facts { field, ..Facts::PLAIN };
    };
    let field = layout.displacement().map(|at| Field { at, mask: [0xff; 4], points: Points::At(address) });
    let taken = match (layout.map, layout.opcode) {
        (Map::OneByte, 0x8d) if matches!(layout.memory, Memory::Absolute { .. }) => {
            // `lea` of a number is a `mov` of it, and immediates aren't guessed to be addresses.
            return Facts::PLAIN;
        }
        (Map::OneByte, 0x8d) => true,
        // The reserved hints (SDM volume 2, appendix A, group 16 and 0F 19 to 0F 1F): whatever their operand is, they
        // don't access it. 0F 18 /0 to /3 are prefetches.
        (Map::TwoByte, 0x18) if layout.modrm.is_some_and(|modrm| modrm >> 3 & 7 > 3) => return Facts::PLAIN,
        (Map::TwoByte, 0x19 | 0x1c..=0x1f) => return Facts::PLAIN,
        // MPX: some of these access their operand, some only compute it, and without MPX all are hints.
        (Map::TwoByte, 0x1a | 0x1b) => return Facts { field, ..Facts::PLAIN },
        _ => false,
    };
    Facts { flow: Flow::Next, refer: Some(Refer { address, taken }), field }
}
