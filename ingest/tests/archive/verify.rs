//! That `verify` finds whatever is changed.

use std::{collections::BTreeMap, fs};

use elfscope_ingest::archive::{Archive, Scope};

use crate::common::{Random, Recipe, archive, tree, verified};

fn filled() -> (tempfile::TempDir, Archive, BTreeMap<String, Vec<u8>>) {
    let (guard, archive) = archive();
    for number in 0..100 {
        Recipe::new(number).add(&archive).unwrap();
    }
    Recipe { functions: 300, ..Recipe::new(3).with_dwarf() }.with_some_sources().add(&archive).unwrap();
    archive.remove(&Recipe::new(4).build, None, "to have a tombstone").unwrap();
    assert_eq!(verified(&archive).findings, []);
    let tree = tree(archive.root());
    (guard, archive, tree)
}

/// What kind of file: its name, or its folder in the catalogue.
fn kind(path: &str) -> &str {
    match path.strip_prefix("index/") {
        Some(rest) => rest.split('/').next().unwrap(),
        None if path.starts_with("src/") => "src",
        None => path.rsplit('/').next().unwrap(),
    }
}

#[test]
fn a_flipped_bit_is_found_wherever_it_is() {
    let (_guard, archive, tree) = filled();
    let mut kinds: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for (path, bytes) in &tree {
        if !bytes.is_empty() {
            kinds.entry(kind(path)).or_default().push(path);
        }
    }
    assert_eq!(kinds.len(), 18, "{:?}", kinds.keys());
    let mut random = Random(200);
    for (number, (kind, paths)) in kinds.iter().cycle().take(252).enumerate() {
        let path = paths[random.below(paths.len() as u64) as usize];
        let mut bytes = tree[path].clone();
        let (at, bit) = (random.below(bytes.len() as u64) as usize, random.below(8));
        bytes[at] ^= 1 << bit;
        fs::write(archive.root().join(path), &bytes).unwrap();
        let verified = verified(&archive);
        assert!(!verified.is_good(), "{number}: bit {bit} of byte {at} of {path} ({kind})");
        // A digest in `packs.json` and a pack can't tell which of them is wrong.
        let is_there = |found: &str| found == path || (*kind == "packs.json" && found.ends_with(".gz"));
        assert!(
            verified.findings.iter().any(|finding| is_there(&finding.path)),
            "{path}: {:?}",
            verified.findings
        );
        fs::write(archive.root().join(path), &tree[path]).unwrap();
    }
    assert_eq!(verified(&archive).findings, []);
}

#[test]
fn files_that_are_cut_longer_missing_or_too_much_are_found() {
    let (_guard, archive, tree) = filled();
    let mut seen = std::collections::BTreeSet::new();
    for (path, bytes) in &tree {
        if !seen.insert(kind(path)) {
            continue;
        }
        let at = archive.root().join(path);
        let mut longer = bytes.clone();
        longer.push(b'\n');
        for changed in [None, Some(&bytes[..bytes.len().saturating_sub(1)]), Some(&longer[..])] {
            match changed {
                Some(changed) if changed == bytes => continue,
                Some(changed) => fs::write(&at, changed).unwrap(),
                None => fs::remove_file(&at).unwrap(),
            }
            let found = verified(&archive);
            let is_seen = found.findings.iter().any(|finding| finding.path == *path);
            // A build without a pointer is what a writer that died leaves, but the catalogue still has it.
            let is_pointer = path.ends_with("current.json") && changed.is_none();
            assert!(!found.is_good() && (is_seen || is_pointer), "{path}: {:?}", found.findings);
            fs::write(&at, bytes).unwrap();
        }
    }
    let build = Recipe::new(3).build;
    let edition = archive.current(&build).unwrap().unwrap().edition().unwrap().edition.clone();
    for path in [
        "thesis.txt".into(),
        "index/x.json".into(),
        "src/x.c".into(),
        format!("{build}/x"),
        format!("{build}/{edition}/x"),
    ] {
        fs::write(archive.root().join(&path), "").unwrap();
        let found = verified(&archive);
        assert!(!found.is_good() && found.findings[0].path == path, "{:?}", found.findings);
        fs::remove_file(archive.root().join(&path)).unwrap();
    }
    assert_eq!(verified(&archive).findings, []);
}

#[test]
fn one_build_or_edition_is_verified_alone() {
    let (_guard, archive, tree) = filled();
    let build = Recipe::new(3).build;
    let current = archive.current(&build).unwrap().unwrap();
    let edition = &current.edition().unwrap().edition;
    let quiet = |_, _| {};
    let one = archive.verify(Scope::Build(&build), 9, &quiet).unwrap();
    assert_eq!((one.editions, &one.findings[..]), (2, &[][..]));
    let path = format!("{build}/{}/lookup.json", current.editions[1].edition);
    fs::write(archive.root().join(&path), b"{}\n").unwrap();
    assert!(!archive.verify(Scope::Build(&build), 9, &quiet).unwrap().is_good());
    let seen = std::sync::Mutex::new((0, 0));
    let one =
        archive.verify(Scope::Edition(&build, edition), 9, &|done, all| *seen.lock().unwrap() = (done, all));
    let one = one.unwrap();
    assert_eq!((one.editions, &one.findings[..]), (1, &[][..]));
    assert!(seen.into_inner().unwrap().0 > 1000);
    fs::write(archive.root().join(&path), &tree[&path]).unwrap();

    // A source that it cites is its own, one that it doesn't is not.
    let of = |number: u64| {
        let path = tree.keys().find(|path| path.starts_with("src/") && tree[*path].ends_with(b"int own;\n"));
        let (mine, other) = (path.unwrap().clone(), format!("src/{}", "0".repeat(64)));
        if number == 3 { mine } else { other }
    };
    for (path, good) in [(of(3), false), (of(4), true)] {
        fs::write(archive.root().join(&path), b"changed\n").unwrap();
        let one = archive.verify(Scope::Edition(&build, edition), 9, &quiet).unwrap();
        assert_eq!(
            (one.is_good(), archive.verify(Scope::Build(&build), 9, &quiet).unwrap().is_good()),
            (good, good)
        );
        assert!(!verified(&archive).is_good());
        match tree.get(&path) {
            Some(bytes) => fs::write(archive.root().join(&path), bytes).unwrap(),
            None => fs::remove_file(archive.root().join(&path)).unwrap(),
        }
    }

    // It stops at the bound.
    for name in ["meta.json", "lookup.json", "packs.json", "fn.jsonl.gz"] {
        fs::write(archive.root().join(format!("{build}/{edition}/{name}")), "").unwrap();
    }
    let stopped = archive.verify(Scope::All, 2, &quiet).unwrap();
    assert!(stopped.stopped && stopped.findings.len() == 2);
}
