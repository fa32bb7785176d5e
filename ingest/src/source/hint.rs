//! What to try next where sources are missing: data, so that whoever shows it chooses the words.

use std::collections::BTreeMap;

use elfscope_schema::{Mismatch, Name, Package, SourceFile, SourceLevel, SourceTree};

use super::{Aligned, built_from, changelog};

/// Sources that are not there, or don't fit, and what to give for them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hint {
    /// What they are sources of.
    pub of: Origin,
    /// The folder that all of them are below, as the debug data gives it; `.` where their paths are relative.
    pub folder: String,
    /// How many are missing.
    pub missing: u64,
    /// How many were found and don't fit: another release's, or edited.
    pub mismatched: u64,
    /// How many fit several files that differ.
    pub ambiguous: u64,
    /// One of them.
    pub example: Name,
    /// A command that fetches them.
    pub fetch: Option<Vec<String>>,
    /// The flags to give then. A word in capitals stands for what only the reader knows.
    pub flags: Vec<String>,
}

impl Hint {
    /// How many files it is about.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.missing + self.mismatched + self.ambiguous
    }
}

/// What missing sources belong to. Text in it is a stranger's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Origin {
    /// Rust's own library, at this commit or version.
    Rust(String),
    /// The Go release whose `GOROOT` this is.
    Go(String),
    /// The package that was built in the folder: `<name>-<version>`.
    Package(String),
    /// The build itself: the sources of the package are there, and these are not among them.
    Generated,
    /// The package, whose sources are there: this folder of theirs would have them by their paths, `.` for the root.
    Elsewhere(String),
    /// Nothing that the path tells.
    Folder,
}

/// Most hints.
const HINTS: usize = 6;

/// What to give for the sources that are missing or don't fit, most files first. `package` is the one that the binary came
/// in, `trees` what was searched, and `aligned` where it stood.
pub(crate) fn hints(
    files: &[SourceFile],
    package: Option<&Package>,
    trees: &[SourceTree],
    aligned: &Aligned<'_>,
) -> Vec<Hint> {
    let own = (0..trees.len()).filter(|tree| trees[*tree].package_verified);
    let own: Vec<usize> = own.collect();
    let mut groups: BTreeMap<(Origin, String), Group<'_>> = BTreeMap::new();
    for file in files {
        if file.sha256.is_some() {
            continue;
        }
        // There is no other file to give: it is the one, or no one file is.
        if matches!(file.mismatch, Some(Mismatch::Return | Mismatch::Differs)) {
            continue;
        }
        // What is not told whole can't be given as a flag.
        let Name::Text(path) = &file.path else { continue };
        // Compilers' own places, such as `<built-in>` and `<artificial>`, are no files.
        if path.ends_with('>') {
            continue;
        }
        let mut key = origin(path);
        let of_package = matches!(key.0, Origin::Package(_)) || key.1 == ".";
        if file.level == SourceLevel::Missing {
            let mut elsewhere = own.iter().filter_map(|tree| aligned.elsewhere(*tree, path.as_bytes()));
            if let Some((from, to)) = elsewhere.next() {
                key = (Origin::Elsewhere(to), from);
            } else if of_package && !own.is_empty() {
                key.0 = Origin::Generated;
            }
        }
        let group = groups.entry(key).or_insert_with(|| Group::new(path, &file.path));
        match file.level {
            SourceLevel::Missing => group.missing += 1,
            SourceLevel::Ambiguous => group.ambiguous += 1,
            _ => group.mismatched += 1,
        }
        group.common = common(group.common, folder_of(path));
    }
    let mut hints: Vec<Hint> = groups.into_iter().map(|(key, group)| group.hint(key, package)).collect();
    hints.sort_by_key(|hint| std::cmp::Reverse(hint.files()));
    hints.truncate(HINTS);
    hints
}

/// The files of one hint.
struct Group<'a> {
    missing: u64,
    mismatched: u64,
    ambiguous: u64,
    example: &'a Name,
    common: &'a str,
}

impl<'a> Group<'a> {
    fn new(path: &'a str, example: &'a Name) -> Self {
        Self { missing: 0, mismatched: 0, ambiguous: 0, example, common: folder_of(path) }
    }

    fn hint(self, (of, root): (Origin, String), package: Option<&Package>) -> Hint {
        let folder = if matches!(of, Origin::Folder) && root != "." { self.common.to_owned() } else { root };
        let mut fetch = None;
        let flags = match &of {
            Origin::Rust(_) => flags("RUST_SOURCES", Some(&folder)),
            Origin::Go(_) => flags(&folder, Some(&folder)),
            Origin::Package(built) => {
                let (command, unpacked) = debian(package).unzip();
                // What a package was built from is what it says, even where it was built in a folder of another name.
                fetch = command;
                flags(unpacked.as_deref().unwrap_or(built), Some(&folder))
            }
            Origin::Generated => flags("BUILD_FOLDER", Some(folder.as_str()).filter(|folder| *folder != ".")),
            Origin::Elsewhere(to) => vec!["--source-map".to_owned(), format!("{folder}={to}")],
            Origin::Folder if folder == "." => {
                let (command, unpacked) = debian(package).unzip();
                fetch = command;
                flags(unpacked.as_deref().unwrap_or("DIR"), None)
            }
            Origin::Folder => flags(&folder, Some(&folder)),
        };
        let example = self.example.clone();
        let Self { missing, mismatched, ambiguous, .. } = self;
        Hint { of, folder, missing, mismatched, ambiguous, example, fetch, flags }
    }
}

/// Flags that give a folder of sources, and map a folder of the debug data to its root.
fn flags(sources: &str, from: Option<&str>) -> Vec<String> {
    let mut flags = vec!["--source".to_owned(), sources.to_owned()];
    if let Some(from) = from {
        flags.extend(["--source-map".to_owned(), format!("{from}=.")]);
    }
    flags
}

/// The command that fetches and unpacks the sources that a Debian package was built from, and the folder that it makes.
fn debian(package: Option<&Package>) -> Option<(Vec<String>, String)> {
    let package = package?;
    // Packages of other systems name no source, or name it by a file.
    let source = built_from(package);
    let words = [&source.name, &source.version];
    let known = |letter: char| letter.is_ascii_alphanumeric() || "+-.:~".contains(letter);
    if !words
        .iter()
        .all(|word| word.starts_with(|first: char| first.is_ascii_alphanumeric()) && word.chars().all(known))
    {
        return None;
    }
    let command = ["apt-get".to_owned(), "source".to_owned(), format!("{}={}", source.name, source.version)];
    Some((command.to_vec(), format!("{}-{}", source.name, changelog::upstream(&source.version))))
}

/// What a source belongs to by its path, and the folder that says so.
fn origin(path: &str) -> (Origin, String) {
    if !path.starts_with('/') {
        return (Origin::Folder, ".".to_owned());
    }
    let parts: Vec<&str> = path[1..].split('/').collect();
    let folder = |count: usize| format!("/{}", parts[..count].join("/"));
    match parts.as_slice() {
        ["rustc", commit, _, ..] => (Origin::Rust((*commit).to_owned()), folder(2)),
        ["usr", "src", rust, "library", ..] if rust.starts_with("rustc-") => {
            (Origin::Rust(rust["rustc-".len()..].to_owned()), folder(3))
        }
        ["usr", "local", "go", "src", ..] => (Origin::Go(folder(3)), folder(3)),
        ["usr", "lib" | "lib64" | "share", go, "src", ..] if is_go(go) => (Origin::Go(folder(3)), folder(3)),
        ["build", _, built, _, ..] => (Origin::Package((*built).to_owned()), folder(3)),
        ["usr", "src", "packages", "BUILD", built, _, ..] | ["builddir", "build", "BUILD", built, _, ..] => {
            (Origin::Package((*built).to_owned()), folder(5))
        }
        ["usr", "src", "debug", built, _, ..] => (Origin::Package((*built).to_owned()), folder(4)),
        // Two levels tell `/usr/include` from `/usr/lib`, and one home from another.
        [_, _, _, ..] => (Origin::Folder, folder(2)),
        _ => (Origin::Folder, folder(parts.len() - 1)),
    }
}

/// `go`, `golang`, `go-1.19`, `go-1.19.8`: what distributions call the folder of a release.
fn is_go(name: &str) -> bool {
    let version = name.strip_prefix("golang").or_else(|| name.strip_prefix("go"));
    version.is_some_and(|version| {
        version.chars().all(|letter| letter.is_ascii_digit() || letter == '-' || letter == '.')
    })
}

/// The folder that a file is in, `/` for one at the root.
fn folder_of(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) => "/",
        Some(end) => &path[..end],
        None => ".",
    }
}

/// The folder that both are, or are below.
fn common<'a>(a: &'a str, b: &str) -> &'a str {
    let same = a.split('/').zip(b.split('/')).take_while(|(a, b)| a == b);
    let length: usize = same.map(|(part, _)| part.len() + 1).sum();
    match length.saturating_sub(1) {
        0 if a.starts_with('/') => "/",
        end => &a[..end.min(a.len())],
    }
}

#[cfg(test)]
mod tests {
    use elfscope_schema::{Sha256Digest, SourcePackage};

    use super::{super::Trees, *};

    fn file(path: &str, level: SourceLevel) -> SourceFile {
        SourceFile {
            also: Vec::new(),
            last_line: 1,
            level,
            lines: None,
            mismatch: None,
            names: None,
            path: Name::from(path),
            raw: None,
            sha256: None,
            tree: None,
        }
    }

    fn glibc() -> Package {
        Package {
            architecture: "amd64".to_owned(),
            name: "libc6".to_owned(),
            path: None,
            sha256: Sha256Digest::of(b""),
            source: Some(SourcePackage { name: "glibc".to_owned(), version: "2.36-9+deb12u14".to_owned() }),
            version: "2.36-9+deb12u14".to_owned(),
        }
    }

    /// One path is missing: its hint is for `folder`, and shown as a command line.
    #[track_caller]
    fn check(path: &str, package: Option<&Package>, folder: &str, expected: &str) {
        let trees = Trees::default();
        let hints = hints(&[file(path, SourceLevel::Missing)], package, &[], &trees.align(&[]));
        let [hint] = &hints[..] else { panic!("{hints:?}") };
        let fetch = hint.fetch.as_ref().map(|fetch| fetch.join(" ") + "; ").unwrap_or_default();
        assert_eq!((hint.folder.as_str(), fetch + &hint.flags.join(" ")), (folder, expected.to_owned()));
    }

    #[test]
    fn what_a_path_tells_becomes_flags() {
        let package = glibc();
        let rust = "--source RUST_SOURCES --source-map /rustc/90b35a=.";
        check("/rustc/90b35a/library/core/src/fmt.rs", None, "/rustc/90b35a", rust);
        let go = "--source /usr/lib/go-1.19 --source-map /usr/lib/go-1.19=.";
        check("/usr/lib/go-1.19/src/runtime/proc.go", None, "/usr/lib/go-1.19", go);
        let go = "--source /usr/local/go --source-map /usr/local/go=.";
        check("/usr/local/go/src/fmt/print.go", Some(&package), "/usr/local/go", go);
        let fetched = "apt-get source glibc=2.36-9+deb12u14; --source glibc-2.36";
        check("elf/rtld.c", Some(&package), ".", fetched);
        check("elf/rtld.c", None, ".", "--source DIR");
        let built = "/build/glibc-AbC123/glibc-2.36";
        check(
            &format!("{built}/elf/rtld.c"),
            Some(&package),
            built,
            &format!("{fetched} --source-map {built}=."),
        );
        check(
            &format!("{built}/elf/rtld.c"),
            None,
            built,
            &format!("--source glibc-2.36 --source-map {built}=."),
        );
        let built = "/usr/src/packages/BUILD/zlib-1.2";
        check(
            &format!("{built}/inflate.c"),
            None,
            built,
            &format!("--source zlib-1.2 --source-map {built}=."),
        );
        check(
            "/usr/include/stdio.h",
            None,
            "/usr/include",
            "--source /usr/include --source-map /usr/include=.",
        );
        check("/a.c", None, "/", "--source / --source-map /=.");
    }

    #[test]
    fn a_hostile_package_names_no_command() {
        let mut package = glibc();
        package.source = Some(SourcePackage { name: "-o=x".to_owned(), version: "1".to_owned() });
        check("a.c", Some(&package), ".", "--source DIR");
        package.source = Some(SourcePackage { name: "a".to_owned(), version: "1; rm".to_owned() });
        check("a.c", Some(&package), ".", "--source DIR");
    }

    #[test]
    fn what_the_sources_of_the_package_do_not_have_is_not_looked_for_there() {
        let tree = SourceTree {
            digest: Sha256Digest::of(b""),
            files: 1,
            package: glibc().source,
            package_verified: true,
        };
        let files = [file("intl/plural.c", SourceLevel::Missing), file("a/b.c", SourceLevel::Mismatched)];
        let trees = Trees::default();
        let hints = hints(&files, Some(&glibc()), &[tree], &trees.align(&[]));
        let told: Vec<(&Origin, String, bool)> =
            hints.iter().map(|hint| (&hint.of, hint.flags.join(" "), hint.fetch.is_some())).collect();
        let generated = (&Origin::Generated, "--source BUILD_FOLDER".to_owned(), false);
        assert_eq!(told, [generated, (&Origin::Folder, "--source glibc-2.36".to_owned(), true)]);
    }

    #[test]
    fn what_the_sources_of_the_package_have_in_another_place_is_mapped() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("lib")).unwrap();
        std::fs::write(folder.path().join("lib/start.S"), "start:\n").unwrap();
        let trees =
            Trees::open(&[folder.path().to_owned()], &[], &mut || panic!("nothing to unpack")).unwrap();
        let path = "/build/glibc-2.36/lib/start.S";
        let cited = super::super::Cited { path: path.into(), ..Default::default() };
        let own = SourceTree { package_verified: true, ..trees.documents(None).remove(0) };
        let files = [file(path, SourceLevel::Missing), file("/build/glibc-2.36/a.h", SourceLevel::Missing)];
        let hints = hints(&files, Some(&glibc()), &[own], &trees.align(&[cited]));
        let told: Vec<(&str, String)> =
            hints.iter().map(|hint| (hint.folder.as_str(), hint.flags.join(" "))).collect();
        assert_eq!(told[0], ("/build/glibc-2.36", "--source-map /build/glibc-2.36=.".to_owned()));
        assert_eq!(told.len(), 2);
    }

    #[test]
    fn most_files_come_first_and_folders_are_as_deep_as_they_share() {
        let mut files = vec![
            file("/home/me/project/src/a.c", SourceLevel::Missing),
            file("/home/me/project/src/deep/b.c", SourceLevel::Missing),
            file("/home/me/project/srcs/c.c", SourceLevel::Mismatched),
            file("/home/me/project/srcs/d.c", SourceLevel::Ambiguous),
            file("/usr/include/stdio.h", SourceLevel::Missing),
            SourceFile {
                sha256: Some(Sha256Digest::of(b"")),
                ..file("/usr/include/stdlib.h", SourceLevel::PathMatched)
            },
            file("<built-in>", SourceLevel::Missing),
            // The very file: no other is to be looked for.
            SourceFile { mismatch: Some(Mismatch::Return), ..file("/mac/a.c", SourceLevel::Mismatched) },
        ];
        files.extend((0..20).map(|n| file(&format!("/opt/{n}/x/y.c"), SourceLevel::Missing)));
        let trees = Trees::default();
        let hints = hints(&files, None, &[], &trees.align(&[]));
        assert_eq!(hints.len(), HINTS);
        let first = &hints[0];
        assert_eq!((first.missing, first.mismatched, first.ambiguous, first.files()), (2, 1, 1, 4));
        assert_eq!(first.folder, "/home/me/project");
        assert_eq!(first.example, Name::from("/home/me/project/src/a.c"));
        assert_eq!(common("/a/b", "/c"), "/");
        assert_eq!(common("/a/b", "/a/b/c"), "/a/b");
        assert_eq!(common("/a/bc", "/a/b"), "/a");
    }
}
