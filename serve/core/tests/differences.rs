//! What differs between two large builds and two large functions, within the bounds of one request.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod support;

use std::collections::BTreeMap;

use elfscope_core::{
    Edition, Request,
    diff::{Changed, PairWindow, functions::Side},
};
use elfscope_schema::{
    Address, BodyDigest, BodyKind, DigestEntry, FunctionEntry, FunctionKey, FunctionPage, Name, NameEntry,
    NamedCode, Row, Run, Sha256Digest, documents::schema, lookup::NamedKind,
};
use pollster::block_on;
use support::{
    MemoryStore, Writer,
    counting::{CountingStore, assert_bounded},
    small,
};

const FUNCTIONS: u64 = 120_000;
const ROWS: u32 = 100_000;
const IDS: [&str; 2] =
    ["aa00112233445566778899aabbccddeeff001122", "bb00112233445566778899aabbccddeeff001122"];

fn digest(text: &str) -> BodyDigest {
    BodyDigest::truncated(Sha256Digest::of(text.as_bytes()).as_bytes())
}

/// The functions of a side: name, and what the code is.
fn functions(is_b: bool) -> Vec<(String, String)> {
    let all = (0..FUNCTIONS).filter_map(|number| {
        let name = format!("function_{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        match number % 1000 {
            1 if is_b => Some((name, format!("new code {number}"))),
            2 if is_b => None,
            3 if !is_b => None,
            // Under another name in the other build.
            4 if is_b => Some((format!("renamed_{number}"), format!("code {number}"))),
            _ => Some((name, format!("code {number}"))),
        }
    });
    all.collect()
}

fn page(key: FunctionKey, number: u32, rows: Vec<Row>) -> FunctionPage {
    FunctionPage {
        edges: Vec::new(),
        files: Vec::new(),
        frames: Vec::new(),
        head: (number == 0).then(|| small::head("giant", ROWS, 0)),
        key,
        names: Vec::new(),
        page: number,
        pages: ROWS / 500,
        rows_from: number * 500,
        runs: vec![Run { at: None, rows }],
        schema: schema::FN.to_owned(),
    }
}

fn publish(store: &mut MemoryStore, side: usize) {
    let mut writer = Writer::new(["side-a", "side-b"][side], IDS[side]);
    let key = FunctionKey { address: Address::virt(0x1000 * (1 + side as u64)), size: u64::from(ROWS) * 4 };
    for number in 0..ROWS / 500 {
        let rows = (number * 500..(number + 1) * 500).map(|row| Row {
            mnemonic: "mov".into(),
            operands: match row % 100 {
                7 if side == 1 => format!("$0x{row:x}, %ebx"),
                _ => format!("$0x{row:x}, %eax"),
            },
            ..small::row(row * 4)
        });
        writer.functions.add(&page(key, number, rows.collect()));
    }
    let functions = functions(side == 1);
    let first = 0x100_0000 * (1 + side as u64);
    let mut entries = vec![FunctionEntry(
        key.address,
        key.size,
        0,
        None,
        BodyKind::Function,
        vec![(Name::from("giant"), None, false)],
    )];
    let mut names = vec![small::named("giant", NamedKind::Function, Some(key.address.offset), None)];
    let mut digests = Vec::new();
    for (number, (name, code)) in functions.iter().enumerate() {
        let at = Address::virt(first + number as u64 * 64);
        entries.push(FunctionEntry(
            at,
            48,
            1,
            None,
            BodyKind::Function,
            vec![(Name::from(name.as_str()), None, false)],
        ));
        names.push(NameEntry {
            code: Some(NamedCode(digest(code), true)),
            ..small::named(name, NamedKind::Function, Some(at.offset), None)
        });
        digests.push(DigestEntry(digest(code), at, true));
    }
    names.sort_by(|a, b| (a.name.text(), a.address).cmp(&(b.name.text(), b.address)));
    digests.sort_by_key(|entry| (entry.0, entry.1));
    writer.index("address", &entries, |entry| entry.0.to_string());
    writer.texts("name", &names, |entry| entry.name.text());
    writer.index("digest", &digests, |entry| entry.0.to_string());
    writer.publish(store);
}

fn sides() -> (CountingStore<MemoryStore>, Edition, Edition) {
    let mut store = MemoryStore::default();
    for (side, id) in IDS.into_iter().enumerate() {
        publish(&mut store, side);
        let edition = block_on(Request::new(&store).edition(id)).unwrap();
        let meta = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/samples/meta.json"));
        store.0.insert(format!("{}/meta.json", edition.folder()), meta.unwrap());
    }
    let store = CountingStore::new(store);
    let [a, b] = IDS.map(|id| block_on(Request::new(&store).edition(id)).unwrap());
    store.take_reads();
    (store, a, b)
}

#[test]
fn large_builds_and_functions_are_compared_in_bounded_parts() {
    let (store, a, b) = sides();
    builds(&store, &a, &b);
    rows(&store, &a, &b);
}

fn builds(store: &CountingStore<MemoryStore>, a: &Edition, b: &Edition) {
    let (mut cursor, mut calls) = (None::<String>, 0);
    let mut found: BTreeMap<String, Changed> = BTreeMap::new();
    let mut equal = 0;
    loop {
        let mut request = Request::new(store);
        let answer = block_on(request.diff_builds(a, b, &[], 100, cursor.as_deref())).unwrap();
        assert_bounded(store, request.budget(), "diff");
        calls += 1;
        equal += answer.value.counts.equal;
        for change in answer.value.changes {
            if let Some(same) = change.same_code.as_ref().filter(|_| change.change == Changed::Moved) {
                assert!(same[0].name.as_ref().unwrap().text().starts_with("renamed_"));
            }
            let name = change.name.text().to_owned();
            assert!(found.insert(name.clone(), change.change).is_none(), "{name} twice");
        }
        assert!(answer.value.total.is_none() && calls < 100);
        cursor = answer.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let [ours, theirs] = [false, true].map(|side| functions(side).into_iter().collect::<BTreeMap<_, _>>());
    for (name, code) in &ours {
        let expected = match theirs.get(name) {
            Some(other) if other == code => None,
            Some(_) => Some(&[Changed::Changed][..]),
            None => Some(&[Changed::Removed, Changed::Moved][..]),
        };
        let told = found.get(name);
        assert!(
            expected.map_or(told.is_none(), |kinds| told.is_some_and(|told| kinds.contains(told))),
            "{name}: {told:?}"
        );
    }
    let added = theirs.keys().filter(|name| !ours.contains_key(*name));
    let added = added.filter(|name| found.get(*name) == Some(&Changed::Added)).count();
    let of_kind = |kind| found.values().filter(|told| **told == kind).count();
    assert_eq!((added, of_kind(Changed::Changed)), (240, 120));
    assert_eq!(of_kind(Changed::Removed) + of_kind(Changed::Moved), 240);
    // Every one that is in both and the same, `giant` aside, of which there is no digest.
    assert_eq!(equal, FUNCTIONS - 4 * 120);
    assert!(calls <= 20 && of_kind(Changed::Moved) > 0, "{calls} calls");
}

fn rows(store: &CountingStore<MemoryStore>, a: &Edition, b: &Edition) {
    let [one, other] =
        [a, b].map(|edition| block_on(Request::new(store).function(edition, "giant")).unwrap().0);
    store.take_reads();
    for context in [None, Some(0), Some(2)] {
        let (mut cursor, mut calls) = (None::<String>, 0);
        let (mut changed, mut last) = (Vec::new(), None);
        loop {
            let mut request = Request::new(store);
            let window = PairWindow { context, limit: 500, cursor: cursor.as_deref() };
            let answer = block_on(request.diff_functions((a, &one), (b, &other), window)).unwrap();
            assert_bounded(store, request.budget(), "rows");
            let total = answer.value.total;
            assert_eq!((total.equal, total.changed, total.only_a, total.only_b), (99_000, 1000, 0, 0));
            for pair in answer.value.pairs {
                let number = pair.a.as_ref().unwrap().0;
                assert!(last < Some(number), "{number} after {last:?}");
                last = Some(number);
                changed.extend((pair.side == Side::Changed).then_some(number));
            }
            calls += 1;
            cursor = answer.next_cursor;
            // All rows would take as many calls as there are windows.
            if cursor.is_none() || (context.is_none() && calls == 5) {
                break;
            }
        }
        let told: Vec<u32> = (0..ROWS).filter(|row| row % 100 == 7).take(changed.len()).collect();
        assert_eq!(changed, told);
        assert!(context.is_none() || changed.len() == 1000);
    }
}
