//! Packages as inputs: every ELF file in them is added, and what is wrong with one is said in a sentence.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use ::tar::EntryType;
use elfscope_ingest::{AddOptions, Outcome, Report, add, archive::Archive};
use elfscope_schema::{Current, Manifest, Sha256Digest, from_slice};
use support::{
    Edition, add_with_sources,
    elf::only_debug,
    in_memory,
    packing::{Entry, PACKINGS, Pack, ar, deb, file, gzip, link, tar},
    repository,
};

/// A folder to work in and an archive in it.
struct Place {
    folder: tempfile::TempDir,
    archive: Archive,
}

impl Place {
    fn new() -> Self {
        let folder = in_memory();
        let archive = Archive::create(folder.path().join("archive")).unwrap();
        Self { folder, archive }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("archive")
    }

    fn add(&self, inputs: &[PathBuf]) -> Report {
        let report =
            add(&self.archive, &AddOptions { only_given: true, ..AddOptions::new(inputs) }, &()).unwrap();
        // Nothing of the spool stays, whatever happened.
        let mut left: Vec<_> = fs::read_dir(self.root().join(".tmp"))
            .map(|entries| entries.map(|entry| entry.unwrap().file_name()).collect())
            .unwrap_or_default();
        left.retain(|name| name != "lock");
        assert!(left.is_empty(), "{left:?}");
        report
    }

    fn refused(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.write(name, bytes);
        let before = files(self.folder.path());
        let report = self.add(&[path]);
        assert!(report.added.is_empty(), "{name}");
        assert_eq!(files(self.folder.path()), before, "{name}: nothing is written");
        let [(_, error)] = &report.failed[..] else { panic!("{:?}", report.failed) };
        let sentence = error.to_string();
        assert!(sentence.contains(name) && !sentence.contains('\n'), "{sentence}");
        sentence
    }
}

fn files(root: &Path) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in
            fs::read_dir(folder).unwrap().map(Result::unwrap).filter(|entry| entry.file_name() != ".tmp")
        {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                found.insert(entry.path(), entry.metadata().unwrap().len());
            }
        }
    }
    found
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(repository("fixtures/bin").join(name)).unwrap()
}

const PLAIN: (&str, Pack) = PACKINGS[0];

#[test]
fn a_package_gives_what_its_unpacked_files_give() {
    let (hello, edges) = (fixture("changed-hello-x86_64"), fixture("edges-aarch64.so"));
    let entries = || {
        [
            link("./", EntryType::Directory, ""),
            file("./usr/bin/hello", &hello),
            link("./usr/bin/hi", EntryType::Symlink, "hello"),
            link("./usr/bin/again", EntryType::Link, "./usr/bin/hello"),
            file("./usr/lib/edges.so", &edges),
            file("./usr/share/doc/readme", b"text"),
        ]
    };
    let place = Place::new();
    place.write("tree/usr/bin/hello", &hello);
    place.write("tree/usr/lib/edges.so", &edges);
    let plain = place.add(&[place.folder.path().join("tree")]);
    let expected: Vec<_> = plain.added.iter().map(|added| content(&place, added)).collect();
    assert_eq!(expected.len(), 2);
    for packing in PACKINGS {
        let place = Place::new();
        let package = deb("hello", packing, &entries());
        let report = place.add(&[place.write("any-name", &package)]);
        assert!(report.failed.is_empty() && report.notes.is_empty(), "{report:?}");
        assert_eq!(report.skipped_files, 1);
        let got: Vec<_> = report.added.iter().map(|added| content(&place, added)).collect();
        assert_eq!(got, expected, "deb{}", packing.0);
        let shown = report.added[1].input.to_str().unwrap();
        assert!(
            shown.ends_with("any-name: usr/bin/hello") || shown.ends_with(": usr/lib/edges.so"),
            "{shown}"
        );
        for added in &report.added {
            let told = Edition::read(&place.root(), added).meta.package.unwrap();
            assert_eq!((told.name.as_str(), told.version.as_str()), ("hello", "1.2-3"));
            assert_eq!(told.architecture, "amd64");
            assert_eq!(told.sha256, Sha256Digest::of(&package));
            let source = told.source.unwrap();
            assert_eq!((source.name.as_str(), source.version.as_str()), ("hello-src", "1.2"));
            let path = told.path.unwrap();
            assert!(["usr/bin/hello", "usr/lib/edges.so"].contains(&path.text()), "{path:?}");
            let folder = place.root().join(added.build_id.as_str());
            let current: Current = from_slice(&fs::read(folder.join("current.json")).unwrap()).unwrap();
            assert_eq!(current.editions[0].package.as_deref(), Some("hello 1.2-3 amd64"));
        }
        // The same again is there already.
        let again = place.add(&[place.folder.path().join("any-name")]);
        assert!(again.added.iter().all(|added| added.outcome == Outcome::AlreadyThere));

        let place = Place::new();
        let report = place.add(&[place.write("archive.tar", &packing.1(&tar(&entries())))]);
        let got: Vec<_> = report.added.iter().map(|added| content(&place, added)).collect();
        assert_eq!(got, expected, "tar{}", packing.0);
        assert_eq!(Edition::read(&place.root(), &report.added[0]).meta.package, None);
    }
}

fn content(place: &Place, added: &elfscope_ingest::Added) -> (String, Sha256Digest) {
    let folder = place.root().join(added.build_id.as_str()).join(added.edition.as_str());
    let manifest: Manifest = from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    (added.name.clone(), manifest.content)
}

#[test]
fn two_packages_and_a_folder_are_added_at_once_whatever_their_order() {
    let (hello, edges, other) =
        (fixture("changed-hello-x86_64"), fixture("edges-x86_64.so"), fixture("other-i386.so"));
    let mut trees = Vec::new();
    for reversed in [false, true] {
        let place = Place::new();
        let mut inputs = vec![
            place.write("a.deb", &deb("a", PACKINGS[2], &[file("./bin/hello", &hello)])),
            place.write("b.deb", &deb("b", PACKINGS[3], &[file("./lib/edges.so", &edges)])),
            place.write("tree/other.so", &other).parent().unwrap().to_owned(),
        ];
        if reversed {
            inputs.reverse();
        }
        let report = place.add(&inputs);
        assert_eq!((report.added.len(), report.failed.len()), (3, 0));
        let tree = files(&place.root())
            .into_iter()
            .map(|(path, size)| (path.strip_prefix(place.root()).unwrap().to_owned(), size));
        trees.push(tree.collect::<Vec<_>>());
    }
    assert_eq!(trees[0], trees[1]);
}

#[test]
fn hundreds_of_members_are_streamed() {
    let hello = fixture("changed-hello-x86_64");
    let names: Vec<String> = (0..400).map(|number| format!("./usr/share/doc/file-{number}")).collect();
    let mut entries: Vec<Entry<'_>> = names.iter().map(|name| file(name, b"text")).collect();
    entries.insert(200, file("./usr/bin/hello", &hello));
    let place = Place::new();
    let report = place.add(&[place.write("many.deb", &deb("many", PACKINGS[1], &entries))]);
    assert_eq!((report.added.len(), report.skipped_files), (1, 400));
}

#[test]
fn paths_and_links_that_lead_out_cost_only_themselves() {
    let hello = fixture("changed-hello-x86_64");
    let entries = [
        file("../../../../outside", &hello),
        file("/absolute", &hello),
        file("./a/../../b", &hello),
        link("./evil", EntryType::Symlink, "/etc"),
        file("./evil/passwd", b"through a link"),
        link("./hard", EntryType::Link, "/etc/shadow"),
        link("./device", EntryType::Char, ""),
        file("./usr/bin/hello", &hello),
    ];
    let place = Place::new();
    let path = place.write("evil.deb", &deb("evil", PLAIN, &entries));
    let before = files(place.folder.path());
    let report = place.add(&[path]);
    assert_eq!((report.added.len(), report.failed.len(), report.skipped_files), (1, 0, 1));
    assert_eq!(report.notes.len(), 4, "{:?}", report.notes);
    assert!(
        report.notes[3].contains("`./hard` in") && report.notes[3].contains("hard link to what is no member")
    );
    assert!(report.notes[0].contains("`../../../../outside` in") && report.notes[0].contains("`..`"));
    assert!(report.notes[1].contains("`/absolute` in") && report.notes[1].contains("absolute"));
    let mut after = files(place.folder.path());
    after.retain(|path, _| !path.starts_with(place.root()));
    let mut before = before;
    before.retain(|path, _| !path.starts_with(place.root()));
    assert_eq!(after, before, "nothing is written under a member's name");
}

#[test]
fn bad_packages_are_refused_and_change_nothing() {
    let place = Place::new();
    let hello = fixture("changed-hello-x86_64");
    let good = deb("good", PACKINGS[2], &[file("./usr/bin/hello", &hello)]);
    for length in [8, 20, 67, 68, 72, 100, 132, 140, 400, good.len() / 2, good.len() - 3] {
        let sentence = place.refused("cut.deb", &good[..length]);
        assert!(sentence.contains("cut.deb") && !sentence.contains("no ELF"), "{length}: {sentence}");
    }
    let bomb = deb("bomb", (".gz", gzip), &[file("./zeros", &vec![0; 300 << 20])]);
    let sentence = place.refused("bomb.deb", &bomb);
    assert!(sentence.contains(&format!("it has {} bytes and unpacks to more than 268435456", bomb.len())));
    let swapped = ar(&[("debian-binary", b"2.0\n"), ("data.tar", &tar(&[])), ("control.tar", &tar(&[]))]);
    assert!(place.refused("swapped.deb", &swapped).contains("stands before `control.tar`"));
    let late = ar(&[("control.tar", &tar(&[])), ("debian-binary", b"2.0\n")]);
    assert!(place.refused("late.deb", &late).contains("without `debian-binary` as its first member"));
    let text = deb("text", PLAIN, &[file("./readme", b"text"), link("./libc.so.6", EntryType::Symlink, "x")]);
    assert!(place.refused("text.deb", &text).contains("holds no ELF file (1 other files)"));
    assert!(place.refused("text.gz", &gzip(b"no archive at all")).contains("it ends inside a header"));
    let debug = deb("debug", PLAIN, &[file("./usr/lib/debug/x.debug", &only_debug(&hello))]);
    assert!(place.refused("debug.deb", &debug).contains("1 separate debug files and no binary"));
}

#[test]
fn one_bad_package_of_many_keeps_none_of_the_others() {
    let place = Place::new();
    let hello = fixture("changed-hello-x86_64");
    let good = deb(
        "good",
        PACKINGS[2],
        &[
            file("./usr/bin/hello", &hello),
            file("./usr/lib/debug/hello.debug", &only_debug(&hello)),
            file("./usr/lib/damaged.so", &hello[..70]),
        ],
    );
    let bad = place.write("bad.deb", &good[..good.len() - 10]);
    let report = place.add(&[bad, place.write("good.deb", &good)]);
    assert_eq!((report.added.len(), report.skipped_debug), (1, 1));
    let failed: Vec<String> = report.failed.iter().map(|(path, _)| path.display().to_string()).collect();
    assert_eq!(failed.len(), 2);
    assert!(
        failed[0].ends_with("bad.deb") && failed[1].ends_with("good.deb: usr/lib/damaged.so"),
        "{failed:?}"
    );
}

#[test]
fn a_package_whose_members_are_all_refused_is_not_said_to_be_empty() {
    let hello = fixture("changed-hello-x86_64");
    let entries = [file("../hello", &hello), file("/usr/bin/hello", &hello), file("./readme", b"text")];
    for (name, package) in [("a.tar", tar(&entries)), ("a.deb", deb("a", PLAIN, &entries))] {
        let said = Place::new().refused(name, &package);
        let expected = "2 of its members are refused, the first of them `../hello`, because its path leads out of the \
            package by `..` (0 separate debug files, 1 other files)";
        assert!(said.contains(expected), "{said}");
    }
    let said = Place::new().refused("b.tar", &tar(&[file("./readme", b"text")]));
    assert!(said.contains("holds no ELF file (1 other files)"), "{said}");
}

#[test]
fn a_hard_link_among_sources_has_the_bytes_of_what_it_leads_to() {
    let lines = fs::read(repository("fixtures/src/dwarf/lines.c")).unwrap();
    let long = format!("lines/{}/lines.c", "folder/".repeat(12));
    let places = [
        vec![
            file("lines/src/first.c", &lines),
            link("lines/src/lines.c", EntryType::Link, "./lines/src/first.c"),
        ],
        vec![
            file(&long, &lines),
            link("lines/src/again.c", EntryType::Link, &long),
            link("lines/src/lines.c", EntryType::Link, "lines/src/again.c"),
        ],
    ];
    for entries in places {
        let place = Place::new();
        let tarball = place.write("lines.tar", &tar(&entries));
        let (folder, added) = add_with_sources(&repository("fixtures/bin/dwarf5-x86_64.so"), &[tarball]);
        let edition = Edition::read(folder.path(), &added);
        let found =
            edition.sources.iter().find(|source| source.path.text() == "/fixture/src/lines.c").unwrap();
        assert_eq!(found.sha256, Some(Sha256Digest::of(&lines)), "{found:?}");
    }
    // One that leads to nothing would leave out a file without a word.
    let place = Place::new();
    let entries = [file("lines/first.c", &lines), link("lines/lines.c", EntryType::Link, "lines/none.c")];
    let sources = [place.write("lines.tar", &tar(&entries))];
    let inputs = [repository("fixtures/bin/dwarf5-x86_64.so")];
    let options = AddOptions { sources: &sources, only_given: true, ..AddOptions::new(&inputs) };
    let error = add(&place.archive, &options, &()).map(drop).unwrap_err().to_string();
    assert!(error.contains("`lines/lines.c` in it is a hard link to what is no member before it"), "{error}");
}
