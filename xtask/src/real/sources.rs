//! Sources: what is published is the tree's, byte for byte, and goes as far as it is cited; what doesn't fit is not.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use elfscope_schema::{FunctionPage, Sha256Digest, SourceFile, SourceLevel};

use super::{edition::Edition, package::all_files, tally::Tally};
use crate::report::Report;

/// The function whose source is looked at, and where it stands in glibc.
const FUNCTION: &str = "puts";
const SOURCE: &str = "libio/ioputs.c";

/// Compares an edition with the tree that its sources came from; one of another release has files that don't fit.
pub(super) fn compare(
    archive: &Path,
    edition: &Edition,
    tree: &Path,
    fits: bool,
    input: &str,
    report: &mut Report,
) -> Result<()> {
    let tree = Tree::read(tree)?;
    let mut levels: BTreeMap<&str, u64> = BTreeMap::new();
    let mut bytes = Tally::new("sources: what is published is the tree's, where its path fits");
    let mut cited = Tally::new("sources: what is published goes as far as it is cited");
    let mut told = Tally::new("sources: a level says whether it is published");
    let mut counts = Tally::new("sources: the counts are right");
    let mut mismatched = match fits {
        true => Tally::optional("sources: what ends before is not published"),
        false => Tally::new("sources: what ends before is not published"),
    };
    for source in edition.sources()? {
        *levels.entry(level(&source, edition)).or_default() += 1;
        let path = source.path.text().to_owned();
        let is_published = [SourceLevel::Md5Verified, SourceLevel::PathMatched].contains(&source.level);
        told.check(is_published == source.sha256.is_some(), || format!("{path}: {:?}", source.level));
        let fitting = tree.fitting(&path);
        if let Some(sha256) = source.sha256 {
            let blob =
                fs::read(archive.join("src").join(sha256.to_string())).context("a published source")?;
            let right = Sha256Digest::of(&blob) == sha256;
            let same = right && fitting.iter().any(|file| fs::read(file).is_ok_and(|file| file == blob));
            bytes.check(same, || format!("{path}: {fitting:?}"));
            cited.check(lines(&blob) >= source.last_line, || {
                format!("{path}: {} lines, line {} is cited", lines(&blob), source.last_line)
            });
        }
        // Whatever fits best ends before.
        let ends_before = !fitting.is_empty()
            && fitting.iter().all(|file| fs::read(file).is_ok_and(|file| lines(&file) < source.last_line));
        if ends_before {
            // Where only the end of the path fits, it may also count as missing.
            let whole = fitting == [&tree.root.join(&path)];
            let told = source.level == SourceLevel::Mismatched || (!whole && !is_published);
            mismatched.check(told && source.sha256.is_none(), || {
                format!("{path}: {:?}, line {} is cited", source.level, source.last_line)
            });
        }
    }
    for name in levels.keys().copied().chain(edition.meta.counts.sources.keys().map(String::as_str)) {
        let claimed = edition.meta.counts.sources.get(name).copied().unwrap_or(0);
        let count = levels.get(name).copied().unwrap_or(0);
        counts.check(claimed == count, || format!("{name}: {count} sources, {claimed} in meta.json"));
    }
    println!("  sources: {levels:?}");
    for tally in [bytes, cited, told, counts, mismatched] {
        tally.finish(input, report);
    }
    Ok(())
}

/// `puts` cites its source, which is published.
pub(super) fn puts(
    archive: &Path,
    edition: &Edition,
    tree: &Path,
    input: &str,
    report: &mut Report,
) -> Result<()> {
    let mut tally = Tally::new("sources: puts cites its source, and it is published");
    let expected = fs::read(tree.join(SOURCE)).context(SOURCE)?;
    for page in edition.functions()? {
        let page = page?;
        let is_it = page.head.as_ref().is_some_and(|head| {
            head.names.iter().any(|name| name.name.text() == FUNCTION && name.version.is_some())
        });
        if is_it {
            let published = published(archive, &page)?;
            tally.check(published.is_some_and(|bytes| bytes == expected), || format!("{:?}", page.files));
        }
    }
    tally.finish(input, report);
    Ok(())
}

/// No tree is said to be the one that the package was built from, or every one is.
pub(super) fn verified(edition: &Edition, expected: bool, input: &str, report: &mut Report) {
    let mut tally = Tally::new("sources: whether it is the package's own source");
    for tree in &edition.meta.sources {
        tally.check(tree.package_verified == expected, || format!("{:?}", tree.package));
    }
    tally.finish(input, report);
}

fn published(archive: &Path, page: &FunctionPage) -> Result<Option<Vec<u8>>> {
    let file = page.files.iter().find(|file| file.path.text().ends_with(SOURCE));
    let Some(sha256) = file.and_then(|file| file.sha256) else { return Ok(None) };
    Ok(Some(fs::read(archive.join("src").join(sha256.to_string()))?))
}

/// The level as `meta.json` counts it.
fn level(source: &SourceFile, edition: &Edition) -> &'static str {
    let mut trees = source.tree.iter().chain(&source.also);
    let mut is_verified = || {
        trees.any(|tree| edition.meta.sources.get(*tree as usize).is_some_and(|tree| tree.package_verified))
    };
    match source.level {
        SourceLevel::PathMatched if is_verified() => SourceLevel::PACKAGE_VERIFIED,
        level => level.name(),
    }
}

/// How many lines a file has; the last one may lack its end.
fn lines(bytes: &[u8]) -> u32 {
    let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
    let rest = usize::from(bytes.last().is_some_and(|last| *last != b'\n'));
    u32::try_from(ends + rest).unwrap_or(u32::MAX)
}

/// Every file of a source tree by the last part of its path.
struct Tree {
    files: BTreeMap<String, Vec<PathBuf>>,
    root: PathBuf,
}

impl Tree {
    fn read(root: &Path) -> Result<Self> {
        let mut files: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for path in all_files(root)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.entry(name).or_default().push(path);
        }
        Ok(Self { files, root: root.to_owned() })
    }

    /// The files that share the longest end of a path.
    fn fitting(&self, path: &str) -> Vec<&PathBuf> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let Some(named) = parts.last().and_then(|name| self.files.get(*name)) else { return Vec::new() };
        let shared = |file: &&PathBuf| {
            let below = file.strip_prefix(&self.root).unwrap_or(file);
            let theirs = below.iter().rev().map(|part| part.to_string_lossy());
            theirs.zip(parts.iter().rev()).take_while(|(theirs, ours)| theirs == *ours).count()
        };
        let most = named.iter().map(|file| shared(&file)).max().unwrap_or(0);
        named.iter().filter(|file| shared(file) == most).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_end_fits() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["io/open.c", "sysdeps/unix/open.c", "sysdeps/unix/linux/open.c"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "one\ntwo").unwrap();
        }
        let tree = Tree::read(folder.path()).unwrap();
        assert_eq!(tree.fitting("../sysdeps/unix/open.c").len(), 1);
        assert_eq!(tree.fitting("x/open.c").len(), 3);
        assert!(tree.fitting("x/other.c").is_empty());
        assert_eq!((lines(b"one\ntwo"), lines(b"one\n"), lines(b"")), (2, 1, 0));
    }
}
