//! Which general registers a word writes.
//!
//! Rather one too many than one too few: a register that seems written is only forgotten. The tables follow Arm ARM
//! C4.1; what isn't allocated there, or not known here, writes them all.

use super::bits;

/// Every register.
pub(super) const ALL: u32 = u32::MAX;
/// What a callee need not keep (AAPCS64, "General-purpose registers"): x0 to x18, where x16 and x17 are the veneers' and
/// x18 the platform's, and x30.
pub(super) const BY_CALL: u32 = 0x4007_ffff;

/// The registers that the word writes, bit n for xn. Bit 31 stands for `sp` or nothing. Transfers of control are not
/// looked at, except that a word with `link` set writes x30.
pub(super) fn written(word: u32) -> u32 {
    let rd = 1 << bits(word, 0, 5);
    match bits(word, 25, 4) {
        // SME and reserved.
        0b0000 | 0b0001 | 0b0011 => ALL,
        // SVE: where it writes a general register (`rdvl`, `cntb`, `incb`, `lasta`, `cntp`), that is named in the lowest
        // bits; no access writes its base back.
        0b0010 => rd,
        0b1000 | 0b1001 => by_immediate(word, rd),
        0b1010 | 0b1011 => by_system(word, rd),
        0b0100 | 0b0110 | 0b1100 | 0b1110 => by_access(word, rd),
        0b0101 | 0b1101 => by_register(word, rd),
        _ => by_vector(word, rd),
    }
}

/// "Data Processing -- Immediate".
fn by_immediate(word: u32, rd: u32) -> u32 {
    match bits(word, 23, 3) {
        // Extract. In its place `autiasppc` writes x30, and more may come.
        7 if word & 0x7fa0_0000 != 0x1380_0000 => ALL,
        _ => rd,
    }
}

/// "Branches, Exception Generating and System instructions".
fn by_system(word: u32, rt: u32) -> u32 {
    match word >> 24 {
        // Relative branches; `tcancel`, `dcps` and exceptions leave for good or are calls (see `Transfer`).
        0x14..=0x17 | 0x34..=0x37 | 0xb4..=0xb7 | 0x54 => 0,
        0x94..=0x97 => 1 << 30,
        0xd6 | 0xd7 => 1 << 30,
        // Hints.
        0xd5 if word & 0xffff_f01f == 0xd503_201f => match bits(word, 5, 7) {
            // `nop`, `yield`, `wfe`, `wfi`, `sev`, `sevl`, `dgh`; `esb`, `psb`, `tsb`, `gcsb`, `csdb`; `bti`.
            0..=6 | 16..=20 | 32 | 34 | 36 | 38 => 0,
            // `xpaclri`; `paciaz` to `autibsp`.
            7 | 24..=31 => 1 << 30,
            // `pacia1716` to `autib1716`.
            8 | 10 | 12 | 14 => 1 << 17,
            // `chkfeat`.
            40 => 1 << 16,
            _ => ALL,
        },
        // Barriers, `msr`, `sys`, and with bit 21 set `mrs`, `sysl`, `tstart`, and `mrrs` with its second register.
        0xd5 if bits(word, 21, 1) == 0 => 0,
        0xd5 if bits(word, 22, 1) == 0 => rt,
        0xd5 => rt | rt << 1,
        _ => ALL,
    }
}

/// "Loads and Stores".
fn by_access(word: u32, rt: u32) -> u32 {
    let rn = 1 << bits(word, 5, 5);
    let second = 1 << bits(word, 10, 5);
    let status = 1 << bits(word, 16, 5);
    let vector = bits(word, 26, 1) == 1;
    let opc = bits(word, 22, 2);
    let only_if = |condition: bool, registers: u32| if condition { registers } else { 0 };
    match bits(word, 28, 2) {
        0 if vector => only_if(bits(word, 23, 1) == 1, rn),
        // Exclusive and ordered ones, `cas`, `casp` (which writes two in a row).
        0 => rt | second | status | status << 1,
        1 if bits(word, 24, 1) == 0 => {
            // Literals; `prfm` has one too.
            only_if(!vector && bits(word, 30, 2) != 3, rt)
        }
        // `ldapur`, `stlur`.
        1 if !vector && bits(word, 21, 1) == 0 && bits(word, 10, 2) == 0 => only_if(opc != 0, rt),
        // Tags, memory copy and set, 128-bit atomics, ordered pairs: all that can be named.
        1 => rt | rn | second | status | status << 1,
        2 => {
            let loads = only_if(!vector && bits(word, 22, 1) == 1, rt | second);
            loads | only_if(bits(word, 23, 1) == 1, rn)
        }
        // Unsigned offset. Size 3 with opc 2 is `prfm`.
        _ if bits(word, 24, 1) == 1 => only_if(!vector && opc != 0 && !is_prefetch(word), rt),
        _ if bits(word, 21, 1) == 0 => {
            let loads = only_if(!vector && opc != 0 && !(is_prefetch(word) && bits(word, 10, 2) == 0), rt);
            loads | only_if(bits(word, 10, 1) == 1, rn)
        }
        _ => match bits(word, 10, 2) {
            // `ld64b` fills eight in a row.
            0 if word & 0xffff_fc00 == 0xf83f_d000 => only_if(true, 0xff << bits(word, 0, 5)),
            0 => only_if(!vector, rt | status),
            2 => only_if(!vector && opc != 0, rt),
            // `ldraa`, `ldrab`.
            _ => rt | rn,
        },
    }
}

/// "Data Processing -- Register".
fn by_register(word: u32, rd: u32) -> u32 {
    // One source: `pacia171615` and its like change x17 and name x30.
    if word & 0x7fff_8000 == 0x5ac1_8000 { rd | 1 << 17 | 1 << 30 } else { rd }
}

/// "Data Processing -- Scalar Floating-Point and Advanced SIMD": only these write a general register.
fn by_vector(word: u32, rd: u32) -> u32 {
    // Conversions to and from fixed point and integers, `fmov`.
    let converts = word & 0x5f20_0000 == 0x1e00_0000 || word & 0x5f20_fc00 == 0x1e20_0000;
    // `umov`, `smov`.
    let copies = word & 0x9fe0_8400 == 0x0e00_0400;
    if converts || copies { rd } else { 0 }
}

/// Size 3 with opc 2, without a vector: `prfm` in the forms that have one.
fn is_prefetch(word: u32) -> bool {
    bits(word, 30, 2) == 3 && bits(word, 26, 1) == 0 && bits(word, 22, 2) == 2
}
