//! Same bytes: the same inputs give the same archive, whatever else differs.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use crate::{
    report::Report,
    run::{has, is_root, output, program},
};

/// An unprivileged user's number, of nobody in particular.
const OTHER_USER: &str = "65534";

/// Adds two files in many ways and compares the trees.
pub(super) fn check(elfscope: &Path, first: &Path, second: &Path, report: &mut Report) -> Result<()> {
    println!("same bytes");
    let work = tempfile::tempdir()?;
    // The other user must be able to go there.
    fs::set_permissions(work.path(), fs::Permissions::from_mode(0o755))?;
    let files = copy(work.path(), "files", &[first, second])?;
    let elsewhere = copy(work.path(), "another folder/below", &[first, second])?;
    // What another user may run must not lie in the home of this one.
    let program_copy = copy(work.path(), "program", &[elfscope])?.remove(0);
    let add = |archive: &Path, command: &mut Command, files: &[&PathBuf]| {
        command.arg("add").arg("--archive").arg(archive).args(files);
        output(command).map(|_| ())
    };
    let reference = work.path().join("reference");
    add(&reference, &mut program(&program_copy), &[&files[0], &files[1]])?;
    let expected = tree(&reference)?;
    println!("  {} files, {} bytes", expected.len(), expected.values().map(Vec::len).sum::<usize>());

    let mut compare = |what: &str, archive: &Path| -> Result<()> {
        let differences = differences(&expected, &tree(archive)?);
        println!("  {what}: {}", if differences.is_empty() { "the same" } else { "differs" });
        for difference in differences.iter().take(20) {
            println!("      {difference}");
        }
        if differences.is_empty() {
            report.pass();
        } else {
            report.fail(format!("real: same bytes: {what}: {} files differ", differences.len()));
        }
        Ok(())
    };
    add(&reference, &mut program(&program_copy), &[&files[0], &files[1]])?;
    compare("added again", &reference)?;

    for (what, archive, change) in [
        ("1 job", "jobs-1", (|command| command.arg("--jobs=1")) as fn(&mut Command) -> &mut Command),
        ("2 jobs", "jobs-2", |command| command.arg("--jobs=2")),
        ("another locale", "locale", |command| command.env("LC_ALL", "C.UTF-8").env("LANG", "C.UTF-8")),
        ("another time zone", "zone", |command| command.env("TZ", "Pacific/Kiritimati")),
    ] {
        let archive = work.path().join(archive);
        let mut command = program(&program_copy);
        // `add` first, options of it after.
        command.arg("add").arg("--archive").arg(&archive).args(&files);
        output(change(&mut command))?;
        compare(what, &archive)?;
    }
    let archive = work.path().join("elsewhere");
    add(&archive, &mut program(&program_copy), &[&elsewhere[0], &elsewhere[1]])?;
    compare("another folder", &archive)?;
    let archive = work.path().join("order");
    add(&archive, &mut program(&program_copy), &[&files[1], &files[0]])?;
    compare("another order of arguments", &archive)?;
    if !(is_root() && has("setpriv")) {
        report.skip("same bytes: another user", "only root can be another user, with `setpriv`");
        return Ok(());
    }
    let home = work.path().join("home");
    fs::create_dir(&home)?;
    fs::set_permissions(&home, fs::Permissions::from_mode(0o777))?;
    let archive = home.join("archive");
    let mut command = program("setpriv");
    command
        .args(["--reuid", OTHER_USER, "--regid", OTHER_USER, "--clear-groups", "env"])
        .arg(format!("HOME={}", home.display()));
    command.current_dir(&home).arg(&program_copy);
    add(&archive, &mut command, &[&files[0], &files[1]])?;
    compare("another user", &archive)
}

/// Copies files into a folder below `work`, under their own names.
fn copy(work: &Path, folder: &str, files: &[&Path]) -> Result<Vec<PathBuf>> {
    let folder = work.join(folder);
    fs::create_dir_all(&folder)?;
    let copied = files.iter().map(|file| {
        let to = folder.join(file.file_name().context("an input without a name")?);
        fs::copy(file, &to).with_context(|| file.display().to_string())?;
        Ok(to)
    });
    copied.collect()
}

/// Every file of a tree by its path.
fn tree(root: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                let path = entry.path();
                files.insert(path.strip_prefix(root)?.to_owned(), fs::read(&path)?);
            }
        }
    }
    Ok(files)
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
