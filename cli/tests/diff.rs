//! What differs between two builds that are compiled here, from sources that differ in a known way.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

const BOTH: &str = r#"
int puts(const char *); int system(const char *); void *memcpy(void *, const void *, unsigned long);
#define OUT __attribute__((noinline, visibility("default")))
OUT int same(int a) { puts("same"); return a * 17 + 3; }
OUT long loops(const char *text) { long all = 0; for (; *text; text++) if (*text != 'x') all = all * 31 + *text; return all; }
"#;
const A: &str = r#"
OUT int constant(int a) { return a * 1234567; }
OUT int text(void) { return puts("old text"); }
OUT int callee(const char *s) { return puts(s); }
OUT int gone(int a) { int i, all = 1; for (i = 2; i < a; i++) all ^= all * i + 5; return all; }
OUT int old_name(int a, int b) { puts("moved"); return (a ^ b) * 91 + (a & 7); }
OUT int grows(int a) { return a + 1; }
int only_data_a = 4;
"#;
const B: &str = r#"
OUT int padding_before(int a) { return puts("shifts everything") + a * 7; }
OUT int constant(int a) { return a * 7654321; }
OUT int text(void) { return puts("new text"); }
OUT int callee(const char *s) { return system(s); }
OUT int new_name(int a, int b) { puts("moved"); return (a ^ b) * 91 + (a & 7); }
OUT int grows(int a) { puts("it grew"); return a + 1; }
int only_data_b = 5;
"#;

fn elfscope(archive: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_elfscope"));
    command.env("ELFSCOPE_ARCHIVE", archive).env("XDG_DATA_HOME", archive);
    command.args(args).stdin(Stdio::null()).output().unwrap()
}

fn documents(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(!text.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn compile(folder: &Path, name: &str, source: &str) -> Option<String> {
    let (from, to) = (folder.join(format!("{name}.c")), folder.join(name));
    fs::write(&from, source).unwrap();
    let made = Command::new("cc")
        .args(["-O1", "-fPIC", "-shared", "-fno-builtin", "-Wl,--build-id=sha1", "-o"])
        .arg(&to)
        .arg(&from)
        .status();
    made.ok().filter(std::process::ExitStatus::success)?;
    Some(to.to_string_lossy().into_owned())
}

#[test]
fn what_the_sources_changed_is_what_differs() {
    let guard = tempfile::tempdir().unwrap();
    let archive = guard.path().join("archive");
    let a = compile(guard.path(), "liba.so", &format!("{BOTH}{A}")).expect("a C compiler");
    let b = compile(guard.path(), "libb.so", &format!("{BOTH}{B}")).unwrap();
    assert!(elfscope(&archive, &["add", &a, &b]).status.success());

    let output = elfscope(&archive, &["diff", "liba.so", "libb.so", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let documents_of_both = documents(&output);
    let told = &documents_of_both[0];
    let changes: BTreeMap<String, (String, Value)> = told["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| {
            let name = change["name"].as_str().unwrap().to_owned();
            (name, (change["change"].as_str().unwrap().to_owned(), change.clone()))
        })
        .collect();
    for (name, change) in [
        ("constant", "changed"),
        ("text", "changed"),
        ("callee", "changed"),
        ("grows", "changed"),
        ("gone", "removed"),
        ("old_name", "moved"),
        ("new_name", "added"),
        ("padding_before", "added"),
        ("only_data_a", "removed"),
        ("only_data_b", "added"),
        ("system", "added"),
    ] {
        assert_eq!(changes.get(name).map(|told| told.0.as_str()), Some(change), "{name}\n{told:#}");
    }
    // Functions that the sources leave alone are equal though they moved.
    assert!(!changes.contains_key("same") && !changes.contains_key("loops"), "{told:#}");
    assert_eq!(changes["old_name"].1["same_code"][0]["name"], "new_name");
    assert_eq!(changes["old_name"].1["basis"], "equal_body");
    assert_eq!(changes["new_name"].1["same_code"][0]["name"], "old_name");
    assert_eq!(changes["gone"].1["same_code"], serde_json::json!([]));
    assert_eq!(told["total"], told["counts"]);
    // Walked one by one it is the same list.
    let mut walked = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut args = vec!["diff", "liba.so", "libb.so", "--json", "--limit", "1"];
        args.extend(cursor.iter().flat_map(|cursor| ["--cursor", cursor.as_str()]));
        let answer = documents(&elfscope(&archive, &args)).remove(0);
        walked.extend(answer["changes"].as_array().unwrap().iter().map(|change| change["name"].clone()));
        match answer["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    let whole: Vec<Value> =
        told["changes"].as_array().unwrap().iter().map(|change| change["name"].clone()).collect();
    assert_eq!(walked, whole);

    // Functions: equal ones, a constant, a call, and rows that were added.
    for (function, verdict, exit, differing) in [
        ("same", "equal", 0, 0..=0),
        ("loops", "equal", 0, 0..=0),
        ("constant", "different", 1, 1..=1),
        ("text", "same_shape", 1, 1..=1),
        ("callee", "same_shape", 1, 1..=1),
        ("grows", "different", 1, 1..=12),
    ] {
        let side = format!("liba.so:{function}");
        let output = elfscope(&archive, &["diff", &side, "libb.so", "--json"]);
        assert_eq!(output.status.code(), Some(exit), "{function}");
        let answer = documents(&output).remove(0);
        assert_eq!(answer["verdict"], verdict, "{function}: {answer:#}");
        let count = |name: &str| answer["total"][name].as_u64().unwrap();
        let all = count("changed") + count("only_a") + count("only_b");
        assert!(differing.contains(&all), "{function}: {all} rows differ\n{answer:#}");
        let rows = |side: &str| answer[side]["rows"].as_u64().unwrap();
        assert_eq!(rows("function_a"), count("equal") + count("changed") + count("only_a"));
        assert_eq!(rows("function_b"), count("equal") + count("changed") + count("only_b"));
    }
    let equal = elfscope(&archive, &["diff", "liba.so", "liba.so"]);
    assert_eq!(equal.status.code(), Some(0), "{}", String::from_utf8_lossy(&equal.stdout));
    let text = elfscope(&archive, &["diff", "liba.so", "libb.so"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("moved") && text.contains("equal code: new_name"), "{text}");
    let text = elfscope(&archive, &["diff", "liba.so:text", "libb.so", "--context", "1"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("old text") && text.contains("new text"), "{text}");
    let refused = elfscope(&archive, &["diff", "liba.so", "libb.so:text"]);
    assert_eq!(refused.status.code(), Some(2));

    // A regular expression, and one that no index answers.
    let found = documents(&elfscope(
        &archive,
        &["search", "liba.so", "^(OLD|new)_name$", "--match", "regex", "--json"],
    ));
    assert_eq!(found[0]["hits"][0]["name"], "old_name");
    let refused = elfscope(&archive, &["search", "liba.so", "a.*b", "--match", "regex"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("three"), "says why");
}
