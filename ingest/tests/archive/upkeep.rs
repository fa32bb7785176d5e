//! Removing, promoting, collecting and exporting.

use std::fs;

use elfscope_ingest::archive::{ArchiveError, ErrorClass, Outcome};
use elfscope_schema::limits;

use crate::common::{Recipe, archive, function, tree, verified};

#[test]
fn what_is_removed_leaves_a_tombstone_until_it_is_added_again() {
    let (_guard, archive) = archive();
    let plain = Recipe::new(1);
    let better = plain.clone().with_dwarf();
    Recipe::new(2).add(&archive).unwrap();
    let first = plain.add(&archive).unwrap().edition;
    let before = tree(archive.root());
    let second = better.add(&archive).unwrap().edition;
    for reason in ["", " ", "a\nb", &"x".repeat(limits::REASON + 1)] {
        let error = archive.remove(&plain.build, Some(&second), reason).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Usage);
    }
    let removed = archive.remove(&plain.build, Some(&second), "wrong debug file").unwrap();
    assert_eq!((removed.editions, removed.current), (vec![second.clone()], Some(first.clone())));
    assert!(!archive.edition_path(&plain.build, &second).exists());
    assert_eq!(archive.find_inputs(&plain.build, better.given.digest()).unwrap(), None);
    let again = archive.remove(&plain.build, Some(&second), "twice").unwrap_err();
    assert!(
        matches!(&again, ArchiveError::Removed { reason, .. } if reason == "wrong debug file"),
        "{again}"
    );
    assert_eq!(verified(&archive).findings, []);

    let removed = archive.remove(&plain.build, None, "all of it").unwrap();
    assert_eq!((removed.editions, removed.current), (vec![first], None));
    assert!(matches!(archive.remove(&plain.build, None, "x").unwrap_err(), ArchiveError::Removed { .. }));
    assert!(matches!(
        archive.remove(&Recipe::new(3).build, None, "x").unwrap_err(),
        ArchiveError::NotFound { .. }
    ));
    let index = fs::read_to_string(archive.root().join("index.json")).unwrap();
    assert!(index.contains("\"total\":1") && !index.contains(plain.build.as_str()));
    assert_eq!(archive.gc().unwrap().deleted, []);
    assert_eq!(verified(&archive).findings, []);

    assert_eq!(better.add(&archive).unwrap().outcome, Outcome::Restored);
    assert_eq!(plain.add(&archive).unwrap().outcome, Outcome::Restored);
    archive.remove(&plain.build, Some(&second), "again").unwrap();
    let mut now = tree(archive.root());
    let path = format!("{}/current.json", plain.build);
    assert!(now.remove(&path).is_some());
    assert_eq!(now, before.into_iter().filter(|(other, _)| *other != path).collect());
}

#[test]
fn promoting_says_which_file_a_build_is() {
    let (_guard, archive) = archive();
    let first = Recipe::new(1);
    let second = Recipe { build: first.build.clone(), salt: 3, ..Recipe::new(2) };
    let one = first.add(&archive).unwrap().edition;
    let two = second.add(&archive).unwrap().edition;
    assert_eq!(archive.promote(&first.build, &two).unwrap(), two);
    assert_eq!(archive.current(&first.build).unwrap().unwrap().edition().unwrap().edition, two);
    assert_eq!(archive.promote(&first.build, &one).unwrap(), one);
    let dwarf = first.clone().with_dwarf().add(&archive).unwrap().edition;
    // The best of that file, not the one that was named.
    assert_eq!(archive.promote(&first.build, &one).unwrap(), dwarf);
    assert_eq!(archive.promote(&Recipe::new(7).build, &one).unwrap_err().class(), ErrorClass::Usage);
    assert_eq!(verified(&archive).findings, []);
}

#[test]
fn only_what_nothing_refers_to_is_collected() {
    let (_guard, archive) = archive();
    let recipe = Recipe::new(1);
    let edition = recipe.add(&archive).unwrap().edition;
    let before = tree(archive.root());
    let build = archive.root().join(recipe.build.as_str());
    // An edition that no pointer names, a build without one, a stage of a dead writer, and one of a live writer.
    let copy = |to: &std::path::Path| {
        fs::create_dir_all(to).unwrap();
        fs::write(to.join("fn.jsonl.gz"), [0; 100]).unwrap();
    };
    copy(&build.join("0123456789abcdef0123456789abcdef"));
    copy(&archive.root().join("deadbeef00/0123456789abcdef0123456789abcdef"));
    copy(&archive.root().join(".tmp/1-0/edition"));
    let live = archive.stage().unwrap();
    recipe.write(&live).unwrap();
    let found = verified(&archive);
    assert!(found.is_good() && found.findings.len() == 2, "{:?}", found.findings);
    let collected = archive.gc().unwrap();
    let deleted: Vec<(&str, u64)> = collected.deleted.iter().map(|(path, bytes)| (&**path, *bytes)).collect();
    let unnamed = format!("{}/0123456789abcdef0123456789abcdef", recipe.build);
    let expected = [
        (".tmp/1-0", 100),
        (&unnamed, 100),
        ("deadbeef00/0123456789abcdef0123456789abcdef", 100),
        ("deadbeef00", 0),
    ];
    assert_eq!(deleted, expected);
    assert_eq!(tree(archive.root()), before);
    assert_eq!(live.publish(&recipe.build, &recipe.given, recipe.facts.clone()).unwrap().edition, edition);

    // A catalogue that is gone is made again; a damaged pointer is left alone.
    fs::remove_file(archive.root().join("index.json")).unwrap();
    archive.gc().unwrap();
    assert_eq!(tree(archive.root()), before);
    fs::write(build.join("current.json"), "{}").unwrap();
    assert_eq!(archive.gc().unwrap().left_out, std::slice::from_ref(&recipe.build));
    assert!(build.join(edition.as_str()).exists());
    assert_eq!(recipe.add(&archive).unwrap_err().class(), ErrorClass::Differs);
}

#[test]
fn lost_files_are_brought_back() {
    let (_guard, archive) = archive();
    let recipe = Recipe::new(1);
    let edition = recipe.add(&archive).unwrap().edition;
    let before = tree(archive.root());
    fs::remove_dir_all(archive.edition_path(&recipe.build, &edition)).unwrap();
    assert_eq!(archive.find_inputs(&recipe.build, recipe.given.digest()).unwrap(), None);
    assert_eq!(recipe.add(&archive).unwrap().outcome, Outcome::AlreadyThere);
    assert_eq!(tree(archive.root()), before);
}

#[test]
fn the_loose_tree_has_the_documents_byte_for_byte() {
    let (guard, archive) = archive();
    let recipe = Recipe { functions: 40, ..Recipe::new(1) };
    recipe.add(&archive).unwrap();
    Recipe::new(2).add(&archive).unwrap();
    let to = guard.path().join("loose");
    let exported = archive.export_loose(&to, &|_, _| {}).unwrap();
    let loose = tree(&to);
    assert_eq!((exported.builds, exported.files), (2, loose.len() as u64));
    assert_eq!(exported.bytes, loose.values().map(|bytes| bytes.len() as u64).sum::<u64>());
    let build = &recipe.build;
    assert_eq!(loose[&format!("{build}/fn/1010-7.json")], function(1, 0));
    assert_eq!(loose.keys().filter(|path| path.starts_with(&format!("{build}/fn/"))).count(), 40);
    assert_eq!(loose.keys().filter(|path| path.starts_with(&format!("{build}/callers/"))).count(), 20);
    let stored = tree(archive.root());
    assert_eq!(loose["index.json"], stored["index.json"]);
    let meta =
        stored.iter().find(|(path, _)| path.starts_with(build.as_str()) && path.ends_with("meta.json"));
    assert_eq!(Some(&loose[&format!("{build}/meta.json")]), meta.map(|(_, bytes)| bytes));
    assert_eq!(archive.export_loose(&to, &|_, _| {}).unwrap_err().class(), ErrorClass::Usage);
    let inside = archive.root().join("loose");
    assert_eq!(archive.export_loose(&inside, &|_, _| {}).unwrap_err().class(), ErrorClass::Usage);
}
