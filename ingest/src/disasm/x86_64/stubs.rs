//! The entries of x86-64 PLT sections: GNU ld, gold, lld and mold (psABI, "Procedure Linkage Table").
//!
//! An entry is known by its code, not by the section's entry size: `.plt.got` has entries of 8 or 16 bytes under one name,
//! mold's header is twice its entries, and nothing makes a linker or an attacker write the truth there.

use super::super::{Leads, Stub};

const ENDBR64: &[u8] = &[0xf3, 0x0f, 0x1e, 0xfa];
/// `pause; lfence; jmp` back: where speculation is held, in lld's retpolines.
const HELD: &[u8] = &[0xf3, 0x90, 0x0f, 0xae, 0xe8, 0xeb, 0xf9];
/// `mov %r11, (%rsp); ret`.
const RETURN_TO_R11: &[u8] = &[0x4c, 0x89, 0x1c, 0x24, 0xc3];
/// Linkers lay entries on multiples of this.
const GRANULE: usize = 8;

/// The entries of a stub section, contiguous.
pub(super) fn find_stubs(bytes: &[u8], address: u64) -> Vec<Stub> {
    let mut stubs: Vec<Stub> = Vec::new();
    let mut retpoline = false;
    let mut at = 0;
    while at < bytes.len() {
        let place = address.wrapping_add(at as u64);
        let mut code = Code { bytes, at, address };
        let (leads, end) = match code.entry(at == 0, &mut retpoline) {
            Some(leads) => (leads, padded(bytes, at, code.at)),
            None => (Leads::Unknown, bytes.len().min(at + GRANULE)),
        };
        let size = (end - at) as u64;
        match stubs.last_mut() {
            // What is known of an unknown place is only that it is one.
            Some(last) if last.leads == Leads::Unknown && leads == Leads::Unknown => last.size += size,
            _ => stubs.push(Stub { address: place, size, leads }),
        }
        at = end;
    }
    stubs
}

/// Where the entry from `start` with code up to `end` ends: the granule is filled up, and what follows as mere padding
/// is the entry's too.
fn padded(bytes: &[u8], start: usize, end: usize) -> usize {
    let mut end = start + (end - start).next_multiple_of(GRANULE);
    while bytes.get(end..end + GRANULE).is_some_and(|next| next == [0xcc; GRANULE] || next == [0x90; GRANULE])
    {
        end += GRANULE;
    }
    end.min(bytes.len())
}

/// A place in the section, read forward.
struct Code<'a> {
    bytes: &'a [u8],
    at: usize,
    address: u64,
}

impl Code<'_> {
    /// Reads one entry.
    fn entry(&mut self, first: bool, retpoline: &mut bool) -> Option<Leads> {
        self.skip(ENDBR64);
        // mold: the entry's number in %r11d, for its header to push.
        if self.skip(&[0x41, 0xbb]) {
            self.word()?;
        }
        // mold: its header pushes %r11 first.
        self.skip(&[0x41, 0x53]);
        if self.skip(&[0xff, 0x35]) {
            self.word()?;
            return self.header(first, retpoline);
        }
        if let Some(slot) = self.jump_slot() {
            self.skip_lazy();
            return Some(Leads::Slot(slot));
        }
        if first && self.skip(&[0xe8, 0x0b, 0, 0, 0]) && self.skip(HELD) {
            // lld, `-z retpolineplt -z now`: not the resolver's header, but the thunk that all entries jump through.
            *retpoline = true;
            return None;
        }
        if *retpoline && self.skip(&[0x4c, 0x8b, 0x1d]) {
            return self.retpoline();
        }
        match self.lazy() {
            Some((number, header)) if header == self.address => Some(Leads::Lazy(number)),
            _ => None,
        }
    }

    /// After the push of the link map: the jump to the resolver. In any but the first place it is the trampoline of TLS
    /// descriptors, which has a slot of its own.
    fn header(&mut self, first: bool, retpoline: &mut bool) -> Option<Leads> {
        if let Some(slot) = self.jump_slot() {
            return Some(if first { Leads::Header } else { Leads::Slot(slot) });
        }
        // lld, `-z retpolineplt`: 48 bytes.
        let start = self.at - 6;
        let known = first
            && self.skip(&[0x4c, 0x8b, 0x1d])
            && self.word().is_some()
            && self.skip(&[0xe8, 0x0e, 0, 0, 0])
            && self.skip(HELD);
        self.at = start + 0x20;
        if known && self.skip(RETURN_TO_R11) {
            *retpoline = true;
            return Some(Leads::Header);
        }
        None
    }

    /// After the opcode of lld's `mov slot(%rip), %r11`, under a header that is a retpoline.
    fn retpoline(&mut self) -> Option<Leads> {
        let slot = self.relative()?;
        // The lazy kind calls the thunk first, so that `jmp` leads to where speculation is held.
        if self.skip(&[0xe8]) {
            self.word()?;
        }
        if !self.skip(&[0xe9]) {
            return None;
        }
        self.word()?;
        self.skip_lazy();
        Some(Leads::Slot(slot))
    }

    /// `[bnd] jmp *slot(%rip)`.
    fn jump_slot(&mut self) -> Option<u64> {
        let rest = self.bytes.get(self.at..)?;
        let length = match rest {
            [0xff, 0x25, ..] => 2,
            [0xf2, 0xff, 0x25, ..] => 3,
            _ => return None,
        };
        self.at += length;
        self.relative()
    }

    /// `push $n; [bnd] jmp header`: the number, and where the jump leads.
    fn lazy(&mut self) -> Option<(u32, u64)> {
        if !self.skip(&[0x68]) {
            return None;
        }
        let number = self.word()?;
        self.skip(&[0xf2]);
        if self.skip(&[0xe9]) { Some((number, self.relative()?)) } else { None }
    }

    /// Goes over the lazy half that follows the jump through the slot in one entry, if it comes next. In static
    /// programs it is there too, and its jump leads nowhere.
    fn skip_lazy(&mut self) {
        let end = self.at;
        if self.lazy().is_none() {
            self.at = end;
        }
    }

    /// A displacement that ends its unit, as an address.
    fn relative(&mut self) -> Option<u64> {
        let distance = self.word()?.cast_signed();
        Some(self.address.wrapping_add(self.at as u64).wrapping_add_signed(i64::from(distance)))
    }

    fn word(&mut self) -> Option<u32> {
        let word = u32::from_le_bytes(*self.bytes.get(self.at..)?.first_chunk()?);
        self.at += 4;
        Some(word)
    }

    /// Goes over these bytes, if they come next.
    fn skip(&mut self, expected: &[u8]) -> bool {
        let found = self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(expected));
        if found {
            self.at += expected.len();
        }
        found
    }
}
