//! Writers that are killed and disks that are full.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use elfscope_ingest::archive::{Archive, ErrorClass, Scope};

use crate::common::{Random, Recipe, child, child_args, verified};

#[test]
fn a_killed_writer_harms_no_edition() {
    let guard = tempfile::tempdir().unwrap();
    let root = guard.path().join("archive");
    let mut random = Random(20);
    let (mut leftovers, mut killed_at) = (0, Vec::new());
    // The moments are spread over several publications, however busy the machine is.
    let start = Instant::now();
    Recipe::new(900).add(&Archive::create(&root).unwrap()).unwrap();
    let span = (8 * start.elapsed().as_micros() as u64).max(80_000);
    for round in 0..20 {
        let ready = guard.path().join(format!("ready{round}"));
        let args = [root.to_str().unwrap(), &round.to_string(), ready.to_str().unwrap()];
        let mut writer = child("faults::writer_to_be_killed", &args);
        while !ready.exists() {
            assert_eq!(writer.try_wait().unwrap(), None, "the writer ended by itself");
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_micros(random.below(span)));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let archive = Archive::open(&root).unwrap();
        let verified = verified(&archive);
        assert!(verified.is_good(), "round {round}: {:?}", verified.findings);
        leftovers += verified.findings.len();
        killed_at.push(verified.editions);
    }
    eprintln!("killed after {killed_at:?} editions, {leftovers} leftovers");
    assert!(killed_at.last().is_some_and(|editions| *editions > 5), "hardly anything was published");

    // The next run completes, and takes the place of what was left behind.
    let archive = Archive::create(&root).unwrap();
    for number in 0..20 {
        Recipe::new(number * 1000).add(&archive).unwrap();
    }
    archive.gc().unwrap();
    let verified = verified(&archive);
    assert_eq!(verified.findings, []);
    let temp = std::fs::read_dir(root.join(".tmp")).unwrap().count();
    assert!(temp <= 2, "{temp} files are left");
}

/// The other process of `a_killed_writer_harms_no_edition`.
#[test]
fn writer_to_be_killed() {
    let Some(args) = child_args() else { return };
    let archive = Archive::create(&args[0]).unwrap();
    let round: u64 = args[1].parse().unwrap();
    std::fs::write(&args[2], "").unwrap();
    for number in round * 1000.. {
        Recipe::new(number).add(&archive).unwrap();
        // Also of builds that are there.
        Recipe::new(number).with_dwarf().with_some_sources().add(&archive).unwrap();
        if number.is_multiple_of(3) {
            archive.remove(&Recipe::new(number).build, None, "tried out").unwrap();
        }
        if number.is_multiple_of(4) {
            archive.gc().unwrap();
        }
    }
}

#[test]
fn a_full_disk_harms_no_edition() {
    let guard = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(guard.path()) else {
        eprintln!("skipped: a small disk needs the right to mount a tmpfs");
        return;
    };
    let archive = Archive::create(disk.0.join("archive")).unwrap();
    let (mut added, mut refused) = (0, 0);
    for free in 0..48 {
        let mut recipe = Recipe::new(free);
        if free % 3 == 0 {
            // A further edition of a build that is there.
            recipe = Recipe::new(1000).with_dwarf();
            recipe.given.derivation += free as u32;
            recipe.salt += free;
        }
        recipe = recipe.with_some_sources();
        if free == 0 {
            Recipe::new(1000).add(&archive).unwrap();
        }
        disk.fill(free);
        match recipe.add(&archive) {
            Ok(_) => added += 1,
            Err(error) => {
                refused += 1;
                assert_eq!(error.class(), ErrorClass::Storage, "{error}");
            }
        }
        let verified = verified(&archive);
        assert!(verified.is_good(), "{free} free: {:?}", verified.findings);
        if let Err(error) = archive.gc() {
            assert_eq!(error.class(), ErrorClass::Storage, "{error}");
        }
        disk.empty();
        recipe.add(&archive).unwrap();
        assert_eq!(archive.verify(Scope::All, 9, &|_, _| {}).unwrap().findings, []);
        archive.remove(&recipe.build, None, "makes room").ok();
        if free % 3 == 0 {
            Recipe::new(1000).add(&archive).unwrap();
        }
    }
    eprintln!("{added} added, {refused} refused");
    assert!(added > 0 && refused > 8);
}

/// A tmpfs of 1 MiB, unmounted when dropped.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    fn mount(at: &Path) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(at).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success()).then(|| Self(at.to_owned()))
    }

    /// Leaves `free` pages of 4 KiB.
    fn fill(&self, free: u64) {
        let filler = self.0.join("filler");
        std::fs::write(&filler, vec![1; 1 << 20]).unwrap_err();
        let file = std::fs::OpenOptions::new().write(true).open(&filler).unwrap();
        file.set_len(file.metadata().unwrap().len().saturating_sub(free * 4096)).unwrap();
    }

    fn empty(&self) {
        std::fs::remove_file(self.0.join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
