//! What is answered about a small archive: references, windows, edges, data, search, refusals.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod support;

use elfscope_core::{
    Error, HitKind, Match, Place, Query, Request,
    listing::{self, Options},
    window::From,
};
use elfscope_schema::{Address, Current, Tombstone, to_canonical};
use pollster::block_on;
use support::{
    MemoryStore,
    counting::{CountingStore, assert_bounded},
    small::{HUGE, OTHER, ROWS, SMALL, archive, small},
};

#[test]
fn builds_by_any_reference() {
    let mut store = archive(16384);
    for (text, expected) in [
        (SMALL, Ok(SMALL)),
        ("small", Ok(SMALL)),
        ("aabbccddeeff00", Ok(SMALL)),
        ("aabbccddeeff99", Ok(OTHER)),
        ("aabbcc", Err("E_AMBIGUOUS")),
        ("aabbc", Err("E_NOT_FOUND")),
        ("smal", Err("E_NOT_FOUND")),
        ("", Err("E_NOT_FOUND")),
        ("../etc/passwd", Err("E_BAD_REFERENCE")),
        ("small/000000", Err("E_NOT_FOUND")),
    ] {
        let mut request = Request::new(&store);
        let found = block_on(request.edition(text));
        match (found, expected) {
            (Ok(edition), Ok(id)) => assert_eq!(edition.source().build_id.as_str(), id, "{text}"),
            (Err(error), Err(code)) => assert_eq!(error.code(), code, "{text}: {error}"),
            (found, expected) => panic!("{text}: {found:?}, expected {expected:?}"),
        }
        assert_bounded(&store, request.budget(), text);
    }
    let error = block_on(Request::new(&store).edition("smlal")).unwrap_err();
    assert_eq!(error.allowed(), ["small"]);
    let error = block_on(Request::new(&store).edition("aabbcc")).unwrap_err();
    assert_eq!(error.allowed(), [OTHER, SMALL], "by name, then id");
    let pinned = small(&store);
    let text = format!("small/{:.8}", pinned.source().edition.as_str());
    assert!(block_on(Request::new(&store).edition(&text)).unwrap().is_current);
    // Removed: a tombstone with its reason.
    let path = format!("{SMALL}/current.json");
    store = CountingStore::new({
        let mut inner = archive(16384).into_inner();
        let mut current: Current = elfscope_schema::from_slice(&inner.0[&path]).unwrap();
        let gone = current.editions.remove(0);
        current.tombstones.push(Tombstone { edition: gone.edition, reason: "wrong file".into() });
        current.seal();
        inner.0.insert(path, to_canonical(&current));
        inner
    });
    let error = block_on(Request::new(&store).edition(SMALL)).unwrap_err();
    assert_eq!((error.code(), error.to_string().contains("wrong file")), ("E_GONE", true), "{error}");
}

#[test]
fn functions_by_any_reference() {
    for page in [600, 16384] {
        let store = archive(page);
        let edition = small(&store);
        for (text, expected) in [
            ("main", "1000-16@1000"),
            ("0x1007", "1000-16@1007"),
            ("1007", "1000-16@1007"),
            ("1000-16", "1000-16@1000"),
            ("main+0x4", "1000-16@1004"),
            ("space::huge(int)", "10000-24000@10000"),
            ("copy@V_1", "30000-16@30000"),
            ("copy@@V_2", "30100-16@30100"),
            ("copy@V_2", "30100-16@30100"),
            ("copy", "E_AMBIGUOUS copy@V_1 copy@@V_2"),
            ("twice", "E_AMBIGUOUS 0x30000 0x30100"),
            ("copy@V_3", "E_NOT_FOUND copy@V_1 copy@@V_2"),
            ("mian", "E_NOT_FOUND main"),
            ("HUGE", "E_NOT_FOUND huge"),
            ("1000-17", "E_NOT_FOUND 1000-16"),
            ("main+0x10", "E_OUT_OF_RANGE the 16 bytes of `main`"),
            ("counter", "data 2000"),
            ("0x1010", "data 1010"),
            ("puts", "import puts"),
        ] {
            let mut request = Request::new(&store);
            let found = match block_on(request.place(&edition, text)) {
                Ok(Place::Body(entry, at)) => format!("{}@{at}", elfscope_core::key_of(&entry)),
                Ok(Place::Data(at)) => format!("data {at}"),
                Ok(Place::Tls(..)) => "tls".to_owned(),
                Ok(Place::Import(name, _)) => format!("import {}", name.text()),
                Err(error) => format!("{} {}", error.code(), error.allowed().join(" ")),
            };
            assert_eq!(found, expected, "{text}");
            assert_bounded(&store, request.budget(), text);
        }
    }
}

#[test]
fn windows_of_a_body_of_hundreds_of_pages() {
    let store = archive(16384);
    let edition = small(&store);
    let (entry, _) = block_on(Request::new(&store).function(&edition, "huge")).unwrap();
    store.take_reads();
    for row in [0, 1, 19, 20, 21, 2999, 3000, 5979, 5999] {
        for from in [From::Row(row), From::Address(HUGE.address.plus(u64::from(row) * 4 + 3), 0)] {
            let mut request = Request::new(&store);
            let window = block_on(request.window(&edition, &entry, from, 30)).unwrap().value;
            assert_bounded(&store, request.budget(), &format!("{from:?}"));
            let told: Vec<(u32, u32)> = window.rows().map(|(number, row)| (number, row.offset)).collect();
            let expected: Vec<(u32, u32)> = (row..(row + 30).min(ROWS.0)).map(|row| (row, row * 4)).collect();
            assert_eq!(told, expected[..told.len()], "{from:?}");
            assert!(
                told.len() == expected.len() || window.next_row == Some(row + told.len() as u32),
                "{from:?}"
            );
            assert!(window.edges.iter().all(|edge| told.iter().any(|told| told.1 == edge.row)));
        }
    }
    let before =
        block_on(Request::new(&store).window(&edition, &entry, From::Address(HUGE.address.plus(80), 5), 10));
    let before = before.unwrap().value;
    assert_eq!((before.rows_from, before.focus), (15, Some(20)));
    for from in [
        From::Row(6000),
        From::Address(Address::virt(0x1000), 0),
        From::Address(HUGE.address.plus(HUGE.size), 0),
    ] {
        let error = block_on(Request::new(&store).window(&edition, &entry, from, 1)).unwrap_err();
        assert_eq!(error.code(), "E_OUT_OF_RANGE");
    }
    store.take_reads();
    // The whole body, window by window.
    let (mut row, mut rows) = (0, 0);
    loop {
        let mut request = Request::new(&store);
        let window = block_on(request.window(&edition, &entry, From::Row(row), 500)).unwrap().value;
        assert_bounded(&store, request.budget(), "walk");
        rows += window.len();
        match window.next_row {
            Some(next) => row = next,
            None => break,
        }
    }
    assert_eq!(rows, ROWS.0);
}

#[test]
fn edges_page_by_page() {
    let store = archive(16384);
    let edition = small(&store);
    let (huge, _) = block_on(Request::new(&store).function(&edition, "huge")).unwrap();
    store.take_reads();
    let (mut cursor, mut rows) = (None::<String>, Vec::new());
    loop {
        let mut request = Request::new(&store);
        let answer = block_on(request.callees(&edition, &huge, 33, cursor.as_deref())).unwrap();
        assert_bounded(&store, request.budget(), "callees");
        assert_eq!(answer.value.total, 600);
        rows.extend(answer.value.edges.iter().map(|edge| edge.row));
        cursor = answer.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert!(rows.len() == 600 && rows.is_sorted_by(|a, b| a < b));
    let main = block_on(Request::new(&store).callee(&edition, "main")).unwrap();
    store.take_reads();
    let (mut cursor, mut rows) = (None::<String>, Vec::new());
    loop {
        let mut request = Request::new(&store);
        let answer = block_on(request.callers(&edition, &main, 70, cursor.as_deref())).unwrap();
        assert_bounded(&store, request.budget(), "callers");
        rows.extend(answer.value.callers.iter().map(|caller| caller.at));
        cursor = answer.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert!(rows.len() == 250 && rows.is_sorted_by(|a, b| a < b));
    for text in ["puts", "import:puts", "import:puts@GLIBC_2.34"] {
        let puts = block_on(Request::new(&store).callee(&edition, text)).unwrap();
        assert_eq!(block_on(Request::new(&store).callers(&edition, &puts, 9, None)).unwrap().value.total, 0);
    }
    let error = block_on(Request::new(&store).callee(&edition, "import:puts@V")).unwrap_err();
    assert_eq!((error.code(), error.allowed()), ("E_NOT_FOUND", vec!["import:puts@GLIBC_2.34".to_owned()]));
}

#[test]
fn data_at_and_inside() {
    let store = archive(16384);
    let edition = small(&store);
    for (at, expected) in [
        (0x2000, Some(0x2000)),
        (0x2017, Some(0x2010)),
        (0x3000, Some(0x3000)),
        (0x4030, Some(0x4030)),
        (0x2008, None),
        (0x9000, None),
    ] {
        let mut request = Request::new(&store);
        let found = block_on(request.data(&edition, Address::virt(at), None));
        let found = found.ok().map(|answer| answer.value.items[0].address.offset);
        assert_eq!(found, expected, "{at:x}");
        assert_bounded(&store, request.budget(), "data");
    }
}

#[test]
fn search_neither_skips_nor_repeats() {
    for page in [600, 16384] {
        let store = archive(page);
        let edition = small(&store);
        for (text, matching, kinds, expected) in [
            ("main", Match::Substring, &[][..], 1 + 300 + 200),
            ("MAIN p", Match::Substring, &[], 200),
            ("main", Match::Substring, &[HitKind::Function], 1),
            ("main", Match::Substring, &[HitKind::String], 200),
            ("main", Match::Exact, &[], 1),
            ("filler_", Match::Prefix, &[], 300),
            ("filler_01", Match::Prefix, &[], 10),
            ("text 1", Match::Prefix, &[HitKind::String], 100),
            ("huge", Match::Substring, &[], 2),
            ("puts", Match::Exact, &[HitKind::Import], 1),
            ("nothing", Match::Substring, &[], 0),
        ] {
            for limit in [1, 7, 100] {
                let (mut cursor, mut found) = (None::<String>, Vec::new());
                loop {
                    let mut request = Request::new(&store);
                    let query = Query { text, matching, kinds, limit, cursor: cursor.as_deref() };
                    let answer = block_on(request.search(&edition, &query)).unwrap();
                    assert_bounded(&store, request.budget(), text);
                    assert!(answer.value.hits.len() <= limit);
                    found.extend(answer.value.hits.into_iter().map(|hit| (hit.name, hit.address)));
                    cursor = answer.next_cursor;
                    if cursor.is_none() {
                        break;
                    }
                }
                let count = found.len();
                found.sort();
                found.dedup();
                assert_eq!(
                    (count, found.len()),
                    (expected, expected),
                    "{text} by {limit} in pages of {page}"
                );
            }
        }
        for (text, cursor, code) in
            [("ab", None, "E_QUERY_TOO_SHORT"), ("main", Some("x.y.1"), "E_BAD_CURSOR")]
        {
            let query = Query { text, matching: Match::Substring, kinds: &[], limit: 9, cursor };
            let error = block_on(Request::new(&store).search(&edition, &query)).unwrap_err();
            assert_eq!(error.code(), code);
        }
    }
}

#[test]
fn a_listing_says_what_is_known_and_lets_nothing_act() {
    let store = archive(16384);
    let edition = small(&store);
    let (main, _) = block_on(Request::new(&store).function(&edition, "main")).unwrap();
    let window =
        block_on(Request::new(&store).window(&edition, &main, From::Address(Address::virt(0x1009), 9), 9));
    let lines = listing::render(&edition, &window.unwrap().value, Options::default());
    let text: Vec<String> = lines.iter().map(listing::Line::text).collect();
    let expected = r#"main  in small
  is        function in .text, 16 (0x10) bytes; bounds from .symtab
  key       1000-16
  names     main
  rows      all 4; 1 call or jump out

  1000  90 90 90 90  nop
  1004  90 90 90 90  nop      ; "red \u{1b}[31m\n\u{202e}"
> 1008  90 90 90 90  nop      ; -> import puts@GLIBC_2.34 of libc.so.6 (via stub 1030)
  100c  90 90 90 90  nop"#;
    assert_eq!(text.join("\n"), expected);
}

#[test]
fn damage_is_told_and_never_a_panic() {
    let whole = archive(600).into_inner();
    let files: Vec<String> = whole.0.keys().filter(|path| path.starts_with(SMALL)).cloned().collect();
    for path in files {
        let length = whole.0[&path].len();
        for at in (0..length).step_by(1 + length / 60) {
            let mut store = MemoryStore(whole.0.clone());
            store.0.get_mut(&path).unwrap()[at] ^= 0x55;
            let store = CountingStore::new(store);
            block_on(async {
                let Ok(edition) = Request::new(&store).edition(SMALL).await else { return };
                let Ok((entry, _)) = Request::new(&store).function(&edition, "huge").await else { return };
                let _ = Request::new(&store).window(&edition, &entry, From::Row(3000), 500).await;
                let _ = Request::new(&store).data(&edition, Address::virt(0x3000), None).await;
                let query =
                    Query { text: "main", matching: Match::Substring, kinds: &[], limit: 9, cursor: None };
                let _ = Request::new(&store).search(&edition, &query).await;
            });
        }
    }
    let mut newer = MemoryStore(whole.0.clone());
    let path = format!("{SMALL}/current.json");
    let text =
        String::from_utf8(newer.0[&path].clone()).unwrap().replace("archive.current/1", "archive.current/2");
    newer.0.insert(path, text.into_bytes());
    let error = block_on(Request::new(&newer).edition(SMALL)).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
}

#[test]
fn requests_to_a_store_of_threads_can_go_to_threads() {
    fn check<T: Send>(future: T) -> T {
        future
    }
    let store = archive(16384);
    let edition = small(&store);
    let mut request = Request::new(&store);
    let query = Query { text: "main", matching: Match::Substring, kinds: &[], limit: 9, cursor: None };
    drop(check(request.search(&edition, &query)));
    drop(check(request.edition("small")));
    drop(check(request.catalogue(None)));
    drop(check(request.callee(&edition, "main")));
    drop(check(request.data(&edition, Address::virt(0), None)));
    let (main, _) = block_on(request.function(&edition, "main")).unwrap();
    drop(check(request.window(&edition, &main, From::Row(0), 9)));
    drop(check(request.callees(&edition, &main, 9, None)));
}
