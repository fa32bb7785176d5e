//! Published sources: shared, kept, collected, verified by two programs, exported.

use std::{fs, path::Path, process::Command, sync::Barrier};

use elfscope_ingest::archive::{Archive, ErrorClass, Outcome, Scope};
use elfscope_schema::{Name, Sha256Digest};
use serde_json::{Value, json};

use crate::common::{Random, Recipe, SHARED, archive, child, child_args, stored, tree, verified};

/// How many sources an archive has.
fn count(archive: &Archive) -> usize {
    fs::read_dir(archive.root().join("src")).map_or(0, Iterator::count)
}

#[test]
fn editions_share_the_sources_that_they_cite() {
    let (_guard, archive) = archive();
    let (one, two) = (Recipe::new(1).with_some_sources(), Recipe::new(2).with_some_sources());
    one.add(&archive).unwrap();
    assert_eq!(fs::read(stored(&archive, SHARED)).unwrap(), SHARED);
    assert_eq!(count(&archive), 2);
    let kept = fs::metadata(stored(&archive, SHARED)).unwrap().modified().unwrap();
    two.add(&archive).unwrap();
    one.clone().with_dwarf().add(&archive).unwrap();
    assert_eq!(count(&archive), 3);
    assert_eq!(fs::metadata(stored(&archive, SHARED)).unwrap().modified().unwrap(), kept);
    assert_eq!(verified(&archive).findings, []);
    let before = tree(archive.root());
    assert_eq!(one.add(&archive).unwrap().outcome, Outcome::AlreadyThere);
    assert_eq!(tree(archive.root()), before);

    // From many threads, the same one too, and one that is empty.
    let stage = archive.stage().unwrap();
    let barrier = Barrier::new(8);
    std::thread::scope(|scope| {
        for thread in 0..8u8 {
            let (stage, barrier) = (&stage, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for number in 0..50u8 {
                    let bytes = [number; 100];
                    assert_eq!(stage.source(&bytes).unwrap(), Sha256Digest::of(&bytes));
                }
                stage.source(&[thread]).unwrap();
                stage.source(b"").unwrap();
            });
        }
    });
    let three = Recipe::new(3);
    three.write(&stage).unwrap();
    stage.publish(&three.build, &three.given, three.facts.clone()).unwrap();
    assert_eq!(count(&archive), 3 + 50 + 8 + 1);
    assert_eq!(verified(&archive).findings, []);
    assert_eq!(archive.gc().unwrap().sources, 59);
    assert_eq!(tree(archive.root().join("src").as_path()).len(), 3);
}

#[test]
fn a_source_stays_as_long_as_an_edition_cites_it() {
    let (_guard, archive) = archive();
    let recipes = [1, 2, 3].map(|number| Recipe::new(number).with_some_sources());
    for recipe in &recipes {
        recipe.add(&archive).unwrap();
    }
    let plain = Recipe::new(1).add(&archive).unwrap();
    let before = tree(archive.root());
    assert_eq!(archive.gc().unwrap().sources, 0);
    assert_eq!(tree(archive.root()), before);
    // Removing deletes none, collecting those that nobody else cites.
    archive.remove(&recipes[0].build, plain.current.as_ref(), "of no use").unwrap();
    assert_eq!(count(&archive), 4);
    assert_eq!(verified(&archive).findings, []);
    let collected = archive.gc().unwrap();
    let own = format!("{}\nint own;\n", recipes[0].build);
    assert_eq!((collected.sources, collected.source_bytes), (1, own.len() as u64));
    assert!(!stored(&archive, own.as_bytes()).exists());
    assert_eq!(verified(&archive).findings, []);

    // While it is not known what an edition cites, none is deleted; nor is what is no source.
    archive.remove(&recipes[1].build, None, "of no use").unwrap();
    let foreign = archive.root().join("src/notes.txt");
    fs::write(&foreign, "mine").unwrap();
    let build = archive.root().join(recipes[2].build.as_str());
    let edition = archive.current(&recipes[2].build).unwrap().unwrap().editions[0].edition.clone();
    let folder = build.join(edition.as_str());
    for (name, bytes) in [
        ("sources.jsonl.gz", Some(&b"x"[..])),
        ("sources.jsonl.gz", None),
        ("sources.idx", None),
        ("manifest.json", None),
        ("manifest.json", Some(b"{}\n")),
    ] {
        let whole = fs::read(folder.join(name)).unwrap();
        match bytes {
            Some(bytes) => fs::write(folder.join(name), bytes).unwrap(),
            None => fs::remove_file(folder.join(name)).unwrap(),
        }
        let collected = archive.gc().unwrap();
        assert_eq!(collected.sources, 0, "{name}");
        assert!(
            collected.unread[0].starts_with(&format!("{}/{edition}/", recipes[2].build)),
            "{collected:?}"
        );
        fs::write(folder.join(name), whole).unwrap();
    }
    // A damaged pointer hides no edition.
    let pointer = fs::read(build.join("current.json")).unwrap();
    fs::write(build.join("current.json"), "{}").unwrap();
    let collected = archive.gc().unwrap();
    assert_eq!((collected.sources, collected.left_out.len()), (1, 1));
    fs::write(build.join("current.json"), pointer).unwrap();
    archive.gc().unwrap();
    assert_eq!(fs::read(&foreign).unwrap(), b"mine");
    fs::remove_file(foreign).unwrap();
    assert_eq!(count(&archive), 2);
    assert_eq!(verified(&archive).findings, []);
}

#[test]
fn what_a_stage_relies_on_may_be_collected_meanwhile() {
    let (_guard, archive) = archive();
    let (one, two) = (Recipe::new(1).with_some_sources(), Recipe::new(2).with_some_sources());
    one.add(&archive).unwrap();
    let stage = archive.stage().unwrap();
    two.write(&stage).unwrap();
    archive.remove(&one.build, None, "of no use").unwrap();
    assert_eq!(archive.gc().unwrap().sources, 2);
    assert_eq!(count(&archive), 0);
    stage.publish(&two.build, &two.given, two.facts.clone()).unwrap();
    assert_eq!(fs::read(stored(&archive, SHARED)).unwrap(), SHARED);
    assert_eq!(count(&archive), 2);
    assert_eq!(verified(&archive).findings, []);

    // One that was lost or cut short comes back with the next edition that cites it.
    for cut in [None, Some(&SHARED[..3])] {
        fs::remove_file(stored(&archive, SHARED)).unwrap();
        if let Some(cut) = cut {
            fs::write(stored(&archive, SHARED), cut).unwrap();
        }
        assert!(!verified(&archive).is_good());
        archive.remove(&one.build, None, "to add it again").ok();
        one.add(&archive).unwrap();
        assert_eq!(verified(&archive).findings, []);
    }
}

#[test]
fn what_cannot_be_published_leaves_no_source() {
    let (_guard, archive) = archive();
    let one = Recipe::new(1).with_some_sources();
    one.add(&archive).unwrap();
    // The pointer has no room, or its folder can't be made.
    let two = Recipe::new(2).with_some_sources();
    fs::write(archive.root().join(two.build.as_str()), "a file").unwrap();
    assert_eq!(two.add(&archive).unwrap_err().class(), ErrorClass::Storage);
    assert_eq!(count(&archive), 2);
    fs::remove_file(archive.root().join(two.build.as_str())).unwrap();
    two.add(&archive).unwrap();
    assert_eq!(count(&archive), 3);
}

/// Adds and removes editions that share sources, and collects in between.
fn churn(archive: &Archive, seed: u64) {
    let mut random = Random(seed);
    for _ in 0..60 {
        let recipe = Recipe::new(random.below(6)).with_some_sources();
        match random.below(4) {
            0 | 1 => drop(recipe.add(archive).unwrap()),
            2 => drop(archive.remove(&recipe.build, None, "again and again")),
            _ => assert_eq!(archive.gc().unwrap().unread, [""; 0]),
        }
    }
}

#[test]
fn two_processes_that_collect_lose_no_source() {
    let guard = tempfile::tempdir().unwrap();
    let root = guard.path().join("archive");
    let archive = Archive::create(&root).unwrap();
    let mut other = child("sources::second_process", &[root.to_str().unwrap()]);
    std::thread::scope(|scope| {
        let churning = [1, 2, 3].map(|seed| {
            scope.spawn({
                let archive = &archive;
                move || churn(archive, seed)
            })
        });
        while churning.iter().any(|churning| !churning.is_finished()) {
            assert_eq!(verified(&archive).findings, []);
        }
    });
    assert!(other.wait().unwrap().success());
    assert_eq!(verified(&archive).findings, []);
    for number in 0..6 {
        archive.remove(&Recipe::new(number).build, None, "all of it").ok();
    }
    archive.gc().unwrap();
    assert_eq!(count(&archive), 0);
}

/// The other process of `two_processes_that_collect_lose_no_source`.
#[test]
fn second_process() {
    let Some(args) = child_args() else { return };
    churn(&Archive::open(&args[0]).unwrap(), 99);
}

/// What `docs/verify_archive.py` says; none where there is no Python.
fn second_opinion(archive: &Archive) -> Option<(bool, String)> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("docs/verify_archive.py");
    let output = Command::new("python3").arg(script).arg(archive.root()).output().ok()?;
    Some((output.status.success(), String::from_utf8(output.stdout).unwrap()))
}

/// That both programs find something, and that what they say names `path`.
fn both_find(archive: &Archive, path: &str, why: &str) {
    let found = verified(archive);
    assert!(!found.is_good(), "{why}");
    assert!(found.findings.iter().any(|finding| finding.path.contains(path)), "{why}: {:?}", found.findings);
    if let Some((good, said)) = second_opinion(archive) {
        assert!(!good && said.contains(path), "{why}: {said}");
    }
}

#[test]
fn both_programs_find_a_source_that_is_not_as_it_was() {
    let (_guard, archive) = archive();
    for number in 0..3 {
        Recipe::new(number).with_some_sources().add(&archive).unwrap();
    }
    let long = "x".repeat(10) + &"\n".repeat(5000) + "end";
    let sources = vec![("long.c".into(), Some(long.into_bytes())), ("empty.c".into(), Some(Vec::new()))];
    Recipe::new(4).with_sources(sources).add(&archive).unwrap();
    assert_eq!(verified(&archive).findings, []);
    if let Some((good, said)) = second_opinion(&archive) {
        assert!(good && said.contains(" 6 sources"), "{said}");
    }
    let mut random = Random(5);
    for (name, bytes) in tree(&archive.root().join("src")) {
        let path = archive.root().join("src").join(&name);
        if !bytes.is_empty() {
            let mut changed = bytes.clone();
            changed[random.below(bytes.len() as u64) as usize] ^= 1 << random.below(8);
            fs::write(&path, changed).unwrap();
            both_find(&archive, &name, "a flipped bit");
        }
        fs::write(&path, [&bytes[..], b"x"].concat()).unwrap();
        both_find(&archive, &name, "a byte more");
        fs::remove_file(&path).unwrap();
        both_find(&archive, &name, "no file");
        fs::create_dir(&path).unwrap();
        both_find(&archive, &name, "a folder");
        fs::remove_dir(&path).unwrap();
        #[cfg(unix)]
        {
            let elsewhere = archive.root().join(".tmp/elsewhere");
            fs::write(&elsewhere, &bytes).unwrap();
            std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
            both_find(&archive, &name, "a link");
            fs::remove_file(&path).unwrap();
        }
        fs::write(&path, bytes).unwrap();
    }
    // Damaged once, said once, however many editions cite it.
    fs::write(stored(&archive, SHARED), b"other").unwrap();
    assert_eq!(verified(&archive).findings.len(), 1);
    fs::write(stored(&archive, SHARED), SHARED).unwrap();
    for name in ["notes.txt", "ABCD", &"A".repeat(64), &"0".repeat(63), &"0".repeat(64)] {
        fs::write(archive.root().join("src").join(name), "foreign").unwrap();
        both_find(&archive, name, "a foreign file");
        fs::remove_file(archive.root().join("src").join(name)).unwrap();
    }
    // Nobody cites it, and it is what it says: left by a writer that died, or of an edition that was removed.
    fs::write(stored(&archive, b"unused"), b"unused").unwrap();
    assert_eq!(verified(&archive).findings, []);
}

#[test]
fn both_programs_find_pages_that_disagree() {
    let twists: [(&str, Twist); 17] = [
        ("sources.jsonl.gz", |kind, page| twist(kind, "sources", page, "/sources/0/lines/total", json!(3))),
        ("sources.jsonl.gz", |kind, page| twist(kind, "sources", page, "/sources/0/lines/bytes", json!(3))),
        ("sources.jsonl.gz", |kind, page| twist(kind, "sources", page, "/sources/0/lines/step", json!(2))),
        ("sources.jsonl.gz", |kind, page| twist(kind, "sources", page, "/sources/0/lines/marks", json!([0]))),
        ("sources.jsonl.gz", |kind, page| twist(kind, "sources", page, "/sources/0/lines/marks/1", json!(9))),
        ("sources.jsonl.gz", |kind, page| {
            twist(kind, "sources", page, "/sources/0/level", json!("mismatched"));
        }),
        ("sources.jsonl.gz", |kind, page| {
            twist(kind, "sources", page, "/sources/1/level", json!("path-matched"));
        }),
        ("sources.jsonl.gz", |kind, page| twist(kind, "sources", page, "/sources/1/path", json!("/a.c"))),
        ("src/0000", |kind, page| {
            twist(kind, "sources", page, "/sources/0/sha256", json!("0".repeat(64)));
        }),
        ("fn.jsonl.gz", |kind, page| twist(kind, "sources", page, "/sources/0/level", json!("md5-verified"))),
        ("fn.jsonl.gz", |kind, page| twist(kind, "fn", page, "/files/0/names", json!([3, 3]))),
        ("fn.jsonl.gz", |kind, page| twist(kind, "fn", page, "/files/0/tree", json!(1))),
        ("fn.jsonl.gz", |kind, page| twist(kind, "fn", page, "/files/1/path", json!("/other.h"))),
        ("fn.jsonl.gz", |kind, page| twist(kind, "fn", page, "/frames/1/parent", json!(1))),
        ("fn.jsonl.gz", |kind, page| twist(kind, "fn", page, "/frames/1/call_file", json!(3))),
        ("fn.jsonl.gz", |kind, page| twist(kind, "fn", page, "/runs/0/at/file", json!(3))),
        ("fn.jsonl.gz", |kind, page| twist(kind, "fn", page, "/runs/0/at/frame", json!(2))),
    ];
    for (number, (path, twist)) in twists.into_iter().enumerate() {
        let (_guard, archive) = archive();
        let recipe = Recipe { twist: Some(twist), ..Recipe::new(1).with_some_sources() };
        recipe.add(&archive).unwrap();
        both_find(&archive, path, &format!("twist {number}"));
        assert!(!archive.verify(Scope::Build(&recipe.build), 9, &|_, _| {}).unwrap().is_good());
    }
    // What functions cite must be in pages that there are.
    let (_guard, archive) = archive();
    let unpublished = vec![("a.c".into(), None), ("b.c".into(), None)];
    Recipe::new(1).with_sources(unpublished).add(&archive).unwrap();
    assert_eq!(verified(&archive).findings, []);
}

/// A change of one kind of document.
type Twist = fn(&str, &mut Value);

fn twist(kind: &str, wanted: &str, page: &mut Value, at: &str, to: Value) {
    if kind == wanted
        && let Some(place) = page.pointer_mut(at)
    {
        *place = to;
    }
}

#[test]
fn no_path_leads_out_of_the_exported_folder() {
    let (guard, archive) = archive();
    let text = |path: &str| (Name::from(path), Some(format!("the source {path:?}\n").into_bytes()));
    let hostile = [
        "../out.c",
        "../../out.c",
        "/../out.c",
        "/..",
        "a/../../../../out.c",
        "..",
        ".",
        "a/./b.c",
        "/",
        "",
        "a\0b.c",
        "a\nb.c",
        "\u{1b}[2J.c",
        "folder/",
        &"x".repeat(256),
        &"deep/".repeat(800),
        // A file and a folder of the same path; two that are one to a file system.
        "file.c/inside.c",
        "/usr//twice.c",
    ];
    let good =
        ["/usr/include/a.h", "sysdeps/a.c", "file.c", "/usr/twice.c", "..a/b..", "C:\\a.c", " ", "ü…/~"];
    let mut sources: Vec<_> = hostile.iter().chain(&good).map(|path| text(path)).collect();
    sources.push((Name::from_bytes(b"lossy\xff.c"), Some(b"lossy".to_vec())));
    sources.push((Name::from_bytes(&[b'y'; 5000]), Some(b"long".to_vec())));
    sources.push(("missing.c".into(), None));
    let recipe = Recipe::new(1).with_sources(sources);
    recipe.add(&archive).unwrap();
    assert_eq!(verified(&archive).findings, []);
    if let Some((good, said)) = second_opinion(&archive) {
        assert!(good, "{said}");
    }

    let outside = guard.path().join("outside");
    let to = outside.join("loose");
    let exported = archive.export_loose(&to, &|_, _| {}).unwrap();
    assert_eq!((exported.sources, exported.left_out), (good.len() as u64, hostile.len() as u64 + 2));
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    let loose = tree(&to);
    assert_eq!(exported.files, loose.len() as u64);
    assert_eq!(exported.bytes, loose.values().map(|bytes| bytes.len() as u64).sum::<u64>());
    let build = &recipe.build;
    let laid = loose.iter().filter(|(path, _)| path.starts_with(&format!("{build}/src/")));
    for (path, bytes) in laid {
        let path = path.strip_prefix(&format!("{build}/src/")).unwrap();
        let path = path.strip_prefix("rel/").unwrap_or_else(|| path.strip_prefix("abs").unwrap());
        assert!(good.contains(&path), "{path}");
        assert!(
            [path.to_owned(), path.replacen("/usr/", "/usr//", 1)]
                .iter()
                .any(|path| *bytes == text(path).1.unwrap())
        );
    }
    // A damaged source is no export.
    fs::write(stored(&archive, &text("sysdeps/a.c").1.unwrap()), "changed").unwrap();
    let error = archive.export_loose(&guard.path().join("again"), &|_, _| {}).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Differs, "{error}");
}
