//! Same bytes: the same inputs give the same archive, whatever else differs.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use super::{Work, edition::Edition, inputs::Given, package::all_files, tally::Tally};
use crate::{
    report::Report,
    run::{has, is_root, output, program},
    setup::{Packages, SourcePackage},
};

/// An unprivileged user's number, of nobody in particular.
const OTHER_USER: &str = "65534";

/// Adds two files in many ways.
pub(super) fn files(elfscope: &Path, files: [&Path; 2], work: &Work, report: &mut Report) -> Result<()> {
    let given = Given { inputs: files.map(Path::to_owned).to_vec(), ..Given::default() };
    check("same bytes", elfscope, &given, EACH, work, report).map(|_| ())
}

/// Adds packages in many ways, and their files as they lie in a folder.
pub(super) fn packages(
    elfscope: &Path,
    (packages, source): (&Packages, &SourcePackage),
    full: bool,
    work: &Work,
    report: &mut Report,
) -> Result<()> {
    let name = "same bytes with packages";
    let given = Given { sources: vec![source.dsc.clone()], ..Given::packages(packages) };
    let work = check(name, elfscope, &given, if full { EACH } else { TOGETHER }, work, report)?;
    let unpacked = Given {
        inputs: packages.files.iter().map(|of| of.file.clone()).collect(),
        debug: packages.files.iter().map(|of| of.debug.clone()).collect(),
        sources: vec![source.tree.clone()],
    };
    let archive = work.join("unpacked");
    output(&mut unpacked.add(elfscope, &archive))?;
    let mut contents = Tally::new("content: the same from packages and from files");
    for edition in Edition::all(&archive)? {
        let file = edition.meta.file.name.text();
        let (ours, packaged) = (edition.manifest()?, Edition::named(&work.join("reference"), file)?);
        let theirs = packaged.manifest()?;
        contents.check(ours.content == theirs.content, || {
            let differs = |(one, other): &(_, _)| one != other;
            let files = ours.files.iter().zip(&theirs.files).filter(differs).map(|(one, _)| &one.name);
            format!("{file}: {}", files.map(String::as_str).collect::<Vec<_>>().join(", "))
        });
    }
    contents.finish(name, report);
    Ok(())
}

/// What is different in a run that must give the same bytes.
#[derive(Clone, Copy)]
struct Variant {
    what: &'static str,
    jobs: Option<&'static str>,
    folder: bool,
    locale: bool,
    zone: bool,
    order: bool,
    user: bool,
}

/// Nothing is different.
const SAME: Variant =
    Variant { what: "", jobs: None, folder: false, locale: false, zone: false, order: false, user: false };

/// Each thing alone: where something differs, this says for what.
const EACH: &[Variant] = &[
    Variant { what: "1 job", jobs: Some("--jobs=1"), ..SAME },
    Variant { what: "2 jobs", jobs: Some("--jobs=2"), ..SAME },
    Variant { what: "another locale", locale: true, ..SAME },
    Variant { what: "another time zone", zone: true, ..SAME },
    Variant { what: "another folder", folder: true, ..SAME },
    Variant { what: "another order of arguments", order: true, ..SAME },
    Variant { what: "another user", user: true, ..SAME },
];

/// The same in two runs, for inputs that take long.
const TOGETHER: &[Variant] = &[
    Variant {
        what: "1 job, another locale, time zone and folder",
        jobs: Some("--jobs=1"),
        folder: true,
        locale: true,
        zone: true,
        ..SAME
    },
    Variant {
        what: "2 jobs, another order of arguments, another user",
        jobs: Some("--jobs=2"),
        order: true,
        user: true,
        ..SAME
    },
];

/// Adds files in many ways and compares the trees. The folder that it gives has the first of them as `reference`.
fn check(
    name: &str,
    elfscope: &Path,
    given: &Given,
    variants: &[Variant],
    work: &Work,
    report: &mut Report,
) -> Result<PathBuf> {
    println!("{name}");
    let work = work.folder()?;
    let here = copy_all(&work.join("files"), given)?;
    let elsewhere = copy_all(&work.join("another folder/below"), given)?;
    // What another user may run must not lie in the home of this one.
    let program_copy = copy(&work.join("program"), elfscope)?;
    let reference = work.join("reference");
    output(&mut here.add(&program_copy, &reference))?;
    let expected = tree(&reference)?;
    println!("  {} files, {} bytes", expected.len(), expected.values().map(Vec::len).sum::<usize>());

    let compare = |what: &str, archive: &Path, report: &mut Report| -> Result<()> {
        let differences = differences(&expected, &tree(archive)?);
        println!("  {what}: {}", if differences.is_empty() { "the same" } else { "differs" });
        for difference in differences.iter().take(20) {
            println!("      {difference}");
        }
        if differences.is_empty() {
            report.pass();
        } else {
            report.fail(format!("real: {name}: {what}: {} files differ", differences.len()));
        }
        Ok(())
    };
    output(&mut here.add(&program_copy, &reference))?;
    compare("added again", &reference, report)?;
    for variant in variants {
        let home = tempfile::tempdir_in(&work)?.keep();
        fs::set_permissions(&home, fs::Permissions::from_mode(0o777))?;
        let archive = home.join("archive");
        let given = if variant.folder { &elsewhere } else { &here };
        if variant.user && !(is_root() && has("setpriv")) {
            report.skip(format!("{name}: {}", variant.what), "only root can be another user, with `setpriv`");
            continue;
        }
        output(&mut variant.add(&program_copy, given, &home, &archive))?;
        compare(variant.what, &archive, report)?;
    }
    Ok(work)
}

impl Variant {
    fn add(&self, elfscope: &Path, given: &Given, home: &Path, archive: &Path) -> Command {
        let mut given = given.clone();
        if self.order {
            for paths in [&mut given.inputs, &mut given.debug, &mut given.sources] {
                paths.reverse();
            }
        }
        let mut command = program(if self.user { Path::new("setpriv") } else { elfscope });
        if self.user {
            command.args(["--reuid", OTHER_USER, "--regid", OTHER_USER, "--clear-groups", "env"]);
            command.arg(format!("HOME={}", home.display())).arg(elfscope).current_dir(home);
        }
        if self.locale {
            command.env("LC_ALL", "C.UTF-8").env("LANG", "C.UTF-8");
        }
        if self.zone {
            command.env("TZ", "Pacific/Kiritimati");
        }
        command.args(given.arguments(archive)).args(self.jobs);
        command
    }
}

/// Copies all that is given into a folder, under its own names.
fn copy_all(folder: &Path, given: &Given) -> Result<Given> {
    let mut copied = given.clone();
    for path in copied.inputs.iter_mut().chain(&mut copied.debug).chain(&mut copied.sources) {
        // A source package is what lies beside its description.
        if path.extension().is_some_and(|extension| extension == "dsc") {
            let beside = path.parent().context("a file without a folder")?;
            for entry in fs::read_dir(beside)? {
                let entry = entry?;
                if entry.file_type()?.is_file() {
                    copy(folder, &entry.path())?;
                }
            }
        }
        *path = copy(folder, path)?;
    }
    Ok(copied)
}

/// Copies a file into a folder, under its own name.
fn copy(folder: &Path, file: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let to = folder.join(file.file_name().context("an input without a name")?);
    fs::copy(file, &to).with_context(|| file.display().to_string())?;
    Ok(to)
}

/// Every file of a tree by its path.
fn tree(root: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
        Ok((path.strip_prefix(root)?.to_owned(), bytes))
    };
    all_files(root)?.into_iter().map(read).collect()
}

fn differences(expected: &BTreeMap<PathBuf, Vec<u8>>, found: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<String> {
    let mut told = Vec::new();
    for (path, bytes) in expected {
        match found.get(path) {
            None => told.push(format!("{} is missing", path.display())),
            Some(other) if other != bytes => told.push(format!("{} differs", path.display())),
            Some(_) => {}
        }
    }
    told.extend(
        found
            .keys()
            .filter(|path| !expected.contains_key(*path))
            .map(|path| format!("{} is new", path.display())),
    );
    told
}
