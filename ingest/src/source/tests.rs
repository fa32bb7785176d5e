//! Trees from folders and packages, and what fits in them.

use std::{fs, path::Path};

use ::md5::{Digest as _, Md5 as Hasher};
use elfscope_schema::{Mismatch, Name, SourceLevel};

use super::{judge::Judged, *};
use crate::limits;

mod aligned;
mod unpacked;

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), files);
    folder
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// The trees of paths, which need unpacking only where `scratch` says so.
fn open(paths: &[&Path], maps: &[&str]) -> Result<Trees, InputError> {
    let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
    let maps: Vec<SourceMap> = maps.iter().map(|map| SourceMap::parse(map)).collect::<Result<_, _>>()?;
    Trees::open(&paths, &maps, &mut || panic!("nothing is to be unpacked"))
}

fn cited(path: &str) -> Cited {
    Cited { path: path.as_bytes().to_vec(), last_line: 1, ..Cited::default() }
}

/// It, with functions that are declared in it at line 1.
fn declaring(path: &str, names: &[&str]) -> Cited {
    let declared = names.iter().map(|name| (name.as_bytes().to_vec(), 1)).collect();
    Cited { declared, ..cited(path) }
}

/// A cited file, judged where debug data cites no other.
fn judge(trees: &Trees, cited: &Cited) -> Result<Judged, InputError> {
    trees.align(std::slice::from_ref(cited)).judge(cited)
}

/// The path in its tree that it was found at, else its level.
fn found(trees: &Trees, cited: &Cited) -> String {
    placed(trees, &judge(trees, cited).unwrap())
}

fn placed(trees: &Trees, judged: &Judged) -> String {
    assert_published(trees, judged);
    let Some(at) = judged.from else { return judged.file.level.name().to_owned() };
    String::from_utf8(at.of(&trees.trees).1.path.clone()).unwrap()
}

/// What is published is told whole, what isn't not at all.
#[track_caller]
fn assert_published(trees: &Trees, Judged { file, from }: &Judged) {
    let published = matches!(file.level, SourceLevel::Md5Verified | SourceLevel::PathMatched);
    assert_eq!(file.mismatch.is_some(), file.level == SourceLevel::Mismatched, "{file:?}");
    let told = [file.lines.is_some(), file.sha256.is_some(), file.tree.is_some(), from.is_some()];
    assert_eq!(told, [published; 4], "{file:?}");
    if let Some(from) = from {
        assert_eq!(Some(Sha256Digest::of(&trees.read(*from).unwrap())), file.sha256);
        assert_eq!(file.tree, Some(from.tree));
    }
}

#[track_caller]
fn refused<T>(result: Result<T, InputError>, message: &str) {
    let Err(error) = result else { panic!("not refused: {message}") };
    let error = error.to_string();
    assert!(error.contains(message), "{error}");
}

#[test]
fn a_digest_is_of_paths_and_bytes_and_nothing_else() {
    let files = [("a.c", "int a;\n"), ("d/b.c", "")];
    let plain = folder(&files);
    let trees = open(&[plain.path()], &[]).unwrap();
    // printf '[["a.c","%s"],["d/b.c","%s"]]\n' $(printf 'int a;\n' | sha256sum) $(printf '' | sha256sum) | sha256sum
    let pinned = "36d035404f77aeba02a9f7247f8ec753fab80f46baf7ccc4d075ff998fcd7f3c";
    assert_eq!(trees.given().0[0].to_string(), pinned);
    assert_eq!(trees.documents(None)[0].files, 2);

    let other = folder(&files);
    for left_out in [".git/HEAD", "d/.pc/b.c/b.c", ".svn/entries", ".hg/store"] {
        write(other.path(), &[(left_out, "x")]);
    }
    fs::create_dir(other.path().join("empty")).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        symlink(plain.path().join("a.c"), other.path().join("link.c")).unwrap();
        symlink(plain.path(), other.path().join("loop")).unwrap();
        fs::set_permissions(other.path().join("a.c"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let both = open(&[plain.path(), other.path()], &[]).unwrap();
    assert_eq!(both.given(), trees.given());

    write(other.path(), &[("A.c", "")]);
    let both = open(&[other.path(), plain.path()], &[]).unwrap();
    let reversed = open(&[plain.path(), other.path()], &[]).unwrap();
    assert_eq!(both.given(), reversed.given());
    assert!(both.given().0.is_sorted() && both.given().0.len() == 2);
}

#[test]
fn folders_without_sources_are_refused() {
    let empty = folder(&[]);
    refused(open(&[empty.path()], &[]), "hold no file");
    assert!(open(&[], &[]).unwrap().is_empty());
    refused(open(&[&empty.path().join("none")], &[]), "can't be read");
}

#[test]
fn files_of_two_trees_are_one_or_ambiguous() {
    let one = folder(&[("x/f.c", "1\n"), ("g/h.c", "g\n")]);
    let two = folder(&[("x/f.c", "1\n"), ("g/h.c", "other\n")]);
    let trees = open(&[one.path(), two.path()], &[]).unwrap();
    assert_eq!(found(&trees, &cited("/x/f.c")), "x/f.c");
    assert_eq!(found(&trees, &cited("/g/h.c")), "ambiguous");
    assert_eq!(judge(&trees, &cited("/g/h.c")).unwrap().file.names, None);
    let md5 = |text: &str| Hasher::digest(text).into();
    let judged = judge(&trees, &Cited { md5: Md5::Known(md5("g\n")), ..cited("/g/h.c") }).unwrap();
    assert_published(&trees, &judged);
    assert_eq!(judged.file.level, SourceLevel::Md5Verified);
    for (md5, expected) in [
        (Md5::Known(md5("none")), "ambiguous"),
        (Md5::Partly(md5("g\n")), "ambiguous"),
        (Md5::Differs, "mismatched"),
    ] {
        assert_eq!(found(&trees, &Cited { md5, ..cited("/g/h.c") }), expected);
    }
}

#[test]
fn a_file_of_several_packages_counts_for_each_of_them() {
    let release = |version: &str, text: &str| {
        let changelog = format!("hello ({version}) sid; urgency=low\n");
        folder(&[("debian/changelog", &changelog), ("g/h.c", text)])
    };
    let (one, two, other) = (release("1", "x\n"), release("2", "x\n"), release("3", "y\n"));
    let unnamed = folder(&[("g/h.c", "x\n")]);
    let trees = open(&[one.path(), two.path(), unnamed.path()], &[]).unwrap();
    let judged = judge(&trees, &declaring("/c/g/h.c", &["x"])).unwrap();
    assert_published(&trees, &judged);
    let mut all: Vec<u32> = judged.file.tree.into_iter().chain(judged.file.also).collect();
    assert_eq!(all.first(), Some(&0));
    all.retain(|tree| trees.trees[*tree as usize].package.is_some());
    assert_eq!(all.len(), 2);
    let trees = open(&[one.path(), two.path(), other.path()], &[]).unwrap();
    assert_eq!(found(&trees, &declaring("/c/g/h.c", &["x", "y"])), "ambiguous");
    // The other one has no function of it: nothing says that it stood there.
    assert_eq!(found(&trees, &declaring("/c/g/h.c", &["x"])), "g/h.c");
}

#[test]
fn an_md5_verifies_or_refuses() {
    let tree = folder(&[("a/abc", "abc"), ("a/empty", "")]);
    let trees = open(&[tree.path()], &[]).unwrap();
    // RFC 1321, A.5.
    let abc = u128::from_str_radix("900150983cd24fb0d6963f7d28e17f72", 16).unwrap().to_be_bytes();
    for (path, md5, level) in [
        ("/a/abc", Md5::Known(abc), SourceLevel::Md5Verified),
        ("/a/abc", Md5::Partly(abc), SourceLevel::PathMatched),
        ("/a/abc", Md5::Unknown, SourceLevel::PathMatched),
        ("/a/abc", Md5::Differs, SourceLevel::Mismatched),
        ("/a/empty", Md5::Known(abc), SourceLevel::Mismatched),
        ("/a/empty", Md5::Partly(abc), SourceLevel::Mismatched),
        ("/a/empty", Md5::Unknown, SourceLevel::PathMatched),
        ("/a/none", Md5::Differs, SourceLevel::Missing),
    ] {
        let judged = judge(&trees, &Cited { md5, last_line: 0, ..cited(path) }).unwrap();
        assert_published(&trees, &judged);
        assert_eq!(judged.file.level, level, "{path} {md5:?}");
    }
}

#[test]
fn lines_that_compilers_count_differently_are_not_published() {
    for (text, published) in [
        ("int a;\r\nint b;\r\n", true),
        ("int a;\rint b;\r", false),
        ("int a;\nint b;\rint c;\n", false),
        ("int a;\r\r\nint b;\n", false),
        ("int a;\nint b;\r", false),
    ] {
        let tree = folder(&[("a/f.c", text)]);
        let trees = open(&[tree.path()], &[]).unwrap();
        let expected = if published { "a/f.c" } else { "mismatched" };
        let why = judge(&trees, &cited("/a/f.c")).unwrap().file.mismatch;
        assert_eq!(why, (!published).then_some(Mismatch::Return));
        assert_eq!(found(&trees, &cited("/a/f.c")), expected, "{text:?}");
        let md5 = Md5::Known(Hasher::digest(text).into());
        assert_eq!(found(&trees, &Cited { md5, ..cited("/a/f.c") }), expected, "{text:?}");
    }
}

#[test]
fn a_file_that_ends_too_early_is_not_published() {
    let tree = folder(&[("a/f.c", "int f (void)\n{\n}")]);
    let trees = open(&[tree.path()], &[]).unwrap();
    let declared = vec![(b"f".to_vec(), 1), (b"g".to_vec(), 2)];
    for (last_line, level) in
        [(0, SourceLevel::PathMatched), (3, SourceLevel::PathMatched), (4, SourceLevel::Mismatched)]
    {
        let judged =
            judge(&trees, &Cited { last_line, declared: declared.clone(), ..cited("/a/f.c") }).unwrap();
        assert_published(&trees, &judged);
        assert_eq!((judged.file.level, judged.file.names), (level, Some((1, 2))));
    }
    let md5 = Md5::Known(Hasher::digest("int f (void)\n{\n}").into());
    assert_eq!(found(&trees, &Cited { last_line: 4, md5, ..cited("/a/f.c") }), "mismatched");
}

#[test]
fn what_is_not_utf8_is_told_as_a_name() {
    let tree = folder(&[("a/f.c", "x\n")]);
    let trees = open(&[tree.path()], &[]).unwrap();
    let raw = Some((b"/a\xff".to_vec(), b"../a/f.c".to_vec()));
    let judged = judge(&trees, &Cited { raw, ..cited("/a/f.c") }).unwrap();
    let told = (Name::from_bytes(b"/a\xff"), Name::from("../a/f.c"));
    assert_eq!(judged.file.raw, Some(told));
    let odd = Cited { path: b"/\xff/a/f.c".to_vec(), ..declaring("", &["x"]) };
    assert_eq!(found(&trees, &odd), "a/f.c");
}

#[test]
fn a_file_that_changed_is_not_published() {
    let tree = folder(&[("a/f.c", "x\n")]);
    let trees = open(&[tree.path()], &[]).unwrap();
    write(tree.path(), &[("a/f.c", "y\n")]);
    refused(judge(&trees, &cited("/a/f.c")), "was changed while it was read");
}

#[test]
fn a_map_decides() {
    let tree = folder(&[("src/lib/a.c", "1\n"), ("old/lib/a.c", "2\n"), ("old/b.c", "3\n"), ("b.c", "4\n")]);
    let disk = tree.path().join("old");
    let disk = format!("/disk={}", disk.display());
    let maps = ["/x//y/.=src", "/x=./old/", "rel=old", ".=.", "/file.c=b.c", &disk, "/x=old"];
    let trees = open(&[tree.path()], &maps).unwrap();
    for (path, expected) in [
        ("/x/y/lib/a.c", "src/lib/a.c"),
        ("/x/lib/a.c", "old/lib/a.c"),
        ("/x/yy/lib/a.c", "missing"),
        ("/xx/old/lib/a.c", "missing"),
        ("/old/lib/a.c", "old/lib/a.c"),
        ("rel/b.c", "old/b.c"),
        ("b.c", "b.c"),
        ("lib/a.c", "missing"),
        ("/file.c", "b.c"),
        ("/disk/b.c", "old/b.c"),
    ] {
        assert_eq!(found(&trees, &cited(path)), expected, "{path}");
    }
    let told: Vec<(String, String)> = trees.given().1;
    let expected =
        [(".", "."), ("/disk", "old"), ("/file.c", "b.c"), ("/x", "old"), ("/x/y", "src"), ("rel", "old")];
    let expected: Vec<(String, String)> =
        expected.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
    assert_eq!(told, expected);
}

#[test]
fn a_map_that_leads_nowhere_is_refused() {
    let tree = folder(&[("src/a.c", "1\n")]);
    let outside = folder(&[("src/a.c", "1\n")]);
    for (map, message) in [
        ("/x", "it is `FROM=TO`"),
        ("=src", "before `=`"),
        ("/x=", "after `=`"),
        ("/x=none", "is in none of the sources"),
        ("/x=../src", "is in none of the sources"),
        ("/x=/", "is in none of the sources"),
        (&format!("/x={}", outside.path().display()), "is in none of the sources"),
    ] {
        refused(open(&[tree.path()], &[map]), message);
    }
    refused(open(&[tree.path()], &["/x=src", "/x/=."]), "is mapped to `.` as well");
}

#[test]
fn a_tree_is_verified_by_the_package_that_the_binary_was_built_from() {
    let tree = folder(&[("debian/changelog", "hello (2.10-3) sid; urgency=low\n"), ("a.c", "")]);
    let trees = open(&[tree.path()], &[]).unwrap();
    let mut package = Package {
        architecture: "amd64".to_owned(),
        name: "hello".to_owned(),
        path: None,
        sha256: Sha256Digest::of(b""),
        source: None,
        version: "2.10-3+b1".to_owned(),
    };
    let verified = |package: Option<&Package>| trees.documents(package)[0].package_verified;
    assert!(verified(Some(&package)));
    assert!(!verified(None));
    let source = |name: &str, version: &str| {
        Some(SourcePackage { name: name.to_owned(), version: version.to_owned() })
    };
    for (told, expected) in [
        (source("hello", "2.10-3"), true),
        (source("hello", "2.10-3+b1"), false),
        (source("hello", "2.10-4"), false),
        (source("other", "2.10-3"), false),
    ] {
        package.source = told;
        assert_eq!(verified(Some(&package)), expected, "{package:?}");
    }
    let unnamed = folder(&[("x/debian/changelog", "hello (2.10-3) sid; urgency=low\n")]);
    let trees = open(&[unnamed.path()], &[]).unwrap();
    assert!(!trees.documents(Some(&package))[0].package_verified);
}

#[test]
fn a_tree_is_the_package_only_with_the_patches_of_its_series() {
    let changelog = ("debian/changelog", "hello (2.10-3) sid; urgency=low\n");
    let series = ("debian/patches/series", "# why\na.patch -p1\n\nb.patch # this too\n");
    let applied = |text| (".pc/applied-patches", text);
    let own = |text| ("debian/patches/debian.series", text);
    let package = Package {
        architecture: "amd64".to_owned(),
        name: "hello".to_owned(),
        path: None,
        sha256: Sha256Digest::of(b""),
        source: None,
        version: "2.10-3".to_owned(),
    };
    let mut digests = std::collections::BTreeSet::new();
    for (files, expected) in [
        (&[changelog][..], true),
        (&[changelog, series, applied("a.patch\nb.patch\n")], true),
        (&[changelog, series], false),
        (&[changelog, series, applied("a.patch\n")], false),
        (&[changelog, series, applied("b.patch\na.patch\n")], false),
        (&[changelog, series, applied("a.patch\nb.patch\nmine.patch\n")], false),
        (&[changelog, applied("mine.patch\n")], false),
        (&[changelog, series, own("c.patch\n"), applied("c.patch\n")], true),
        (&[changelog, series, own("c.patch\n"), applied("a.patch\nb.patch\n")], false),
        (&[changelog, series, ("x/.pc/applied-patches", "a.patch\nb.patch\n"), ("x/a.c", "")], false),
    ] {
        let tree = folder(files);
        let trees = open(&[tree.path()], &[]).unwrap();
        assert_eq!(trees.documents(Some(&package))[0].package_verified, expected, "{files:?}");
        assert_eq!(trees.unpatched().count(), usize::from(!expected), "{files:?}");
        assert!(digests.insert(trees.given().0[0]), "{files:?}: a digest of its own");
    }
}

#[test]
fn a_tree_of_a_hundred_thousand_equal_names_costs_no_more() {
    let file = |number: u32| walk::TreeFile {
        path: format!("{number:06}/x/Makefile").into_bytes(),
        sha256: Sha256Digest::of(&number.to_le_bytes()),
        size: if number == 7 { limits::SOURCE_FILE + 1 } else { 1 },
        stored: None,
    };
    let tree = tree::Tree {
        root: PathBuf::new(),
        digest: Sha256Digest::of(b""),
        files: (0..100_000).map(file).collect(),
        package: None,
        patched: false,
    };
    let trees = Trees { trees: vec![tree], maps: Vec::new() };
    // None of them is proposed: so many say nothing.
    let all: Vec<Cited> =
        (0..10_000).map(|number| declaring(&format!("/{number}/x/Makefile"), &["a"])).collect();
    let aligned = trees.align(&all);
    assert!(all.iter().all(|cited| placed(&trees, &aligned.judge(cited).unwrap()) == "missing"));
    // Too large to be a source.
    assert_eq!(found(&trees, &cited("/000007/x/Makefile")), "missing");
    refused(judge(&trees, &cited("/000008/x/Makefile")), "can't be read");
}
