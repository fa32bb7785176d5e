//! Facts of known words and bodies, and comparison with capstone's detail mode.

mod known;

use capstone::arch::arm64::{ArchMode, Arm64InsnGroup, Arm64OperandType, Arm64Reg};
use capstone::arch::{ArchDetail, BuildsCapstone, DetailsArchInsn};
use capstone::{Capstone, Insn, RegId};
use object::elf;

use self::known::{BODIES, STUBS, UNITS, WRITES};
use super::super::testing::{Random, bytes_of, code_of, show, show_stubs, stubs_of, units_of};
use super::super::{Dynamic, Facts, Family, Fill, Flow, Points, Refer, Target, Unit};
use super::{AArch64, writes};

#[test]
fn units() {
    for &(word, text, expected) in UNITS {
        let unit = Unit { offset: 0, size: 4, decoded: true };
        let code = word.to_le_bytes();
        assert_eq!(show(&AArch64.facts(&[unit], &code, 0x1000, Some(&[]))[0]), expected, "{text}");
        let unknown = Unit { decoded: false, ..unit };
        assert_eq!(AArch64.facts(&[unknown], &code, 0x1000, Some(&[])), [Facts::PLAIN], "{text}");
    }
}

#[test]
fn written_registers() {
    for &(word, text, expected) in WRITES {
        let written = writes::written(word);
        let registers: Vec<u32> = (0..31).filter(|n| written >> n & 1 == 1).collect();
        assert_eq!(registers, expected, "{text}");
    }
}

#[test]
fn bodies() {
    for case in BODIES {
        let code: Vec<u8> = case.units.iter().flat_map(|&(word, ..)| word.to_le_bytes()).collect();
        let mut units = all_units(&code);
        if let Some(n) = case.undecoded {
            units[n].decoded = false;
        }
        let facts = AArch64.facts(&units, &code, 0x1000, case.landings);
        for (n, (facts, (_, text, expected))) in facts.iter().zip(case.units).enumerate() {
            assert_eq!(show(facts), *expected, "{}: {text} (unit {n})", case.name);
        }
    }
}

#[test]
fn veneers_are_found() {
    for case in BODIES {
        let code: Vec<u8> = case.units.iter().flat_map(|&(word, ..)| word.to_le_bytes()).collect();
        let expected = (case.name == "a far branch's veneer").then_some(0x9000);
        assert_eq!(AArch64.veneer(&code, 0x1000), expected, "{}", case.name);
    }
}

#[test]
fn branches_are_scanned() {
    // `bl`, `nop`, `cbz`, `br`, and a piece of a word.
    let code: Vec<u8> = [0x9400_0040_u32, 0xd503_201f, 0xb400_0043, 0xd61f_0060]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .chain([0, 0, 0])
        .collect();
    let (mut calls, mut landings) = (Vec::new(), Vec::new());
    AArch64.scan_calls(&code, 0x1000, &mut |target| calls.push(target));
    AArch64.scan_landings(&code, 0x1000, &mut |from, to| landings.push((from, to)));
    assert_eq!((calls, landings), (vec![0x1100], vec![(0x1000, 0x1100), (0x1008, 0x1010)]));
}

#[test]
fn stubs() {
    for &(name, address, bytes, expected) in STUBS {
        for entry_size in [0, 16, 7, u64::MAX] {
            let stubs = stubs_of(&AArch64, &bytes_of(bytes), address, entry_size);
            assert_eq!(show_stubs(&stubs), expected, "{name}");
        }
    }
}

#[test]
fn relocations() {
    let address = |half| Fill::Address { from_end: false, half };
    let slot = |half| Fill::Slot { from_end: false, half };
    let cases = [
        (elf::R_AARCH64_CALL26, address(false), Dynamic::Other),
        (elf::R_AARCH64_TSTBR14, address(false), Dynamic::Other),
        (elf::R_AARCH64_ADR_PREL_PG_HI21, address(true), Dynamic::Other),
        (elf::R_AARCH64_ADD_ABS_LO12_NC, address(false), Dynamic::Other),
        (elf::R_AARCH64_LDST128_ABS_LO12_NC, address(false), Dynamic::Other),
        (elf::R_AARCH64_ADR_GOT_PAGE, slot(true), Dynamic::Other),
        (elf::R_AARCH64_LD64_GOT_LO12_NC, slot(false), Dynamic::Other),
        (elf::R_AARCH64_MOVW_UABS_G3, Fill::Other, Dynamic::Other),
        (elf::R_AARCH64_TLSIE_ADR_GOTTPREL_PAGE21, Fill::Other, Dynamic::Other),
        (elf::R_AARCH64_ABS64, address(false), Dynamic::Symbol),
        (elf::R_AARCH64_JUMP_SLOT, Fill::Other, Dynamic::Symbol),
        (elf::R_AARCH64_RELATIVE, Fill::Other, Dynamic::Relative),
        (elf::R_AARCH64_IRELATIVE, Fill::Other, Dynamic::Ifunc),
        (elf::R_AARCH64_COPY, Fill::Other, Dynamic::Other),
    ];
    for (r_type, fill, dynamic) in cases {
        assert_eq!((AArch64.relocation(r_type.0), AArch64.dynamic(r_type.0)), (fill, dynamic), "{r_type:?}");
    }
}

#[test]
fn libc_agrees_with_capstone() {
    let paths = ["/usr/aarch64-linux-gnu/lib/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6"];
    let decoder = AArch64.decoder().unwrap();
    let detailed = detailed();
    let (mut transfers, mut references, mut all) = (0, 0, 0);
    for (address, code) in code_of(elf::EM_AARCH64, &paths).unwrap_or_default() {
        let units = units_of(&AArch64, &decoder, &code, address);
        for unit in units.iter().filter(|unit| unit.decoded) {
            let place = unit.offset as usize;
            let word = u32::from_le_bytes(code[place..place + 4].try_into().unwrap());
            let facts = compare(&detailed, word, address + place as u64);
            transfers += usize::from(facts.flow != Flow::Next);
            references += usize::from(facts.refer.is_some());
            all += 1;
        }
        // As one body, however long: what is told of a page is told whole.
        for facts in [None, Some(&[][..])].map(|landings| AArch64.facts(&units, &code, address, landings)) {
            let half = |facts: &&Facts| facts.field.is_some_and(|field| field.points == Points::Half);
            assert!(facts.iter().filter(half).all(|facts| facts.refer.is_none() && facts.flow == Flow::Next));
        }
    }
    println!("{all} instructions, {transfers} transfers, {references} references");
}

#[test]
fn random_words_agree_with_capstone() {
    let detailed = detailed();
    let mut random = Random(1);
    let all = (0..300_000).filter(|_| {
        let word = random.next() as u32;
        let known = detailed.disasm_count(&word.to_le_bytes(), 0, 1).is_ok_and(|found| !found.is_empty());
        if known {
            compare(&detailed, word, 0x10_0000);
        }
        known
    });
    println!("{} instructions", all.count());
}

#[test]
fn anything_is_survived() {
    let mut random = Random(3);
    for length in (0..300).chain([5001]) {
        let code = random.bytes(length);
        stubs_of(&AArch64, &code, random.next() >> 20, 16);
        let landings: Vec<u64> = (0..4).map(|_| 0x1000 + random.next() % 400).collect();
        let units = all_units(&code);
        for landings in [None, Some(&landings[..])] {
            for address in [0x1000, random.next()] {
                assert_eq!(AArch64.facts(&units, &code, address, landings).len(), units.len());
            }
        }
        // Units that no decoder made.
        let mut units = Vec::new();
        let mut offset = random.next() as u32 % 8;
        while offset < length as u32 {
            let size = (random.next() % 8) as u8;
            units.push(Unit { offset, size, decoded: true });
            offset += u32::from(size);
        }
        assert_eq!(AArch64.facts(&units, &code, 0x1000, None).len(), units.len());
    }
}

/// The units of code whose every word is known.
fn all_units(code: &[u8]) -> Vec<Unit> {
    code.chunks(4)
        .enumerate()
        .map(|(n, word)| Unit { offset: n as u32 * 4, size: word.len() as u8, decoded: word.len() == 4 })
        .collect()
}

fn detailed() -> Capstone {
    Capstone::new().arm64().mode(ArchMode::Arm).detail(true).build().unwrap()
}

/// Compares the facts of one word, and the registers that it writes, with capstone's detail mode.
fn compare(detailed: &Capstone, word: u32, address: u64) -> Facts {
    let unit = Unit { offset: 0, size: 4, decoded: true };
    let code = word.to_le_bytes();
    let facts = AArch64.facts(&[unit], &code, address, Some(&[]))[0];
    let instructions = detailed.disasm_count(&code, address, 1).unwrap();
    let instruction = instructions.first().unwrap();
    assert_eq!((facts.flow, facts.refer), by_capstone(detailed, instruction), "{instruction} {word:08x}");
    let name = instruction.mnemonic().unwrap();
    // capstone 5 takes the first operand of these, and the last of `st1` with a register to add, as written.
    if !matches!(name, "cmp" | "cmn" | "tst" | "st1") {
        let theirs = general(detailed.insn_detail(instruction).unwrap().regs_write());
        let link = if matches!(facts.flow, Flow::Call(_)) { 1 << 30 } else { 0 };
        assert_eq!(
            theirs & !writes::written(word) & !link,
            0,
            "{instruction} {word:08x} writes {theirs:08x}"
        );
    }
    facts
}

/// The general registers among capstone's, as bits.
fn general(registers: &[RegId]) -> u32 {
    let bit = |register: &RegId| match u32::from(register.0) {
        id @ Arm64Reg::ARM64_REG_W0..=Arm64Reg::ARM64_REG_W30 => 1 << (id - Arm64Reg::ARM64_REG_W0),
        id @ Arm64Reg::ARM64_REG_X0..=Arm64Reg::ARM64_REG_X28 => 1 << (id - Arm64Reg::ARM64_REG_X0),
        Arm64Reg::ARM64_REG_FP => 1 << 29,
        Arm64Reg::ARM64_REG_LR => 1 << 30,
        _ => 0,
    };
    registers.iter().map(bit).fold(0, std::ops::BitOr::bitor)
}

/// What capstone's detail mode says of an instruction: the flow, and the address referred to.
fn by_capstone(decoder: &Capstone, instruction: &Insn<'_>) -> (Flow, Option<Refer>) {
    let detail = decoder.insn_detail(instruction).unwrap();
    let group = |group: u32| detail.groups().iter().any(|other| u32::from(other.0) == group);
    let name = instruction.mnemonic().unwrap();
    // The last operand where it is a number. capstone-rs aborts when it shows operands of system instructions that its
    // lists lack, so only these are looked at.
    // `bc.cond` is in no group.
    let jumps = group(Arm64InsnGroup::ARM64_GRP_JUMP) || name.starts_with("bc.");
    let calls = group(Arm64InsnGroup::ARM64_GRP_CALL);
    let mut number = None;
    if jumps || calls || matches!(name, "adr" | "ldr" | "ldrsw" | "prfm") {
        let ArchDetail::Arm64Detail(arch) = detail.arch_detail() else { panic!("not AArch64") };
        if let Some(Arm64OperandType::Imm(last)) = arch.operands().last().map(|operand| operand.op_type)
            && (jumps || calls || name == "prfm" || arch.operands().len() == 2)
        {
            number = Some(last as u64);
        }
    }
    let target = number.map_or(Target::Computed { switch: false }, Target::Address);
    if group(Arm64InsnGroup::ARM64_GRP_RET) || matches!(name, "eret" | "eretaa" | "eretab" | "drps") {
        (Flow::Return, None)
    } else if calls {
        (Flow::Call(target), None)
    } else if jumps {
        let always =
            ["b", "br", "braa", "brab", "braaz", "brabz", "b.al", "b.nv", "bc.al", "bc.nv"].contains(&name);
        (Flow::Jump { target, conditional: !always }, None)
    } else if matches!(name, "brk" | "hlt" | "udf") {
        (Flow::Stop, None)
    } else if matches!(name, "svc" | "hvc" | "smc") {
        (Flow::System, None)
    } else {
        (Flow::Next, number.map(|address| Refer { address, taken: name == "adr" }))
    }
}
