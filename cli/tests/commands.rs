//! The program as a person meets it: what it prints where, and how it ends.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::OnceLock,
};

const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hello/hello");

/// What a command should do. Every text has to occur; one that starts with `!` must not.
struct Case<'a> {
    args: &'a [&'a str],
    exit: i32,
    out: &'a [&'a str],
    err: &'a [&'a str],
}

fn elfscope(archive: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_elfscope"));
    command.env("ELFSCOPE_ARCHIVE", archive).env("XDG_DATA_HOME", archive).env_remove("CLICOLOR_FORCE");
    command.args(args).stdin(Stdio::null()).output().unwrap()
}

#[track_caller]
fn check(archive: &Path, case: &Case<'_>) -> String {
    let output = elfscope(archive, case.args);
    let out = String::from_utf8(output.stdout).unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    let told = format!("elfscope {}\n--- stdout\n{out}\n--- stderr\n{err}", case.args.join(" "));
    assert_eq!(output.status.code(), Some(case.exit), "{told}");
    for (texts, stream) in [(case.out, &out), (case.err, &err)] {
        for text in texts {
            match text.strip_prefix('!') {
                Some(text) => assert!(!stream.contains(text), "`{text}` is there\n{told}"),
                None => assert!(stream.contains(text), "`{text}` is missing\n{told}"),
            }
        }
    }
    assert!(!out.contains('\u{1b}') && !err.contains('\u{1b}'), "no colours in a pipe\n{told}");
    assert!(out.lines().chain(err.lines()).all(|line| !line.ends_with(' ')), "no trailing spaces\n{told}");
    out
}

/// An archive with hello in it, made once.
fn archive() -> &'static Path {
    static ARCHIVE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = ARCHIVE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive");
        let output = elfscope(&path, &["add", HELLO]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (folder, path)
    });
    path
}

#[test]
fn questions_and_answers() {
    let list = elfscope(archive(), &["--json", "list"]);
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    let id = list["builds"][0]["build_id"].as_str().unwrap().to_owned();
    let pinned = format!("{id}/{}", list["builds"][0]["edition"].as_str().unwrap());
    for case in [
        Case { args: &["list"], exit: 0, out: &["hello", &id, "1 build"], err: &["!e"] },
        Case {
            args: &["show", "hello"],
            exit: 0,
            out: &["build id", &id, "libc.so.6", "evidence"],
            err: &[],
        },
        Case {
            args: &["show", &id[..6], "main"],
            exit: 0,
            out: &["main  in hello", "puts@GLIBC_2.2.5", "Hello from"],
            err: &[],
        },
        Case {
            args: &["show", &pinned, "main", "--rows", "2"],
            exit: 0,
            out: &["rows more, from row 2", "--from 2"],
            err: &[],
        },
        Case {
            args: &["show", HELLO, "main", "--from", "3", "--no-bytes"],
            exit: 0,
            out: &["rows      3 to", "!41 54"],
            err: &[],
        },
        Case { args: &["show", "hello", "0x1030"], exit: 0, out: &["linker's stub", "puts"], err: &[] },
        Case {
            args: &["show", "hello", "0x2006"],
            exit: 0,
            out: &["\"Hello from", "main", "takes its address"],
            err: &[],
        },
        Case {
            args: &["show", "hello", "mian"],
            exit: 2,
            out: &["!m"],
            err: &["error: no function `mian`", "did you mean `main`?"],
        },
        Case {
            args: &["show", "hello", "puts"],
            exit: 2,
            out: &[],
            err: &["imported", "callers hello import:puts"],
        },
        Case {
            args: &["show", "hello", "main", "--from", "9999"],
            exit: 2,
            out: &[],
            err: &["row 9999 is outside 0 to"],
        },
        Case { args: &["show", "hello", "0xffffff"], exit: 2, out: &[], err: &["0xffffff"] },
        Case {
            args: &["show", "hullo"],
            exit: 2,
            out: &[],
            err: &["error: no build `hullo`", "did you mean `hello`?"],
        },
        Case { args: &["show", "./nothing"], exit: 2, out: &[], err: &["there is no file `./nothing`"] },
        Case {
            args: &["show", "/bin/sh"],
            exit: 2,
            out: &[],
            err: &["is not in this archive", "add /bin/sh"],
        },
        Case {
            args: &["show", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")],
            exit: 3,
            out: &[],
            err: &["not an ELF"],
        },
        Case {
            args: &["search", "hello", "HELLO from"],
            exit: 0,
            out: &["string", "\"Hello from elfscope!\""],
            err: &[],
        },
        Case {
            args: &["search", "hello", "squares", "--kind", "function"],
            exit: 0,
            out: &["sum_of_squares"],
            err: &[],
        },
        Case {
            args: &["search", "hello", "pu", "--match", "prefix"],
            exit: 0,
            out: &["import", "puts@GLIBC_2.2.5"],
            err: &[],
        },
        Case {
            args: &["search", "hello", "pu"],
            exit: 2,
            out: &[],
            err: &["at least 3 bytes", "--match prefix"],
        },
        Case {
            args: &["search", "hello", "nowhere"],
            exit: 0,
            out: &["Nothing in hello fits `nowhere`"],
            err: &[],
        },
        Case {
            args: &["search", "hello", "_", "--match", "prefix", "--limit", "1"],
            exit: 0,
            out: &["more: ", "--cursor"],
            err: &[],
        },
        Case {
            args: &["callees", "hello", "main"],
            exit: 0,
            out: &["import", "puts@GLIBC_2.2.5 of libc.so.6", "sum_of_squares"],
            err: &[],
        },
        Case {
            args: &["callers", "hello", "sum_of_squares"],
            exit: 0,
            out: &["1 way in", "main", "direct"],
            err: &[],
        },
        Case {
            args: &["callers", "hello", "import:puts"],
            exit: 0,
            out: &["imported from libc.so.6", "main"],
            err: &[],
        },
        Case { args: &["callers", "hello", "puts"], exit: 0, out: &["imported from libc.so.6"], err: &[] },
        Case {
            args: &["callers", "hello", "import:nothing"],
            exit: 2,
            out: &[],
            err: &["no imported symbol"],
        },
        Case { args: &["verify"], exit: 0, out: &["good", "1 edition"], err: &[] },
        Case { args: &["verify", "hello"], exit: 0, out: &["good"], err: &[] },
        Case { args: &["gc"], exit: 0, out: &["nothing to delete"], err: &[] },
        Case { args: &["promote", &pinned], exit: 0, out: &["current now"], err: &[] },
        Case { args: &["promote", "hello"], exit: 2, out: &[], err: &["names no edition"] },
        Case { args: &["add", HELLO], exit: 0, out: &["there already", "hello"], err: &[] },
        Case { args: &["add", "/nonexistent"], exit: 3, out: &[], err: &["error: `/nonexistent`"] },
        Case {
            args: &["add", HELLO, "/nonexistent"],
            exit: 3,
            out: &["there already"],
            err: &["1 of 2 inputs", "/nonexistent"],
        },
        Case { args: &["add"], exit: 2, out: &[], err: &["INPUT"] },
        Case { args: &["nonsense"], exit: 2, out: &[], err: &["nonsense"] },
        Case { args: &["--help"], exit: 0, out: &["Exit codes:", "demo", "callers"], err: &[] },
        Case { args: &["show", "--help"], exit: 0, out: &["Examples:", "path of an ELF"], err: &[] },
        Case { args: &["--version"], exit: 0, out: &["elfscope 0."], err: &[] },
    ] {
        check(archive(), &case);
    }
}

#[test]
fn json_is_one_document_a_line() {
    for args in [
        &["list"][..],
        &["show", "hello"],
        &["show", "hello", "main"],
        &["show", "hello", "0x2006"],
        &["search", "hello", "hello"],
        &["callees", "hello", "main"],
        &["callers", "hello", "import:puts"],
        &["verify"],
        &["gc"],
        &["add", HELLO],
    ] {
        let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        let out = check(archive(), &Case { args: &args, exit: 0, out: &[], err: &[] });
        assert!(!out.is_empty(), "{args:?}");
        for line in out.lines() {
            let _: serde_json::Value = serde_json::from_str(line).unwrap();
        }
    }
}

/// The names of an object's members.
fn fields(document: &serde_json::Value) -> Vec<&str> {
    document.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn json_of_add_tells_what_was_added_refused_and_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::create_dir(place("mixed")).unwrap();
    std::fs::copy(HELLO, place("mixed/hello")).unwrap();
    std::fs::write(place("mixed/notes.txt"), "text").unwrap();
    for number in 0..45 {
        std::fs::write(place(&format!("mixed/cut-{number:02}")), b"\x7fELF").unwrap();
    }
    let dwarf = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/bin/dwarf5-x86_64.so");
    let args = ["add", "--only-given", "--json", &place("mixed"), dwarf];
    let out = check(
        &folder.path().join("archive"),
        &Case {
            args: &args,
            exit: 3,
            out: &[],
            err: &["45 of 47 inputs can't be read", "and 5 more, which `--json` lists"],
        },
    );
    let documents: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |outcome: &str| -> Vec<&serde_json::Value> {
        documents.iter().filter(|document| document["outcome"] == outcome).collect()
    };
    let (added, refused, left) = (of("added"), of("refused"), of("left_out"));
    assert_eq!((added.len(), refused.len(), left.len(), documents.len()), (2, 45, 1, 48));
    for document in &added {
        let expected = [
            "build_id",
            "current",
            "diagnostics",
            "diagnostics_first",
            "edition",
            "functions",
            "input",
            "name",
            "outcome",
            "rows",
            "rows_with_line",
            "sources",
            "sources_to_give",
        ];
        assert_eq!(fields(document), expected);
    }
    let with_lines = added.iter().find(|document| document["name"] == "dwarf5-x86_64.so").unwrap();
    assert!(with_lines["rows_with_line"].as_u64() > Some(100) && with_lines["current"] == true);
    let hint = &with_lines["sources_to_give"][0];
    assert_eq!(fields(hint), ["ambiguous", "example", "flags", "folder", "mismatched", "missing"]);
    assert!(hint["missing"].as_u64() > Some(0) && hint["flags"][0] == "--source", "{hint}");
    for document in &refused {
        assert_eq!(fields(document), ["error", "input", "outcome"]);
        assert!(document["input"].as_str().unwrap().contains("cut-"), "{document}");
    }
    assert_eq!(fields(left[0]), ["notes", "outcome", "skipped_debug_files", "skipped_files"]);
    assert_eq!((&left[0]["skipped_files"], &left[0]["skipped_debug_files"]), (&1.into(), &0.into()));
    // The help names each field; wrong usage is another code, and nothing more than usage.
    let help = check(folder.path(), &Case { args: &["add", "--help"], exit: 0, out: &[], err: &[] });
    for document in [added[0], refused[0], left[0], hint] {
        for field in fields(document) {
            assert!(help.contains(field), "{field} is missing\n{help}");
        }
    }
    for args in [&["add", "--json"][..], &["add", "--json", HELLO, "--source-map", "nothing"]] {
        check(&folder.path().join("archive"), &Case { args, exit: 2, out: &["!{"], err: &["error: "] });
    }
    let args = ["add", "--json", "--only-given", HELLO];
    let case = Case { args: &args, exit: 0, out: &["\"outcome\":\"already_there\""], err: &["!e"] };
    check(&folder.path().join("archive"), &case);
}

#[test]
fn a_life_of_an_archive() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("new");
    let loose = folder.path().join("loose");
    let loose = loose.to_str().unwrap();
    for case in [
        Case { args: &["list"], exit: 0, out: &["is empty", "add FILE", "demo"], err: &[] },
        Case {
            args: &["show", "hello"],
            exit: 2,
            out: &[],
            err: &["there is no archive at", "add FILE", "demo"],
        },
        Case { args: &["verify"], exit: 2, out: &[], err: &["no archive"] },
        Case {
            args: &["add", HELLO, "--jobs", "1"],
            exit: 0,
            out: &["added", "hello", "look into it: "],
            err: &[],
        },
        Case { args: &["export", "--loose", loose], exit: 0, out: &["1 build in"], err: &[] },
        Case { args: &["export", "--loose", loose], exit: 2, out: &[], err: &["not empty"] },
        Case {
            args: &["remove", "hello", "--reason", "a test"],
            exit: 0,
            out: &["removed ", "no current edition"],
            err: &[],
        },
        Case { args: &["list"], exit: 0, out: &["is empty"], err: &[] },
        Case { args: &["show", HELLO], exit: 2, out: &[], err: &["was removed: a test"] },
        Case { args: &["add", HELLO], exit: 0, out: &["added"], err: &[] },
        Case { args: &["show", "hello", "main"], exit: 0, out: &["puts"], err: &[] },
    ] {
        check(&archive, &case);
    }
    // A flipped byte is found.
    let list: serde_json::Value =
        serde_json::from_slice(&elfscope(&archive, &["list", "--json"]).stdout).unwrap();
    let build = &list["builds"][0];
    let path = archive.join(build["build_id"].as_str().unwrap()).join(build["edition"].as_str().unwrap());
    let pack = path.join("fn.jsonl.gz");
    let mut bytes = std::fs::read(&pack).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&pack, bytes).unwrap();
    check(
        &archive,
        &Case { args: &["verify"], exit: 1, out: &["damaged", "fn.jsonl.gz", "differs"], err: &[] },
    );
    // A folder that holds something else is left alone.
    std::fs::create_dir(folder.path().join("mine")).unwrap();
    std::fs::write(folder.path().join("mine/letter"), "dear").unwrap();
    check(
        &folder.path().join("mine"),
        &Case { args: &["add", HELLO], exit: 2, out: &[], err: &["--archive DIR"] },
    );
    // Nor can one be written where a file stands.
    check(
        &folder.path().join("mine/letter"),
        &Case { args: &["add", HELLO], exit: 4, out: &[], err: &["error: "] },
    );
}

#[test]
fn a_reader_that_has_enough_is_no_failure() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_elfscope"));
    command.env("ELFSCOPE_ARCHIVE", archive()).args(["show", "hello", "main"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn the_demo_ends_and_its_commands_work() {
    let folder = tempfile::tempdir().unwrap();
    let case = Case {
        args: &["demo", "--once"],
        exit: 0,
        out: &["hello", "elfscope", "puts@GLIBC_2.2.5", "Not known: ", "Go on with"],
        err: &[],
    };
    let out = check(folder.path(), &case);
    let commands: Vec<&str> =
        out.lines().skip_while(|line| !line.starts_with("Go on")).skip(1).take(3).collect();
    assert_eq!(commands.len(), 3, "{out}");
    for line in commands {
        let status = Command::new("sh").args(["-c", line]).stdout(Stdio::null()).status().unwrap();
        assert!(status.success(), "{line}");
    }
    assert!(out.lines().all(|line| line.chars().count() < 200), "{out}");
}
