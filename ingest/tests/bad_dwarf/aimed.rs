//! Debug data that is made to take time or memory: each case stays below what a file of its size may take.

use std::{
    collections::BTreeSet,
    fs,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::{
    build::{
        Bytes, FUNCTION, Kind, Section, TEXT, abbreviations, dw, library, library_with, line_table, sequence,
        unit,
    },
    feed,
};
use crate::support::Edition;

/// What each case may take. The slowest takes a tenth of it alone on one core; what is quadratic takes hours.
const TIME: Duration = Duration::from_secs(60);
/// The same of memory, in bytes, for the whole process.
const MEMORY: u64 = 1 << 30;

/// Feeds a file and holds it to time and memory.
pub(super) fn bounded(what: &str, file: &[u8]) -> Edition {
    // One after the other, so that the memory is that of one.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // 5: the peak counts anew (proc(5)).
    let resets = fs::write("/proc/self/clear_refs", "5").is_ok();
    let all = Instant::now();
    let (edition, time) = feed(what, file);
    let peak = peak().filter(|_| resets);
    println!(
        "{what}: {} KiB, {:.1} s to add, {:.1} s in all, {} MiB, {} diagnostics",
        file.len() >> 10,
        time.as_secs_f64(),
        all.elapsed().as_secs_f64(),
        peak.unwrap_or(0) >> 20,
        edition.meta.diagnostics.total,
    );
    assert!(time < TIME, "{what} takes {time:?}");
    assert!(peak.unwrap_or(0) < MEMORY, "{what} takes {peak:?} bytes");
    edition
}

/// The greatest memory since it was reset.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

pub(super) fn codes(edition: &Edition) -> Vec<&str> {
    edition.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect()
}

/// A subprogram of all of the code, `name`d in the entry, as the only one.
fn one_function(children: bool) -> Vec<u8> {
    let mut entries = Bytes::default();
    entries.uleb(1).text("unit").u32(0).uleb(2).text("all").u64(TEXT).u64(FUNCTION * 4).uleb(7);
    if !children {
        entries.u8(0);
    }
    entries.0
}

const UNIT: Kind<'_> = (1, dw::UNIT, true, &[(dw::NAME, dw::STRING), (dw::STMT_LIST, dw::SEC_OFFSET)]);
const ALL: Kind<'_> = (
    2,
    dw::SUBPROGRAM,
    true,
    &[(dw::NAME, dw::STRING), (dw::LOW_PC, dw::ADDR), (dw::HIGH_PC, dw::DATA8), (dw::DECL_LINE, dw::UDATA)],
);

fn lines() -> Vec<u8> {
    line_table(&["/made"], &[("a.c", 1)], &sequence(TEXT, FUNCTION * 4, 1, 5))
}

/// A library of four functions with one unit of these entries and lines for all of it.
fn one_unit(table: Vec<u8>, entries: &[u8]) -> Vec<u8> {
    library(4, &[(".debug_abbrev", table), (".debug_info", unit(0, entries)), (".debug_line", lines())])
}

/// Entries that are instances of each other or of themselves, types that contain themselves.
#[test]
fn rings() {
    let table = abbreviations(&[
        UNIT,
        ALL,
        (
            3,
            dw::SUBPROGRAM,
            false,
            &[(dw::ORIGIN, dw::REF4), (dw::LOW_PC, dw::ADDR), (dw::HIGH_PC, dw::DATA8)],
        ),
        (4, dw::SUBPROGRAM, true, &[(dw::SPECIFICATION, dw::REF4), (dw::INLINE, dw::UDATA)]),
        (5, dw::POINTER, false, &[(dw::TYPE, dw::REF4)]),
        (6, dw::CONST, false, &[(dw::TYPE, dw::REF4)]),
        (7, dw::SUBROUTINE, true, &[(dw::TYPE, dw::REF4)]),
        (8, dw::PARAMETER, false, &[(dw::TYPE, dw::REF4)]),
        (9, dw::ARRAY, false, &[(dw::TYPE, dw::REF4)]),
        (10, dw::INLINED, false, &[(dw::ORIGIN, dw::REF4), (dw::LOW_PC, dw::ADDR), (dw::HIGH_PC, dw::DATA8)]),
        (
            11,
            dw::SUBPROGRAM,
            true,
            &[(dw::NAME, dw::STRING), (dw::LOW_PC, dw::ADDR), (dw::HIGH_PC, dw::DATA8), (dw::TYPE, dw::REF4)],
        ),
    ]);
    // Where entries are: in a unit, from its header on.
    let mut entries = Bytes::default();
    let here = |entries: &Bytes| entries.0.len() as u32 + 11;
    entries.uleb(1).text("unit").u32(0);
    let itself = here(&entries);
    entries.uleb(3).u32(itself).u64(TEXT).u64(FUNCTION);
    let first = here(&entries);
    // Each is 5 or 6 bytes and a terminator.
    entries.uleb(4).u32(first + 7).uleb(1).u8(0);
    entries.uleb(4).u32(first).uleb(1).u8(0);
    entries.uleb(3).u32(first).u64(TEXT + FUNCTION).u64(FUNCTION);
    let mut types = Vec::new();
    for code in [5u64, 6, 9] {
        types.push(here(&entries));
        let itself = here(&entries);
        entries.uleb(code).u32(itself);
    }
    types.push(here(&entries));
    let routine = here(&entries);
    entries.uleb(7).u32(routine);
    for _ in 0..20 {
        entries.uleb(8).u32(routine);
    }
    entries.u8(0);
    for (number, kind) in (0..).zip(&types) {
        entries.uleb(11).text("ring").u64(TEXT + FUNCTION * (number % 4)).u64(FUNCTION).u32(*kind);
        for kind in &types {
            entries.uleb(8).u32(*kind);
        }
        entries.uleb(10).u32(first).u64(TEXT + FUNCTION * (number % 4)).u64(4).u8(0);
    }
    entries.u8(0);
    let edition = bounded("rings", &one_unit(table, &entries.0));
    assert_eq!(edition.meta.counts.rows_with_line, edition.meta.counts.rows);
}

/// Lists of ranges that thousands of units and entries name.
#[test]
fn shared_ranges() {
    let mut list = Bytes::default();
    for number in 0..100_000u64 {
        list.u64(TEXT + number % 64).u64(TEXT + number % 64 + 1);
    }
    list.zeros(16);
    let table = abbreviations(&[
        (1, dw::UNIT, true, &[(dw::RANGES, dw::SEC_OFFSET)]),
        (2, dw::SUBPROGRAM, false, &[(dw::RANGES, dw::SEC_OFFSET)]),
    ]);
    let mut one = Bytes::default();
    one.uleb(1).u32(0);
    for _ in 0..100_000 {
        one.uleb(2).u32(0);
    }
    one.u8(0);
    let ranges = (".debug_ranges", list.0);
    let sections = [(".debug_abbrev", table.clone()), (".debug_info", unit(0, &one.0)), ranges.clone()];
    bounded("ranges-of-entries", &library(4, &sections));
    let mut all = Vec::new();
    for _ in 0..50_000 {
        all.extend(unit(0, &[1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0]));
    }
    bounded("ranges-of-units", &library(4, &[(".debug_abbrev", table), (".debug_info", all), ranges]));
}

/// One line table for thousands of units, with a long header, and one with a long program.
#[test]
fn shared_lines() {
    let names: Vec<String> = (0..100_000).map(|number| format!("f{number}.c")).collect();
    let files: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    let table = abbreviations(&[
        (
            1,
            dw::UNIT,
            true,
            &[(dw::STMT_LIST, dw::SEC_OFFSET), (dw::LOW_PC, dw::ADDR), (dw::HIGH_PC, dw::DATA8)],
        ),
        (2, dw::SUBPROGRAM, true, &[(dw::LOW_PC, dw::ADDR), (dw::HIGH_PC, dw::DATA8)]),
        (
            3,
            dw::INLINED,
            false,
            &[
                (dw::LOW_PC, dw::ADDR),
                (dw::HIGH_PC, dw::DATA8),
                (dw::CALL_FILE, dw::UDATA),
                (dw::CALL_LINE, dw::UDATA),
            ],
        ),
    ]);
    let mut entries = Bytes::default();
    entries.uleb(1).u32(0).u64(TEXT).u64(FUNCTION).uleb(2).u64(TEXT).u64(FUNCTION);
    entries.uleb(3).u64(TEXT).u64(4).uleb(100_000).uleb(7).u8(0).u8(0);
    let mut all = Vec::new();
    for _ in 0..20_000 {
        all.extend(unit(0, &entries.0));
    }
    let sections = [
        (".debug_abbrev", table.clone()),
        (".debug_info", all.clone()),
        (".debug_line", line_table(&["/made"], &files, &sequence(TEXT, FUNCTION, 1, 5))),
    ];
    bounded("files-of-units", &library(4, &sections));
    let program: Vec<u8> = (0..50_000).flat_map(|_| sequence(TEXT, FUNCTION, 1, 5)).collect();
    let lines = line_table(&["/made"], &[("a.c", 1)], &program);
    bounded(
        "lines-of-units",
        &library(4, &[(".debug_abbrev", table), (".debug_info", all), (".debug_line", lines)]),
    );
}

/// Programs that go anywhere.
#[test]
fn wild_lines() {
    let mut program = Bytes::default();
    for number in 0..20_000u64 {
        program.raw(&[0, 9, 2]).u64(TEXT + number % 64);
        program.u8(2).uleb(u64::MAX - number).u8(3).sleb(i64::MIN + number as i64).u8(1);
        program
            .u8(2)
            .uleb(1 << 63)
            .u8(4)
            .uleb(number << 32)
            .u8(1)
            .u8(8)
            .u8(1)
            .u8(9)
            .u16(0xffff)
            .u8(0xff)
            .u8(1);
        program.raw(&[0, 1, 1]);
    }
    let lines = line_table(&["/made"], &[("a.c", 1)], &program.0);
    let table = abbreviations(&[UNIT, ALL]);
    let sections =
        [(".debug_abbrev", table), (".debug_info", unit(0, &one_function(false))), (".debug_line", lines)];
    bounded("wild-lines", &library(4, &sections));
}

/// Files, folders and lines that there are not.
#[test]
fn numbers_out_of_range() {
    let table = abbreviations(&[
        UNIT,
        (
            2,
            dw::SUBPROGRAM,
            true,
            &[
                (dw::NAME, dw::STRING),
                (dw::LOW_PC, dw::ADDR),
                (dw::HIGH_PC, dw::DATA8),
                (dw::DECL_FILE, dw::UDATA),
                (dw::DECL_LINE, dw::UDATA),
            ],
        ),
        (
            3,
            dw::INLINED,
            false,
            &[
                (dw::LOW_PC, dw::ADDR),
                (dw::HIGH_PC, dw::DATA8),
                (dw::CALL_FILE, dw::UDATA),
                (dw::CALL_LINE, dw::UDATA),
            ],
        ),
    ]);
    let mut entries = Bytes::default();
    entries.uleb(1).text("unit").u32(0);
    for (number, value) in
        [u64::MAX, u64::from(u32::MAX), u64::from(u32::MAX) - 1, 77].into_iter().enumerate()
    {
        let at = TEXT + FUNCTION * number as u64;
        entries.uleb(2).text("f").u64(at).u64(FUNCTION).uleb(value).uleb(value);
        entries.uleb(3).u64(at).u64(4).uleb(value).uleb(value);
        entries.uleb(3).u64(at + 8).u64(4).uleb(1).uleb(value).u8(0);
    }
    entries.u8(0);
    let mut program = Vec::new();
    for (number, file) in [u64::MAX, u64::from(u32::MAX), 2, 0].into_iter().enumerate() {
        program.extend(sequence(TEXT + FUNCTION * number as u64, FUNCTION, file, i64::from(u32::MAX) + 5));
    }
    let lines = line_table(&["/made"], &[("a.c", 1), ("b.c", 1 << 40)], &program);
    let sections = [(".debug_abbrev", table), (".debug_info", unit(0, &entries.0)), (".debug_line", lines)];
    bounded("numbers", &library(4, &sections));
}

/// Compressed sections that claim to be anything.
#[test]
fn claims_of_size() {
    for (kind, size) in
        [(1u32, 4u64 << 30), (2, 4 << 30), (1, u64::MAX), (2, 1 << 60), (9, 100), (1, 1 << 20)]
    {
        let mut section = Bytes::default();
        section.u32(kind).u32(0).u64(size).u64(1).raw(&[0x78, 0x9c, 3, 0, 0, 0, 0, 1]);
        // SHF_COMPRESSED.
        let sections = [Section { name: ".debug_info", bytes: section.0, flags: 0x800 }];
        let edition = bounded("claims-of-size", &library_with(4, &sections));
        assert_eq!(codes(&edition), ["debug-section-unreadable"]);
    }
    let mut old = b"ZLIB".to_vec();
    old.extend([0xff; 8]);
    assert_eq!(
        codes(&bounded("old-claim", &library(4, &[(".zdebug_info", old)]))),
        ["debug-section-unreadable"]
    );
}

/// Thousands of units that each read a large table from a place of their own.
#[test]
fn nested_abbreviations() {
    let attributes = [(dw::NAME, dw::STRING); 20];
    let all: Vec<_> = (1..40_000).map(|code| (code, dw::UNIT, false, &attributes[..])).collect();
    let table = abbreviations(&all);
    let starts: Vec<u32> = (0..20_000).map(|number| number * 44).collect();
    let info =
        starts.iter().flat_map(|start| [*start, *start]).flat_map(|start| unit(start, &[1, 0, 0])).collect();
    let edition =
        bounded("nested-abbreviations", &library(4, &[(".debug_abbrev", table), (".debug_info", info)]));
    assert!(codes(&edition).contains(&"debug-unit-unreadable"));
}

/// Eighty levels and a hundred thousand, each of which covers all code.
#[test]
fn deep_inlining() {
    let table = abbreviations(&[
        UNIT,
        ALL,
        (
            3,
            dw::INLINED,
            true,
            &[
                (dw::NAME, dw::STRING),
                (dw::LOW_PC, dw::ADDR),
                (dw::HIGH_PC, dw::DATA8),
                (dw::CALL_FILE, dw::UDATA),
                (dw::CALL_LINE, dw::UDATA),
            ],
        ),
    ]);
    let functions = 1000;
    let deep = |levels: u64| {
        let mut entries = Bytes(one_function(true));
        for level in 0..levels {
            let name = format!("level_{level}");
            entries.uleb(3).text(&name).u64(TEXT).u64(FUNCTION * functions).uleb(1).uleb(level + 1);
        }
        entries.zeros(levels as usize + 2);
        let lines = line_table(&["/made"], &[("a.c", 1)], &sequence(TEXT, FUNCTION * functions, 1, 5));
        let sections =
            [(".debug_abbrev", table.clone()), (".debug_info", unit(0, &entries.0)), (".debug_line", lines)];
        bounded("deep-inlining", &library(functions, &sections))
    };
    // What fits a page is told whole, what doesn't is not told in part.
    let edition = deep(80);
    let depths: BTreeSet<_> = edition
        .functions
        .iter()
        .flat_map(|function| &function.places)
        .map(|place| place.as_ref().map(Vec::len))
        .collect();
    assert_eq!(depths.into_iter().collect::<Vec<_>>(), [Some(81)]);
    let edition = deep(100_000);
    assert_eq!(codes(&edition), ["frames-too-deep"]);
    assert_eq!(edition.meta.counts.rows_with_line, 0);
}

/// A hundred thousand frames beside each other that all cover all code.
#[test]
fn wide_inlining() {
    let table = abbreviations(&[
        UNIT,
        ALL,
        (
            3,
            dw::INLINED,
            false,
            &[(dw::LOW_PC, dw::ADDR), (dw::HIGH_PC, dw::DATA8), (dw::CALL_LINE, dw::UDATA)],
        ),
    ]);
    let mut entries = Bytes(one_function(true));
    for number in 0..200_000u64 {
        entries.uleb(3).u64(TEXT + number % 50).u64(100_000 + number).uleb(number);
    }
    entries.u16(0);
    bounded("wide-inlining", &one_unit(table, &entries.0));
}

/// A unit, functions and frames from the first address to the last.
#[test]
fn everything_claimed() {
    let table = abbreviations(&[
        (
            1,
            dw::UNIT,
            true,
            &[(dw::LOW_PC, dw::ADDR), (dw::HIGH_PC, dw::DATA8), (dw::STMT_LIST, dw::SEC_OFFSET)],
        ),
        (2, dw::SUBPROGRAM, true, &[(dw::LOW_PC, dw::ADDR), (dw::HIGH_PC, dw::DATA8)]),
        (3, dw::INLINED, false, &[(dw::LOW_PC, dw::ADDR), (dw::HIGH_PC, dw::DATA8)]),
    ]);
    for (low, size) in [(0, u64::MAX), (TEXT, u64::MAX - TEXT), (TEXT, u64::MAX), (1, u64::MAX)] {
        let mut entries = Bytes::default();
        entries
            .uleb(1)
            .u64(low)
            .u64(size)
            .u32(0)
            .uleb(2)
            .u64(low)
            .u64(size)
            .uleb(3)
            .u64(low)
            .u64(size)
            .u16(0);
        bounded("everything", &one_unit(table.clone(), &entries.0));
    }
}

/// Names of a megabyte that a hundred thousand entries share, and names without an end.
#[test]
fn long_names() {
    let table = abbreviations(&[
        (
            1,
            dw::UNIT,
            true,
            &[
                (dw::NAME, dw::STRP),
                (dw::PRODUCER, dw::STRP),
                (dw::COMP_DIR, dw::STRP),
                (dw::STMT_LIST, dw::SEC_OFFSET),
            ],
        ),
        (2, dw::SUBPROGRAM, true, &[(dw::NAME, dw::STRP), (dw::LOW_PC, dw::ADDR), (dw::HIGH_PC, dw::DATA4)]),
        (3, dw::INLINED, false, &[(dw::NAME, dw::STRP), (dw::LOW_PC, dw::ADDR), (dw::HIGH_PC, dw::DATA4)]),
    ]);
    let mut entries = Bytes::default();
    entries.uleb(1).u32(0).u32(0).u32(0).u32(0);
    for number in 0..50_000u32 {
        // Each name is another one: they end where all do.
        entries.uleb(2).u32(number).u64(TEXT).u32(FUNCTION as u32);
        entries.uleb(3).u32(number).u64(TEXT + u64::from(number % 16)).u32(1).u8(0);
    }
    entries.u8(0);
    let units = |count: usize| vec![unit(0, &entries.0); count].concat();
    for (what, end) in [("long-names", 0), ("names-without-end", b'a')] {
        let mut names = vec![b'a'; 1 << 20];
        names.push(end);
        let sections = [
            (".debug_abbrev", table.clone()),
            (".debug_info", units(2)),
            (".debug_line", lines()),
            (".debug_str", names),
        ];
        bounded(what, &library(4, &sections));
    }
    let mut entries = Bytes::default();
    entries.uleb(1).u32(0).u32(0).u32(0).u32(0).u8(0);
    let mut names = vec![b'a'; 1 << 20];
    names.push(0);
    let sections = [
        (".debug_abbrev", table),
        (".debug_info", vec![unit(0, &entries.0); 50_000].concat()),
        (".debug_line", lines()),
        (".debug_str", names),
    ];
    bounded("long-names-of-units", &library(4, &sections));
}

/// Forms that say that the form comes next.
#[test]
fn indirect_forms() {
    let table = abbreviations(&[
        (1, dw::UNIT, true, &[(dw::NAME, dw::INDIRECT)]),
        (
            2,
            dw::SUBPROGRAM,
            false,
            &[(dw::NAME, dw::INDIRECT), (dw::LOW_PC, dw::ADDR), (dw::HIGH_PC, dw::DATA8)],
        ),
    ]);
    let mut entries = Bytes::default();
    entries
        .uleb(1)
        .uleb(dw::STRING)
        .text("unit")
        .uleb(2)
        .raw(&[dw::INDIRECT as u8; 1 << 20])
        .uleb(dw::STRING);
    entries.text("f").u64(TEXT).u64(FUNCTION).u8(0);
    bounded("indirect", &one_unit(table.clone(), &entries.0));
    entries.0.truncate(1 << 19);
    bounded("indirect-cut", &one_unit(table, &entries.0));
}

/// Entries of one byte with half a million attributes each.
#[test]
fn empty_attributes() {
    let attributes = vec![(dw::INLINE, dw::FLAG_PRESENT); 500_000];
    let table =
        abbreviations(&[UNIT, (2, dw::SUBPROGRAM, false, &attributes), (3, dw::ARRAY, false, &attributes)]);
    let mut entries = Bytes::default();
    entries.uleb(1).text("unit").u32(0).raw(&[2, 3].repeat(1 << 19)).u8(0);
    bounded("empty-attributes", &one_unit(table, &entries.0));
}

/// Units of a few bytes.
#[test]
fn many_units() {
    let table = abbreviations(&[(1, dw::UNIT, false, &[])]);
    let info = vec![unit(0, &[1]); 300_000].concat();
    bounded("many-units", &library(4, &[(".debug_abbrev", table), (".debug_info", info)]));
}

/// Files whose names are the ends of one long text, each with a row of its own.
#[test]
fn many_paths() {
    // DWARF 5: names by offset, in the folder 0.
    let mut text = b"/".to_vec();
    for number in 0..400_000u32 {
        text.extend(format!("{number:x}/").bytes());
    }
    text.truncate(2 << 20);
    text.push(0);
    let count = 200_000u32;
    let mut rest = Bytes::default();
    // One format of folders, one folder; one format of files: DW_LNCT_path by DW_FORM_line_strp.
    rest.raw(&[1, 1, 1, -5i8 as u8, 14, 13]).raw(&[0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]);
    rest.u8(1).uleb(1).uleb(0x1f).uleb(1).u32(0).u8(1).uleb(1).uleb(0x1f).uleb(count.into());
    for number in 0..count {
        rest.u32((2 << 20) - 4100 - number);
    }
    let mut program = Bytes::default();
    program.raw(&[0, 9, 2]).u64(TEXT);
    for number in 0..count {
        program.u8(4).uleb(number.into()).u8(1);
        if number % 4000 == 0 {
            program.u8(2).uleb(1);
        }
    }
    program.raw(&[0, 1, 1]);
    // Every other one in a sequence of its own: rows at one address are one.
    for number in 0..count / 2 {
        program.raw(&sequence(TEXT + u64::from(number % 60), 1, u64::from(number) * 2, 5));
    }
    let mut table = Bytes::default();
    table.u32((rest.0.len() + program.0.len()) as u32 + 8).u16(5).u8(8).u8(0).u32(rest.0.len() as u32);
    table.raw(&rest.0).raw(&program.0);
    let sections = [
        (".debug_abbrev", abbreviations(&[UNIT, ALL])),
        (".debug_info", unit(0, &one_function(false))),
        (".debug_line", table.0),
        (".debug_line_str", text),
    ];
    bounded("many-paths", &library(4, &sections));
}

/// Functions of types that grow with every level.
#[test]
fn long_signatures() {
    let table = abbreviations(&[
        UNIT,
        (
            2,
            dw::SUBPROGRAM,
            true,
            &[(dw::NAME, dw::STRING), (dw::LOW_PC, dw::ADDR), (dw::HIGH_PC, dw::DATA8)],
        ),
        (3, dw::PARAMETER, false, &[(dw::TYPE, dw::REF4)]),
        (4, dw::SUBROUTINE, true, &[(dw::TYPE, dw::REF4)]),
        (5, dw::POINTER, false, &[(dw::TYPE, dw::REF4)]),
    ]);
    let mut entries = Bytes::default();
    entries.uleb(1).text("unit").u32(0);
    // Each type takes the one before it ten times.
    let mut last = entries.0.len() as u32 + 11;
    entries.uleb(5).u32(last);
    for _ in 0..30 {
        let next = entries.0.len() as u32 + 11;
        entries.uleb(4).u32(last);
        for _ in 0..10 {
            entries.uleb(3).u32(last);
        }
        entries.u8(0);
        last = next;
    }
    for number in 0..1000 {
        entries.uleb(2).text("f").u64(TEXT + number % 64).u64(1).uleb(3).u32(last).u8(0);
    }
    entries.u8(0);
    bounded("long-signatures", &one_unit(table, &entries.0));
}

/// Instances that share an abstract function with a hundred thousand parameters.
#[test]
fn shared_parameters() {
    let table = abbreviations(&[
        UNIT,
        (2, dw::SUBPROGRAM, true, &[(dw::NAME, dw::STRING)]),
        (3, dw::PARAMETER, false, &[]),
        (
            4,
            dw::SUBPROGRAM,
            false,
            &[(dw::ORIGIN, dw::REF4), (dw::LOW_PC, dw::ADDR), (dw::HIGH_PC, dw::DATA4)],
        ),
        (5, dw::ARRAY, false, &[]),
    ]);
    for child in [3, 5] {
        let mut entries = Bytes::default();
        entries.uleb(1).text("unit").u32(0);
        let shared = entries.0.len() as u32 + 11;
        entries.uleb(2).text("shared").raw(&[child].repeat(1 << 20)).u8(0);
        for number in 0..20_000 {
            entries.uleb(4).u32(shared).u64(TEXT + FUNCTION * number).u32(FUNCTION as u32);
        }
        entries.u8(0);
        let sections = [
            (".debug_abbrev", table.clone()),
            (".debug_info", unit(0, &entries.0)),
            (".debug_line", lines()),
        ];
        bounded("shared-parameters", &library(20_000, &sections));
    }
}
