//! What agents are told is what the command line tells: every function of the fixtures, by MCP text, MCP structure and `show`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that fails says where")]

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use elfscope_core::{Config, Link, Service, Store, tools};
use pollster::block_on;
use serde_json::{Value, json};

struct Folder(PathBuf);

impl Store for Folder {
    async fn get(&self, path: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(fs::read(self.0.join(path)).ok())
    }

    async fn get_range(&self, path: &str, offset: u64, length: u64) -> io::Result<Option<Vec<u8>>> {
        Ok(fs::read(self.0.join(path)).ok().map(|bytes| {
            let start = usize::try_from(offset).unwrap().min(bytes.len());
            let end = usize::try_from(offset.saturating_add(length)).unwrap().min(bytes.len());
            bytes[start..end].to_vec()
        }))
    }
}

fn elfscope(archive: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_elfscope"))
        .arg("--archive")
        .arg(archive)
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The fixtures that are compared: of every kind of debug data, machine and file one.
const FIXTURES: [&str; 8] = [
    "dwarf5-x86_64.so",
    "dwarf-rust-x86_64.so",
    "dwarf5-aarch64.so",
    "edges-x86_64.so",
    "edges-aarch64.so",
    "pointers-x86_64.so",
    "relocatable-x86_64.o",
    "static-x86_64",
];

#[test]
fn agents_are_told_what_the_command_line_tells() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let mut arguments = vec!["add".to_owned(), "--only-given".to_owned(), "--source".to_owned()];
    arguments.push(fixtures.join("src/dwarf").to_string_lossy().into_owned());
    arguments
        .extend(FIXTURES.iter().map(|name| fixtures.join("bin").join(name).to_string_lossy().into_owned()));
    elfscope(&archive, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let loose = folder.path().join("loose");
    elfscope(&archive, &["export", "--loose", loose.to_str().unwrap()]);
    let service = Service::new(Folder(archive.clone()), Config::default());
    let mut compared = 0;
    for build in fs::read_dir(&loose).unwrap().map(|entry| entry.unwrap().path()) {
        let Ok(bodies) = fs::read_dir(build.join("fn")) else { continue };
        let id = build.file_name().unwrap().to_str().unwrap().to_owned();
        let mut keys: Vec<String> = bodies
            .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".json").map(str::to_owned))
            .filter(|name| !name.contains('.'))
            .collect();
        keys.sort();
        for key in keys {
            compare(&service, &archive, &id, &key);
            compared += 1;
        }
    }
    println!("{compared} bodies compared");
    assert!(compared > 150, "{compared}");
}

fn compare(service: &Service<Folder>, archive: &Path, id: &str, key: &str) {
    let arguments = json!({"build_id": id, "function": key, "view": "asm+source"});
    let answer = block_on(tools::call(service, "archive_function", arguments)).unwrap().unwrap();
    let text = answer.text();
    let structured = answer.structured();
    let listing = structured["listing"].as_str().unwrap();
    assert!(text.ends_with(listing) && listing == answer.listing, "{id} {key}");
    for member in ["build_id", "edition", "provenance", "note", "link"] {
        let told = structured[member].as_str().unwrap();
        assert!(text.contains(&format!("{member}: {told}\n")), "{id} {key}: {member}");
    }
    let Some((from, to)) = answer.envelope.from.zip(answer.envelope.to) else { return };
    let (first, count) = (from.to_string(), (to - from + 1).to_string());
    let cited = elfscope(
        archive,
        &["show", id, key, "--source", "--no-bytes", "--from", &first, "--rows", &count, "--cite"],
    );
    let (link, rows) = cited.split_once("\n\n").unwrap();
    assert_eq!(link, answer.envelope.link, "{id} {key}");
    let told = listing.split_once("\n\n").map_or(listing, |(_, rows)| rows);
    let told: Vec<&str> = told.lines().filter(|line| !line.starts_with("  … ")).collect();
    assert_eq!(rows.lines().collect::<Vec<_>>(), told, "{id} {key}");
    assert!(Link::parse(link).is_ok());
    // What the link opens says the same rows.
    if from == 0 && key.ends_with('5') {
        let opened = elfscope(archive, &["show", link]);
        let opened: Vec<&str> = opened.lines().collect();
        let first = told.first().copied().unwrap_or_default();
        assert!(opened.contains(&first), "{id} {key}: {link} opens\n{}", opened.join("\n"));
    }
    let json: Value = serde_json::from_str(
        elfscope(archive, &["show", id, key, "--json", "--from", &first, "--rows", &count])
            .lines()
            .next()
            .unwrap(),
    )
    .unwrap();
    let rows: usize =
        json["runs"].as_array().unwrap().iter().map(|run| run["rows"].as_array().unwrap().len()).sum();
    assert_eq!(rows as u64, to - from + 1, "{id} {key}");
}
