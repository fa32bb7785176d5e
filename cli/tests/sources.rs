//! Sources as a person meets them, on an archive made by hand.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

#[path = "../../serve/core/tests/support/mod.rs"]
mod support;

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use elfscope_schema::{
    Counts, Coverage, DebugFile, FileId, Found, Listed, Machine, Meta, Name, Package, Sha256Digest,
    SourcePackage, SourceTree, documents::schema, to_canonical,
};
use support::sourced::{SOURCED, archive, sourced};

fn meta() -> Meta {
    let digest = Sha256Digest::of(b"");
    let source = SourcePackage { name: "glibc".into(), version: "2.36-9".into() };
    let listed = || Listed { items: Vec::new(), more: None, total: 0 };
    Meta {
        build_id: SOURCED.parse().unwrap(),
        byte_order: "little".into(),
        class: 64,
        compilers: Vec::new(),
        counts: Counts {
            rows: 10,
            rows_with_line: 9,
            sources: BTreeMap::from([("missing".into(), 3), ("path-matched".into(), 1104)]),
            ..Counts::default()
        },
        coverage: Coverage::default(),
        debug: vec![DebugFile {
            file: FileId { name: Name::from("libc.debug"), sha256: digest, size: 9 },
            found: Found::Debuglink,
            package: Some(Package {
                architecture: "amd64".into(),
                name: "libc6-dbg".into(),
                path: None,
                sha256: digest,
                source: Some(source.clone()),
                version: "2.36-9".into(),
            }),
        }],
        decoder: None,
        derivation: 1,
        diagnostics: Listed { items: Vec::new(), more: None, total: 0 },
        entry: None,
        file: FileId { name: Name::from("sourced"), sha256: digest, size: 9 },
        interpreter: None,
        machine: Machine { name: "x86-64".into(), number: 62 },
        needed: Vec::new(),
        package: None,
        schema: schema::META.to_owned(),
        sections: listed(),
        segments: Listed { items: Vec::new(), more: None, total: 0 },
        soname: None,
        sources: vec![
            SourceTree { digest, files: 25_123, package: Some(source), package_verified: true },
            SourceTree { digest, files: 1, package: None, package_verified: false },
        ],
        elf_type: "ET_DYN".into(),
    }
}

fn elfscope(archive: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_elfscope"));
    command.env("ELFSCOPE_ARCHIVE", archive).env("XDG_DATA_HOME", archive);
    let output = command.args(args).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The archive of the core's tests, in a folder.
fn written() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = archive(16384);
    let edition = sourced(&store);
    let mut files = store.into_inner().0;
    files.insert(format!("{}/meta.json", edition.folder()), to_canonical(&meta()));
    for (path, bytes) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

#[test]
fn sources_are_told_wherever_they_are_asked_for() {
    let folder = written();
    let archive = folder.path();
    for (args, exit, out, err) in [
        (
            &["show", "sourced"][..],
            0,
            &[
                "debug     libc.debug  (by .gnu_debuglink, in libc6-dbg 2.36-9)",
                "sources   glibc 2.36-9  (25,123 files; the package that the binary was built from: package-verified)",
                "sources   a tree that names no package  (1 file; path-matched at best)",
                "cites     1,107 source files  (3 missing, 1,104 path-matched)",
                "(90.0 % with a source line",
                "with its source: ",
            ][..],
            &[][..],
        ),
        (
            &["show", "sourced", "puts", "--source"],
            0,
            &[
                "libio/ioputs.c:5  package-verified, names 3/3",
                "       5 | {",
                "  inlined: io::acquire() at libio/ioputs.c:8 in _IO_puts",
                "sysdeps/lock.h:77  source mismatched",
                "no source line",
            ],
            &[],
        ),
        (&["show", "sourced", "puts"], 0, &["libio/ioputs.c:5  package-verified", "!5 | {"], &[]),
        // More files than one request reads: shown in parts.
        (
            &["show", "sourced", "many", "--source"],
            0,
            &["rows      all 100", "line 2 of 99", "!left out"],
            &[],
        ),
        (
            &["show", "sourced", "many", "--source", "--rows", "50"],
            0,
            &["rows      0 to 49 of 100", "--from 50 --source"],
            &[],
        ),
        (
            &["show", "sourced", "src:ioputs.c"],
            0,
            &[
                "libio/ioputs.c  in sourced",
                "level     package-verified, names 3/3; it fits its path",
                "lines     all 16",
                "code in   puts",
                "      10 |   /* A comment.  */",
            ],
            &[],
        ),
        (
            &["show", "sourced", "src:libio/ioputs.c:4-5"],
            0,
            &["lines     4 to 5 of 16", "       4 | _IO_puts", "!       6 |", "!go on"],
            &[],
        ),
        (
            &["show", "sourced", "src:large.c"],
            0,
            &["lines     1 to 400 of 250000", "go on: ", "src:src/large.c:401-800"],
            &[],
        ),
        (&["show", "sourced", "src:ioputs.c:99"], 2, &[], &["line 99 is outside 1 to 16"]),
        (
            &["show", "sourced", "src:ioputs.c:9-3"],
            2,
            &[],
            &["`9-3` is no range of lines", "src:PATH:FROM-TO"],
        ),
        (&["show", "sourced", "src:twice.c"], 2, &[], &["fits 2 sources", "posix/twice.c  missing"]),
        (
            &["show", "sourced", "src:iopust.c"],
            2,
            &[],
            &["no source `iopust.c`", "did you mean `libio/ioputs.c`?"],
        ),
        (
            &["show", "sourced", "src:lock.h"],
            2,
            &[],
            &["is not here: the supplied file", "--source DIR", "search sourced --file sysdeps/lock.h"],
        ),
        (&["show", "sourced", "src:lock.h", "--rows", "3"], 2, &[], &["are for functions"]),
        (&["search", "sourced", "ioputs.c"], 0, &["source    libio/ioputs.c"], &[]),
        (
            &["search", "sourced", "lock.h", "--kind", "source"],
            0,
            &["sysdeps/lock.h  text not here: mismatched"],
            &[],
        ),
        (&["search", "sourced", "--file", "ioputs.c"], 0, &["0x1000  puts"], &[]),
        (
            &["search", "sourced", "--file", "common.h"],
            0,
            &["0x100000  citing_100000", "more: ", "--file include/common.h --cursor"],
            &[],
        ),
        (&["search", "sourced", "--file", "stdio/twice.c"], 0, &["No row is from `stdio/twice.c`."], &[]),
        (&["search", "sourced"], 2, &[], &["QUERY"]),
        (&["search", "sourced", "x", "--file", "a.c"], 2, &[], &["cannot be used with"]),
    ] {
        let (code, stdout, stderr) = elfscope(archive, args);
        let told = format!("elfscope {}\n--- stdout\n{stdout}\n--- stderr\n{stderr}", args.join(" "));
        assert_eq!(code, exit, "{told}");
        for (texts, stream) in [(out, &stdout), (err, &stderr)] {
            for text in texts {
                match text.strip_prefix('!') {
                    Some(text) => assert!(!stream.contains(text), "`{text}` is there\n{told}"),
                    None => assert!(stream.contains(text), "`{text}` is missing\n{told}"),
                }
            }
        }
        assert!(told.lines().all(|line| !line.ends_with(' ')), "no trailing spaces\n{told}");
    }
    let (_, all, _) = elfscope(archive, &["search", "sourced", "--file", "common.h", "--all"]);
    assert_eq!(all.lines().count(), 700);
    for args in [
        &["show", "sourced", "puts", "--source"][..],
        &["show", "sourced", "src:ioputs.c"],
        &["search", "sourced", "ioputs.c"],
        &["search", "sourced", "--file", "ioputs.c"],
        &["show", "sourced", "evil", "--source"],
    ] {
        let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let (code, out, err) = elfscope(archive, &args);
        assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
        assert!(out.lines().count() > 0);
        for line in out.lines() {
            let _: serde_json::Value = serde_json::from_str(line).unwrap();
        }
    }
}
