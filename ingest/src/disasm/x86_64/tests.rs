//! Facts of known units, and comparison with capstone's detail mode.

use capstone::arch::x86::{ArchMode, ArchSyntax, X86InsnGroup, X86OperandType, X86Reg};
use capstone::arch::{ArchDetail, BuildsCapstone, BuildsCapstoneSyntax, DetailsArchInsn};
use capstone::{Capstone, Insn};
use object::elf;

use super::super::testing::{Random, bytes_of, code_of, show, show_stubs, stubs_of, units_of};
use super::super::{Dynamic, Facts, Family, Fill, Flow, Refer, Target, Unit};
use super::X86_64;

/// Bytes at 0x1000, their text from `objdump` (GNU binutils 2.40), and their facts.
#[rustfmt::skip]
const UNITS: &[(&[u8], &str, &str)] = &[
    (&[0xe8, 0x00, 0x01, 0x00, 0x00], "call 0x105", "call 1105 1:ffffffff=1105"),
    (&[0xe9, 0xfb, 0x0f, 0x00, 0x00], "jmp 0x1005", "jump 2000 1:ffffffff=2000"),
    (&[0xeb, 0xfc], "jmp 0x8", "jump ffe 1:ff=ffe"),
    (&[0x74, 0x20], "je 0x2e", "jump? 1022 1:ff=1022"),
    (&[0x0f, 0x84, 0x00, 0x10, 0x00, 0x00], "je 0x1014", "jump? 2006 2:ffffffff=2006"),
    (&[0x75, 0xfc], "jne 0x12", "jump? ffe 1:ff=ffe"),
    (&[0xe2, 0x00], "loop 0x18", "jump? 1002 1:ff=1002"),
    (&[0xe0, 0x00], "loopne 0x1a", "jump? 1002 1:ff=1002"),
    (&[0xe3, 0x00], "jrcxz 0x1c", "jump? 1002 1:ff=1002"),
    (&[0x67, 0xe3, 0x00], "jecxz 0x1f", "jump? 1003 2:ff=1003"),
    (&[0xc7, 0xf8, 0x00, 0x01, 0x00, 0x00], "xbegin 0x125", "jump? 1106 2:ffffffff=1106"),
    (&[0x66, 0x48, 0xe8, 0x00, 0x01, 0x00, 0x00], "data16 rex.W call 0x12c", "call 1107 3:ffffffff=1107"),
    (&[0xf2, 0xe9, 0x00, 0x01, 0x00, 0x00], "bnd jmp 0x132", "jump 1106 2:ffffffff=1106"),
    (&[0x3e, 0xff, 0xe0], "notrack jmp *%rax", "jump switch"),
    (&[0xff, 0xd0], "call *%rax", "call computed"),
    (&[0xff, 0x15, 0x00, 0x10, 0x00, 0x00], "call *0x1000(%rip)", "call *2006 2:ffffffff=2006"),
    (&[0xff, 0x25, 0x00, 0x10, 0x00, 0x00], "jmp *0x1000(%rip)", "jump *2006 2:ffffffff=2006"),
    (&[0xf2, 0xff, 0x25, 0x00, 0x10, 0x00, 0x00], "bnd jmp *0x1000(%rip)", "jump *2007 3:ffffffff=2007"),
    (&[0xff, 0x14, 0x25, 0x18, 0x40, 0x40, 0x00], "call *0x404018", "call *404018 3:ffffffff=404018"),
    (&[0xff, 0x24, 0x25, 0x18, 0x40, 0x40, 0x00], "jmp *0x404018", "jump *404018 3:ffffffff=404018"),
    (&[0xff, 0x24, 0xc5, 0x18, 0x40, 0x40, 0x00], "jmp *0x404018(,%rax,8)", "jump switch 3:ffffffff=404018"),
    (&[0x3e, 0xff, 0x24, 0xc5, 0x18, 0x40, 0x40, 0x00], "notrack jmp *0x404018(,%rax,8)", "jump switch 4:ffffffff=404018"),
    (&[0xff, 0x24, 0xc2], "jmp *(%rdx,%rax,8)", "jump switch"),
    (&[0xff, 0x14, 0xc2], "call *(%rdx,%rax,8)", "call computed"),
    (&[0xff, 0x14, 0xc5, 0x18, 0x40, 0x40, 0x00], "call *0x404018(,%rax,8)", "call computed 3:ffffffff=404018"),
    (&[0xff, 0x20], "jmp *(%rax)", "jump computed"),
    (&[0x41, 0xff, 0x64, 0x24, 0x18], "jmp *0x18(%r12)", "jump computed"),
    (&[0x41, 0xff, 0x55, 0x18], "call *0x18(%r13)", "call computed"),
    (&[0x64, 0xff, 0x14, 0x25, 0x10, 0x00, 0x00, 0x00], "call *%fs:0x10", "call computed"),
    (&[0x65, 0xff, 0x25, 0x10, 0x00, 0x00, 0x00], "jmp *%gs:0x10(%rip)", "jump computed 3:ffffffff=unknown"),
    (&[0xff, 0x1d, 0x00, 0x10, 0x00, 0x00], "lcall *0x1000(%rip)", "call computed @2006 2:ffffffff=2006"),
    (&[0xff, 0x2d, 0x00, 0x10, 0x00, 0x00], "ljmp *0x1000(%rip)", "jump computed @2006 2:ffffffff=2006"),
    (&[0xff, 0x28], "ljmp *(%rax)", "jump computed"),
    (&[0xc3], "ret", "return"),
    (&[0xf3, 0xc3], "repz ret", "return"),
    (&[0xf2, 0xc3], "bnd ret", "return"),
    (&[0xc2, 0x08, 0x00], "ret $0x8", "return"),
    (&[0xcb], "lret", "return"),
    (&[0x48, 0xcf], "iretq", "return"),
    (&[0x48, 0x0f, 0x07], "sysretq", "return"),
    (&[0x0f, 0x35], "sysexitl", "return"),
    (&[0x0f, 0xaa], "rsm", "return"),
    (&[0x0f, 0x0b], "ud2", "stop"),
    (&[0xcc], "int3", "stop"),
    (&[0xf1], "int1", "stop"),
    (&[0xf4], "hlt", "stop"),
    (&[0xcd, 0x80], "int $0x80", "system"),
    (&[0x0f, 0x05], "syscall", "system"),
    (&[0x48, 0x8d, 0x05, 0x00, 0x10, 0x00, 0x00], "lea 0x1000(%rip),%rax", "&2007 3:ffffffff=2007"),
    (&[0x48, 0x8d, 0x80, 0x00, 0x10, 0x00, 0x00], "lea 0x1000(%rax),%rax", ""),
    (&[0x48, 0x8d, 0x04, 0x25, 0x18, 0x40, 0x40, 0x00], "lea 0x404018,%rax", ""),
    (&[0x48, 0x8b, 0x05, 0x00, 0x10, 0x00, 0x00], "mov 0x1000(%rip),%rax", "@2007 3:ffffffff=2007"),
    (&[0x48, 0x89, 0x05, 0x00, 0xf0, 0xff, 0xff], "mov %rax,-0x1000(%rip)", "@7 3:ffffffff=7"),
    (&[0x67, 0x8b, 0x05, 0x00, 0x10, 0x00, 0x00], "mov 0x1000(%eip),%eax", "@2007 3:ffffffff=2007"),
    (&[0xc7, 0x05, 0x00, 0x10, 0x00, 0x00, 0x78, 0x56, 0x34, 0x12], "movl $0x12345678,0x1000(%rip)", "@200a 2:ffffffff=200a"),
    (&[0x80, 0x3d, 0x00, 0x10, 0x00, 0x00, 0x12], "cmpb $0x12,0x1000(%rip)", "@2007 2:ffffffff=2007"),
    (&[0x8b, 0x1c, 0x25, 0x18, 0x40, 0x40, 0x00], "mov 0x404018,%ebx", "@404018 3:ffffffff=404018"),
    (&[0x8b, 0x1c, 0x25, 0x00, 0xf0, 0xff, 0xff], "mov 0xfffffffffffff000,%ebx", "@fffffffffffff000 3:ffffffff=fffffffffffff000"),
    (&[0x67, 0x8b, 0x1c, 0x25, 0x00, 0xf0, 0xff, 0xff], "mov 0xfffff000(,%eiz,1),%ebx", "@fffff000 4:ffffffff=fffff000"),
    (&[0x64, 0x48, 0x8b, 0x1c, 0x25, 0x28, 0x00, 0x00, 0x00], "mov %fs:0x28,%rbx", ""),
    (&[0x64, 0x48, 0x8b, 0x1d, 0x00, 0x10, 0x00, 0x00], "mov %fs:0x1000(%rip),%rbx", "4:ffffffff=unknown"),
    (&[0x48, 0x8b, 0x1c, 0xdd, 0x18, 0x40, 0x40, 0x00], "mov 0x404018(,%rbx,8),%rbx", ""),
    (&[0xa0, 0xf0, 0xde, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12], "movabs 0x123456789abcdef0,%al", "@123456789abcdef0 1:ffffffff=123456789abcdef0"),
    (&[0x48, 0xa3, 0xf0, 0xde, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12], "movabs %rax,0x123456789abcdef0", "@123456789abcdef0 2:ffffffff=123456789abcdef0"),
    (&[0x67, 0xa1, 0x78, 0x56, 0x34, 0x12], "addr32 mov 0x12345678,%eax", "@12345678 2:ffffffff=12345678"),
    (&[0x48, 0xb8, 0x18, 0x40, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00], "movabs $0x404018,%rax", ""),
    (&[0xbf, 0x18, 0x40, 0x40, 0x00], "mov $0x404018,%edi", ""),
    (&[0xff, 0x35, 0x00, 0x10, 0x00, 0x00], "push 0x1000(%rip)", "@2006 2:ffffffff=2006"),
    (&[0x0f, 0x28, 0x05, 0x00, 0x10, 0x00, 0x00], "movaps 0x1000(%rip),%xmm0", "@2007 3:ffffffff=2007"),
    (&[0x66, 0x0f, 0x38, 0x00, 0x05, 0x00, 0x10, 0x00, 0x00], "pshufb 0x1000(%rip),%xmm0", "@2009 5:ffffffff=2009"),
    (&[0x66, 0x0f, 0x3a, 0x0f, 0x05, 0x00, 0x10, 0x00, 0x00, 0x01], "palignr $0x1,0x1000(%rip),%xmm0", "@200a 5:ffffffff=200a"),
    (&[0xc5, 0xfc, 0x28, 0x05, 0x00, 0x10, 0x00, 0x00], "vmovaps 0x1000(%rip),%ymm0", "@2008 4:ffffffff=2008"),
    (&[0xc5, 0x7c, 0x28, 0x05, 0x00, 0x10, 0x00, 0x00], "vmovaps 0x1000(%rip),%ymm8", "@2008 4:ffffffff=2008"),
    (&[0xc4, 0x62, 0x7d, 0x00, 0x05, 0x00, 0x10, 0x00, 0x00], "vpshufb 0x1000(%rip),%ymm0,%ymm8", "@2009 5:ffffffff=2009"),
    (&[0xc4, 0xe3, 0x7d, 0x04, 0x05, 0x00, 0x10, 0x00, 0x00, 0x01], "vpermilps $0x1,0x1000(%rip),%ymm0", "@200a 5:ffffffff=200a"),
    (&[0x62, 0xf1, 0x7c, 0x48, 0x28, 0x05, 0x00, 0x10, 0x00, 0x00], "vmovaps 0x1000(%rip),%zmm0", "@200a 6:ffffffff=200a"),
    (&[0x62, 0xe2, 0x65, 0x48, 0x36, 0x25, 0x00, 0x10, 0x00, 0x00], "vpermd 0x1000(%rip),%zmm3,%zmm20", "@200a 6:ffffffff=200a"),
    (&[0xc5, 0xfa, 0x10, 0x04, 0x25, 0x18, 0x40, 0x40, 0x00], "vmovss 0x404018,%xmm0", "@404018 5:ffffffff=404018"),
    (&[0xc4, 0xe2, 0x75, 0x92, 0x04, 0x25, 0x18, 0x40, 0x40, 0x00], "vgatherdps %ymm1,0x404018(,%ymm4,1),%ymm0", ""),
    (&[0xc5, 0xf8, 0x77], "vzeroupper", ""),
    (&[0x8f, 0xe9, 0x78, 0x81, 0x05, 0x00, 0x10, 0x00, 0x00], "vfrczpd 0x1000(%rip),%xmm0", "@2009 5:ffffffff=2009"),
    (&[0x8f, 0x05, 0x00, 0x10, 0x00, 0x00], "pop 0x1000(%rip)", "@2006 2:ffffffff=2006"),
    (&[0x0f, 0x0f, 0x05, 0x00, 0x10, 0x00, 0x00, 0x9e], "pfadd 0x1000(%rip),%mm0", "@2008 3:ffffffff=2008"),
    (&[0x0f, 0x18, 0x05, 0x00, 0x10, 0x00, 0x00], "prefetchnta 0x1000(%rip)", "@2007 3:ffffffff=2007"),
    (&[0x0f, 0x1f, 0x05, 0x00, 0x10, 0x00, 0x00], "nopl 0x1000(%rip)", ""),
    (&[0x66, 0x0f, 0x1f, 0x05, 0x00, 0x10, 0x00, 0x00], "nopw 0x1000(%rip)", ""),
    (&[0xf3, 0x0f, 0x1e, 0xfa], "endbr64", ""),
    (&[0x90], "nop", ""),
    (&[0x0f, 0x20, 0xc5], "mov %cr0,%rbp", ""),
    (&[0x0f, 0x22, 0xc5], "mov %rbp,%cr0", ""),
    (&[0xf0, 0x48, 0x0f, 0xb1, 0x05, 0x00, 0x10, 0x00, 0x00], "lock cmpxchg %rax,0x1000(%rip)", "@2009 5:ffffffff=2009"),
];

/// Sections as linkers (GNU ld 2.40 where nothing else is said, lld 14, mold 1.10) made them, and their entries.
#[rustfmt::skip]
const STUBS: &[(&str, u64, &str, &str)] = &[
    ("ld, .plt", 0x1000, "ff35ea2f0000ff25ec2f00000f1f4000ff25ea2f00006800000000e9e0ffffff", "16:header, 16:*4000"),
    ("ld, .plt.got", 0x1020, "ff25ba2f00006690", "8:*3fe0"),
    ("ld -z ibtplt, .plt", 0x1000, "ff35ea2f0000ff25ec2f00000f1f4000f30f1efa6800000000e9e2ffffff6690", "16:header, 16:lazy 0"),
    ("ld -z ibtplt, .plt.got", 0x1020, "f30f1efaff25b62f0000660f1f440000", "16:*3fe0"),
    ("ld -z ibtplt, .plt.sec", 0x1030, "f30f1efaff25c62f0000660f1f440000", "16:*4000"),
    ("ld -static, .plt", 0x401000, "ff25fa2f00006690", "8:*404000"),
    ("ld, TLS descriptors, .plt", 0x1000, "ff35ea2f0000ff25ec2f00000f1f4000ff25ea2f00006800000000e9e0fffffff30f1efaff35c62f0000ff25b02f0000", "16:header, 16:*4000, 16:*3fe0"),
    ("lld, .plt", 0x1390, "ff351a210000ff251c2100000f1f4000ff251a2100006800000000e9e0ffffffff25122100006801000000e9d0ffffff", "16:header, 16:*34c0, 16:*34c8"),
    ("lld -z force-ibt, .plt", 0x1420, "ff353a210000ff253c2100000f1f4000f30f1efa6800000000e9e2ffffff6690f30f1efa6801000000e9d2ffffff6690", "16:header, 16:lazy 0, 16:lazy 1"),
    ("lld -z force-ibt, .plt.sec", 0x1450, "f30f1efaff2516210000660f1f440000f30f1efaff250e210000660f1f440000", "16:*3570, 16:*3578"),
    ("lld -z retpolineplt, .plt", 0x1390, "ff355a2100004c8b1d5b210000e80e000000f3900faee8ebf9cccccccccccccc4c891c24c3cccccccccccccccccccccc4c8b1d39210000e8e4ffffffe9d1ffffff6800000000e9b5ffffffcccccccccc4c8b1d21210000e8c4ffffffe9b1ffffff6801000000e995ffffffcccccccccc", "48:header, 32:*3500, 32:*3508"),
    ("lld -z retpolineplt -z now, .plt", 0x1390, "e80b000000f3900faee8ebf9cccccccc4c891c24c3cccccccccccccccccccccc4c8b1d31110000e9d4ffffffcccccccc4c8b1d29110000e9c4ffffffcccccccc", "32:unknown, 16:*24e8, 16:*24f0"),
    ("lld -static, .iplt", 0x2011f0, "ff250a1000006800000000e900eedfff", "16:*202200"),
    ("mold, .plt", 0x1380, "f30f1efa4153ff35ac210000ff25ae210000ccccccccccccccccccccccccccccf30f1efa41bb00000000ff2598210000", "32:header, 16:*3548"),
    ("mold, .plt.got", 0x13b0, "f30f1efaff256e110000cccccccccccc", "16:*2528"),
    ("mold -static, .plt.got", 0x2012a0, "f30f1efaff252e100000cccccccccccc", "16:*2022d8"),
    ("ld 2.38 -z bndplt, .plt", 0x1000, "ff35ea2f0000f2ff25eb2f00000f1f00f30f1efa6800000000f2e9e1ffffff90", "16:header, 16:lazy 0"),
    ("ld 2.38 -z bndplt, .plt.sec", 0x1050, "f30f1efaf2ff25752f00000f1f440000", "16:*3fd0"),
    ("ld 2.28 -z bndplt, .plt", 0x1000, "ff35ea2f0000f2ff25eb2f00000f1f006800000000f2e9e5ffffff0f1f440000", "16:header, 16:lazy 0"),
    ("ld 2.28 -z bndplt, .plt.bnd", 0x1050, "f2ff25792f000090", "8:*3fd0"),
];

#[test]
fn units() {
    for &(bytes, text, expected) in UNITS {
        let unit = Unit { offset: 0, size: bytes.len() as u8, decoded: true };
        assert_eq!(show(&X86_64.facts(&[unit], bytes, 0x1000, None)[0]), expected, "{text}");
        let unknown = Unit { decoded: false, ..unit };
        assert_eq!(X86_64.facts(&[unknown], bytes, 0x1000, None), [Facts::PLAIN], "{text}");
    }
}

#[test]
fn calls_are_scanned() {
    // `mov $0xe8, %eax; call 0x110a`: the immediate looks like a call.
    let code = bytes_of("b8e8000000e800010000");
    let mut found = Vec::new();
    X86_64.scan_calls(&code, 0x1000, &mut |target| found.push(target));
    assert_eq!(found, [0x1006 + 0xe800_0000_u64.wrapping_sub(1 << 32), 0x110a]);
}

#[test]
fn stubs() {
    for &(name, address, bytes, expected) in STUBS {
        for entry_size in [0, 16, 7, u64::MAX] {
            assert_eq!(
                show_stubs(&stubs_of(&X86_64, &bytes_of(bytes), address, entry_size)),
                expected,
                "{name}"
            );
        }
    }
}

#[test]
fn relocations() {
    let address = |from_end| Fill::Address { from_end, half: false };
    let cases = [
        (elf::R_X86_64_PLT32, address(true), Dynamic::Other),
        (elf::R_X86_64_PC32, address(true), Dynamic::Other),
        (elf::R_X86_64_32S, address(false), Dynamic::Other),
        (elf::R_X86_64_64, address(false), Dynamic::Symbol),
        (elf::R_X86_64_REX_GOTPCRELX, Fill::Slot { from_end: true, half: false }, Dynamic::Other),
        (elf::R_X86_64_GOTTPOFF, Fill::Other, Dynamic::Other),
        (elf::R_X86_64_JUMP_SLOT, Fill::Other, Dynamic::Symbol),
        (elf::R_X86_64_RELATIVE, Fill::Other, Dynamic::Relative),
        (elf::R_X86_64_IRELATIVE, Fill::Other, Dynamic::Ifunc),
        (elf::R_X86_64_COPY, Fill::Other, Dynamic::Other),
    ];
    for (r_type, fill, dynamic) in cases {
        assert_eq!((X86_64.relocation(r_type.0), X86_64.dynamic(r_type.0)), (fill, dynamic), "{r_type:?}");
    }
}

#[test]
fn libc_agrees_with_capstone() {
    compare_file(&["/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib64/libc.so.6", "/usr/lib/libc.so.6"]);
}

#[test]
fn this_program_agrees_with_capstone() {
    compare_file(&["/proc/self/exe"]);
}

/// Bytes that lean towards prefixes, escapes and memory operands without a base.
#[test]
fn random_bytes_agree_with_capstone() {
    let detailed = detailed();
    let mut random = Random(7);
    let mut all = 0;
    for _ in 0..200_000 {
        let pick = random.next();
        let prefix: &[u8] = match pick & 15 {
            0 => &[0x66],
            1 => &[0xf2],
            2 => &[0xf3],
            3 => &[0x67],
            4 => &[0x64],
            5 => &[0x4f],
            6 => &[0x48],
            _ => &[],
        };
        let escape: &[u8] = match pick >> 4 & 15 {
            0..=2 => &[0x0f],
            3 => &[0x0f, 0x38],
            4 => &[0x0f, 0x3a],
            5 => &[0xc5, 0xf8],
            6 => &[0xc4, 0xe1, 0x7c],
            7 => &[0xc4, 0xe2, 0x79],
            8 => &[0xc4, 0xa3, 0xf9],
            9 => &[0x62, 0xf1, 0x7c, 0x48],
            10 => &[0x62, 0xb2, 0x7d, 0x29],
            11 => &[0x8f, 0xe9, 0x78],
            _ => &[],
        };
        let modrm = (pick >> 16) as u8 & 0x38;
        let operand = match pick >> 8 & 3 {
            0 => vec![modrm | 5],
            1 => vec![modrm | 4, 0x25],
            2 => vec![modrm | 4],
            _ => vec![],
        };
        let bytes = [prefix, escape, &[(pick >> 24) as u8], &operand, &random.bytes(15)].concat();
        let Some(size) = size_of(&detailed, &bytes[..15]) else { continue };
        compare(&detailed, &bytes[..size], 0x10_0000);
        all += 1;
    }
    println!("{all} instructions");
}

#[test]
fn anything_is_survived() {
    let mut random = Random(3);
    for length in (0..400).chain([5000]) {
        let code = random.bytes(length);
        stubs_of(&X86_64, &code, random.next() >> 20, 16);
        // Units that no decoder made.
        let mut units = Vec::new();
        let mut offset = 0;
        while offset < length as u32 {
            let size = (random.next() % 16) as u8;
            units.push(Unit { offset, size, decoded: true });
            offset += u32::from(size);
        }
        let facts = X86_64.facts(&units, &code, random.next(), None);
        assert_eq!(facts.len(), units.len());
    }
}

fn detailed() -> Capstone {
    Capstone::new().x86().mode(ArchMode::Mode64).syntax(ArchSyntax::Att).detail(true).build().unwrap()
}

fn size_of(decoder: &Capstone, bytes: &[u8]) -> Option<usize> {
    decoder.disasm_count(bytes, 0, 1).unwrap().first().map(Insn::len)
}

/// Compares all instructions of a file's code.
fn compare_file(paths: &[&str]) {
    let decoder = X86_64.decoder().unwrap();
    let detailed = detailed();
    let (mut transfers, mut references, mut all) = (0, 0, 0);
    for (address, code) in code_of(elf::EM_X86_64, paths).unwrap_or_default() {
        // Enough of a large program.
        let code = &code[..code.len().min(2 << 20)];
        let units = units_of(&X86_64, &decoder, code, address);
        for unit in units.iter().filter(|unit| unit.decoded) {
            let bytes = &code[unit.offset as usize..][..usize::from(unit.size)];
            let facts = compare(&detailed, bytes, address + u64::from(unit.offset));
            transfers += usize::from(facts.flow != Flow::Next);
            references += usize::from(facts.refer.is_some());
            all += 1;
        }
    }
    println!("{all} instructions, {transfers} transfers, {references} references");
}

/// Compares the facts of one instruction with [`by_capstone`].
fn compare(detailed: &Capstone, bytes: &[u8], address: u64) -> Facts {
    let unit = Unit { offset: 0, size: bytes.len() as u8, decoded: true };
    let facts = X86_64.facts(&[unit], bytes, address, None)[0];
    let instructions = detailed.disasm_count(bytes, address, 1).unwrap();
    let instruction = instructions.first().unwrap();
    assert_eq!(
        (facts.flow, facts.refer),
        by_capstone(detailed, instruction),
        "{instruction} {bytes:02x?} {facts:?}"
    );
    facts
}

/// What capstone's detail mode says of an instruction: the flow, and the address referred to.
fn by_capstone(decoder: &Capstone, instruction: &Insn<'_>) -> (Flow, Option<Refer>) {
    let detail = decoder.insn_detail(instruction).unwrap();
    let group = |group: u32| detail.groups().iter().any(|other| u32::from(other.0) == group);
    let ArchDetail::X86Detail(arch) = detail.arch_detail() else { panic!("not x86") };
    let name = instruction.mnemonic().unwrap().rsplit(' ').next().unwrap();
    let next = instruction.address() + instruction.len() as u64;
    let cut = |address: u64| if arch.addr_size() == 4 { address & 0xffff_ffff } else { address };
    let mut known = None;
    let mut target = Target::Computed { switch: false };
    for operand in arch.operands() {
        match operand.op_type {
            X86OperandType::Mem(memory) => {
                let base = u32::from(memory.base().0);
                // The register that SIB's "no index" stands for, where a scale is given with it.
                let index = match u32::from(memory.index().0) {
                    X86Reg::X86_REG_RIZ | X86Reg::X86_REG_EIZ => 0,
                    index => index,
                };
                let segment = u32::from(memory.segment().0);
                if matches!(segment, X86Reg::X86_REG_FS | X86Reg::X86_REG_GS) {
                    target = Target::Computed { switch: index != 0 };
                } else if matches!(base, X86Reg::X86_REG_RIP | X86Reg::X86_REG_EIP) {
                    known = Some((cut(next.wrapping_add_signed(memory.disp())), true));
                } else if base == 0 && index == 0 {
                    known = Some((cut(memory.disp() as u64), false));
                } else {
                    target = Target::Computed { switch: index != 0 };
                }
                if let Some((slot, _)) = known {
                    target = Target::Slot(slot);
                }
            }
            X86OperandType::Reg(_) => target = Target::Computed { switch: true },
            X86OperandType::Imm(address) => target = Target::Address(address as u64),
            X86OperandType::Invalid => {}
        }
    }
    let refer = match known {
        _ if ["nop", "cldemote", "bnd"].iter().any(|hint| name.starts_with(hint)) => None,
        Some((_, false)) if name.starts_with("lea") => None,
        Some((address, _)) => Some(Refer { address, taken: name.starts_with("lea") }),
        None => None,
    };
    let far = name.starts_with("lcall") || name.starts_with("ljmp");
    let calls = group(X86InsnGroup::X86_GRP_CALL) && name.contains("call");
    if far || calls && target == (Target::Computed { switch: true }) {
        target = Target::Computed { switch: false };
    }
    if far && name.starts_with("lcall") {
        (Flow::Call(target), refer)
    } else if far {
        (Flow::Jump { target, conditional: false }, refer)
    } else if calls {
        (Flow::Call(target), None)
    } else if group(X86InsnGroup::X86_GRP_JUMP) || name.starts_with("loop") {
        (Flow::Jump { target, conditional: !name.starts_with("jmp") }, None)
    } else if group(X86InsnGroup::X86_GRP_RET) || group(X86InsnGroup::X86_GRP_IRET) || name == "rsm" {
        (Flow::Return, None)
    } else if ["ud0", "ud1", "ud2", "hlt", "int3", "int1"].contains(&name) {
        (Flow::Stop, None)
    } else if ["int", "syscall", "sysenter"].contains(&name) {
        (Flow::System, None)
    } else {
        (Flow::Next, refer)
    }
}
