//! Debug data is found where it was given, where the binary points to, and where systems keep it; and only that which
//! is the binary's.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::{
    fs,
    path::{Path, PathBuf},
};

use elfscope_ingest::{AddError, AddOptions, InputError, Report, add, archive::Archive};
use elfscope_schema::{Found, Manifest, Meta, Origin, Sha256Digest, from_slice};
use support::{
    Edition, add_with,
    elf::{debug_link, only_debug, stripped, with_build_id, with_sections},
    in_memory,
    packing::{PACKINGS, deb, file, xz},
    repository,
};

const ALTERNATE: [u8; 20] = [0xab; 20];

/// A binary without names, and what belongs to it.
struct Case {
    folder: tempfile::TempDir,
    binary: Vec<u8>,
    debug: Vec<u8>,
    alternate: Vec<u8>,
    build: String,
}

impl Case {
    fn new() -> Self {
        let whole = fs::read(repository("fixtures/bin/changed-hello-x86_64")).unwrap();
        let mut link = b"/nowhere/.dwz/shared.debug\0".to_vec();
        link.extend(ALTERNATE);
        let debug = with_sections(&only_debug(&whole), &[(".gnu_debugaltlink", &link)]);
        // What dwz writes has no code and another id.
        let alternate = with_build_id(&whole, ALTERNATE);
        let alternate = with_sections(&only_debug(&alternate), &[(".debug_info", b"shared")]);
        let crc = crc32fast::hash(&debug);
        let binary = with_sections(&stripped(&whole), &[(".gnu_debuglink", &debug_link("hello.debug", crc))]);
        let folder = in_memory();
        let build = elfscope_ingest::build_id_of(&repository("fixtures/bin/changed-hello-x86_64")).unwrap();
        Self { folder, binary, debug, alternate, build: build.as_str().to_owned() }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn build_path(&self) -> String {
        format!("root/.build-id/{}/{}.debug", &self.build[..2], &self.build[2..])
    }

    fn try_add(
        &self,
        input: &Path,
        debug: &[PathBuf],
        only_given: bool,
    ) -> Result<(Report, PathBuf), AddError> {
        let root = self.folder.path().join("archive");
        let _ = fs::remove_dir_all(&root);
        let archive = Archive::create(&root).unwrap();
        let inputs = [input.to_owned()];
        let debug_root = self.folder.path().join("root");
        let options = AddOptions { debug, only_given, debug_root: &debug_root, ..AddOptions::new(&inputs) };
        add(&archive, &options, &()).map(|report| (report, root))
    }

    fn add(&self, input: &Path, debug: &[PathBuf], only_given: bool) -> Told {
        let (report, root) = self.try_add(input, debug, only_given).unwrap();
        assert!(report.failed.is_empty(), "{:?}", report.failed);
        let added = &report.added[0];
        let edition = Edition::read(&root, added);
        let folder = root.join(added.build_id.as_str()).join(added.edition.as_str());
        let manifest: Manifest = from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
        let names = edition.functions.iter().flat_map(|function| &function.head.names);
        let helper =
            names.filter(|name| name.name.text() == "helper").flat_map(|name| name.from.clone()).collect();
        Told {
            codes: edition.diagnostics.iter().map(|diagnostic| diagnostic.code.clone()).collect(),
            files: manifest.given.files.clone(),
            packages: manifest.given.packages.clone(),
            content: manifest.content,
            notes: report.notes,
            meta: edition.meta,
            helper,
        }
    }
}

/// What is told of the binary.
struct Told {
    meta: Meta,
    codes: Vec<String>,
    notes: Vec<String>,
    files: Vec<Sha256Digest>,
    packages: Vec<Sha256Digest>,
    content: Sha256Digest,
    /// Where the name `helper` is from.
    helper: Vec<Origin>,
}

impl Told {
    /// How its debug file was found; none where it has none.
    fn found(&self) -> Option<Found> {
        assert_eq!(self.helper.is_empty(), self.meta.debug.is_empty(), "names come with a debug file");
        self.meta.debug.first().map(|debug| debug.found)
    }

    fn has(&self, file: &[u8]) -> bool {
        self.files.contains(&Sha256Digest::of(file))
    }
}

#[test]
fn a_debug_file_is_found_in_each_place() {
    for (place, found) in [
        ("bin/hello.debug", Some(Found::Debuglink)),
        ("bin/.debug/hello.debug", Some(Found::Debuglink)),
        ("root/{folder}/hello.debug", Some(Found::Debuglink)),
        ("build-id", Some(Found::BuildIdPath)),
        ("bin/other-name.debug", None),
    ] {
        let case = Case::new();
        let input = case.write("bin/hello", &case.binary);
        let folder = input.parent().unwrap().canonicalize().unwrap();
        let folder = folder.to_str().unwrap().trim_start_matches('/').to_owned();
        let at = if place == "build-id" { case.build_path() } else { place.replace("{folder}", &folder) };
        case.write(&at, &case.debug);
        let told = case.add(&input, &[], false);
        assert_eq!(told.found(), found, "{place}");
        assert_eq!(told.has(&case.debug), found.is_some());
        assert_eq!(told.codes.iter().any(|code| code == "dwz-alternate-missing"), found.is_some());
        assert!(told.notes.is_empty(), "{:?}", told.notes);
        // Nothing of it counts where only what is given does.
        assert_eq!(case.add(&input, &[], true).found(), None, "{place}");
    }
}

#[test]
fn what_is_given_comes_first_in_whatever_form() {
    let case = Case::new();
    let input = case.write("bin/hello", &case.binary);
    // Another file of the same id on the system: not looked at.
    case.write(&case.build_path(), &with_sections(&case.debug, &[(".comment2", b"another")]));
    let entry = format!("./usr/lib/debug/.build-id/{}/{}.debug", &case.build[..2], &case.build[2..]);
    let dwz = "./usr/lib/debug/.dwz/shared.debug";
    let other = with_build_id(&case.debug, [7; 20]);
    let entries = || {
        [
            file("./usr/lib/debug/.build-id/07/0707.debug", &other),
            file(&entry, &case.debug),
            file(dwz, &case.alternate),
            file("./readme", b"text"),
        ]
    };
    let in_folder = case.write("debug/a/x.debug", &case.debug);
    case.write("debug/b/y.debug", &case.alternate);
    case.write("debug/b/z.debug", &other);
    case.write("debug/b/hello", &case.binary);
    let alone = case.write("alone.debug", &case.debug);
    let shared = case.write("shared.debug", &case.alternate);
    let mut contents = Vec::new();
    for (name, debug) in [
        ("files", vec![alone.clone(), shared.clone()]),
        ("the same twice", vec![shared, alone.clone(), in_folder]),
        ("folder", vec![case.folder.path().join("debug")]),
    ] {
        let told = case.add(&input, &debug, false);
        assert_eq!(told.found(), Some(Found::Given), "{name}");
        assert!(told.has(&case.debug) && told.has(&case.alternate) && told.files.len() == 3, "{name}");
        assert!(told.codes.is_empty(), "{name}: {:?}", told.codes);
        contents.push(told.content);
    }
    for packing in PACKINGS {
        let package = case.write("hello-dbg.deb", &deb("hello-dbg", packing, &entries()));
        let told = case.add(&input, &[package], true);
        assert_eq!(told.found(), Some(Found::Given));
        assert!(told.has(&case.debug) && told.has(&case.alternate) && told.files.len() == 3);
        assert_eq!(told.packages.len(), 1);
        assert_eq!(told.meta.debug[0].package.as_ref().unwrap().name, "hello-dbg");
        assert!(told.codes.is_empty(), "{:?}", told.codes);
        contents.push(told.content);
    }
    assert!(contents.iter().all(|content| *content == contents[0]), "where it was found changes no content");
    // Without what dwz shares it is said, with the hint and the id.
    let told = case.add(&input, &[alone], true);
    assert_eq!(told.codes, ["dwz-alternate-missing"]);
    let message = &told.meta.diagnostics.items[0].message;
    assert!(message.contains("`/nowhere/.dwz/shared.debug`") && message.contains("abababab"), "{message}");
}

#[test]
fn a_package_is_read_again_only_for_what_dwz_shares_elsewhere() {
    let case = Case::new();
    let input = case.write("bin/hello", &case.binary);
    let entries = [file("./first/shared", &case.alternate), file("./then/x.debug", &case.debug)];
    let package = case.write("dbg.deb", &deb("dbg", PACKINGS[3], &entries));
    let told = case.add(&input, &[package], true);
    assert!(told.has(&case.alternate) && told.codes.is_empty(), "{:?}", told.codes);
}

#[test]
fn what_dwz_shares_is_found_on_the_system() {
    for place in ["root/.dwz/shared.debug", "build-id", "root/.dwz/../shared.debug"] {
        let case = Case::new();
        let input = case.write("bin/hello", &case.binary);
        let debug = case.write("x.debug", &case.debug);
        let build_path = format!("root/.build-id/ab/{}.debug", "ab".repeat(19));
        let path = if place == "build-id" { &build_path } else { place };
        fs::create_dir_all(case.folder.path().join("root/.dwz")).unwrap();
        case.write(path, &case.alternate);
        let told = case.add(&input, std::slice::from_ref(&debug), false);
        assert_eq!(told.has(&case.alternate), !place.contains(".."), "{place}");
        assert_eq!(told.codes.is_empty(), !place.contains(".."), "{place}");
        assert!(!case.add(&input, &[debug], true).has(&case.alternate));
        // A file of another id at the place isn't it.
        case.write(path, &with_build_id(&case.alternate, [9; 20]));
    }
}

#[test]
fn files_that_are_not_the_binarys_are_not_used() {
    let case = Case::new();
    let input = case.write("bin/hello", &case.binary);
    let other = with_build_id(&case.debug, [7; 20]);
    case.write("bin/hello.debug", &other);
    let told = case.add(&input, &[], false);
    assert_eq!(told.found(), None);
    assert!(told.notes[0].contains("is of build 0707"), "{:?}", told.notes);
    assert!(told.codes.is_empty(), "what isn't used changes no document");
    case.write("bin/hello.debug", &[&case.debug[..], b"more"].concat());
    let told = case.add(&input, &[], false);
    assert_eq!(told.found(), None);
    assert!(told.notes[0].contains("its CRC is"), "{:?}", told.notes);
    case.write(&case.build_path(), &other);
    assert_eq!(case.add(&input, &[], false).found(), None);
    // A name that is none of a file leads nowhere.
    let evil = with_sections(
        &stripped(&fs::read(repository("fixtures/bin/changed-hello-x86_64")).unwrap()),
        &[(".gnu_debuglink", &debug_link("../secret.debug", crc32fast::hash(&case.debug)))],
    );
    case.write("secret.debug", &case.debug);
    let _ = fs::remove_file(case.folder.path().join(case.build_path()));
    let told = case.add(&case.write("bin/evil", &evil), &[], false);
    assert_eq!((told.found(), &told.codes[..]), (None, &["debuglink-unusable".to_owned()][..]));
}

#[test]
fn a_binary_without_build_id_is_known_by_its_link() {
    let case = Case::new();
    let nameless = |file: &[u8]| {
        let mut file = file.to_vec();
        let at = file.windows(8).position(|bytes| bytes == b"\x03\0\0\0GNU\0").unwrap();
        file[at] = 0x7f;
        file
    };
    let debug = nameless(&case.debug);
    let whole = fs::read(repository("fixtures/bin/changed-hello-x86_64")).unwrap();
    let link = debug_link("hello.debug", crc32fast::hash(&debug));
    let binary = with_sections(&nameless(&stripped(&whole)), &[(".gnu_debuglink", &link)]);
    let input = case.write("bin/hello", &binary);
    let given = case.write("given/hello.debug", &debug);
    assert_eq!(case.add(&input, std::slice::from_ref(&given), true).found(), Some(Found::Debuglink));
    let wrong = case.write("given/wrong.debug", &debug);
    let error = case.try_add(&input, &[wrong], true).map(drop).unwrap_err();
    assert!(matches!(error, AddError::Debug(InputError::NoBuildId { .. })), "{error}");
    case.write("bin/hello.debug", &debug);
    assert_eq!(case.add(&input, &[], false).found(), Some(Found::Debuglink));
}

#[test]
fn minidebuginfo_gives_names() {
    let case = Case::new();
    let whole = fs::read(repository("fixtures/bin/changed-hello-x86_64")).unwrap();
    let with = |section: &[u8]| with_sections(&stripped(&whole), &[(".gnu_debugdata", section)]);
    let told = case.add(&case.write("bin/hello", &with(&xz(&only_debug(&whole)))), &[], true);
    assert_eq!(told.found(), Some(Found::Minidebuginfo));
    assert_eq!(told.helper, [Origin::Minidebuginfo]);
    for section in [&b"not xz at all"[..], &xz(b"no ELF"), &xz(&vec![0; 20 << 20])] {
        let told = case.add(&case.write("bin/hello", &with(section)), &[], true);
        assert_eq!(told.codes, ["minidebuginfo-unreadable"]);
        assert_eq!(told.found(), None);
    }
}

#[test]
fn debug_data_of_nothing_is_refused_before_anything_is_added() {
    let case = Case::new();
    let input = case.write("bin/hello", &case.binary);
    let other = with_build_id(&case.debug, [7; 20]);
    let twin = with_sections(&case.debug, &[(".comment2", b"another")]);
    case.write("folder/other.debug", &other);
    case.write("folder/hello", &case.binary);
    let package = deb("dbg", PACKINGS[1], &[file("./x.debug", &other), file("./y.debug", &other)]);
    for (debug, expected) in [
        (vec![case.folder.path().join("folder")], "none of the 2 ELF files in the folder"),
        (vec![case.write("dbg.deb", &package)], "none of the 2 ELF files in the package"),
        (vec![case.write("other.debug", &other)], "which is none of the inputs"),
        (vec![case.write("a.debug", &case.debug), case.write("b.debug", &twin)], "give one of them"),
        (vec![case.write("cut.deb", &package[..100])], "cut.deb` can't be read"),
        (vec![case.write("text", b"text")], "is not an ELF file"),
        (vec![case.write("a.debug", &case.debug), case.write("dbg.deb", &package)], "in the package"),
    ] {
        let error = case.try_add(&input, &debug, true).map(drop).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        let left: Vec<_> = fs::read_dir(case.folder.path().join("archive")).unwrap().collect();
        assert!(left.len() <= 2, "{expected}: nothing is added");
    }
    // A package of which some belongs is fine.
    let entries = [file("./x.debug", &other), file("./y.debug", &case.debug)];
    let package = case.write("dbg.deb", &deb("dbg", PACKINGS[1], &entries));
    assert_eq!(case.add(&input, &[package], true).found(), Some(Found::Given));
}

/// Where llvm-symbolizer 19 names no function, since it doesn't follow names into what dwz shares, gdb 13.1 says what we say.
/// The first is told by (the folder has `dwarf-dwz.debug` under `.build-id`):
/// `gdb -batch -iex 'set debug-file-directory FOLDER' -ex 'python b = gdb.block_for_pc(0x1092)'
/// -ex 'python while b.function or b.superblock: print(b.function, gdb.find_pc_line(0x1092)); b = b.superblock'
/// fixtures/bin/dwarf-dwz-x86_64.so`, and `llvm-symbolizer --obj=fixtures/bin/dwarf-dwz-x86_64.so --inlines 0x1092` says `??`
/// (of a copy without symbol tables: `objcopy --strip-all --keep-section=.debug_*`).
#[test]
fn names_that_dwz_shares_are_those_that_gdb_tells() {
    let debug = repository("fixtures/bin/dwarf-dwz.debug");
    let (folder, added) = add_with(&repository("fixtures/bin/dwarf-dwz-x86_64.so"), &[debug]);
    let edition = Edition::read(folder.path(), &added);
    for (address, line, names) in [
        (0x1092, 9, &["small_step", "small_twice", "middle", "outer"][..]),
        (0x1089, 30, &["middle", "outer"]),
        (0x1011, 9, &["small_step", "split"]),
        (0x1000, 22, &["failed"]),
        (0x10e8, 58, &["apply"]),
    ] {
        let starts = |key: &elfscope_schema::FunctionKey| address - key.address.offset;
        let function = edition.functions.iter().find(|function| {
            function.key.address.offset <= address && starts(&function.key) < function.key.size
        });
        let function = function.unwrap();
        let row =
            function.rows.iter().position(|row| u64::from(row.offset) == starts(&function.key)).unwrap();
        let stack = function.places[row].as_ref().unwrap();
        let told: Vec<_> = stack.iter().map(|level| level.function.as_ref().unwrap().text()).collect();
        assert_eq!((stack[0].line, told.as_slice()), (Some(line), names), "{address:x}");
    }
}
