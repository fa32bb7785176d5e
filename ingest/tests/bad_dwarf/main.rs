//! Debug data that is cut, flipped or made to do harm costs itself: what symbols and code say stays the same, and the work
//! stays bounded.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]
#![allow(
    clippy::print_stdout,
    reason = "what each case took is told where a test fails, or with --nocapture"
)]

mod aimed;
mod build;
mod deep;
#[path = "../support/mod.rs"]
mod support;

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use elfscope_ingest::{
    AddOptions, add,
    archive::{Archive, Scope},
};
use elfscope_schema::{Edge, FunctionKey, FunctionName, Origin, limits};
use support::{Edition, in_memory, repository};

/// Adds a file to a new archive, holds to what must be so of any edition, and returns it with the time that adding took.
fn feed(name: &str, bytes: &[u8]) -> (Edition, Duration) {
    let folder = in_memory();
    let file = folder.path().join(name);
    fs::write(&file, bytes).unwrap();
    let root = folder.path().join("archive");
    let archive = Archive::create(&root).unwrap();
    let inputs = [file];
    let start = Instant::now();
    let options = AddOptions { only_given: true, ..AddOptions::new(&inputs) };
    let report = add(&archive, &options, &()).unwrap();
    let time = start.elapsed();
    assert!(report.failed.is_empty(), "{name}: {:?}", report.failed);
    let added = &report.added[0];
    let edition = Edition::read(&root, added);
    edition.holds_together();
    let verified = archive.verify(Scope::All, 10, &|_, _| {}).unwrap();
    assert!(verified.is_good() && verified.findings.is_empty(), "{name}: {:?}", verified.findings);
    documents_fit(name, &root.join(added.build_id.as_str()).join(added.edition.as_str()));
    (edition, time)
}

/// No document of a pack is longer than a page may be.
fn documents_fit(name: &str, edition: &Path) {
    for entry in fs::read_dir(edition).unwrap().map(Result::unwrap) {
        let file = entry.file_name().into_string().unwrap();
        if let Some(pack) = file.strip_suffix(".gz") {
            let longest = support::documents(&entry.path()).iter().map(Vec::len).max().unwrap_or(0);
            assert!(longest <= limits::PAGE, "{name}: a document of {pack} has {longest} bytes");
        }
    }
}

/// What an edition says that doesn't come from debug data, of the functions that have symbols.
type Apart = Vec<(FunctionKey, Vec<FunctionName>, Vec<elfscope_schema::Row>, Vec<Edge>)>;

fn apart(edition: &Edition) -> Apart {
    let named = edition.functions.iter().filter(|function| function.head.bounds == Origin::Symtab);
    let told = named.map(|function| {
        let mut names = function.head.names.clone();
        for name in &mut names {
            name.from.retain(|from| *from != Origin::Dwarf);
        }
        (function.key, names, function.rows.clone(), function.edges.clone())
    });
    told.collect()
}

/// A small generator with a fixed seed (SplitMix64): the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// The sections of debug data of a 64-bit ELF: where the size stands in the header, where the bytes are, how many.
fn debug_sections(file: &[u8]) -> Vec<(usize, usize, usize)> {
    let word = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
    let half = |at: usize| usize::from(u16::from_le_bytes(file[at..at + 2].try_into().unwrap()));
    let name = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let (table, count) = (word(0x28), half(0x3c));
    let names = word(table + half(0x3e) * 64 + 0x18);
    let headers = (0..count).map(|index| table + index * 64);
    let debug = headers.filter(|header| file[names + name(*header)..].starts_with(b".debug_"));
    debug.map(|header| (header + 0x20, word(header + 0x18), word(header + 0x20))).collect()
}

#[test]
fn a_thousand_damages_cost_only_what_they_hit() {
    let fixtures =
        ["dwarf5-x86_64.so", "dwarf4-clang-x86_64.so", "dwarf2-x86_64.so", "dwarf5-clang-x86_64.so"];
    let mut slowest = Duration::ZERO;
    let (mut fewer, mut diagnosed) = (0, 0);
    for (number, fixture) in fixtures.into_iter().enumerate() {
        let whole = fs::read(repository("fixtures/bin").join(fixture)).unwrap();
        let sections = debug_sections(&whole);
        assert!(sections.len() >= 6, "{fixture}: {sections:?}");
        let mut bare = whole.clone();
        for (size, _, _) in &sections {
            bare[*size..size + 8].fill(0);
        }
        let expected = apart(&feed(fixture, &bare).0);
        let (complete, _) = feed(fixture, &whole);
        assert!(apart(&complete) == expected, "{fixture}");
        let with_line = complete.meta.counts.rows_with_line;
        assert!(with_line > 100 && complete.diagnostics.is_empty());
        for seed in 0..250 {
            let mut random = Random((number as u64) << 32 | seed);
            let mut file = whole.clone();
            if seed % 3 == 0 {
                let (size, _, length) = sections[random.below(sections.len())];
                file[size..size + 8].copy_from_slice(&(random.below(length) as u64).to_le_bytes());
            } else {
                for _ in 0..1 + random.below(8) {
                    let (_, start, length) = sections[random.below(sections.len())];
                    file[start + random.below(length)] ^= 1 << random.below(8);
                }
            }
            let (edition, time) = feed(fixture, &file);
            for (told, expected) in apart(&edition).iter().zip(&expected) {
                assert_eq!(told, expected, "{fixture}, seed {seed}");
            }
            assert_eq!(apart(&edition).len(), expected.len(), "{fixture}, seed {seed}");
            slowest = slowest.max(time);
            fewer += u32::from(edition.meta.counts.rows_with_line < with_line);
            diagnosed += u32::from(!edition.diagnostics.is_empty());
        }
    }
    // They hit something.
    assert!(fewer > 100 && diagnosed > 200, "{fewer} with fewer lines, {diagnosed} with diagnostics");
    assert!(slowest < Duration::from_secs(10), "{slowest:?}");
}
