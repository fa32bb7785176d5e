//! Packages: every ELF in one is added, and nothing else.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use elfscope_schema::Sha256Digest;

use super::{edition::Edition, tally::Tally};
use crate::report::Report;

/// Compares what was added of a package with its files.
pub(super) fn compare(editions: &[Edition], files: &Path, input: &str, report: &mut Report) -> Result<()> {
    let mut added = Tally::new("package: every ELF in it is added");
    let mut there = Tally::new("package: what is added is an ELF in it");
    let digests: BTreeSet<Sha256Digest> = editions.iter().map(|edition| edition.meta.file.sha256).collect();
    let mut elfs = BTreeSet::new();
    for path in all_files(files)? {
        let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
        if bytes.starts_with(b"\x7fELF") {
            let digest = Sha256Digest::of(&bytes);
            added.check(digests.contains(&digest), || path.display().to_string());
            elfs.insert(digest);
        }
    }
    for edition in editions {
        let file = &edition.meta.file;
        there.check(elfs.contains(&file.sha256), || file.name.text().to_owned());
    }
    added.finish(input, report);
    there.finish(input, report);
    Ok(())
}

/// Every regular file below a folder; links are not followed.
pub(super) fn all_files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    Ok(files)
}
