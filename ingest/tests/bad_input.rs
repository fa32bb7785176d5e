//! Bad input gets one clear sentence and an unchanged archive, or an edition with diagnostics; never silence, never a
//! panic.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use elfscope_ingest::{AddError, AddOptions, InputError, Report, add, archive::Archive};
use elfscope_schema::{Diagnostic, Name};
use support::{Edition, in_memory, repository};

/// What became of bytes that were added alone.
enum Outcome {
    /// Refused, with this sentence, and nothing was written.
    Refused(String),
    /// An edition, with its diagnostics.
    Told(Box<Edition>),
}

/// Adds bytes as a file of this name and holds to what must be so of any input.
fn feed(name: &str, bytes: &[u8]) -> Outcome {
    let folder = in_memory();
    let file = folder.path().join(name);
    fs::write(&file, bytes).unwrap();
    let root = folder.path().join("archive");
    let archive = Archive::create(&root).unwrap();
    let before = tree(&root);
    let report = run(&archive, &[file], &[]).unwrap();
    match (&report.added[..], &report.failed[..]) {
        ([], [(_, error)]) => {
            let sentence = error.to_string();
            assert!(!sentence.contains('\n') && sentence.contains(name), "{sentence}");
            assert_eq!(before, tree(&root), "a refusal changes nothing: {sentence}");
            Outcome::Refused(sentence)
        }
        ([added], []) => {
            let edition = Edition::read(&root, added);
            assert_eq!(edition.meta.diagnostics.total, added.diagnostics);
            edition.holds_together();
            Outcome::Told(Box::new(edition))
        }
        other => panic!("{other:?}"),
    }
}

fn run(archive: &Archive, inputs: &[PathBuf], debug: &[PathBuf]) -> Result<Report, AddError> {
    add(archive, &AddOptions { debug, only_given: true, ..AddOptions::new(inputs) }, &())
}

fn tree(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_name() == ".tmp" {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                files.insert(entry.path(), fs::read(entry.path()).unwrap());
            }
        }
    }
    files
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(repository("fixtures/bin").join(name)).unwrap()
}

fn codes(edition: &Edition) -> Vec<&str> {
    edition.diagnostics.iter().map(|diagnostic: &Diagnostic| diagnostic.code.as_str()).collect()
}

#[test]
fn every_prefix_of_an_elf_is_refused_or_told_with_diagnostics() {
    for name in ["changed-puts-x86_64", "relocatable-aarch64.o", "other-i386.so"] {
        let whole = fixture(name);
        let (mut refused, mut told) = (0, 0);
        for length in 0..whole.len() {
            match feed(name, &whole[..length]) {
                Outcome::Refused(_) => refused += 1,
                Outcome::Told(edition) => {
                    assert_ne!(
                        edition.meta.diagnostics.total, 0,
                        "{name} cut at {length}: nothing is said of it"
                    );
                    told += 1;
                }
            }
        }
        assert!(refused >= 52 && told > 100, "{name}: {refused} refused, {told} told");
    }
}

#[test]
fn what_is_no_elf_is_refused_by_name() {
    for (name, bytes, expected) in [
        ("empty", &b""[..], "it is empty"),
        ("script", b"#!/bin/sh\n", "it is a script"),
        ("text", b"hello, world, this is text", "it starts with `68 65 6c 6c`"),
        ("libs.a", b"!<arch>\nfoo.o/", "an ar archive"),
        ("package.deb", b"!<arch>\ndebian-binary", "its ar archive ends inside a header"),
        ("short", b"\x7fELF\x02\x01", "after 6 of 16 ident bytes"),
        ("class", b"\x7fELF\x09\x01\x01\0\0\0\0\0\0\0\0\0", "its class is 9"),
        ("order", b"\x7fELF\x02\x07\x01\0\0\0\0\0\0\0\0\0", "its byte order is 7"),
        (
            "header",
            b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0",
            "its file header is cut: 20 of 64 bytes",
        ),
    ] {
        let Outcome::Refused(sentence) = feed(name, bytes) else { panic!("{name} was told") };
        assert!(sentence.contains(expected), "{name}: {sentence}");
    }
}

#[test]
fn core_files_are_refused_with_what_to_give_instead() {
    let mut core = fixture("static-x86_64");
    core[16] = 4;
    let Outcome::Refused(sentence) = feed("core", &core) else { panic!("told") };
    assert!(sentence.contains("core file: give the executable and libraries"), "{sentence}");
}

/// Section headers of a 64-bit little-endian file: index to offset of the header.
fn section_header(file: &[u8], name: &str) -> usize {
    let word = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
    let half = |at: usize| u16::from_le_bytes(file[at..at + 2].try_into().unwrap()) as usize;
    let (table, count, strings) = (word(0x28), half(0x3c), half(0x3e));
    let names = word(table + strings * 64 + 0x18);
    let found = (0..count).map(|index| table + index * 64).find(|header| {
        let at = names + u32::from_le_bytes(file[*header..header + 4].try_into().unwrap()) as usize;
        file[at..].starts_with(name.as_bytes()) && file[at + name.len()] == 0
    });
    found.unwrap_or_else(|| panic!("no section {name}"))
}

fn patched(name: &str, section: &str, field: usize, value: u64, size: usize) -> Vec<u8> {
    let mut file = fixture(name);
    let at = section_header(&file, section) + field;
    file[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    file
}

const OFFSET: usize = 0x18;
const SIZE: usize = 0x20;
const LINK: usize = 0x28;

#[test]
fn section_headers_that_lie_cost_only_themselves() {
    for (section, field, value, size, code) in [
        (".symtab", OFFSET, u64::MAX - 8, 8, "symbols-unreadable"),
        (".symtab", SIZE, 0x7fff_ffff_ffff, 8, "symbols-unreadable"),
        (".symtab", LINK, 0xffff, 4, "symbols-unreadable"),
        (".dynsym", SIZE, 0x7fff_ffff, 8, "symbols-unreadable"),
        (".text", SIZE, u64::MAX, 8, "section-cut"),
        (".text", OFFSET, u64::MAX, 8, "section-cut"),
        (".gnu.version", OFFSET, u64::MAX, 8, "section-cut"),
        (".rela.plt", SIZE, 25, 8, "relocations-cut"),
        (".eh_frame", OFFSET, 0x40, 8, "frames-cut"),
    ] {
        let file = patched("edges-x86_64.so", section, field, value, size);
        let Outcome::Told(edition) = feed("lies.so", &file) else {
            panic!("{section} {field:#x} was refused")
        };
        assert!(
            codes(&edition).contains(&code),
            "{section} {field:#x}={value:#x}: {:?}",
            edition.diagnostics
        );
        let named = edition.functions.iter().filter(|function| !function.head.names.is_empty()).count();
        let least = BTreeMap::from([(".symtab", 1), (".text", 0)]).get(section).copied().unwrap_or(48);
        assert!(
            edition.functions.len() > 10 && named >= least,
            "{section}: {named} of {}",
            edition.functions.len()
        );
    }
}

#[test]
fn a_section_at_another_ones_address_is_left_out() {
    let file = fixture("edges-x86_64.so");
    let text = section_header(&file, ".text");
    let address = u64::from_le_bytes(file[text + 0x10..text + 0x18].try_into().unwrap());
    let file = patched("edges-x86_64.so", ".plt.got", 0x10, address + 8, 8);
    let Outcome::Told(edition) = feed("overlap.so", &file) else { panic!("refused") };
    assert!(codes(&edition).contains(&"section-misplaced"), "{:?}", edition.diagnostics);
    let text = edition.functions.iter().filter(|function| !function.head.names.is_empty()).count();
    assert!(text >= 48, "the section that tells the truth keeps its {text} functions");
}

#[test]
fn symbols_that_lie_cost_only_themselves() {
    let whole = fixture("edges-x86_64.so");
    let header = section_header(&whole, ".symtab");
    let word = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().unwrap()) as usize;
    let (table, size) = (word(header + OFFSET), word(header + SIZE));
    let functions: Vec<usize> = (table..table + size)
        .step_by(24)
        .filter(|at| whole[at + 4] & 15 == 2 && whole[at + 6] != 0)
        .collect();
    assert!(functions.len() > 20);
    for (what, field, value, width, code) in [
        ("a name past the strings", 0, u64::MAX, 4, Some("symbol-name-unreadable")),
        ("an address past everything", 8, u64::MAX - 1, 8, Some("symbol-outside-code")),
        ("an address in data", 8, 0x10, 8, Some("symbol-outside-code")),
        ("a size past everything", 16, u64::MAX, 8, None),
        ("a section that isn't there", 6, 0xfe00, 2, None),
    ] {
        let mut file = whole.clone();
        for at in &functions {
            file[at + field..at + field + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
        let Outcome::Told(edition) = feed("lies.so", &file) else { panic!("{what} was refused") };
        if let Some(code) = code {
            assert!(codes(&edition).contains(&code), "{what}: {:?}", edition.diagnostics);
        }
        // A claim that is too large is kept as one.
        if field == 16 {
            let claims =
                edition.functions.iter().filter(|function| function.head.claimed_size == Some(u64::MAX));
            assert!(claims.count() > 20, "{what}");
        }
    }
}

#[test]
fn hostile_names_are_told_to_the_byte() {
    let whole = fixture("edges-x86_64.so");
    let header = section_header(&whole, ".strtab");
    let word = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().unwrap()) as usize;
    let strings = word(header + OFFSET)..word(header + OFFSET) + word(header + SIZE);
    let at =
        strings.start + whole[strings.clone()].windows(9).position(|name| name == b"callee_a\0").unwrap();
    for (bytes, expected) in [
        (&b"\x1b[31m\"\\\n"[..], Name::Text("\x1b[31m\"\\\n".to_owned())),
        (
            b"\xff\xfebad\x80!!",
            Name::Bytes {
                hex: "fffe626164802121".to_owned(),
                lossy: "\u{fffd}\u{fffd}bad\u{fffd}!!".to_owned(),
            },
        ),
        ("\u{202e}evil!".as_bytes(), Name::Text("\u{202e}evil!".to_owned())),
        (b"../../et", Name::Text("../../et".to_owned())),
    ] {
        let mut file = whole.clone();
        file[at..at + 8].copy_from_slice(bytes);
        let Outcome::Told(edition) = feed("hostile.so", &file) else { panic!("refused") };
        let told = edition
            .functions
            .iter()
            .flat_map(|function| &function.head.names)
            .any(|name| name.name == expected);
        assert!(told, "{expected:?}");
    }
}

#[test]
fn flipped_bytes_never_panic_and_never_pass_in_silence() {
    // A small generator with a fixed seed (SplitMix64): the same flips everywhere.
    let mut state = 0x5eed_u64;
    let mut random = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    for name in ["edges-aarch64.so", "relocatable-x86_64.o", "plt-ibt-x86_64", "other-s390x.so"] {
        let whole = fixture(name);
        for _ in 0..150 {
            let mut file = whole.clone();
            for _ in 0..1 + random() % 4 {
                let at = random() as usize % file.len();
                file[at] ^= 1 << (random() % 8);
            }
            // `feed` holds either outcome to what must be so.
            let _ = feed(name, &file);
        }
    }
}

#[test]
fn a_debug_file_of_another_build_is_refused_before_anything_is_added() {
    let folder = in_memory();
    let root = folder.path().join("archive");
    let archive = Archive::create(&root).unwrap();
    let before = tree(&root);
    let bin = repository("fixtures/bin");
    let error = run(&archive, &[bin.join("edges-x86_64.so")], &[bin.join("edges-aarch64.so")]).unwrap_err();
    assert!(matches!(error, AddError::Debug(InputError::OtherBuild { .. })), "{error}");
    let sentence = error.to_string();
    assert!(sentence.contains("edges-aarch64.so") && sentence.contains("none of the inputs"), "{sentence}");
    assert_eq!(before, tree(&root));
}

#[test]
fn one_bad_input_of_many_keeps_none_of_the_others() {
    let folder = in_memory();
    let inputs = folder.path().join("inputs");
    fs::create_dir_all(inputs.join("deeper")).unwrap();
    fs::write(inputs.join("readme.txt"), "not an ELF").unwrap();
    fs::write(inputs.join("cut"), &fixture("edges-x86_64.so")[..100]).unwrap();
    fs::write(inputs.join("deeper/good"), fixture("edges-x86_64.so")).unwrap();
    let archive = Archive::create(folder.path().join("archive")).unwrap();
    let report = run(&archive, &[inputs, folder.path().join("missing")], &[]).unwrap();
    assert_eq!((report.added.len(), report.failed.len(), report.skipped_files), (1, 2, 1));
    assert_eq!(report.added[0].name, "good");
}

#[test]
fn headers_over_the_same_bytes_are_not_told_again_and_again() {
    // A relocatable file of half a megabyte: 200,000 bytes of code, and 5,000 sections that each claim all of it.
    let code = 200_000_u64;
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x01\0\x3e\0\x01\0\0\0".to_vec();
    let headers = 64 + code;
    let count = 5_000_u16;
    for (size, value) in [
        (8, 0),
        (8, 0),
        (8, headers),
        (4, 0),
        (2, 64),
        (2, 0),
        (2, 0),
        (2, 64),
        (2, u64::from(count)),
        (2, 0),
    ] {
        file.extend_from_slice(&u64::to_le_bytes(value)[..size]);
    }
    file.resize(headers as usize, 0x90);
    file.extend([0; 64]);
    for _ in 1..count {
        // SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR.
        for (size, value) in
            [(4, 0), (4, 1), (8, 6), (8, 0), (8, 64), (8, code), (4, 0), (4, 0), (8, 1), (8, 0)]
        {
            file.extend_from_slice(&u64::to_le_bytes(value)[..size]);
        }
    }
    let Outcome::Told(edition) = feed("bomb.o", &file) else { panic!("refused") };
    assert!(codes(&edition).contains(&"bytes-claimed-again"), "{:?}", edition.meta.diagnostics);
    assert!(edition.meta.coverage.executable <= 2 * file.len() as u64, "{:?}", edition.meta.coverage);
}

#[test]
fn a_stub_that_leads_to_itself_is_told_and_not_followed_for_ever() {
    let mut file = fixture("edges-x86_64.so");
    let word = |file: &[u8], at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
    let stubs = section_header(&file, ".plt.got");
    let (stub, offset) = (word(&file, stubs + 0x10), word(&file, stubs + OFFSET) as usize);
    assert_eq!(file[offset..offset + 2], [0xff, 0x25], "`jmp *slot(%rip)`");
    let distance = i32::from_le_bytes(file[offset + 2..offset + 6].try_into().unwrap());
    let slot = (stub + 6).wrapping_add_signed(i64::from(distance));
    let table = section_header(&file, ".rela.dyn");
    let (from, size) = (word(&file, table + OFFSET) as usize, word(&file, table + SIZE) as usize);
    let entry = (from..from + size).step_by(24).find(|at| word(&file, *at) == slot).unwrap();
    // R_X86_64_IRELATIVE and R_X86_64_RELATIVE, of the stub itself.
    for r_type in [37_u64, 8] {
        file[entry + 8..entry + 16].copy_from_slice(&r_type.to_le_bytes());
        file[entry + 16..entry + 24].copy_from_slice(&stub.to_le_bytes());
        let Outcome::Told(edition) = feed("ring.so", &file) else { panic!("refused") };
        assert!(edition.functions.len() > 60);
    }
}
