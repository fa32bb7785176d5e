//! What becomes of an edition that is added once, twice, with more, with less, in another order.

use elfscope_ingest::archive::{Archive, ArchiveError, ErrorClass, Outcome};
use elfscope_schema::Sha256Digest;

use crate::common::{Random, Recipe, archive, tree};

#[test]
fn adding_twice_does_nothing() {
    let (_guard, archive) = archive();
    let recipe = Recipe::new(1);
    let inputs = recipe.given.digest();
    assert_eq!(archive.find_inputs(&recipe.build, inputs).unwrap(), None);
    let first = recipe.add(&archive).unwrap();
    assert_eq!(first.outcome, Outcome::Added);
    assert_eq!(first.current.as_ref(), Some(&first.edition));
    let before = tree(archive.root());
    assert_eq!(archive.find_inputs(&recipe.build, inputs).unwrap(), Some(first.edition.clone()));
    // Also where another name of the file makes another `meta.json`.
    for meta in [0, 1] {
        let again = Recipe { meta, ..recipe.clone() }.add(&archive).unwrap();
        assert_eq!((again.outcome, again.edition), (Outcome::AlreadyThere, first.edition.clone()));
    }
    assert_eq!(tree(archive.root()), before);
    assert_eq!(archive.find_inputs(&recipe.build, Sha256Digest::of(b"other")).unwrap(), None);
    assert_eq!(leftovers(&archive), ["lock"]);
}

#[test]
fn the_better_edition_is_current_whatever_came_first() {
    let plain = Recipe::new(1);
    let better = plain.clone().with_dwarf();
    let mut trees = Vec::new();
    for order in [[&plain, &better], [&better, &plain]] {
        let (_guard, archive) = archive();
        for recipe in order {
            recipe.add(&archive).unwrap();
        }
        let current = archive.current(&plain.build).unwrap().unwrap();
        assert_eq!(current.editions.len(), 2);
        assert!(current.edition().unwrap().has_dwarf);
        trees.push(tree(archive.root()));
    }
    assert_eq!(trees[0], trees[1]);
}

#[test]
fn another_derivation_with_the_same_content_is_no_edition() {
    let (_guard, archive) = archive();
    let old = Recipe::new(1);
    let first = old.add(&archive).unwrap().edition;
    let mut new = Recipe { meta: 1, ..old.clone() };
    new.given.derivation += 1;
    let done = new.add(&archive).unwrap();
    assert_eq!((done.outcome, &done.edition), (Outcome::SameContent, &first));
    assert_eq!(archive.find_inputs(&new.build, new.given.digest()).unwrap().as_ref(), Some(&first));
    assert_eq!(new.add(&archive).unwrap().outcome, Outcome::AlreadyThere);
    // Other content, or another difference in the inputs, makes one.
    let other = Recipe { salt: 9, ..new.clone() };
    let mut mapped = Recipe { meta: 2, ..new.clone() };
    mapped.given.maps.push(("/build".to_owned(), "src".to_owned()));
    assert_eq!(mapped.add(&archive).unwrap().outcome, Outcome::Added);
    let mut newest = other;
    newest.given.derivation += 1;
    assert_eq!(newest.add(&archive).unwrap().outcome, Outcome::Added);
    let current = archive.current(&old.build).unwrap().unwrap();
    assert_eq!(current.editions.len(), 3);
    assert_eq!(current.editions.iter().find(|edition| edition.edition == first).unwrap().also.len(), 1);
}

#[test]
fn another_file_of_the_same_id_is_kept_and_not_current() {
    let (_guard, archive) = archive();
    let first = Recipe::new(1);
    let mut second = Recipe { build: first.build.clone(), ..Recipe::new(2) }.with_dwarf();
    second.salt = 5;
    let added = first.add(&archive).unwrap();
    let other = second.add(&archive).unwrap();
    assert_eq!(other.outcome, Outcome::Added);
    assert_eq!(other.other_file, Some(first.facts.file));
    assert_eq!(other.current, Some(added.edition));
}

#[test]
fn the_order_of_adding_changes_no_byte() {
    let recipes: Vec<Recipe> = (0..120).map(Recipe::new).collect();
    let mut random = Random(7);
    let mut expected = None;
    for _ in 0..3 {
        let mut order: Vec<&Recipe> = recipes.iter().collect();
        order.sort_by_cached_key(|_| random.next());
        let (_guard, archive) = archive();
        for recipe in order {
            recipe.add(&archive).unwrap();
        }
        let tree = tree(archive.root());
        assert!(tree.keys().any(|path| path.starts_with("index/name/")), "too few for pages");
        assert_eq!(*expected.get_or_insert_with(|| tree.clone()), tree);
    }
}

#[test]
fn a_pointer_that_would_grow_too_large_is_refused() {
    let (_guard, archive) = archive();
    let mut editions = 0;
    let error = loop {
        let mut recipe = Recipe::new(1);
        recipe.given.derivation += editions;
        recipe.salt = u64::from(editions);
        match recipe.add(&archive) {
            Ok(_) => editions += 1,
            Err(error) => break error,
        }
    };
    assert!(editions > 10, "{editions} only");
    assert!(matches!(error, ArchiveError::Full { .. }), "{error}");
    assert_eq!(error.class(), ErrorClass::Storage);
    let build = Recipe::new(1).build;
    assert_eq!(archive.current(&build).unwrap().unwrap().editions.len(), editions as usize);
    assert_eq!(std::fs::read_dir(archive.build_path(&build)).unwrap().count(), editions as usize + 1);
}

#[test]
fn what_cannot_be_published_is_refused() {
    let (guard, archive) = archive();
    let recipe = Recipe::new(1);
    let stage = archive.stage().unwrap();
    let open = stage.pack("fn.jsonl.gz").unwrap();
    for name in ["fn.jsonl.gz", "../x.jsonl.gz", "fn", ""] {
        assert_eq!(stage.pack(name).unwrap_err().class(), ErrorClass::Usage);
    }
    for name in ["manifest.json", "packs.json", ".meta", "a/b"] {
        assert_eq!(stage.document(name, &1).unwrap_err().class(), ErrorClass::Usage);
    }
    assert!(stage.publish(&recipe.build, &recipe.given, recipe.facts.clone()).is_err());
    drop(open);
    assert!(archive.builds().unwrap().is_empty());
    assert_eq!(leftovers(&archive), ["lock"]);

    let elsewhere = guard.path().join("elsewhere");
    assert_eq!(Archive::open(&elsewhere).unwrap_err().class(), ErrorClass::Usage);
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("thesis.txt"), "").unwrap();
    assert!(matches!(Archive::create(&elsewhere).unwrap_err(), ArchiveError::NotEmpty { .. }));
    assert!(Archive::create(archive.root()).is_ok());
}

fn leftovers(archive: &Archive) -> Vec<String> {
    let entries = std::fs::read_dir(archive.root().join(".tmp")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "write").collect()
}
