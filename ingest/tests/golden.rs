//! Golden editions: the bytes of some editions, pinned: of fixtures, and of `examples/hello` with its source. What changes one is a new derivation version, or a fault.
//!
//! The documents stand there inflated, so that a difference can be read; `manifest.json` and `packs.json` pin the rest, stored
//! bytes included.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::{collections::BTreeMap, fs, io::Read as _, path::Path};

use elfscope_schema::DERIVATION;
use flate2::read::MultiGzDecoder;
use support::{add_alone, add_with_sources, repository};

const UPDATE: &str = "ELFSCOPE_UPDATE_GOLDENS=1 cargo test -p elfscope-ingest --test golden";

#[test]
fn editions_of_fixtures_are_byte_for_byte_what_they_were() {
    #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
    let update = std::env::var_os("ELFSCOPE_UPDATE_GOLDENS").is_some();
    let mut differences = Vec::new();
    let bin = repository("fixtures/bin");
    let alone = ["edges-x86_64.so", "relocatable-aarch64.o", "other-s390x.so"];
    let mut editions: Vec<_> = alone.map(|file| (file, add_alone(&bin.join(file)))).into();
    let hello = repository("examples/hello");
    editions.push(("hello", add_with_sources(&hello.join("hello"), &[hello])));
    for (file, (folder, added)) in editions {
        let edition = folder.path().join(added.build_id.as_str()).join(added.edition.as_str());
        let told = inflated(&edition);
        let golden = repository("fixtures/golden").join(format!("{file}.{DERIVATION}"));
        if update {
            let _ = fs::remove_dir_all(&golden);
            fs::create_dir_all(&golden).unwrap();
            for (name, bytes) in &told {
                fs::write(golden.join(name), bytes).unwrap();
            }
        }
        let expected = fs::read_dir(&golden).map(|_| inflated(&golden)).unwrap_or_default();
        for name in told.keys().chain(expected.keys().filter(|name| !told.contains_key(*name))) {
            if let Some(difference) = first_difference(told.get(name), expected.get(name)) {
                differences.push(format!("{file} {name}: {difference}"));
            }
        }
    }
    assert!(
        differences.is_empty(),
        "{}\n\nWhere this is meant, raise `DERIVATION` (its table says what changed) and run\n    {UPDATE}",
        differences.join("\n")
    );
}

/// The files of an edition, packs inflated. Offsets (`.idx`) follow from the packs.
fn inflated(edition: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(edition).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let bytes = fs::read(entry.path()).unwrap();
        if let Some(pack) = name.strip_suffix(".gz") {
            let mut text = Vec::new();
            MultiGzDecoder::new(&bytes[..]).read_to_end(&mut text).unwrap();
            files.insert(pack.to_owned(), text);
        } else if !name.ends_with(".idx") {
            files.insert(name, bytes);
        }
    }
    files
}

fn first_difference(told: Option<&Vec<u8>>, expected: Option<&Vec<u8>>) -> Option<String> {
    let (told, expected) = match (told, expected) {
        (Some(told), Some(expected)) if told == expected => return None,
        (Some(told), Some(expected)) => (told, expected),
        (Some(_), None) => return Some("is new".to_owned()),
        _ => return Some("is not written any more".to_owned()),
    };
    let at = told.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(told.len().min(expected.len()));
    let around = |bytes: &[u8]| {
        let from = at.saturating_sub(60);
        String::from_utf8_lossy(&bytes[from..bytes.len().min(at + 60)]).into_owned()
    };
    Some(format!("byte {at}\n    told     …{}…\n    expected …{}…", around(told), around(expected)))
}
