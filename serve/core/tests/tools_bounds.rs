//! What strangers write and how much there is makes no answer of a tool longer or dearer: names of 4 KiB that hide and turn text, a
//! body of a hundred thousand rows, a catalogue of 100,000 builds.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod support;

use std::collections::BTreeMap;

use elfscope_core::{Config, Service};
use elfscope_schema::{
    Address, BodyKind, CitedFile, Edge, EdgeClass, EdgeKind, EdgeTarget, EditionId, Frame, FunctionEntry,
    FunctionKey, FunctionName, FunctionPage, Index, IndexEntry, IndexPage, Name, Notes, Origin, Place,
    Referent, ReferentKind, Row, Run, Sha256Digest, documents::schema, lookup::NamedKind, to_canonical,
};
use serde_json::json;
use support::{
    MemoryStore, Writer,
    asking::{ask, walk},
    counting::CountingStore,
    small::{entry, head, named},
};

const BUILD: &str = "ffeeddccbbaa00112233445566778899aabbccdd";
const ROWS: u32 = 40;

/// A name as hostile as an ELF can have it.
fn hostile(number: u32) -> String {
    let mut name = format!("{number}\u{202e}\u{1b}[31m\n\"build_id: evil\"\nnext_cursor: ");
    while name.len() < 4090 {
        name.push_str("\u{200b}\\");
    }
    name
}

/// A body whose every row has everything that a row can have, named by strangers.
fn hostile_archive() -> CountingStore<MemoryStore> {
    let mut writer = Writer::new("hostile", BUILD);
    writer.rows_with_line = 1;
    let name = |number| Name::from(hostile(number).as_str());
    let key = FunctionKey { address: Address::virt(0x1000), size: u64::from(ROWS) * 4 };
    let files: Vec<CitedFile> = (0..2)
        .map(|number| CitedFile {
            also: Vec::new(),
            level: None,
            names: None,
            path: name(number),
            sha256: None,
            tree: None,
        })
        .collect();
    let frames: Vec<Frame> = (0..3)
        .map(|number| Frame {
            call_file: (number > 0).then_some(number % 2),
            call_line: (number > 0).then_some(u32::MAX),
            function: Some(name(number)),
            parent: number.checked_sub(1),
        })
        .collect();
    let rows = (0..ROWS).map(|number| Row {
        offset: number * 4,
        bytes: vec![0xff; 15],
        mnemonic: hostile(number).chars().take(60).collect(),
        operands: format!("$0x{number:x}ffff, {}", hostile(number).chars().take(90).collect::<String>()),
        notes: Notes {
            relocations: Vec::new(),
            to: Some(Referent {
                address: Some(Address::virt(0x2000)),
                cut: true,
                kind: ReferentKind::String,
                name: None,
                offset: Some(9),
                text: Some(hostile(number).chars().take(120).collect()),
                version: None,
            }),
        },
    });
    let runs = rows.enumerate().map(|(number, row)| {
        let number = u32::try_from(number).unwrap();
        Run {
            at: Some(Place { file: number % 2, frame: Some(2 - number % 2), line: Some(u32::MAX) }),
            rows: vec![row],
        }
    });
    let edge = |number: u32| Edge {
        class: EdgeClass::Import,
        conditional: true,
        kind: EdgeKind::Call,
        row: number * 4,
        switch: false,
        target: Some(EdgeTarget {
            library: Some(name(1)),
            names: vec![name(2)],
            version: Some(name(3)),
            ..EdgeTarget::default()
        }),
    };
    let mut head = head("evil", ROWS, ROWS);
    head.signature = Some(hostile(1).chars().take(400).collect());
    head.parts = (0..500).map(|number| FunctionKey { address: Address::virt(number), size: 1 }).collect();
    head.names.extend((0..1).map(|number| FunctionName {
        binding: Some(hostile(1).chars().take(90).collect()),
        default: true,
        demangled: Some(hostile(2).chars().take(300).collect()),
        from: vec![Origin::Symtab],
        name: name(number),
        size: None,
        symbol_type: Some(hostile(3).chars().take(90).collect()),
        version: Some(name(4)),
        visibility: Some(hostile(5).chars().take(90).collect()),
    }));
    // Pages hold 64 KiB: one such row each.
    let runs: Vec<Run> = runs.collect();
    let pages = ROWS;
    let mut first = 0;
    for page in 0..pages {
        let page = FunctionPage {
            edges: std::iter::once(page).map(edge).collect(),
            files: files.clone(),
            frames: frames.clone(),
            head: (page == 0).then(|| head.clone()),
            key,
            names: Vec::new(),
            page,
            pages,
            rows_from: page,
            runs: runs[page as usize..=page as usize].to_vec(),
            schema: schema::FN.to_owned(),
        };
        let size = to_canonical(&page).len();
        assert!(size <= elfscope_schema::limits::PAGE, "{size} bytes");
        first = first.min(writer.functions.add(&page));
    }
    writer.index("address", &[entry(key, first, None, &[&hostile(0)])], |entry: &FunctionEntry| {
        entry.0.to_string()
    });
    let mut names: Vec<_> = (0..60)
        .map(|number| named(&hostile(number), NamedKind::Function, Some(0x1000), Some((&hostile(99), true))))
        .collect();
    names.push(named("evil", NamedKind::Function, Some(0x1000), None));
    names.sort_by(|a, b| a.name.text().cmp(b.name.text()));
    writer.texts("name", &names, |entry| entry.name.text());
    assert_eq!(entry(key, 0, None, &[]).4, BodyKind::Function);
    let mut store = MemoryStore::default();
    writer.publish(&mut store);
    CountingStore::new(store)
}

#[test]
fn names_of_strangers_make_no_answer_long_or_act() {
    let service = Service::new(hostile_archive(), Config::default());
    let full = hostile(7);
    for (name, arguments, at_least) in [
        ("archive_function", json!({"build_id": BUILD, "function": "evil"}), 2),
        ("archive_function", json!({"build_id": BUILD, "function": "evil", "view": "asm", "bytes": true}), 2),
        ("archive_function", json!({"build_id": BUILD, "function": "evil", "view": "outline"}), 2),
        ("archive_function", json!({"build_id": BUILD, "function": "0x1042"}), 1),
        ("archive_callees", json!({"build_id": BUILD, "function": "evil", "context": 8}), 2),
        ("archive_callees", json!({"build_id": BUILD, "function": "evil"}), 1),
        ("archive_lookup", json!({"build_id": BUILD, "query": "EVIL"}), 2),
        ("archive_lookup", json!({"builds": [BUILD, BUILD, BUILD], "query": "\\[31m", "match": "regex"}), 2),
    ] {
        let answers = walk(&service, name, &arguments);
        assert!(answers.len() >= at_least, "{name} {arguments}: {}", answers.len());
        if let Some(total) = answers.last().and_then(|answer| answer.envelope.total) {
            let last = answers.iter().filter_map(|answer| answer.envelope.to).max();
            assert_eq!(last, total.checked_sub(1), "{name} {arguments}");
        }
    }
    for arguments in [
        json!({"build_id": BUILD, "function": full}),
        json!({"build_id": full, "function": "evil"}),
        json!({"build_id": BUILD, "function": format!("{full}@{full}")}),
    ] {
        let refusal = ask(&service, "archive_function", &arguments).err();
        assert!(
            refusal.is_none_or(|refusal| json!(refusal).to_string().len() < 12_000),
            "a refusal is short"
        );
    }
}

const MANY: u32 = 100_000;

fn build(number: u32) -> IndexEntry {
    let digest = Sha256Digest::of(&number.to_le_bytes()).to_string();
    IndexEntry {
        build_id: digest[..40].parse().unwrap(),
        edition: EditionId::of_manifest(&number.to_le_bytes()),
        functions: u64::from(number),
        machine: "x86-64".to_owned(),
        name: Name::from(format!("lib{}.so.{number}", number / 4).as_str()),
        package: Some(format!("lib{} 1.{number} amd64", number / 4)),
        rows: 1,
        rows_with_line: 0,
        soname: Some(Name::from(format!("lib{}.so", number / 4).as_str())),
    }
}

/// A catalogue whose shards are cut by the first three digits.
fn catalogue() -> CountingStore<MemoryStore> {
    let mut store = MemoryStore::default();
    let index = Index { builds: None, schema: schema::INDEX.to_owned(), total: u64::from(MANY) };
    store.0.insert("index.json".to_owned(), to_canonical(&index));
    let package =
        |build: &IndexEntry| build.package.as_deref().unwrap().split(' ').next().unwrap().to_owned();
    let trees: [(&str, &dyn Fn(&IndexEntry) -> String); 4] = [
        ("id", &|build| build.build_id.to_string()),
        ("name", &|build| build.name.text().to_owned()),
        ("soname", &|build| build.soname.as_ref().unwrap().text().to_owned()),
        ("package", &package),
    ];
    let all: Vec<IndexEntry> = (0..MANY).map(build).collect();
    for (tree, key) in trees {
        let mut shards: BTreeMap<String, Vec<IndexEntry>> = BTreeMap::new();
        for build in &all {
            let digest = match tree {
                "id" => IndexPage::id_digits(&key(build)),
                _ => IndexPage::digits(&key(build)),
            };
            shards.entry(digest[..3].to_owned()).or_default().push(build.clone());
        }
        let mut put = |prefix: &str, page: &IndexPage| {
            let bytes = to_canonical(page);
            assert!(tree != "id" || bytes.len() <= 16 * 1024, "{} bytes", bytes.len());
            store.0.insert(
                format!("index/{tree}/{}.json", if prefix.is_empty() { "root" } else { prefix }),
                bytes,
            );
        };
        let mut splits: BTreeMap<String, String> = BTreeMap::new();
        for (prefix, builds) in shards {
            for length in 0..3 {
                let split = splits.entry(prefix[..length].to_owned()).or_default();
                if !split.ends_with(&prefix[length..=length]) {
                    split.push_str(&prefix[length..=length]);
                }
            }
            let schema = schema::INDEX.to_owned();
            put(&prefix, &IndexPage { builds: Some(builds), pages: None, schema, split: None });
        }
        for (prefix, split) in splits {
            let schema = schema::INDEX.to_owned();
            put(&prefix, &IndexPage { builds: None, pages: None, schema, split: Some(split) });
        }
    }
    CountingStore::new(store)
}

#[test]
fn a_catalogue_of_a_hundred_thousand_builds_costs_no_more() {
    let service = Service::new(catalogue(), Config::default());
    for (query, total) in
        [("lib777.so.3111", 1), ("lib777.so", 4), ("lib777", 4), (&build(5).build_id.to_string(), 1)]
    {
        let answer = ask(&service, "archive_lookup", &json!({"query": query, "match": "exact"})).unwrap();
        assert_eq!(answer.envelope.total, Some(total), "{query}");
    }
    let mut arguments = json!({});
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..12 {
        let answer = ask(&service, "archive_lookup", &arguments).unwrap();
        assert_eq!(answer.envelope.total, Some(u64::from(MANY)));
        for line in answer.listing.lines().skip(1) {
            *seen.entry(line.split_whitespace().nth(1).unwrap().to_owned()).or_default() += 1;
        }
        assert_eq!(answer.envelope.to, Some(seen.len() as u64 - 1));
        arguments["cursor"] = json!(answer.envelope.next_cursor.unwrap());
    }
    assert!(seen.len() > 500 && seen.values().all(|count| *count == 1), "{}", seen.len());
    // A part of a name has to be looked for page by page: what was looked at is said, and nothing is claimed.
    let answer = ask(&service, "archive_lookup", &json!({"query": "no such"})).unwrap();
    assert_eq!((answer.envelope.total, answer.envelope.scanned.is_some()), (None, true));
    assert!(answer.envelope.next_cursor.is_some() && answer.listing.contains("so far"));
    for (name, arguments) in [
        ("archive_lookup", json!({"build_id": "lib777.so"})),
        ("archive_lookup", json!({"build_id": "aabbccdd"})),
        ("archive_function", json!({"build_id": "nothing", "function": "main"})),
    ] {
        assert!(["E_AMBIGUOUS", "E_NOT_FOUND"].contains(&ask(&service, name, &arguments).unwrap_err().code));
    }
}
