//! Every string that a row refers to: its address is objdump's, its text the file's.

use elfscope_schema::{Referent, ReferentKind};

use super::{Machine, listing::Site, readelf::Binary, registers::Registers, tally::Tally};
use crate::report::Report;

pub(super) struct Strings<'a> {
    machine: Machine,
    binary: &'a Binary,
    addresses: Tally,
    texts: Tally,
    registers: Registers,
}

impl<'a> Strings<'a> {
    pub(super) fn new(machine: Machine, binary: &'a Binary) -> Self {
        let addresses = match machine {
            Machine::X86_64 => Tally::new("strings: the address is objdump's `# address`"),
            Machine::Aarch64 => Tally::new("strings: the address is objdump's adrp and adds"),
        };
        let texts = Tally::new("strings: the text is the section's bytes");
        Self { machine, binary, addresses, texts, registers: Registers::default() }
    }

    pub(super) fn start_of_body(&mut self) {
        self.registers = Registers::start();
    }

    pub(super) fn check(&mut self, site: &Site) {
        let Some(oracle) = site.oracle else { return };
        if self.machine == Machine::Aarch64 {
            self.registers.arrive(site.address);
        }
        let referent = site.row.notes.to.as_ref().filter(|to| to.kind == ReferentKind::String);
        if let Some(to) = referent {
            let there = oracle.place(self.machine).or_else(|| self.registers.place(oracle));
            let here = to.address.map(|address| address.offset);
            let (at, operands) = (site.address, &oracle.operands);
            // What this can't follow is compared by its text only; objdump itself says it on x86 every time.
            if there.is_some() || self.machine == Machine::X86_64 {
                self.addresses.check(here.is_some() && here == there, || {
                    format!("{at:x}: {here:x?} here, {there:x?} there (`{} {operands}`)", oracle.mnemonic)
                });
            }
            let same = here.is_some_and(|address| self.is_text(address, to));
            self.texts.check(same, || format!("{at:x}: {:?} at {here:x?}", to.text));
        }
        if self.machine == Machine::Aarch64 {
            self.registers.follow(oracle);
        }
    }

    fn is_text(&self, address: u64, to: &Referent) -> bool {
        let Some(text) = &to.text else { return false };
        holds_text(self.binary, address, text, to.cut)
    }

    pub(super) fn finish(self, input: &str, report: &mut Report) {
        self.addresses.finish(input, report);
        self.texts.finish(input, report);
    }
}

/// Whether text stands at an address: up to its NUL, or, where it is cut, as its start.
pub(super) fn holds_text(binary: &Binary, address: u64, text: &str, cut: bool) -> bool {
    binary
        .at(address)
        .and_then(|bytes| bytes.strip_prefix(text.as_bytes()))
        .is_some_and(|rest| cut || rest.first() == Some(&0))
}
