//! Promise 6 on a real edition of a million functions: derived from an ELF, written by the real writer, read by the core
//! through a store that counts.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

#[path = "../../serve/core/tests/support/counting.rs"]
#[allow(dead_code, unreachable_pub, reason = "another test's support")]
mod counting;

use std::{fmt::Write as _, fs};

use counting::{CountingStore, assert_bounded};
use elfscope_core::{Edition, Match, Query, Request, window::From};
use elfscope_ingest::{AddOptions, add, archive::Archive};
use elfscope_local::FolderStore;

const FUNCTIONS: u32 = 1_000_000;
const TEXT: u64 = 0x1000;

/// What the function of this number is called. Scattered, so that the order of names is not that of addresses.
fn name_of(number: u32) -> String {
    let scattered = number.wrapping_mul(0x9e37_79b1);
    match number % 1000 {
        7 => format!("parse_{scattered:08x}_needle{}", number / 1000),
        _ => format!("handle_{scattered:08x}_request"),
    }
}

/// A fixed-position AArch64 executable of a million functions, each a `movz` of its own number and a `ret`.
fn elf() -> Vec<u8> {
    let mut text = Vec::new();
    let mut symbols = vec![0; 24];
    let mut strings = vec![0];
    for number in 0..FUNCTIONS {
        // `movz w0, #number` (low half); so that digests repeat, as they do in real programs.
        text.extend_from_slice(&(0x5280_0000 | (number & 0xffff) << 5).to_le_bytes());
        text.extend_from_slice(&0xd65f_03c0_u32.to_le_bytes());
        symbols.extend_from_slice(&(strings.len() as u32).to_le_bytes());
        // STT_FUNC, STB_GLOBAL, in section 1.
        symbols.extend_from_slice(&[0x12, 0, 1, 0]);
        symbols.extend_from_slice(&(TEXT + u64::from(number) * 8).to_le_bytes());
        symbols.extend_from_slice(&8_u64.to_le_bytes());
        strings.extend_from_slice(name_of(number).as_bytes());
        strings.push(0);
    }
    let names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0";
    let at_symbols = TEXT + text.len() as u64;
    let at_strings = at_symbols + symbols.len() as u64;
    let at_names = at_strings + strings.len() as u64;
    let headers = (at_names + names.len() as u64).next_multiple_of(8);
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let put =
        |file: &mut Vec<u8>, size: usize, value: u64| file.extend_from_slice(&value.to_le_bytes()[..size]);
    for (size, value) in [
        (2, 2),
        (2, 183),
        (4, 1),
        (8, TEXT),
        (8, 64),
        (8, headers),
        (4, 0),
        (2, 64),
        (2, 56),
        (2, 1),
        (2, 64),
        (2, 5),
        (2, 4),
    ] {
        put(&mut file, size, value);
    }
    // PT_LOAD, readable and executable.
    let size = text.len() as u64;
    for (size, value) in [(4, 1), (4, 5), (8, TEXT), (8, TEXT), (8, TEXT), (8, size), (8, size), (8, 0x1000)]
    {
        put(&mut file, size, value);
    }
    file.resize(TEXT as usize, 0);
    file.extend(text);
    file.extend(&symbols);
    file.extend(&strings);
    file.extend(names);
    file.resize(headers as usize, 0);
    for header in [
        [0; 10],
        [1, 1, 6, TEXT, TEXT, size, 0, 0, 4, 0],
        [7, 2, 0, 0, at_symbols, symbols.len() as u64, 3, 1, 8, 24],
        [15, 3, 0, 0, at_strings, strings.len() as u64, 0, 0, 1, 0],
        [23, 3, 0, 0, at_names, names.len() as u64, 0, 0, 1, 0],
    ] {
        for (size, value) in [4, 4, 8, 8, 8, 8, 4, 4, 8, 8].into_iter().zip(header) {
            put(&mut file, size, value);
        }
    }
    file
}

#[test]
fn a_million_functions_are_found_within_promise_6() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("million");
    fs::write(&file, elf()).unwrap();
    let archive = Archive::create(folder.path().join("archive")).unwrap();
    let report = add(&archive, &AddOptions { only_given: true, ..AddOptions::new(&[file]) }, &()).unwrap();
    assert_eq!(report.added.len(), 1, "{:?}", report.failed);
    assert_eq!(report.added[0].functions, u64::from(FUNCTIONS));
    let store = CountingStore::new(FolderStore::new(archive.root()));
    pollster::block_on(ask(&store));
}

async fn ask(store: &CountingStore<FolderStore>) {
    let mut worst = String::new();
    for number in [0, 1, 7, 4_007, 65_536, 500_000, 987_654, FUNCTIONS - 1] {
        let (name, address) = (name_of(number), TEXT + u64::from(number) * 8);
        for (kind, text) in [
            ("address", format!("0x{:x}", address + 4)),
            ("name", name.clone()),
            ("key", format!("{address:x}-8")),
        ] {
            let mut request = Request::new(store);
            let edition = request.edition("million").await.unwrap();
            let (entry, _) = request.function(&edition, &text).await.unwrap();
            assert_eq!(entry.0.offset, address, "{kind} {text}");
            let window = request.window(&edition, &entry, From::Row(0), 10).await.unwrap();
            assert_eq!(window.value.head.names[0].name.text(), name);
            let digests = window.value.head.digests.clone().unwrap();
            let _ = writeln!(worst, "{kind} {text}: {:?}", request.budget());
            assert_bounded(store, request.budget(), &format!("{kind} {text}"));

            let mut request = Request::new(store);
            let edition = request.edition("million").await.unwrap();
            let same = request.same_code(&edition, digests.body, None).await.unwrap();
            // Every 65,536th function has the same bytes.
            let expected = (FUNCTIONS - 1 - number % 65_536) / 65_536 + 1;
            assert_eq!(same.value.bodies.len() as u32, expected, "{text}");
            assert_bounded(store, request.budget(), &format!("digest of {text}"));
        }
    }
    let parse = |text: &'static str, matching| Query { text, matching, kinds: &[], limit: 100, cursor: None };
    for (query, expected) in [
        (parse("needle777", Match::Substring), Some(1)),
        (parse("parse_", Match::Prefix), None),
        (parse("_request", Match::Substring), None),
        (parse("NEEDLE77", Match::Substring), Some(11)),
        (parse("nowhere_at_all", Match::Substring), Some(0)),
    ] {
        let (mut found, mut calls, mut cursor) = (0, 0, None::<String>);
        loop {
            let mut request = Request::new(store);
            let edition: Edition = request.edition("million").await.unwrap();
            let asked = Query { cursor: cursor.as_deref(), ..query.clone() };
            let answer = request.search(&edition, &asked).await.unwrap();
            assert_bounded(store, request.budget(), query.text);
            found += answer.value.hits.len();
            calls += 1;
            cursor = answer.next_cursor;
            // What is rare is found at once; of what is everywhere the first pages say enough.
            if cursor.is_none() || (expected.is_none() && calls == 5) {
                break;
            }
            assert!(calls < 60, "{}: no end", query.text);
        }
        match expected {
            Some(expected) => {
                assert_eq!(found, expected, "{}", query.text);
                assert!(calls <= 5, "{}: {calls} calls", query.text);
            }
            None => assert!(found >= 400, "{}: {found} in {calls} calls", query.text),
        }
    }
}
