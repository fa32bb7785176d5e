//! What the fuzzing targets share: adding bytes to an archive in memory and holding to what must be so of any input, and a
//! generator for mutators.
//!
//! The whole of `add` runs, from the first byte to the published edition: nothing is left out to be quicker.

use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use elfscope_ingest::{
    AddOptions, Outcome, Report, add,
    archive::{Archive, Scope},
};
use tempfile::TempDir;

/// See [`feed`].
pub const LOOKED_AT: u64 = 16;

/// Adds a file with these bytes to a new archive.
///
/// # Panics
/// When what must be so of any input is not: it is refused with one sentence, or it is an edition. One in [`LOOKED_AT`], by
/// their digest, is verified and added again too, which takes as long as adding.
pub fn feed(name: &str, bytes: &[u8]) {
    let folder = in_memory();
    let file = folder.path().join(name);
    fs::write(&file, bytes).expect("room in memory");
    let root = folder.path().join("archive");
    let archive = Archive::create(&root).expect("a folder of our own");
    let inputs = [file];
    let report = run(&archive, &inputs);
    for (path, error) in &report.failed {
        let sentence = error.to_string();
        assert!(!sentence.is_empty() && !sentence.contains('\n'), "{}: {sentence}", path.display());
    }
    let digest = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| {
        // FNV-1a: the same input is always looked at, or never.
        (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    if report.added.is_empty() || !(digest >> 32).is_multiple_of(LOOKED_AT) {
        return;
    }
    let verified = archive.verify(Scope::All, 10, &|_, _| {}).expect("the archive is there");
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
    let again = run(&archive, &inputs);
    assert!(again.added.iter().all(|added| added.outcome == Outcome::AlreadyThere), "{:?}", again.added);
}

fn run(archive: &Archive, inputs: &[PathBuf]) -> Report {
    let options = AddOptions { only_given: true, jobs: NonZeroUsize::new(1), ..AddOptions::new(inputs) };
    add(archive, &options, &()).expect("the archive can be written")
}

fn in_memory() -> TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    folder.expect("room for a folder")
}

/// A small generator (SplitMix64), seeded by the fuzzer.
pub struct Random(pub u64);

impl Random {
    /// The next number.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below another one.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap_or(0)
    }
}

/// A section of an ELF file.
pub struct Section {
    /// Where its header stands.
    pub header: usize,
    /// Where its bytes start.
    pub start: usize,
    /// How many it has in the file.
    pub size: usize,
    /// Its name.
    pub name: Vec<u8>,
}

/// The sections of a 64-bit little-endian ELF file that lie inside it.
#[must_use]
pub fn sections(file: &[u8]) -> Vec<Section> {
    let word = |at: usize, size: usize| -> Option<usize> {
        let bytes = file.get(at..at.checked_add(size)?)?;
        let value = bytes.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
        usize::try_from(value).ok()
    };
    let all = || {
        let (table, count, names) = (word(0x28, 8)?, word(0x3c, 2)?, word(0x3e, 2)?);
        let header = |index: usize| table.checked_add(index * 64);
        let strings = word(header(names)? + 0x18, 8)?;
        let section = |index: usize| {
            let header = header(index)?;
            let (start, size) = (word(header + 0x18, 8)?, word(header + 0x20, 8)?);
            file.get(start..start.checked_add(size)?)?;
            let name = file.get(strings.checked_add(word(header, 4)?)?..)?;
            let name = name.iter().take_while(|byte| **byte != 0).copied().collect();
            Some(Section { header, start, size, name })
        };
        Some((0..count.min(256)).filter_map(section).collect())
    };
    all().unwrap_or_default()
}
