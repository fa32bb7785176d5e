//! What the families' tests share.

use capstone::Capstone;
use object::read::elf::{ElfFile64, FileHeader as _};
use object::{Endianness, Object as _, ObjectSection as _, SectionFlags, elf};

use super::{Facts, Family, Field, Flow, Leads, Points, Refer, Stub, Target, Unit};

/// The facts in short: `call`, `jump`, `jump?` (conditional), `return`, `stop`, with the target; `&` for an address taken
/// and `@` for memory accessed; the field as `place:mask=what it points to`.
pub(super) fn show(facts: &Facts) -> String {
    let target = |target| match target {
        Target::Address(address) => format!("{address:x}"),
        Target::Slot(slot) => format!("*{slot:x}"),
        Target::Computed { switch } => if switch { "switch" } else { "computed" }.to_owned(),
    };
    let mut words = Vec::new();
    match facts.flow {
        Flow::Next => {}
        Flow::Call(to) => words.push(format!("call {}", target(to))),
        Flow::Jump { target: to, conditional } => {
            words.push(format!("jump{} {}", if conditional { "?" } else { "" }, target(to)));
        }
        Flow::Return => words.push("return".to_owned()),
        Flow::System => words.push("system".to_owned()),
        Flow::Stop => words.push("stop".to_owned()),
    }
    if let Some(Refer { address, taken }) = facts.refer {
        words.push(format!("{}{address:x}", if taken { "&" } else { "@" }));
    }
    if let Some(Field { at, mask, points }) = facts.field {
        let points = match points {
            Points::At(address) => format!("{address:x}"),
            Points::Half => "half".to_owned(),
            Points::Unknown => "unknown".to_owned(),
        };
        words.push(format!("{at}:{:x}={points}", u32::from_le_bytes(mask)));
    }
    words.join(" ")
}

/// The entries in short: `size:where it leads`.
pub(super) fn show_stubs(stubs: &[Stub]) -> String {
    let leads = |leads| match leads {
        Leads::Slot(slot) => format!("*{slot:x}"),
        Leads::Lazy(number) => format!("lazy {number}"),
        Leads::Header => "header".to_owned(),
        Leads::Address(address) => format!("{address:x}"),
        Leads::Unknown => "unknown".to_owned(),
    };
    stubs.iter().map(|stub| format!("{}:{}", stub.size, leads(stub.leads))).collect::<Vec<_>>().join(", ")
}

/// The entries of a section's bytes, after a check of what holds for any bytes.
pub(super) fn stubs_of(family: &dyn Family, bytes: &[u8], address: u64, entry_size: u64) -> Vec<Stub> {
    let stubs = family.stubs(bytes, address, entry_size);
    let mut next = address;
    for stub in &stubs {
        assert_eq!(stub.address, next, "contiguous");
        assert_ne!(stub.size, 0);
        next += stub.size;
    }
    assert_eq!(next, address + bytes.len() as u64, "all of the section");
    stubs
}

/// Bytes from their digits.
pub(super) fn bytes_of(digits: &str) -> Vec<u8> {
    digits
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// The units of some code.
pub(super) fn units_of(family: &dyn Family, decoder: &Capstone, code: &[u8], address: u64) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let mut instructions = decoder.disasm_iter(&code[at..], address + at as u64).unwrap();
        while let Some(instruction) = instructions.next() {
            units.push(Unit { offset: at as u32, size: instruction.len() as u8, decoded: true });
            at += instruction.len();
        }
        if at < code.len() {
            let size = family.undecodable(&code[at..]);
            units.push(Unit { offset: at as u32, size: size as u8, decoded: false });
            at += size;
        }
    }
    units
}

/// The executable sections of the first of these files that is there and for this machine.
pub(super) fn code_of(machine: elf::Machine, paths: &[&str]) -> Option<Vec<(u64, Vec<u8>)>> {
    for path in paths {
        let Ok(data) = std::fs::read(path) else { continue };
        let Ok(file) = ElfFile64::<Endianness>::parse(&*data) else { continue };
        if file.elf_header().e_machine(Endianness::Little) != machine || !file.is_little_endian() {
            continue;
        }
        let is_code = |flags| matches!(flags, SectionFlags::Elf { sh_flags, .. } if sh_flags.0 & elf::SHF_EXECINSTR.0 != 0);
        let sections = file.sections().filter(|section| is_code(section.flags()));
        return Some(sections.map(|section| (section.address(), section.data().unwrap().to_vec())).collect());
    }
    println!("skipped: none of {paths:?} is there");
    None
}

/// SplitMix64, so that every run sees the same numbers.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(super) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}
