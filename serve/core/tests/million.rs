//! Promise 6 on a look-up of a million functions: whatever is asked, a request makes at most 24 reads and parses at most
//! 256 KiB of JSON.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod support;

use elfscope_core::{HitKind, Match, Place, Query, Request, search::MOST};
use elfscope_schema::{Address, BodyKind, DigestEntry, FunctionEntry, Name, NameEntry, lookup::NamedKind};
use support::{
    MemoryStore, Writer,
    counting::{CountingStore, assert_bounded},
};

const FUNCTIONS: u64 = 1_000_000;
const BUILD: &str = "00112233445566778899aabbccddeeff00112233";

fn name_of(number: u64) -> String {
    // Scattered, so that the order of names is not that of addresses; every thousandth has a word of its own.
    let scattered = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24;
    match number % 1000 {
        7 => format!("parse_{scattered:010x}_needle{}", number / 1000),
        _ => format!("handle_{scattered:010x}_request"),
    }
}

fn digest_of(number: u64) -> elfscope_schema::BodyDigest {
    // Every thousandth function is the same code.
    let content = if number % 1000 == 1 { 1 } else { number };
    elfscope_schema::BodyDigest::truncated(
        elfscope_schema::Sha256Digest::of(&content.to_le_bytes()).as_bytes(),
    )
}

fn archive() -> CountingStore<MemoryStore> {
    let mut writer = Writer::new("huge", BUILD);
    let entries: Vec<FunctionEntry> = (0..FUNCTIONS)
        .map(|number| {
            let name = (Name::from(name_of(number).as_str()), None, false);
            FunctionEntry(
                Address::virt(0x1000 + number * 64),
                48,
                number,
                None,
                BodyKind::Function,
                vec![name],
            )
        })
        .collect();
    writer.index("address", &entries, |entry| entry.0.to_string());
    let mut names: Vec<NameEntry> = entries
        .iter()
        .map(|entry| NameEntry {
            address: Some(entry.0),
            code: None,
            default: false,
            kind: NamedKind::Function,
            mangled: None,
            name: entry.5[0].0.clone(),
            version: None,
        })
        .collect();
    names.sort_by(|a, b| (a.name.text(), a.address).cmp(&(b.name.text(), b.address)));
    writer.texts("name", &names, |entry| entry.name.text());
    let mut digests: Vec<DigestEntry> = (0..FUNCTIONS)
        .map(|number| DigestEntry(digest_of(number), entries[number as usize].0, true))
        .collect();
    digests.sort_by_key(|entry| (entry.0, entry.1));
    writer.index("digest", &digests, |entry| entry.0.to_string());
    let mut store = MemoryStore::default();
    writer.publish(&mut store);
    CountingStore::new(store)
}

#[test]
fn a_million_functions_cost_no_more() {
    let store = archive();
    pollster::block_on(async {
        by_address_and_name(&store).await;
        by_prefix(&store).await;
        by_substring(&store).await;
        by_regex(&store).await;
        by_digest(&store).await;
    });
}

async fn by_address_and_name(store: &CountingStore<MemoryStore>) {
    for number in [0, 1, 499_999, 777_777, FUNCTIONS - 1] {
        let start = Address::virt(0x1000 + number * 64);
        let within = format!("0x{}", start.plus(47));
        for (asked, at) in
            [(within, start.plus(47)), (name_of(number), start), (format!("{start}-48"), start)]
        {
            let mut request = Request::new(store);
            let edition = request.edition(BUILD).await.unwrap();
            let place = request.place(&edition, &asked).await.unwrap();
            assert!(
                matches!(&place, Place::Body(entry, told) if entry.2 == number && *told == at),
                "{asked}"
            );
            // What a page of the body costs has to fit as well.
            assert!(request.budget().has(4, 128 * 1024), "{asked}: {:?}", request.budget());
            assert_bounded(store, request.budget(), &asked);
        }
    }
    for asked in
        ["0x1030", "nothing_like_this", "handle_0000000000_reqest", "zzz", "0xffffffffffffffff", "1-1"]
    {
        let mut request = Request::new(store);
        let edition = request.edition(BUILD).await.unwrap();
        if let Ok(place) = request.place(&edition, asked).await {
            assert!(matches!(place, Place::Data(_)), "{asked}: {place:?}");
        }
        assert_bounded(store, request.budget(), asked);
    }
}

async fn by_prefix(store: &CountingStore<MemoryStore>) {
    let (found, requests) = walk(store, "parse_00", Match::Prefix).await;
    let expected: Vec<String> = expected(|name| name.starts_with("parse_00"));
    assert_eq!(found, expected);
    assert!(requests <= 2 + found.len() / 100, "{requests} requests");
}

/// What is looked for is found in five calls, however many functions there are beside it: as long as five answers hold it.
async fn by_substring(store: &CountingStore<MemoryStore>) {
    for query in [
        "needle77",
        "_NEEDLE999",
        "_0000",
        "no such name",
        "a0000b",
        "a0000",
        "f00d_request",
        "dead",
        "needle5",
    ] {
        let lower = query.to_ascii_lowercase();
        let (found, requests) = walk(store, query, Match::Substring).await;
        assert_eq!(found, expected(|name| name.contains(&lower)), "{query}");
        assert!(
            requests <= 5.max(found.len() / MOST + 2),
            "{query}: {requests} requests for {}",
            found.len()
        );
    }
}

type Fits = fn(&str) -> bool;

async fn by_regex(store: &CountingStore<MemoryStore>) {
    let questions: [(&str, Fits); 7] = [
        ("needle77$", |name| name.ends_with("needle77")),
        ("^parse_00.*_NEEDLE", |name| name.starts_with("parse_00")),
        ("^handle_dead", |name| name.starts_with("handle_dead")),
        ("needle(1|2)2$", |name| name.ends_with("needle12") || name.ends_with("needle22")),
        ("_c0ffe[0-9a-f]+_", |name| name.contains("_c0ffe") && !name.ends_with("_c0ffe")),
        ("0{5}", |name| name.contains("00000")),
        ("abcde_(request|needle)", |name| name.contains("abcde_")),
    ];
    for (query, fits) in questions {
        let (found, requests) = walk(store, query, Match::Regex).await;
        assert_eq!(found, expected(fits), "{query}");
        assert!(
            requests <= 5.max(found.len() / MOST + 2),
            "{query}: {requests} requests for {}",
            found.len()
        );
    }
}

async fn by_digest(store: &CountingStore<MemoryStore>) {
    for (number, count) in [(5, 1), (1, 1000)] {
        let mut cursor: Option<String> = None;
        let mut found = Vec::new();
        loop {
            let mut request = Request::new(store);
            let edition = request.edition(BUILD).await.unwrap();
            let answer = request.same_code(&edition, digest_of(number), cursor.as_deref()).await.unwrap();
            assert_bounded(store, request.budget(), "digest");
            found.extend(answer.value.bodies);
            cursor = answer.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(found.len(), count);
        assert!(found.is_sorted());
        found.dedup();
        assert_eq!(found.len(), count);
    }
}

/// All results of a query, and how many requests it took. Each is bounded, and none repeats or leaves out.
async fn walk(store: &CountingStore<MemoryStore>, text: &str, matching: Match) -> (Vec<String>, usize) {
    let mut cursor: Option<String> = None;
    let (mut found, mut requests) = (Vec::new(), 0);
    loop {
        let mut request = Request::new(store);
        let edition = request.edition(BUILD).await.unwrap();
        let query = Query {
            text,
            matching,
            kinds: &[HitKind::Function, HitKind::String],
            limit: 100,
            cursor: cursor.as_deref(),
        };
        let answer = request.search(&edition, &query).await.unwrap();
        assert_bounded(store, request.budget(), text);
        requests += 1;
        assert!(answer.value.hits.len() <= 100 && requests < 2000, "{text}");
        found.extend(answer.value.hits.iter().map(|hit| hit.name.text().to_owned()));
        cursor = answer.next_cursor;
        if cursor.is_none() {
            return (found, requests);
        }
    }
}

fn expected(fits: impl Fn(&str) -> bool) -> Vec<String> {
    let mut names: Vec<String> = (0..FUNCTIONS).map(name_of).filter(|name| fits(name)).collect();
    names.sort();
    names
}
