//! Words that access memory at a base register plus a number (Arm ARM C4.1, "Loads and Stores").

use super::{bits, signed};

/// A memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// Number of the base register, 31 for `sp`.
    pub(super) base: u32,
    /// What is added to the base before the access.
    pub(super) offset: i64,
    /// Whether the form has an unsigned 12-bit offset: the only one that a linker fills with the low half of an address.
    pub(super) low_half: bool,
    /// What whole general registers get the loaded words, from the access's address on.
    pub(super) loads: [Option<u32>; 2],
}

impl Access {
    /// The access of a word, or `None` where it has none or its place isn't a base plus a number.
    pub(super) fn parse(word: u32) -> Option<Self> {
        let base = bits(word, 5, 5);
        let size = bits(word, 30, 2);
        let vector = bits(word, 26, 1) == 1;
        let opc = bits(word, 22, 2);
        let to = bits(word, 0, 5);
        let plain = Self { base, offset: 0, low_half: false, loads: [None; 2] };
        let pointer = size == 3 && !vector && opc == 1;
        match word & 0x3b00_0000 {
            // Unsigned offset.
            0x3900_0000 => {
                let scale = match (vector, size, opc) {
                    (true, 0, 2 | 3) => 4,
                    (true, _, 2 | 3) => return None,
                    _ => size,
                };
                let offset = i64::from(bits(word, 10, 12)) << scale;
                Some(Self { offset, low_half: true, loads: [pointer.then_some(to), None], ..plain })
            }
            0x3800_0000 if bits(word, 21, 1) == 0 => {
                // Unscaled, post-indexed, unprivileged, pre-indexed.
                let offset = if bits(word, 10, 2) == 1 { 0 } else { signed(word, 12, 9) };
                Some(Self {
                    offset,
                    loads: [(pointer && bits(word, 10, 2) != 2).then_some(to), None],
                    ..plain
                })
            }
            // Atomic operations, `ldapr`.
            0x3800_0000 if bits(word, 10, 2) == 0 => Some(plain),
            // Pairs; bit 24 is among the form's bits 23 to 25.
            0x2800_0000 | 0x2900_0000 => {
                let load = bits(word, 22, 1) == 1;
                let scale = match (vector, size) {
                    (true, 3) | (false, 3) => return None,
                    (true, _) => 2 + size,
                    // `ldpsw` against `stgp`.
                    (false, 1) => {
                        if load {
                            2
                        } else {
                            4
                        }
                    }
                    (false, _) => 2 + size / 2,
                };
                let post = bits(word, 23, 2) == 1;
                let offset = if post { 0 } else { signed(word, 15, 7) << scale };
                let words = load && !vector && size == 2;
                let second = bits(word, 10, 5);
                Some(Self { offset, loads: [words.then_some(to), words.then_some(second)], ..plain })
            }
            // Exclusive and ordered ones, compare and swap.
            0x0800_0000 if !vector => Some(plain),
            // Structures of vectors, without offset or post-indexed.
            0x0800_0000 | 0x0900_0000 if vector && size < 2 => Some(plain),
            // `ldapur`, `stlur`.
            0x1900_0000 if !vector && bits(word, 21, 1) == 0 && bits(word, 10, 2) == 0 => {
                Some(Self { offset: signed(word, 12, 9), ..plain })
            }
            _ => None,
        }
    }
}
