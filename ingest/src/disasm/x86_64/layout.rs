//! Where the opcode, ModRM and displacement of an x86-64 unit are.
//!
//! Lengths are the decoder's business: immediates are not looked at, so nothing here depends on operand sizes.

/// Opcode maps, as far as facts depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Map {
    /// No escape.
    OneByte,
    /// `0F`.
    TwoByte,
    /// `0F 38`, `0F 3A`, `0F 0F`, and all that VEX, EVEX and XOP encode: nothing there transfers control or takes an
    /// address.
    Other,
}

/// The memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// None: a register, or no ModRM at all.
    Register,
    /// Relative to the unit's end (mod 00, rm 101); the displacement is at this offset.
    Rip {
        /// Offset of the displacement in the unit.
        at: usize,
    },
    /// A number alone: SIB without base and index, or a moffs.
    Absolute {
        /// Offset of the number in the unit.
        at: usize,
        /// Its bytes, 4 or 8.
        size: usize,
    },
    /// With an index register.
    Indexed {
        /// Offset of the 32-bit displacement where there is no base register.
        table: Option<usize>,
    },
    /// With a base register and no index.
    Based,
}

/// The parts of a unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) map: Map,
    pub(super) opcode: u8,
    /// Offset of the byte after the opcode.
    pub(super) operand: usize,
    pub(super) modrm: Option<u8>,
    pub(super) memory: Memory,
    /// The last of `F2` and `F3`.
    pub(super) repeat: Option<u8>,
    /// Whether addresses are relative to `fs` or `gs`, the only segments with a base in 64-bit mode.
    pub(super) segment: bool,
    /// Whether addresses are cut to 32 bits (`67`).
    narrow: bool,
}

impl Layout {
    /// Reads prefixes, opcode and ModRM. `None` where the unit ends before its opcode does.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let (mut at, mut rex, mut repeat, mut segment, mut narrow) = (0, 0, None, false, false);
        loop {
            let byte = *bytes.get(at)?;
            match byte {
                0x66 | 0xf0 | 0x26 | 0x2e | 0x36 | 0x3e => {}
                0x64 | 0x65 => segment = true,
                0x67 => narrow = true,
                0xf2 | 0xf3 => repeat = Some(byte),
                0x40..=0x4f => {}
                _ => break,
            }
            // A REX counts only right before the opcode.
            rex = if byte & 0xf0 == 0x40 { byte } else { 0 };
            at += 1;
        }
        let mut layout = Self {
            map: Map::OneByte,
            opcode: bytes[at],
            operand: at + 1,
            modrm: None,
            memory: Memory::Register,
            repeat,
            segment,
            narrow,
        };
        let mut extended_index = rex & 2 != 0;
        let mut vector_index = false;
        let mut has_modrm = true;
        match layout.opcode {
            0x0f => {
                let escape = *bytes.get(at + 1)?;
                if matches!(escape, 0x0f | 0x38 | 0x3a) {
                    layout.map = Map::Other;
                    // The opcode of a 3DNow! unit is its last byte.
                    layout.operand = if escape == 0x0f { at + 2 } else { at + 3 };
                } else {
                    layout.map = Map::TwoByte;
                    layout.operand = at + 2;
                    has_modrm = two_byte_has_modrm(escape);
                }
                layout.opcode = *bytes.get(layout.operand - 1)?;
            }
            // In 64-bit mode these are always VEX, EVEX and, where its map number says so, XOP.
            first @ (0xc4 | 0xc5 | 0x62 | 0x8f) if first != 0x8f || bytes.get(at + 1)? & 0x1f >= 8 => {
                let payload = *bytes.get(at + 1)?;
                let (length, map) = match first {
                    0xc5 => (2, 1),
                    0x62 => (4, payload & 7),
                    _ => (3, payload & 0x1f),
                };
                layout.map = Map::Other;
                layout.operand = at + length + 1;
                layout.opcode = *bytes.get(at + length)?;
                // X is stored inverted; the two-byte form has none.
                extended_index = first != 0xc5 && payload & 0x40 == 0;
                // `vzeroupper` and `vzeroall`.
                has_modrm = !(first != 0x8f && map == 1 && layout.opcode == 0x77);
                // Gathers and scatters: the index is a vector, and 100 is one too.
                vector_index = first != 0x8f
                    && map == 2
                    && matches!(layout.opcode, 0x90..=0x93 | 0xa0..=0xa3 | 0xc6 | 0xc7);
            }
            // moffs.
            0xa0..=0xa3 => {
                layout.memory = Memory::Absolute { at: layout.operand, size: if narrow { 4 } else { 8 } };
                has_modrm = false;
            }
            opcode => has_modrm = one_byte_has_modrm(opcode),
        }
        if has_modrm && let Some(&modrm) = bytes.get(layout.operand) {
            layout.modrm = Some(modrm);
            // Moves to and from control and debug registers ignore mod.
            if !(layout.map == Map::TwoByte && matches!(layout.opcode, 0x20..=0x27)) {
                layout.memory = memory(bytes, layout.operand, modrm, extended_index, vector_index);
            }
        }
        Some(layout)
    }

    /// Offset of a 32-bit field that holds an address or the distance to one (of a moffs, its low half).
    pub(super) fn displacement(&self) -> Option<u8> {
        match self.memory {
            Memory::Rip { at } | Memory::Absolute { at, .. } | Memory::Indexed { table: Some(at) } => {
                Some(at as u8)
            }
            _ => None,
        }
    }

    /// The address of the memory operand, where the unit alone fixes it. `next` is the address of the unit's end.
    pub(super) fn known_address(&self, bytes: &[u8], next: u64) -> Option<u64> {
        if self.segment {
            return None;
        }
        match self.memory {
            Memory::Rip { at } => {
                let distance = i64::from(i32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
                Some(self.cut(next.wrapping_add_signed(distance)))
            }
            Memory::Absolute { at, size: 8 } => Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?)),
            Memory::Absolute { at, .. } => self.absolute(bytes, at),
            _ => None,
        }
    }

    /// The absolute 32-bit address at this offset, extended as the address size asks.
    pub(super) fn absolute(&self, bytes: &[u8], at: usize) -> Option<u64> {
        let number = i64::from(i32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        Some(self.cut(number as u64))
    }

    fn cut(&self, address: u64) -> u64 {
        if self.narrow { address & 0xffff_ffff } else { address }
    }
}

/// The memory operand that ModRM, at offset `at`, and SIB say.
fn memory(bytes: &[u8], at: usize, modrm: u8, extended_index: bool, vector_index: bool) -> Memory {
    match (modrm >> 6, modrm & 7) {
        (3, _) => Memory::Register,
        (0, 5) => Memory::Rip { at: at + 1 },
        (mode, 4) => {
            let Some(&sib) = bytes.get(at + 1) else {
                return Memory::Based;
            };
            let no_base = mode == 0 && sib & 7 == 5;
            let no_index = sib >> 3 & 7 == 4 && !extended_index && !vector_index;
            match (no_base, no_index) {
                (true, true) => Memory::Absolute { at: at + 2, size: 4 },
                (true, false) => Memory::Indexed { table: Some(at + 2) },
                (false, true) => Memory::Based,
                (false, false) => Memory::Indexed { table: None },
            }
        }
        _ => Memory::Based,
    }
}

/// Whether an opcode without escape is followed by ModRM (SDM volume 2, table A-2).
fn one_byte_has_modrm(opcode: u8) -> bool {
    match opcode {
        0x00..=0x3f => opcode & 7 < 4,
        0x63 | 0x69 | 0x6b | 0x80..=0x8f | 0xc0 | 0xc1 | 0xc6 | 0xc7 => true,
        0xd0..=0xd3 | 0xd8..=0xdf | 0xf6 | 0xf7 | 0xfe | 0xff => true,
        _ => false,
    }
}

/// Whether an opcode after `0F` is followed by ModRM (SDM volume 2, table A-3).
fn two_byte_has_modrm(opcode: u8) -> bool {
    !matches!(
        opcode,
        0x04..=0x0c | 0x0e | 0x30..=0x37 | 0x77 | 0x80..=0x8f | 0xa0..=0xa2 | 0xa8..=0xaa | 0xc8..=0xcf
    )
}
