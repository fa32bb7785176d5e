//! What routes cost however large the binary or the catalogue is: `ask` holds every answer to promise 6.

use elfscope_schema::{
    Address, BodyKind, FunctionEntry, Index, IndexEntry, IndexPage, Name, NameEntry, Sha256Digest,
    documents::schema, limits, lookup::NamedKind, to_canonical,
};

use super::{
    Archive, bytes, get, pinned, service,
    support::{MemoryStore, Writer, counting::CountingStore, small::head},
};

const BUILD: &str = "00112233445566778899aabbccddeeff00112233";
const FUNCTIONS: u64 = 1_000_000;

fn page(number: u64) -> elfscope_schema::FunctionPage {
    elfscope_schema::FunctionPage {
        key: elfscope_schema::FunctionKey { address: Address::virt(0x1000 + number * 64), size: 48 },
        head: Some(head(&format!("f{number:07}"), 4, 0)),
        edges: Vec::new(),
        ..super::support::small::main_page()
    }
}

/// A million functions, whose members are one and the same: what stands before them costs the reads.
fn million() -> Archive {
    let mut writer = Writer::new("huge", BUILD);
    writer.functions.add(&page(777_777));
    let entry = |number: u64| {
        let name = (Name::from(format!("f{number:07}").as_str()), None, false);
        FunctionEntry(Address::virt(0x1000 + number * 64), 48, 0, None, BodyKind::Function, vec![name])
    };
    let entries: Vec<FunctionEntry> = (0..FUNCTIONS).map(entry).collect();
    writer.index("address", &entries, |entry| entry.0.to_string());
    let names: Vec<NameEntry> = entries
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
    writer.texts("name", &names, |entry| entry.name.text());
    let mut store = MemoryStore::default();
    writer.publish(&mut store);
    service(CountingStore::new(store))
}

#[test]
fn a_million_functions() {
    let service = million();
    let edition = pinned(&service, BUILD);
    let key = page(777_777).key;
    for round in 0..2 {
        for (rest, status) in [
            (format!("fn/{key}.json"), 200),
            (format!("fn/{key}.txt"), 200),
            ("function/f0777777".to_owned(), 200),
            (format!("function/0x{}", key.address.plus(40)), 200),
            (format!("callers/{key}.json"), 200),
            (format!("callees/{key}.json"), 200),
            (format!("fn/{key}.1.json"), 404),
            ("fn/1-1.json".to_owned(), 404),
            ("function/f07777".to_owned(), 404),
            ("function/nothing_like_this".to_owned(), 404),
            ("lookup/1000.json".to_owned(), 200),
            ("fn.jsonl.gz".to_owned(), 200),
        ] {
            for accepts in ["identity", "gzip"] {
                let response =
                    get(&service, &format!("{edition}/{rest}"), &[&format!("accept-encoding: {accepts}")]);
                assert_eq!(response.status(), status, "{round} {rest}");
                let response = get(&service, &format!("/archive/{BUILD}/{rest}"), &[]);
                assert_eq!(response.status(), status, "{round} {rest}");
            }
        }
        for query in ["q=f0777&match=prefix", "q=7777&match=substring", "q=zzz", "q=f0000001&match=exact"] {
            assert_eq!(
                get(&service, &format!("/archive/search?build={BUILD}&{query}"), &[]).status(),
                200,
                "{query}"
            );
        }
    }
}

/// Shards of one kind, as the writer cuts them: a page that would be too large says which digits follow.
fn shard(store: &mut MemoryStore, by: &str, prefix: &str, builds: &[(String, IndexEntry)]) {
    let name = if prefix.is_empty() { "root" } else { prefix };
    let page = |builds, split| IndexPage { builds, pages: None, schema: schema::INDEX.to_owned(), split };
    let whole: Vec<IndexEntry> = builds.iter().map(|(_, entry)| entry.clone()).collect();
    let told = if builds.len() > 100 { Vec::new() } else { to_canonical(&page(Some(whole), None)) };
    if !told.is_empty() && told.len() <= limits::INDEX_PAGE {
        store.0.insert(format!("index/{by}/{name}.json"), told);
        return;
    }
    let mut digits = String::new();
    for digit in "0123456789abcdef".chars() {
        let below = format!("{prefix}{digit}");
        let part: Vec<_> = builds.iter().filter(|(key, _)| key.starts_with(&below)).cloned().collect();
        if !part.is_empty() {
            digits.push(digit);
            shard(store, by, &below, &part);
        }
    }
    store.0.insert(format!("index/{by}/{name}.json"), to_canonical(&page(None, Some(digits))));
}

#[test]
fn a_catalogue_of_100_000_builds() {
    const BUILDS: u64 = 100_000;
    let mut store = MemoryStore::default();
    let told = Writer::new("real", BUILD).publish(&mut store);
    let entry = |number: u64| {
        let digits = Sha256Digest::of(&number.to_le_bytes()).to_string();
        let build_id = if number == 0 { BUILD } else { &digits[..40] };
        IndexEntry {
            build_id: build_id.parse().unwrap(),
            edition: told.edition.clone(),
            functions: 10,
            machine: "x86-64".to_owned(),
            name: Name::from(format!("lib{number}.so").as_str()),
            package: Some(format!("package{number} 1.0 amd64")),
            rows: 100,
            rows_with_line: 0,
            soname: None,
        }
    };
    let builds: Vec<IndexEntry> = (0..BUILDS).map(entry).collect();
    let keyed = |key: fn(&IndexEntry) -> String| -> Vec<(String, IndexEntry)> {
        let digest = |entry: &IndexEntry| Sha256Digest::of(key(entry).as_bytes()).to_string();
        builds.iter().map(|entry| (digest(entry), entry.clone())).collect()
    };
    shard(&mut store, "id", "", &keyed(|entry| entry.build_id.to_string()));
    shard(&mut store, "name", "", &keyed(|entry| entry.name.text().to_owned()));
    let index = Index { builds: None, schema: schema::INDEX.to_owned(), total: BUILDS };
    store.0.insert("index.json".to_owned(), to_canonical(&index));
    let service = service(CountingStore::new(store));
    assert!(bytes(&get(&service, "/archive/index.json", &[])).len() < 100);
    for (path, status) in [
        (format!("/archive/{BUILD}/meta.json"), 200),
        ("/archive/lib77777.so/meta.json".to_owned(), 404),
        ("/archive/nothing.so/meta.json".to_owned(), 404),
        ("/archive/001122/meta.json".to_owned(), 404),
        ("/archive/0011223344556677/meta.json".to_owned(), 404),
        (format!("/archive/{BUILD}/{}/meta.json", "1".repeat(32)), 404),
        ("/archive/index/id/root.json".to_owned(), 200),
        ("/archive/index/name/0f.json".to_owned(), 200),
        ("/archive/search?q=main&build=lib77777.so".to_owned(), 404),
        ("/archive/search?q=main&build=lib0.so".to_owned(), 200),
        ("/archive/search?q=main&build=001122".to_owned(), 404),
        (format!("/buildid/{BUILD}/source/a.c"), 404),
    ] {
        let response = get(&service, &path, &[]);
        assert_eq!(response.status(), status, "{path}: {response:?}");
    }
}
