//! The real inputs: Debian's libc for two machines, and the debug file of one. Fetched once, kept in a folder that lasts.
//!
//! Versions move with Debian's updates, so nothing pins one: what the checks compare with is made from the same file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

use super::apt;
use crate::{
    report::Report,
    run::{cache, output, program, stdout},
};

const PACKAGES: &[&str] = &["libc6:amd64", "libc6-dbg:amd64", "libc6:arm64"];

/// Where a system without apt may have them itself.
const SYSTEM_AMD64: &[&str] = &["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"];
const SYSTEM_ARM64: &[&str] = &[
    "/lib/aarch64-linux-gnu/libc.so.6",
    "/usr/aarch64-linux-gnu/lib/libc.so.6",
    "/usr/aarch64-linux-gnu/sys-root/lib64/libc.so.6",
];
const SYSTEM_DEBUG: &str = "/usr/lib/debug";

/// Paths of what could be had.
pub(crate) struct Inputs {
    /// x86-64 libc, stripped.
    pub(crate) amd64: Option<PathBuf>,
    /// Its debug file, found by its build id.
    pub(crate) amd64_debug: Option<PathBuf>,
    /// AArch64 libc, stripped.
    pub(crate) arm64: Option<PathBuf>,
}

impl Inputs {
    /// Finds or fetches them; what can't be had is reported as skipped.
    pub(crate) fn find(update: bool, report: &mut Report) -> Result<Self> {
        let folder = cache().join("libc");
        if update && folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let fetched = if folder.exists() { Ok(()) } else { fetch(&folder) };
        let mut inputs = Self::in_folder(&folder)?;
        if let Err(error) = fetched {
            println!("packages can't be fetched, so the system's own libc is taken: {error:#}");
            inputs = Self::of_system()?;
        }
        let why = "not in a package that could be fetched, and not on this system";
        let all =
            [("amd64", &inputs.amd64), ("its debug file", &inputs.amd64_debug), ("arm64", &inputs.arm64)];
        for (name, _) in all.iter().filter(|(_, path)| path.is_none()) {
            report.skip(format!("real input libc.so.6 ({name})"), why);
        }
        Ok(inputs)
    }

    /// Names and paths.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (&str, &Path)> {
        [("amd64", &self.amd64), ("amd64 debug", &self.amd64_debug), ("arm64", &self.arm64)]
            .into_iter()
            .filter_map(|(name, path)| Some((name, path.as_deref()?)))
    }

    fn in_folder(folder: &Path) -> Result<Self> {
        let amd64 = find_file(&folder.join("libc6-amd64"), "libc.so.6")?;
        let amd64_debug =
            amd64.as_deref().map(|libc| debug_file(libc, &folder.join("libc6-dbg-amd64/usr/lib/debug")));
        let arm64 = find_file(&folder.join("libc6-arm64"), "libc.so.6")?;
        Ok(Self { amd64, amd64_debug: amd64_debug.transpose()?.flatten(), arm64 })
    }

    fn of_system() -> Result<Self> {
        let first = |paths: &[&str], machine: &str| {
            let is_of = |path: &PathBuf| {
                path.is_file()
                    && stdout(program("readelf").arg("-hW").arg(path))
                        .is_ok_and(|header| header.contains(machine))
            };
            paths.iter().map(PathBuf::from).find(is_of)
        };
        let amd64 = first(SYSTEM_AMD64, "X86-64");
        let amd64_debug =
            amd64.as_deref().map(|libc| debug_file(libc, Path::new(SYSTEM_DEBUG))).transpose()?;
        Ok(Self { amd64, amd64_debug: amd64_debug.flatten(), arm64: first(SYSTEM_ARM64, "AArch64") })
    }
}

/// Fetches the packages beside the folder and moves them there whole, so that it is complete or absent.
fn fetch(folder: &Path) -> Result<()> {
    let parent = folder.parent().context("the cache has no parent folder")?;
    fs::create_dir_all(parent)?;
    let beside = tempfile::tempdir_in(parent)?;
    println!("fetching {}", PACKAGES.join(", "));
    let packages = beside.path().join("packages");
    let unpacked = beside.path().join("unpacked");
    fs::create_dir(&packages)?;
    fs::create_dir(&unpacked)?;
    apt::download(PACKAGES, &packages)?;
    for entry in fs::read_dir(&packages)? {
        let package = entry?.path();
        // `name_version_architecture.deb`
        let stem = package.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut parts = stem.split('_');
        let (name, architecture) = (parts.next().unwrap_or_default(), parts.next_back().unwrap_or_default());
        let into = unpacked.join(format!("{name}-{architecture}"));
        output(program("dpkg-deb").arg("-x").arg(&package).arg(into))?;
    }
    match fs::rename(&unpacked, folder) {
        // Another run was quicker.
        Err(_) if folder.exists() => Ok(()),
        other => other.with_context(|| format!("{} can't be written", folder.display())),
    }
}

/// The debug file of a binary, by its build id.
fn debug_file(binary: &Path, debug: &Path) -> Result<Option<PathBuf>> {
    let notes = stdout(program("readelf").arg("-nW").arg(binary))?;
    let id = notes.lines().find_map(|line| Some(line.split_once("Build ID: ")?.1.trim()));
    let Some((first, rest)) = id.and_then(|id| id.split_at_checked(2)) else { return Ok(None) };
    let path = debug.join(".build-id").join(first).join(format!("{rest}.debug"));
    Ok(path.is_file().then_some(path))
}

fn find_file(folder: &Path, name: &str) -> Result<Option<PathBuf>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(None) };
    let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        let found = match entry.file_type()? {
            kind if kind.is_dir() => find_file(&path, name)?,
            kind if kind.is_file() && entry.file_name() == name => Some(path),
            _ => None,
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}
