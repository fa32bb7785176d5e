//! Search beyond one build: several named builds, builds by id and name in catalogues small and large, providers of imports.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use elfscope_core::{BuildQuery, By, Callee, Match, Query, Request};
use elfscope_schema::{
    EditionId, Index, IndexEntry, IndexPage, Name, Sha256Digest, documents::schema, from_slice, limits,
    lookup::NamedKind, to_canonical,
};
use pollster::block_on;
use support::{
    MemoryStore, Writer,
    counting::{CountingStore, assert_bounded},
    small::{self, SMALL, named},
    sourced::{self, SOURCED},
};

const BUILDS: u64 = 100_000;

fn entry(number: u64) -> IndexEntry {
    let digest = Sha256Digest::of(&number.to_le_bytes()).to_string();
    let id = match number % 100 {
        0 => format!("sha256-{digest}"),
        // Hundreds that share a long start.
        1 if number < 40_000 => format!("{}{number:08x}", "ab".repeat(16)),
        _ => digest[..40].to_owned(),
    };
    IndexEntry {
        build_id: id.parse().unwrap(),
        edition: digest[..32].parse::<EditionId>().unwrap(),
        functions: number,
        machine: "x86-64".to_owned(),
        name: Name::from(format!("tool{}", number / 2).as_str()),
        package: Some(format!("package{} 1.0 amd64", number / 300)),
        rows: number,
        rows_with_line: 0,
        soname: number.is_multiple_of(3).then(|| Name::from("libcommon.so.1")),
    }
}

/// The pages of a catalogue, made without the real writer.
fn shard(folder: &str, prefix: &str, entries: &[(String, String, &IndexEntry)], into: &mut MemoryStore) {
    let size: usize = entries.iter().map(|entry| to_canonical(entry.2).len()).sum();
    let keys: BTreeSet<&str> = entries.iter().map(|entry| entry.1.as_str()).collect();
    let name = if prefix.is_empty() { "root" } else { prefix };
    let page = |builds: Option<Vec<IndexEntry>>, pages, split| {
        to_canonical(&IndexPage { builds, pages, schema: schema::INDEX.to_owned(), split })
    };
    if size < limits::INDEX_PAGE - 200 || keys.len() == 1 {
        let parts: Vec<_> = entries.chunks(if keys.len() == 1 { 45 } else { usize::MAX }).collect();
        for (number, part) in parts.iter().enumerate() {
            let builds = Some(part.iter().map(|entry| entry.2.clone()).collect());
            let (path, pages) = match number {
                0 => (
                    format!("index/{folder}/{name}.json"),
                    Some(parts.len() as u64 - 1).filter(|more| *more > 0),
                ),
                number => (format!("index/{folder}/{name}.{number}.json"), None),
            };
            into.0.insert(path, page(builds, pages, None));
        }
        return;
    }
    let mut split: BTreeMap<char, Vec<(String, String, &IndexEntry)>> = BTreeMap::new();
    for entry in entries {
        split.entry(entry.0[prefix.len()..].chars().next().unwrap()).or_default().push(entry.clone());
    }
    let digits = Some(split.keys().collect());
    into.0.insert(format!("index/{folder}/{name}.json"), page(None, None, digits));
    for (digit, entries) in split {
        shard(folder, &format!("{prefix}{digit}"), &entries, into);
    }
}

fn large() -> (Vec<IndexEntry>, CountingStore<MemoryStore>) {
    let entries: Vec<IndexEntry> = (0..BUILDS).map(entry).collect();
    let mut store = MemoryStore::default();
    let index = Index { builds: None, schema: schema::INDEX.to_owned(), total: BUILDS };
    store.0.insert("index.json".to_owned(), to_canonical(&index));
    for (by, folder) in [(By::Id, "id"), (By::Name, "name"), (By::Soname, "soname"), (By::Package, "package")]
    {
        let key = |entry: &IndexEntry| match by {
            By::Id => Some(entry.build_id.to_string()),
            By::Name => Some(entry.name.text().to_owned()),
            By::Soname => entry.soname.as_ref().map(|soname| soname.text().to_owned()),
            By::Package => {
                entry.package.as_ref().map(|package| package.split(' ').next().unwrap().to_owned())
            }
        };
        let mut keyed: Vec<_> = entries
            .iter()
            .filter_map(|entry| {
                let key = key(entry)?;
                let digits = if by == By::Id { IndexPage::id_digits(&key) } else { IndexPage::digits(&key) };
                Some((digits, key, entry))
            })
            .collect();
        keyed.sort_by(|a, b| (&a.1, &a.2.build_id).cmp(&(&b.1, &b.2.build_id)));
        shard(folder, "", &keyed, &mut store);
    }
    (entries, CountingStore::new(store))
}

fn walk(store: &CountingStore<MemoryStore>, text: &str, matching: Match, by: &[By]) -> (Vec<String>, usize) {
    let (mut cursor, mut found, mut calls) = (None::<String>, Vec::new(), 0);
    loop {
        let mut request = Request::new(store);
        let query = BuildQuery { text, matching, by, cursor: cursor.as_deref() };
        let answer = block_on(request.find_builds(&query)).unwrap();
        assert_bounded(store, request.budget(), text);
        found.extend(answer.builds.iter().map(|build| build.build_id.to_string()));
        calls += 1;
        assert!(calls < 5000, "{text}");
        cursor = answer.next_cursor;
        if cursor.is_none() {
            return (found, calls);
        }
    }
}

#[test]
fn a_hundred_thousand_builds_are_found_by_what_is_indexed_and_the_rest_is_refused() {
    let (entries, store) = large();
    let all = |fits: &dyn Fn(&IndexEntry) -> bool| -> BTreeSet<String> {
        entries.iter().filter(|entry| fits(entry)).map(|entry| entry.build_id.to_string()).collect()
    };
    let id = entries[77].build_id.to_string();
    let hashed = entries[300].build_id.to_string();
    let shared = "ab".repeat(16);
    for (text, matching, by) in [
        (id.as_str(), Match::Exact, &[By::Id][..]),
        (&id[..8], Match::Prefix, &[By::Id]),
        (&id[..20], Match::Prefix, &[By::Id]),
        (&id[..3], Match::Prefix, &[By::Id]),
        (&hashed[..20], Match::Prefix, &[By::Id]),
        ("sha256-00", Match::Prefix, &[By::Id]),
        (&shared, Match::Prefix, &[By::Id]),
        ("ffffffffffff00", Match::Prefix, &[By::Id]),
        ("tool77", Match::Exact, &[By::Name]),
        ("libcommon.so.1", Match::Exact, &[By::Soname]),
        ("package7", Match::Exact, &[By::Package]),
        ("package7", Match::Exact, &[]),
        ("tool77", Match::Exact, &[]),
        ("nothing", Match::Exact, &[]),
    ] {
        let (found, _) = walk(&store, text, matching, by);
        let count = found.len();
        let found: BTreeSet<String> = found.into_iter().collect();
        assert_eq!(count, found.len(), "{text} repeats");
        let fits = |key: &str| if matching == Match::Exact { key == text } else { key.starts_with(text) };
        let expected = all(&|entry| match by.first() {
            Some(By::Id) => fits(entry.build_id.as_str()),
            Some(By::Soname) => entry.soname.as_ref().is_some_and(|soname| fits(soname.text())),
            Some(By::Package) => {
                entry.package.as_deref().is_some_and(|package| fits(package.split(' ').next().unwrap()))
            }
            _ => {
                fits(entry.name.text())
                    || entry
                        .package
                        .as_deref()
                        .is_some_and(|package| fits(package.split(' ').next().unwrap()))
            }
        });
        assert_eq!(found, expected, "{text}");
    }
    for (text, matching, by) in [
        ("tool", Match::Prefix, &[By::Name][..]),
        ("tool", Match::Substring, &[]),
        ("tool7", Match::Regex, &[]),
        ("abc", Match::Substring, &[By::Id]),
    ] {
        let mut request = Request::new(&store);
        let query = BuildQuery { text, matching, by, cursor: None };
        let error = block_on(request.find_builds(&query)).unwrap_err();
        assert_eq!(error.code(), "E_NOT_INDEXED", "{text}");
        assert!(error.to_string().contains("100000 builds"), "{error}");
        assert_bounded(&store, request.budget(), text);
    }
    // A start of an id means its build; what has no pointer here is then not found, but never over budget.
    for text in [&id[..8], &id[..16], &hashed[..15], shared.as_str(), "ffffffffffff00"] {
        let mut request = Request::new(&store);
        let error = block_on(request.edition(text)).unwrap_err();
        assert!(["E_NOT_FOUND", "E_AMBIGUOUS"].contains(&error.code()), "{text}: {error}");
        assert_bounded(&store, request.budget(), text);
    }
    let mut cursor: Option<String> = None;
    let mut seen = BTreeSet::new();
    loop {
        let mut request = Request::new(&store);
        let page = block_on(request.catalogue(cursor.as_deref())).unwrap();
        assert_bounded(&store, request.budget(), "catalogue");
        for build in page.builds {
            assert!(seen.insert(build.build_id.to_string()), "{} twice", build.build_id);
        }
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen.len() as u64, BUILDS);
}

#[test]
fn a_small_catalogue_answers_anything() {
    let store = small::archive(16384);
    for (text, matching, expected) in [
        ("small", Match::Exact, 1),
        ("mal", Match::Substring, 1),
        ("aabb", Match::Prefix, 2),
        ("^(small|other)$", Match::Regex, 2),
        ("zzz", Match::Substring, 0),
    ] {
        assert_eq!(walk(&store, text, matching, &[]).0.len(), expected, "{text}");
    }
}

#[test]
fn several_builds_are_searched_one_after_the_other() {
    let (mut inner, more) = (small::archive(600).into_inner(), sourced::archive(600).into_inner());
    inner.0.extend(more.0.into_iter().filter(|(path, _)| path != "index.json"));
    let store = CountingStore::new(inner);
    let builds = [SMALL, SOURCED, SMALL];
    for (text, matching, limit) in [
        ("main", Match::Substring, 7),
        ("main", Match::Substring, 100),
        ("citing_1[0-9a-f]*0", Match::Regex, 30),
    ] {
        let mut expected = Vec::new();
        for build in builds {
            let mut cursor: Option<String> = None;
            loop {
                let mut request = Request::new(&store);
                let edition = block_on(request.edition(build)).unwrap();
                let query = Query { text, matching, kinds: &[], limit: 100, cursor: cursor.as_deref() };
                let answer = block_on(request.search(&edition, &query)).unwrap();
                expected.extend(
                    answer.value.hits.into_iter().map(|hit| (build.to_owned(), hit.name, hit.address)),
                );
                cursor = answer.next_cursor;
                if cursor.is_none() {
                    break;
                }
            }
        }
        store.take_reads();
        let (mut found, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mut request = Request::new(&store);
            let query = Query { text, matching, kinds: &[], limit, cursor: cursor.as_deref() };
            let answer = block_on(request.search_builds(&builds, &query)).unwrap();
            assert_bounded(&store, request.budget(), text);
            assert!(answer.builds.iter().map(|build| build.hits.hits.len()).sum::<usize>() <= limit);
            for build in answer.builds {
                let id = build.source.build_id.to_string();
                found.extend(build.hits.hits.into_iter().map(|hit| (id.clone(), hit.name, hit.address)));
            }
            cursor = answer.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(found, expected, "{text} by {limit}");
    }
    let query = Query { text: "main", matching: Match::Exact, kinds: &[], limit: 9, cursor: Some("9:") };
    assert_eq!(
        block_on(Request::new(&store).search_builds(&builds, &query)).unwrap_err().code(),
        "E_BAD_CURSOR"
    );
    let query = Query { cursor: None, ..query };
    let nine = [SMALL; 9];
    assert_eq!(
        block_on(Request::new(&store).search_builds(&nine, &query)).unwrap_err().code(),
        "E_OUT_OF_RANGE"
    );
}

#[test]
fn providers_are_builds_of_the_soname_that_define_the_version() {
    let mut inner = small::archive(16384).into_inner();
    // Three libraries of the soname: one defines it, one in another version only, one not at all.
    let puts = |version| named("puts", NamedKind::Function, Some(0x100), Some((version, true)));
    for (name, id, entries) in [
        ("libc-good", "11".repeat(20), vec![puts("GLIBC_2.34")]),
        ("libc-old", "22".repeat(20), vec![puts("GLIBC_2.2.5")]),
        (
            "libc-none",
            "33".repeat(20),
            vec![named("puts", NamedKind::Import, None, Some(("GLIBC_2.34", false)))],
        ),
    ] {
        let mut writer = Writer::new(name, &id);
        writer.texts("name", &entries, |entry| entry.name.text());
        writer.publish(&mut inner);
    }
    let mut index: Index = from_slice(&inner.0["index.json"]).unwrap();
    for build in index.builds.iter_mut().flatten() {
        build.soname = build.name.text().starts_with("libc").then(|| Name::from("libc.so.6"));
    }
    inner.0.insert("index.json".to_owned(), to_canonical(&index));
    let store = CountingStore::new(inner);
    let edition = small::small(&store);
    let Callee::Import(import) = block_on(Request::new(&store).callee(&edition, "import:puts")).unwrap()
    else {
        panic!("puts is imported")
    };
    store.take_reads();
    let (mut cursor, mut found, mut looked_at) = (None::<String>, Vec::new(), 0);
    loop {
        let mut request = Request::new(&store);
        let answer = block_on(request.providers(&edition, &import, cursor.as_deref())).unwrap();
        assert_bounded(&store, request.budget(), "providers");
        assert_eq!((answer.value.library_is_told, answer.value.sonames.len()), (true, 1));
        looked_at += answer.value.looked_at;
        found.extend(answer.value.candidates);
        cursor = answer.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let names: Vec<(&str, Option<bool>)> = found.iter().map(|one| (one.name.text(), one.exported)).collect();
    assert_eq!((looked_at, names), (3, vec![("libc-good", Some(true))]));
}
