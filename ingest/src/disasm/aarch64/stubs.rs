//! The entries of AArch64 PLT sections: GNU ld, lld and mold (AAELF64, "PLT").
//!
//! An entry is known by its code. `br` through a slot ends it; what stands before may begin with `bti` and may
//! authenticate, and the `nop`s that fill it up follow. lld 14 with `-z force-bti` makes entries of 24 bytes and writes 16
//! as the section's entry size.

use super::super::{Facts, Flow, Leads, Stub, Target, Unit};
use super::branch::is_bti;
use super::{bits, signed, walk};

/// Words that an entry has at most, up to its `br`: the trampoline of TLS descriptors with `bti`.
const LONGEST: usize = 8;
const NOP: u32 = 0xd503_201f;
/// `stp x16, x30, [sp, #-16]!`: the header keeps what the resolver needs.
const STP_X16_X30: u32 = 0xa9bf_7bf0;
/// `stp x2, x3, [sp, #-16]!`: so does the trampoline of TLS descriptors.
const STP_X2_X3: u32 = 0xa9bf_0fe2;

/// The entries of a stub section, contiguous.
pub(super) fn find_stubs(bytes: &[u8], address: u64) -> Vec<Stub> {
    let mut stubs: Vec<Stub> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let place = address.wrapping_add(at as u64);
        let (leads, size) = entry(rest, place, at == 0).unwrap_or((Leads::Unknown, rest.len().min(4)));
        match stubs.last_mut() {
            // What is known of an unknown place is only that it is one.
            Some(last) if last.leads == Leads::Unknown && leads == Leads::Unknown => last.size += size as u64,
            _ => stubs.push(Stub { address: place, size: size as u64, leads }),
        }
        at += size;
    }
    stubs
}

/// The entry at the start of these bytes, and its size.
fn entry(bytes: &[u8], address: u64, first: bool) -> Option<(Leads, usize)> {
    let word = |n: usize| Some(u32::from_le_bytes(*bytes.get(n * 4..)?.first_chunk()?));
    let start = usize::from(is_bti(word(0)?));
    let keeps = word(start)?;
    let adrp = start + usize::from(matches!(keeps, STP_X16_X30 | STP_X2_X3));
    if word(adrp)? & 0x9f00_0000 != 0x9000_0000 {
        return None;
    }
    // `br` and `braa`.
    let branch = (start..LONGEST).find(|&n| word(n).is_some_and(|word| word & 0xfedf_0000 == 0xd61f_0000))?;
    let units: Vec<Unit> =
        (0..=branch).map(|n| Unit { offset: n as u32 * 4, size: 4, decoded: true }).collect();
    let facts = walk::facts(&units, &bytes[..(branch + 1) * 4], address, Some(&[]));
    let Some(Facts { flow: Flow::Jump { target: Target::Slot(slot), .. }, .. }) = facts.last() else {
        return None;
    };
    let mut words = branch + 1;
    while word(words) == Some(NOP) {
        words += 1;
    }
    let leads = if first && keeps == STP_X16_X30 { Leads::Header } else { Leads::Slot(*slot) };
    Some((leads, words * 4))
}

/// Where ld's long-branch veneer goes on to: `adrp x16`, `add x16, x16, #`, `br x16`.
pub(super) fn find_veneer(bytes: &[u8], address: u64) -> Option<u64> {
    let word = |n: usize| Some(u32::from_le_bytes(*bytes.get(n * 4..)?.first_chunk()?));
    let (adrp, add, br) = (word(0)?, word(1)?, word(2)?);
    // Register 16 throughout; the `add` is the 64-bit one without a shifted immediate.
    let is_veneer =
        adrp & 0x9f00_001f == 0x9000_0010 && add & 0xffc0_03ff == 0x9100_0210 && br == 0xd61f_0200;
    let pages = signed(adrp, 5, 19) << 2 | i64::from(bits(adrp, 29, 2));
    let page = (address & !0xfff).wrapping_add_signed(pages << 12);
    is_veneer.then(|| page.wrapping_add(u64::from(bits(add, 10, 12))))
}

/// Whether all words are `nop`s.
pub(super) fn is_padding(bytes: &[u8]) -> bool {
    bytes.len().is_multiple_of(4) && bytes.chunks(4).all(|word| word == NOP.to_le_bytes())
}
