//! gdb and debuginfod's own client take a source from the archive.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod support;

use std::{fs, process::Command};

use support::{SOURCE, Served};

fn client(served: &Served, program: &str) -> Command {
    let mut command = Command::new(program);
    let folder = served.folder.path();
    command
        .env("DEBUGINFOD_URLS", format!("http://{}", served.address))
        .env("DEBUGINFOD_CACHE_PATH", folder.join(format!("cache-{program}")))
        .env("HOME", folder)
        .env_remove("DEBUGINFOD_VERBOSE")
        .current_dir(folder);
    command
}

#[test]
fn debuginfod_find_finds_a_source() {
    let served = Served::new();
    assert!(!served.source.exists());
    let mut command = client(&served, "debuginfod-find");
    command.args(["source", &served.build]).arg(&served.source);
    let output = command.output().expect("it needs `debuginfod-find`: `cargo xtask setup` installs it");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let found = String::from_utf8(output.stdout).unwrap();
    assert_eq!(fs::read_to_string(found.trim_end()).unwrap(), SOURCE);
    for what in ["executable", "debuginfo"] {
        let output = client(&served, "debuginfod-find").args([what, &served.build]).output().unwrap();
        assert!(!output.status.success(), "{what}: {output:?}");
    }
}

#[test]
fn gdb_lists_a_source_that_is_nowhere_else() {
    let served = Served::new();
    let mut gdb = client(&served, "gdb");
    gdb.args(["-nx", "-batch", "-ex", "set debuginfod enabled on", "-ex", "list twice"]).arg(&served.binary);
    let output = gdb.output().expect("it needs `gdb`: `cargo xtask setup` installs it");
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    for line in SOURCE.lines().skip(2).take(4) {
        assert!(said.contains(line), "{line}: {said} {errors}");
    }
    let mut gdb = client(&served, "gdb");
    gdb.env("DEBUGINFOD_URLS", "http://127.0.0.1:1")
        .env("DEBUGINFOD_CACHE_PATH", served.folder.path().join("none"));
    gdb.args(["-nx", "-batch", "-ex", "set debuginfod enabled on", "-ex", "list twice"]).arg(&served.binary);
    let said = gdb.output().unwrap();
    assert!(!String::from_utf8_lossy(&said.stdout).contains("return 2 * number"), "it came from the archive");
}
