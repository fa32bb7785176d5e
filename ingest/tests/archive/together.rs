//! Many writers at once.

use elfscope_ingest::archive::Archive;

use crate::common::{Recipe, child, child_args, verified};

const THREADS: u64 = 8;
const BUILDS: u64 = 8;

/// What the writer does: some builds of its own, and an edition of a build that all of them add to.
fn write(archive: &Archive, process: u64, thread: u64) {
    let writer = process * THREADS + thread;
    for number in 0..BUILDS {
        Recipe::new(writer * 100 + number).add(archive).unwrap();
    }
    if thread < 6 {
        let mut shared = Recipe::new(9999);
        shared.given.derivation += writer as u32;
        shared.salt = writer;
        shared.add(archive).unwrap();
    }
    // All add these.
    Recipe::new(5000 + thread % 2).add(archive).unwrap();
}

fn write_from_threads(archive: &Archive, process: u64) {
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || write(archive, process, thread));
        }
    });
}

#[test]
fn two_processes_of_eight_threads_lose_nothing() {
    let guard = tempfile::tempdir().unwrap();
    let root = guard.path().join("archive");
    let archive = Archive::create(&root).unwrap();
    let mut other = child("together::second_process", &[root.to_str().unwrap()]);
    write_from_threads(&archive, 0);
    assert!(other.wait().unwrap().success());
    assert_eq!(archive.builds().unwrap().len() as u64, 2 * THREADS * BUILDS + 3);
    assert_eq!(archive.current(&Recipe::new(9999).build).unwrap().unwrap().editions.len(), 12);
    let verified = verified(&archive);
    assert_eq!((verified.findings, verified.editions), (Vec::new(), 2 * THREADS * BUILDS + 2 + 12));
}

/// The other process of `two_processes_of_eight_threads_lose_nothing`.
#[test]
fn second_process() {
    let Some(args) = child_args() else { return };
    write_from_threads(&Archive::open(&args[0]).unwrap(), 1);
}

#[test]
fn verifying_while_others_write_finds_nothing() {
    let guard = tempfile::tempdir().unwrap();
    let archive = Archive::create(guard.path().join("archive")).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..40 {
                let recipe = Recipe::new(number);
                recipe.add(&archive).unwrap();
                if number % 2 == 0 {
                    archive.remove(&recipe.build, None, "again and again").unwrap();
                }
                if number % 8 == 0 {
                    archive.gc().unwrap();
                }
            }
        });
        while !writer.is_finished() {
            assert_eq!(verified(&archive).findings, []);
        }
    });
}
