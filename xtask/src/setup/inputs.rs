//! The real inputs: Debian's libc for two machines, with its debug files and sources; a program built with LTO; programs
//! whose debug data dwz has shared out. Fetched once, kept in a folder that lasts.
//!
//! Versions move with Debian's updates, so nothing pins one: what the checks compare with is made from the same file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

use super::packages::{Cache, Package, SourcePackage};
use crate::{
    report::Report,
    run::{program, stdout},
};

/// Where a system without apt may have them itself.
const SYSTEM_AMD64: &[&str] = &["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"];
const SYSTEM_ARM64: &[&str] = &[
    "/lib/aarch64-linux-gnu/libc.so.6",
    "/usr/aarch64-linux-gnu/lib/libc.so.6",
    "/usr/aarch64-linux-gnu/sys-root/lib64/libc.so.6",
];
const SYSTEM_DEBUG: &str = "/usr/lib/debug";

/// Packages whose programs share debug data through dwz, and the programs that are compared.
const SHARED: &str = "binutils-aarch64-linux-gnu";
const SHARED_PROGRAMS: [&str; 2] = ["aarch64-linux-gnu-as", "aarch64-linux-gnu-ld.bfd"];

/// Paths of what could be had.
#[derive(Default)]
pub(crate) struct Inputs {
    /// x86-64 libc, stripped.
    pub(crate) amd64: Option<PathBuf>,
    /// Its debug file, found by its build id.
    pub(crate) amd64_debug: Option<PathBuf>,
    /// AArch64 libc, stripped.
    pub(crate) arm64: Option<PathBuf>,
    /// The packages of the x86-64 libc: libc.so.6 and the dynamic linker.
    pub(crate) libc: Option<Packages>,
    /// Its source package.
    pub(crate) source: Option<SourcePackage>,
    /// The source package of the libc of another release.
    pub(crate) other_source: Option<SourcePackage>,
    /// Python, built with LTO.
    pub(crate) python: Option<Packages>,
    /// Programs whose debug data dwz has shared out.
    pub(crate) shared: Option<Packages>,
}

/// A package, the package of its debug files, and what is compared of it.
#[derive(Clone)]
pub(crate) struct Packages {
    /// The package.
    pub(crate) package: Package,
    /// The package of its debug files.
    pub(crate) debug: Package,
    /// The files that are compared.
    pub(crate) files: Vec<Debugged>,
}

/// A stripped file and its debug file.
#[derive(Clone)]
pub(crate) struct Debugged {
    /// The file.
    pub(crate) file: PathBuf,
    /// Its debug file.
    pub(crate) debug: PathBuf,
}

impl Inputs {
    /// Finds or fetches them; what can't be had is reported as skipped.
    pub(crate) fn find(update: bool, report: &mut Report) -> Result<Self> {
        if update {
            Cache::clear()?;
        }
        let cache = Cache::default();
        let mut inputs = match cache.packages("libc", |_| {
            Ok(["libc6:amd64", "libc6-dbg:amd64", "libc6:arm64"].map(str::to_owned).to_vec())
        }) {
            Ok(folder) => Self::libc(&folder)?,
            Err(error) => {
                println!("packages can't be fetched, so the system's own libc is taken: {error:#}");
                Self::of_system()?
            }
        };
        let why = "not in a package that could be fetched, and not on this system";
        let all =
            [("amd64", &inputs.amd64), ("its debug file", &inputs.amd64_debug), ("arm64", &inputs.arm64)];
        for (name, _) in all.iter().filter(|(_, path)| path.is_none()) {
            report.skip(format!("real input libc.so.6 ({name})"), why);
        }
        let mut missing = |name: &str, error| report.skip(format!("real input {name}"), format!("{error:#}"));
        match &inputs.libc {
            Some(libc) => match cache.source_of("libc-source", &libc.package) {
                Ok(source) => inputs.source = Some(source),
                Err(error) => missing("sources of libc (`cargo xtask setup --update` may help)", error),
            },
            None => missing("sources of libc", anyhow::anyhow!("there is no package of libc")),
        }
        match cache.source_of_another_release("other-libc-source", "glibc") {
            Ok(source) => inputs.other_source = Some(source),
            Err(error) => missing("sources of another release's libc", error),
        }
        match Self::python(&cache) {
            Ok(python) => inputs.python = Some(python),
            Err(error) => missing("python", error),
        }
        match Self::shared(&cache) {
            Ok(shared) => inputs.shared = Some(shared),
            Err(error) => missing("binutils with dwz", error),
        }
        Ok(inputs)
    }

    /// Names and paths.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (&str, &Path)> {
        [
            ("amd64", self.amd64.as_deref()),
            ("amd64 debug", self.amd64_debug.as_deref()),
            ("arm64", self.arm64.as_deref()),
            ("libc's source", self.source.as_ref().map(|source| &*source.dsc)),
            ("another libc's source", self.other_source.as_ref().map(|source| &*source.dsc)),
            ("python", self.python.as_ref().map(|python| &*python.package.deb)),
            ("binutils with dwz", self.shared.as_ref().map(|shared| &*shared.package.deb)),
        ]
        .into_iter()
        .filter_map(|(name, path)| Some((name, path?)))
    }

    fn libc(group: &Path) -> Result<Self> {
        let package = Package::find(group, "libc6", "libc6", "amd64")?;
        let debug = Package::find(group, "libc6-dbg", "", "amd64")?;
        let arm64 = Package::find(group, "libc6", "libc6", "arm64")?;
        let files = ["libc.so.6", "ld-linux-x86-64.so.2"].map(str::to_owned);
        let libc = Packages::of(package, debug, &files)?;
        Ok(Self {
            amd64: Some(libc.files[0].file.clone()),
            amd64_debug: Some(libc.files[0].debug.clone()),
            arm64: find_file(&arm64.files, "libc.so.6")?,
            libc: Some(libc),
            ..Self::default()
        })
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
        let arm64 = first(SYSTEM_ARM64, "AArch64");
        Ok(Self { amd64, amd64_debug: amd64_debug.flatten(), arm64, ..Self::default() })
    }

    /// The release names its version of Python.
    fn python(cache: &Cache) -> Result<Packages> {
        let group = cache.packages("python", |root| {
            let debug = root.depends("python3-dbg", "python3.", "-dbg")?;
            let program = debug.trim_end_matches("-dbg");
            Ok(vec![format!("{program}-minimal:amd64"), format!("{debug}:amd64")])
        })?;
        let package = Package::find(&group, "python3", "-minimal", "amd64")?;
        let debug = Package::find(&group, "python3", "-dbg", "amd64")?;
        let deb = debug.deb.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = deb.split("-dbg").next().unwrap_or_default().to_owned();
        Packages::of(package, debug, &[name])
    }

    fn shared(cache: &Cache) -> Result<Packages> {
        let group = cache
            .packages("shared", |_| Ok(vec![format!("{SHARED}:amd64"), format!("{SHARED}-dbg:amd64")]))?;
        let package = Package::find(&group, SHARED, SHARED, "amd64")?;
        let debug = Package::find(&group, SHARED, "-dbg", "amd64")?;
        Packages::of(package, debug, &SHARED_PROGRAMS.map(str::to_owned))
    }
}

impl Packages {
    fn of(package: Package, debug: Package, names: &[String]) -> Result<Self> {
        let files = names.iter().map(|name| {
            let file =
                find_file(&package.files, name)?.with_context(|| format!("the package has no {name}"))?;
            let debug = debug_file(&file, &debug.files.join("usr/lib/debug"))?;
            Ok(Debugged { file, debug: debug.with_context(|| format!("{name} has no debug file"))? })
        });
        let files = files.collect::<Result<_>>()?;
        Ok(Self { package, debug, files })
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
