//! Rules about the text of files.

use anyhow::Result;

use super::files::{File, Tree, has_extension};

const MAX_LINES: usize = 500;
const MAX_BYTES: usize = 1024 * 1024;

pub(super) fn opens_with_doc(tree: &Tree) -> Result<Vec<String>> {
    let bare = tree.files().iter().filter(|file| file.is_rust() && !file.bytes.starts_with(b"//!"));
    Ok(bare
        .map(|file| format!("{}:1: open it with a `//!` line that says what it is for", file.path))
        .collect())
}

pub(super) fn not_too_long(tree: &Tree) -> Result<Vec<String>> {
    let code =
        |file: &&File| ["rs", "py", "js", "mjs", "ts", "css"].iter().any(|e| has_extension(&file.path, e));
    let exempt =
        |file: &&File| file.path.split('/').any(|part| ["test", "tests", "fixtures"].contains(&part));
    let mut found = Vec::new();
    for file in tree.files().iter().filter(code).filter(|file| !exempt(file)) {
        let lines = file.lines().count();
        if lines >= MAX_LINES {
            found.push(format!("{}:{lines}: {lines} lines; split it by subject", file.path));
        }
    }
    Ok(found)
}

pub(super) fn not_too_big(tree: &Tree) -> Result<Vec<String>> {
    let big = tree.files().iter().filter(|file| file.bytes.len() > MAX_BYTES);
    Ok(big.map(|file| format!("{}:1: {} bytes; make it by a script", file.path, file.bytes.len())).collect())
}

/// Words are written in two parts, so that this file does not have them.
pub(super) fn nothing_left_open(tree: &Tree) -> Result<Vec<String>> {
    let open = [
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("#[igno", "re"),
        concat!("test.", "skip"),
        concat!("it.", "skip("),
        concat!("describe.", "skip"),
    ];
    let code =
        |file: &&File| ["rs", "js", "mjs", "ts", "py", "sh"].iter().any(|e| has_extension(&file.path, e));
    Ok(grep(tree.files().iter().filter(code), &open, File::lines, "finish it, or file an issue"))
}

pub(super) fn no_machine(tree: &Tree) -> Result<Vec<String>> {
    let words = [
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("/fa", "rm/"),
        concat!("/tmp/", "bash_jobs"),
        concat!("index.", "crates.io"),
        concat!("static.", "crates.io"),
        concat!("registry.", "npmjs"),
        concat!("deb.", "debian.org"),
        concat!("pypi.", "org"),
        concat!("files.", "pythonhosted"),
    ];
    let mut found = grep(
        tree.files().iter().filter(|file| file.path != "Cargo.lock"),
        &words,
        File::lines,
        "say it without the machine (names of packages, relative paths)",
    );
    for file in tree.files().iter().filter(|file| file.text().is_none()) {
        for word in words {
            if file.bytes.windows(word.len()).any(|window| window == word.as_bytes()) {
                found.push(format!(
                    "{}:1: a binary that holds `{word}`; build it with a prefix map",
                    file.path
                ));
            }
        }
    }
    Ok(found)
}

pub(super) fn core_is_pure(tree: &Tree) -> Result<Vec<String>> {
    let banned = [
        "std::fs",
        "std::time",
        "std::env",
        "std::net",
        "std::thread",
        "std::process",
        "tokio",
        "Instant::now",
    ];
    Ok(grep(
        tree.rust_in("serve/core/src/"),
        &banned,
        File::code,
        "move it to a host, behind `Store` or an argument",
    ))
}

pub(super) fn ingest_is_pure(tree: &Tree) -> Result<Vec<String>> {
    let banned = ["std::env", "std::net", "std::time", "SystemTime", "Instant::now"];
    Ok(grep(tree.rust_in("ingest/src/"), &banned, File::code, "take it as an argument from `cli`"))
}

pub(super) fn libraries_are_quiet(tree: &Tree) -> Result<Vec<String>> {
    let libraries = ["schema/src/", "ingest/src/", "serve/core/src/"];
    let banned = ["println!(", "eprintln!(", "print!(", "eprint!(", concat!("db", "g!("), "process::exit"];
    let files = libraries.iter().flat_map(|folder| tree.rust_in(folder));
    Ok(grep(files, &banned, File::code, "return it, and let `cli` say it"))
}

pub(super) fn only_schema_stores(tree: &Tree) -> Result<Vec<String>> {
    let is_derive = |line: &str| line.contains("derive(") && line.contains("Serialize");
    let mut found = Vec::new();
    for file in tree.rust_in("ingest/src/") {
        for (number, _) in file.code().filter(|(_, line)| is_derive(line)) {
            found.push(format!(
                "{}:{number}: a stored document is a type of `schema`; move it there",
                file.path
            ));
        }
    }
    Ok(found)
}

fn grep<'a, L: Iterator<Item = (usize, &'a str)>>(
    files: impl Iterator<Item = &'a File>,
    words: &[&str],
    lines: impl Fn(&'a File) -> L,
    advice: &str,
) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        for (number, line) in lines(file) {
            let lower = line.to_lowercase();
            if let Some(word) = words.iter().find(|word| lower.contains(&word.to_lowercase())) {
                found.push(format!("{}:{number}: `{word}`; {advice}", file.path));
            }
        }
    }
    found
}
