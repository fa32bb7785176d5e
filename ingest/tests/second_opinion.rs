//! `docs/verify_archive.py`, which shares no code with this crate, finds an archive good, and finds any file of it that
//! was changed.

#![allow(clippy::unwrap_used, reason = "a test that can't make its archive should say where")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use elfscope_ingest::{AddOptions, add, archive::Archive};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Whether the script finds nothing, and what it says.
fn verify(archive: &Path) -> (bool, String) {
    let script = repository().join("docs/verify_archive.py");
    let output = Command::new("python3").arg(script).arg(archive).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

/// Every file of the archive, but the writer's own.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_str().unwrap().starts_with('.') {
            continue;
        }
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

#[test]
fn a_program_that_knows_only_the_specification_agrees() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("there is no python3 here, so there is no second opinion");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::create(folder.path()).unwrap();
    let bin = repository().join("fixtures/bin");
    let inputs = ["edges-x86_64.so", "pointers-aarch64.so", "relocatable-x86_64.o", "other-s390x.so"]
        .map(|name| bin.join(name));
    let report = add(&archive, &AddOptions { only_given: true, ..AddOptions::new(&inputs) }, &()).unwrap();
    assert_eq!((report.added.len(), report.failed.len()), (inputs.len(), 0));
    let (good, said) = verify(folder.path());
    assert!(good, "{said}");
    assert!(said.starts_with("4 builds, 4 editions, "), "{said}");

    for path in files(folder.path()) {
        let bytes = fs::read(&path).unwrap();
        let mut changed = bytes.clone();
        let middle = changed.len() / 2;
        changed[middle] ^= 1;
        fs::write(&path, changed).unwrap();
        let (good, said) = verify(folder.path());
        // The name of an offsets file stands in what is said of its pack.
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(!good && said.contains(name), "a changed byte in {} is not found: {said}", path.display());
        fs::write(&path, bytes).unwrap();
    }
    assert!(verify(folder.path()).0);
}
