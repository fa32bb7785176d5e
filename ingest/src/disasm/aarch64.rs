//! AArch64: the facts of a unit from its word and, for registers, from those before it (Arm ARM, DDI 0487, chapter C4).
//!
//! An address takes two units here, so registers are followed through a body; [`walk`] says what counts as proven.

mod access;
mod body;
mod branch;
mod state;
mod stubs;
#[cfg(test)]
mod tests;
mod walk;
mod writes;

use capstone::Capstone;
use capstone::arch::BuildsCapstone;
use capstone::arch::arm64::ArchMode;
use object::elf;
use std::ops::Range;

use self::branch::Transfer;
use super::{Dynamic, Facts, Family, Fill, Stub, Unit};

/// The family of little-endian `EM_AARCH64`.
pub(super) struct AArch64;

impl Family for AArch64 {
    fn name(&self) -> &'static str {
        "aarch64"
    }

    fn decoder(&self) -> capstone::CsResult<Capstone> {
        Capstone::new().arm64().mode(ArchMode::Arm).build()
    }

    fn undecodable(&self, bytes: &[u8]) -> usize {
        bytes.len().clamp(1, 4)
    }

    fn facts(&self, units: &[Unit], code: &[u8], address: u64, landings: Option<&[u64]>) -> Vec<Facts> {
        walk::facts(units, code, address, landings)
    }

    fn stubs(&self, bytes: &[u8], address: u64, _entry_size: u64) -> Vec<Stub> {
        stubs::find_stubs(bytes, address)
    }

    fn may_hold_address(&self, unit: &[u8], _image: &Range<u64>) -> bool {
        // `movk`, the upper parts of a number that `movz` begins (Arm ARM C4.1, "Move wide (immediate)").
        unit.first_chunk().is_some_and(|word| u32::from_le_bytes(*word) & 0x7f80_0000 == 0x7280_0000)
    }

    fn tables(&self, units: &[Unit], code: &[u8], facts: &[Facts]) -> Vec<usize> {
        let word = |bytes: &[u8]| bytes.first_chunk().map(|word| u32::from_le_bytes(*word));
        // Arm ARM C4.1, "Load/store register (register offset)": loads of bytes, halfwords and words into general registers.
        let base = |bytes: &[u8]| {
            let word = word(bytes)?;
            let loads = word & 0x3f20_0c00 == 0x3820_0800 && word >> 30 < 3 && bits(word, 22, 2) != 0;
            loads.then(|| bits(word, 5, 5) as u8)
        };
        // Whatever makes an address names its register in the same place.
        super::find_tables(units, code, facts, base, |bytes| Some(bits(word(bytes)?, 0, 5) as u8))
    }

    fn mapping_symbol(&self, name: &[u8]) -> Option<bool> {
        // AAELF64, "Mapping symbols": `$d` and `$x`, also with a dot and anything after it.
        match name {
            b"$d" | [b'$', b'd', b'.', ..] => Some(true),
            b"$x" | [b'$', b'x', b'.', ..] => Some(false),
            _ => None,
        }
    }

    fn veneer(&self, code: &[u8], address: u64) -> Option<u64> {
        stubs::find_veneer(code, address)
    }

    fn is_padding(&self, code: &[u8]) -> bool {
        stubs::is_padding(code)
    }

    fn scan_calls(&self, code: &[u8], address: u64, found: &mut dyn FnMut(u64)) {
        scan(code, address, |link, _, to| {
            if link {
                found(to);
            }
        });
    }

    fn scan_landings(&self, code: &[u8], address: u64, found: &mut dyn FnMut(u64, u64)) {
        scan(code, address, |_, from, to| found(from, to));
    }

    fn relocation(&self, r_type: u32) -> Fill {
        match elf::RelocationType(r_type) {
            elf::R_AARCH64_CALL26
            | elf::R_AARCH64_JUMP26
            | elf::R_AARCH64_CONDBR19
            | elf::R_AARCH64_TSTBR14
            | elf::R_AARCH64_LD_PREL_LO19
            | elf::R_AARCH64_ADR_PREL_LO21
            | elf::R_AARCH64_ADD_ABS_LO12_NC
            | elf::R_AARCH64_LDST8_ABS_LO12_NC
            | elf::R_AARCH64_LDST16_ABS_LO12_NC
            | elf::R_AARCH64_LDST32_ABS_LO12_NC
            | elf::R_AARCH64_LDST64_ABS_LO12_NC
            | elf::R_AARCH64_LDST128_ABS_LO12_NC
            // Data among code: literals of `ldr`.
            | elf::R_AARCH64_ABS64
            | elf::R_AARCH64_ABS32
            | elf::R_AARCH64_PREL64
            | elf::R_AARCH64_PREL32
            | elf::R_AARCH64_PLT32 => Fill::Address { from_end: false, half: false },
            elf::R_AARCH64_ADR_PREL_PG_HI21 | elf::R_AARCH64_ADR_PREL_PG_HI21_NC => {
                Fill::Address { from_end: false, half: true }
            }
            elf::R_AARCH64_GOT_LD_PREL19
            | elf::R_AARCH64_LD64_GOT_LO12_NC
            | elf::R_AARCH64_LD64_GOTOFF_LO15
            | elf::R_AARCH64_LD64_GOTPAGE_LO15 => Fill::Slot { from_end: false, half: false },
            elf::R_AARCH64_ADR_GOT_PAGE => Fill::Slot { from_end: false, half: true },
            // `movz` and `movk` fill 16 bits each and none tells the whole; the TLS ones give offsets or descriptors.
            _ => Fill::Other,
        }
    }

    fn dynamic(&self, r_type: u32) -> Dynamic {
        match elf::RelocationType(r_type) {
            elf::R_AARCH64_ABS64 | elf::R_AARCH64_GLOB_DAT | elf::R_AARCH64_JUMP_SLOT => Dynamic::Symbol,
            elf::R_AARCH64_RELATIVE => Dynamic::Relative,
            elf::R_AARCH64_IRELATIVE => Dynamic::Ifunc,
            _ => Dynamic::Other,
        }
    }
}

/// Reports each word that is a direct branch: whether it links, its place and its target.
fn scan(code: &[u8], address: u64, mut found: impl FnMut(bool, u64, u64)) {
    let (words, _) = code.as_chunks();
    let mut place = address;
    for word in words {
        if let Some(Transfer::Relative { distance, link, .. }) = Transfer::parse(u32::from_le_bytes(*word)) {
            found(link, place, place.wrapping_add_signed(distance));
        }
        place = place.wrapping_add(4);
    }
}

/// The bits `low..low + count` of a word.
fn bits(word: u32, low: u32, count: u32) -> u32 {
    word >> low & ((1 << count) - 1)
}

/// As [`bits`], as a signed number.
fn signed(word: u32, low: u32, count: u32) -> i64 {
    i64::from((word << (32 - low - count)).cast_signed() >> (32 - count))
}
