//! Frames that don't fit a page, and line tables with more rows than there is code.

use super::{
    aimed::{bounded, codes},
    build::{Bytes, FUNCTION, TEXT, abbreviations, dw, library, line_table, sequence, unit},
};

/// Sixty levels with names as long as C++ makes them, one within the other, each with an instruction of its own.
#[test]
fn long_names_in_a_chain() {
    let attributes = [(dw::NAME, dw::STRING), (dw::LOW_PC, dw::ADDR), (dw::HIGH_PC, dw::DATA8)];
    let call = [&attributes[..], &[(dw::CALL_FILE, dw::UDATA), (dw::CALL_LINE, dw::UDATA)]].concat();
    let table = abbreviations(&[
        (1, dw::UNIT, true, &[(dw::NAME, dw::STRING), (dw::STMT_LIST, dw::SEC_OFFSET)]),
        (2, dw::SUBPROGRAM, true, &attributes),
        (3, dw::INLINED, true, &call),
    ]);
    let functions = 4;
    for (length, told) in [(100u64, 61u64), (2600, 14)] {
        let mut entries = Bytes::default();
        entries.uleb(1).text("unit").u32(0).uleb(2).text("all").u64(TEXT).u64(FUNCTION * functions);
        for level in 1..=60 {
            let name = format!("{}_{level}", "n".repeat(length as usize));
            entries
                .uleb(3)
                .text(&name)
                .u64(TEXT + level)
                .u64(FUNCTION * functions - level)
                .uleb(1)
                .uleb(level);
        }
        entries.zeros(62);
        let lines = line_table(&["/made"], &[("a.c", 1)], &sequence(TEXT, FUNCTION * functions, 1, 5));
        let sections =
            [(".debug_abbrev", table.clone()), (".debug_info", unit(0, &entries.0)), (".debug_line", lines)];
        let edition = bounded("long-names-in-a-chain", &library(functions, &sections));
        let places: Vec<_> = edition.functions.iter().flat_map(|function| &function.places).collect();
        let deepest = places.iter().filter_map(|place| place.as_ref().map(Vec::len)).max();
        // A stack is told whole or not at all, and what isn't told is said.
        assert_eq!(deepest, Some(told as usize), "{length}");
        let rows = FUNCTION * functions;
        assert_eq!(edition.meta.counts.rows_with_line, if told == 61 { rows } else { told }, "{length}");
        assert_eq!(codes(&edition), if told == 61 { &[][..] } else { &["frames-too-deep"] });
    }
}

/// A million rows for 64 bytes of code, in one sequence that starts there and in many; and one for each byte.
#[test]
fn more_rows_than_code() {
    let table = abbreviations(&[
        (1, dw::UNIT, true, &[(dw::NAME, dw::STRING), (dw::STMT_LIST, dw::SEC_OFFSET)]),
        (
            2,
            dw::SUBPROGRAM,
            false,
            &[(dw::NAME, dw::STRING), (dw::LOW_PC, dw::ADDR), (dw::HIGH_PC, dw::DATA8)],
        ),
    ]);
    let mut entries = Bytes::default();
    entries.uleb(1).text("unit").u32(0).uleb(2).text("all").u64(TEXT).u64(FUNCTION * 4).u8(0);
    let add = |what: &str, program: &[u8]| {
        let lines = line_table(&["/made"], &[("a.c", 1)], program);
        let sections =
            [(".debug_abbrev", table.clone()), (".debug_info", unit(0, &entries.0)), (".debug_line", lines)];
        bounded(what, &library(4, &sections))
    };
    let rows = |count: u64| {
        let mut program = Bytes::default();
        program.raw(&[0, 9, 2]).u64(TEXT);
        for _ in 0..count {
            // DW_LNS_advance_line, _copy, _advance_pc: one line and one byte on.
            program.u8(3).sleb(1).u8(1).u8(2).uleb(1);
        }
        program.raw(&[0, 1, 1]).0.clone()
    };
    let edition = add("rows-beyond-code", &rows(1 << 20));
    assert_eq!((codes(&edition), edition.meta.counts.rows_with_line), (vec!["lines-unreadable"], 0));
    let message = &edition.diagnostics[0].message;
    assert!(message.contains("more than 65600 rows, for 64 bytes of code"), "{message}");
    let many: Vec<u8> = (0..20_000).flat_map(|_| rows(FUNCTION * 4)).collect();
    let edition = add("rows-again-and-again", &many);
    // What came before the limit stands.
    assert!(codes(&edition).contains(&"lines-unreadable"), "{:?}", codes(&edition));
    assert_eq!(edition.meta.counts.rows_with_line, FUNCTION * 4);
    let edition = add("a-row-a-byte", &rows(FUNCTION * 4));
    assert_eq!((codes(&edition), edition.meta.counts.rows_with_line), (vec![], FUNCTION * 4));
    // Nor are rows lost that a linker left behind with code that it dropped.
    let dropped = [rows(60_000)[11..].to_vec(), rows(FUNCTION * 4)].concat();
    let edition = add("rows-of-dropped-code", &dropped);
    assert_eq!((codes(&edition), edition.meta.counts.rows_with_line), (vec![], FUNCTION * 4));
}
