//! Groups of packages in the cache, each fetched whole or not at all, kept as they are and unpacked.

use std::{
    cell::OnceCell,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

use super::apt::Root;
use crate::run::{cache, output, program, stdout};

/// How the folders of the cache are laid out: another layout lies beside it, and neither reads the other.
const LAYOUT: &str = "2";
/// Where the packages of a group lie as they were fetched.
const AS_FETCHED: &str = "packages";

/// The cache, and the apt roots that fill it, made when something is missing.
#[derive(Default)]
pub(super) struct Cache {
    packages: OnceCell<Root>,
    sources: OnceCell<Root>,
}

/// A package as it was fetched, and its files.
#[derive(Clone)]
pub(crate) struct Package {
    /// The `.deb`.
    pub(crate) deb: PathBuf,
    /// What is in it.
    pub(crate) files: PathBuf,
}

/// A source package as it was fetched, and its files with its patches applied.
#[derive(Clone)]
pub(crate) struct SourcePackage {
    /// The `.dsc`; the archives that it names lie beside it.
    pub(crate) dsc: PathBuf,
    /// The unpacked tree.
    pub(crate) tree: PathBuf,
}

impl Cache {
    /// Forgets what was fetched.
    pub(super) fn clear() -> Result<()> {
        let folder = cache().join(LAYOUT);
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        Ok(())
    }

    /// Packages, `name:architecture`, fetched in one go so that their versions fit each other.
    pub(super) fn packages(
        &self,
        group: &str,
        names: impl FnOnce(&Root) -> Result<Vec<String>>,
    ) -> Result<PathBuf> {
        fill(group, |folder| {
            let root = made(&self.packages, Root::packages)?;
            let names = names(root)?;
            let fetched = folder.join(AS_FETCHED);
            fs::create_dir(&fetched)?;
            root.download(&names.iter().map(String::as_str).collect::<Vec<_>>(), &fetched)?;
            for entry in fs::read_dir(&fetched)? {
                let package = entry?.path();
                let (name, architecture) = parts(&package);
                let into = folder.join(format!("{name}-{architecture}"));
                output(program("dpkg-deb").arg("-x").arg(&package).arg(into))?;
            }
            Ok(())
        })
    }

    /// The source that a package was built from.
    pub(super) fn source_of(&self, group: &str, package: &Package) -> Result<SourcePackage> {
        let folder = fill(group, |folder| {
            let fields = stdout(
                program("dpkg-deb").arg("-f").arg(&package.deb).args(["Package", "Source", "Version"]),
            )?;
            let source = source_of(&fields).context("the package names no source")?;
            unpack_source(made(&self.sources, Root::sources)?, &source, folder)
        })?;
        SourcePackage::in_folder(&folder)
    }

    /// The source of the same name in another release.
    pub(super) fn source_of_another_release(&self, group: &str, name: &str) -> Result<SourcePackage> {
        let folder = fill(group, |folder| {
            let mut last = anyhow::anyhow!("no other release is known");
            for root in Root::sources_of_others()? {
                // A mirror may list what it doesn't have (seen: a release's newest update).
                let fetched = tempfile::tempdir_in(folder)?;
                match root.and_then(|root| unpack_source(&root, name, fetched.path())) {
                    Ok(()) => return move_all(fetched.path(), folder),
                    Err(error) => last = error,
                }
            }
            Err(last)
        })?;
        SourcePackage::in_folder(&folder)
    }
}

impl Package {
    /// One package of a group, by its name, or how it starts, and its architecture.
    pub(super) fn find(group: &Path, starts: &str, ends: &str, architecture: &str) -> Result<Self> {
        let fetched = group.join(AS_FETCHED);
        let entries = fs::read_dir(&fetched).with_context(|| fetched.display().to_string())?;
        let mut debs = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        debs.sort();
        let fits = |deb: &&PathBuf| {
            let (name, of) = parts(deb);
            name.starts_with(starts) && name.ends_with(ends) && of == architecture
        };
        let deb = debs.iter().find(fits).with_context(|| format!("no {starts}…{ends} was fetched"))?;
        let (name, architecture) = parts(deb);
        Ok(Self { deb: deb.clone(), files: group.join(format!("{name}-{architecture}")) })
    }
}

impl SourcePackage {
    fn in_folder(folder: &Path) -> Result<Self> {
        let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?.into_iter();
        let dsc = paths.find(|path| path.extension().is_some_and(|extension| extension == "dsc"));
        Ok(Self { dsc: dsc.context("no .dsc was fetched")?, tree: folder.join("tree") })
    }
}

/// The folder of a group. It is filled beside its place and moved there whole, so that it is complete or absent.
fn fill(group: &str, fetch: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let parent = cache().join(LAYOUT);
    let folder = parent.join(group);
    if folder.exists() {
        return Ok(folder);
    }
    fs::create_dir_all(&parent).with_context(|| parent.display().to_string())?;
    let beside = tempfile::tempdir_in(&parent)?;
    let filled = beside.path().join("filled");
    fs::create_dir(&filled)?;
    fetch(&filled)?;
    match fs::rename(&filled, &folder) {
        // Another run was quicker.
        Err(_) if folder.exists() => Ok(folder),
        Err(error) => Err(error).with_context(|| format!("{} can't be written", folder.display())),
        Ok(()) => Ok(folder),
    }
}

fn move_all(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::rename(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

fn unpack_source(root: &Root, package: &str, folder: &Path) -> Result<()> {
    root.source(package, folder)?;
    let fetched = SourcePackage::in_folder(folder)?;
    output(program("dpkg-source").arg("--no-check").arg("-x").args([&fetched.dsc, &fetched.tree])).map(|_| ())
}

fn made<T>(cell: &OnceCell<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if cell.get().is_none() {
        let made = make()?;
        return Ok(cell.get_or_init(|| made));
    }
    cell.get().context("it was made")
}

/// Name and architecture of `name_version_architecture.deb`.
fn parts(deb: &Path) -> (String, String) {
    let stem = deb.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut parts = stem.split('_');
    let (name, architecture) = (parts.next().unwrap_or_default(), parts.next_back().unwrap_or_default());
    (name.to_owned(), architecture.to_owned())
}

/// `name=version` of the source in a package's fields: `Source: glibc (2.36-9)`, or without a version where it is the
/// package's own, or no such field where the name is too.
fn source_of(fields: &str) -> Option<String> {
    let field = |name: &str| fields.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let source = field("Source").or_else(|| field("Package"))?.trim();
    let (name, version) = match source.split_once(" (") {
        Some((name, version)) => (name, version.trim_end_matches(')')),
        None => (source, field("Version")?.trim()),
    };
    Some(format!("{name}={version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_packages() {
        let deb = Path::new("a/libc6-dbg_2.36-9+deb12u14_amd64.deb");
        assert_eq!(parts(deb), ("libc6-dbg".to_owned(), "amd64".to_owned()));
        assert_eq!(
            source_of("Package: libc6\nSource: glibc\nVersion: 2.36-9\n").as_deref(),
            Some("glibc=2.36-9")
        );
        assert_eq!(source_of("Package: a\nSource: b (1-2)\nVersion: 1-2+b1\n").as_deref(), Some("b=1-2"));
        assert_eq!(source_of("Package: a\nVersion: 1\n").as_deref(), Some("a=1"));
    }
}
