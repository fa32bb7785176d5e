//! The real-input check: real binaries are added, and every document is compared with what readelf and objdump say of
//! the same file.
//!
//! To check another input, add it to [`inputs`]. Every comparison prints how much it compared; none may compare nothing.

mod agents;
mod callers;
mod coverage;
mod data;
mod edition;
mod imports;
mod inputs;
mod lines;
mod listing;
mod objdump;
mod package;
mod readelf;
mod registers;
mod same;
mod sources;
mod strings;
mod symbols;
mod tally;
mod targets;

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Context as _, Result};
use clap::Args;
use tempfile::TempDir;

use self::{
    edition::Edition,
    inputs::{Given, Input, Subject},
};
use crate::{
    report::Report,
    run::{cargo, has, metadata, output, program, root, show},
    setup::Inputs,
};

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Check this elfscope instead of building one
    #[arg(long)]
    elfscope: Option<PathBuf>,
    /// Check only inputs whose name has this in it
    #[arg(long)]
    only: Option<String>,
    /// Also what takes long: packages added once for each thing that must change no byte
    #[arg(long)]
    full: bool,
}

/// A machine that has an oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Machine {
    X86_64,
    Aarch64,
}

impl Machine {
    fn objdump(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-linux-gnu-objdump",
            Self::Aarch64 => "aarch64-linux-gnu-objdump",
        }
    }

    /// The machine that this runs on.
    fn host() -> Option<Self> {
        [(cfg!(target_arch = "x86_64"), Self::X86_64), (cfg!(target_arch = "aarch64"), Self::Aarch64)]
            .into_iter()
            .find_map(|(is_host, machine)| is_host.then_some(machine))
    }

    fn is_host(self) -> bool {
        Self::host() == Some(self)
    }
}

/// The input whose programs share debug data.
const SHARED: &str = "binutils packages, with dwz";

pub(crate) fn run(options: &Options, report: &mut Report) -> Result<()> {
    if let Some(tool) = ["readelf", "python3"].into_iter().find(|tool| !has(tool)) {
        report.skip("real inputs", format!("there is no `{tool}` here"));
        return Ok(());
    }
    let elfscope = match &options.elfscope {
        Some(path) => path.canonicalize().with_context(|| path.display().to_string())?,
        None => build()?,
    };
    let found = Inputs::find(false, report)?;
    let work = Work::new()?;
    let wanted = |name: &str| options.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    for input in inputs::inputs(&found, &elfscope).iter().filter(|input| wanted(input.name)) {
        if objdump::tool(input.machine).is_none() {
            report.skip(
                format!("real input {}", input.name),
                format!("there is no `{}` here", input.machine.objdump()),
            );
            continue;
        }
        check(&elfscope, input, &found, &work, report)
            .with_context(|| format!("real input {}", input.name))?;
    }
    if wanted("ten questions") {
        match &found.amd64 {
            Some(libc) => agents::check(&elfscope, libc, &work, report).context("ten questions")?,
            None => report.skip("ten questions", "there is no libc to ask about"),
        }
    }
    if wanted("wrong sources") {
        wrong_sources(&elfscope, &found, &work, report).context("wrong sources")?;
    }
    if wanted("same bytes") {
        match &found.amd64 {
            Some(libc) => same::files(&elfscope, [libc, &elfscope], &work, report)?,
            None => report.skip("same bytes", "there is no libc to add"),
        }
    }
    if wanted("same bytes with packages") {
        match (&found.libc, &found.source) {
            (Some(libc), Some(source)) => {
                same::packages(&elfscope, (libc, source), options.full, &work, report)?;
            }
            _ => report.skip("same bytes with packages", "there is no package of libc and its source"),
        }
    }
    Ok(())
}

/// Where archives are made. They are kept until all checks have run: ext4 is slow to make files for a minute after as many
/// were deleted (seen: 20 s of an `add` that takes 5).
struct Work(TempDir);

impl Work {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        // Another user must be able to go there.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
        Ok(Self(folder))
    }

    /// A folder that nothing is in yet.
    fn folder(&self) -> Result<PathBuf> {
        let folder = tempfile::tempdir_in(self.0.path())?.keep();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755))?;
        Ok(folder)
    }
}

/// Builds the program as a user would.
pub(crate) fn build() -> Result<PathBuf> {
    show(cargo().args(["build", "--quiet", "--release", "--package", "elfscope"]))?;
    let target =
        metadata()?["target_directory"].as_str().map(PathBuf::from).context("no target directory")?;
    Ok(target.join("release/elfscope"))
}

/// Adds one input to an archive of its own and compares.
fn check(elfscope: &Path, input: &Input, found: &Inputs, work: &Work, report: &mut Report) -> Result<()> {
    let archive = work.folder()?;
    println!("{}", input.name);
    let start = Instant::now();
    output(&mut input.given.add(elfscope, &archive))?;
    let added = start.elapsed().as_secs_f64();
    let editions = Edition::all(&archive)?;
    println!("  added in {added:.2} s: {} editions", editions.len());
    if let Some(files) = &input.files {
        package::compare(&editions, files, input.name, report)?;
    }
    for subject in &input.subjects {
        let file = subject.file.file_name().unwrap_or_default().to_string_lossy();
        let edition = editions.iter().find(|edition| edition.meta.file.name.text() == file);
        let edition = edition.with_context(|| format!("no edition of {file} was added"))?;
        let name = format!("{}: {file}", input.name);
        compare(edition, subject, input.machine, &name, report).with_context(|| file.into_owned())?;
    }
    if let (Some(source), "libc packages") = (&found.source, input.name) {
        let libc = Edition::named(&archive, "libc.so.6")?;
        sources::compare(&archive, &libc, &source.tree, true, input.name, report)?;
        sources::puts(&archive, &libc, &source.tree, input.name, report)?;
        sources::verified(&libc, true, input.name, report);
    }
    if let (SHARED, Some(subject)) = (input.name, input.subjects.first()) {
        without_alternate(elfscope, &archive, subject, work, report)?;
    }
    verify(elfscope, &archive, input.name, report);
    println!("  {:.1} s in all", start.elapsed().as_secs_f64());
    Ok(())
}

/// Compares one edition with what other tools say of its file.
fn compare(
    edition: &Edition,
    subject: &Subject,
    machine: Machine,
    name: &str,
    report: &mut Report,
) -> Result<()> {
    let (counts, file) = (&edition.meta.counts, &subject.file);
    println!("  {}: {} functions, {} rows", edition.meta.file.name.text(), counts.functions, counts.rows);
    if subject.whole {
        let binary = readelf::Binary::read(file)?;
        listing::compare(edition, file, &binary, machine, name, report)?;
        symbols::compare(edition, file, name, report)?;
        if let Some(debug) = &subject.debug {
            println!("  symbols of the debug file:");
            symbols::compare(edition, debug, name, report)?;
        }
        data::compare(edition, &binary, name, report)?;
        callers::compare(edition, name, report)?;
    }
    if let Some(lines) = &subject.lines {
        lines::compare(edition, lines, name, report)?;
    }
    Ok(())
}

/// A program whose debug data needs an alternate, added without it.
fn without_alternate(
    elfscope: &Path,
    with: &Path,
    subject: &Subject,
    work: &Work,
    report: &mut Report,
) -> Result<()> {
    let archive = work.folder()?;
    let given = Given { debug: subject.debug.iter().cloned().collect(), ..Given::file(&subject.file) };
    output(&mut given.add(elfscope, &archive))?;
    let without = Edition::only(&archive)?;
    let name = without.meta.file.name.text().to_owned();
    println!("  {name} without the alternate:");
    let with = Edition::named(with, &name)?;
    lines::alternate::compare(&with, &without, &format!("{SHARED}: {name} without"), report)
}

/// Sources of another release: none may pass for the package's own, and what doesn't fit isn't published.
fn wrong_sources(elfscope: &Path, found: &Inputs, work: &Work, report: &mut Report) -> Result<()> {
    let (Some(libc), Some(other)) = (&found.libc, &found.other_source) else {
        report.skip("wrong sources", "there is no libc and the source of another release's");
        return Ok(());
    };
    println!("wrong sources");
    let archive = work.folder()?;
    let given = Given { sources: vec![other.dsc.clone()], ..Given::packages(libc) };
    output(&mut given.add(elfscope, &archive))?;
    let edition = Edition::named(&archive, "libc.so.6")?;
    sources::compare(&archive, &edition, &other.tree, false, "wrong sources", report)?;
    sources::verified(&edition, false, "wrong sources", report);
    verify(elfscope, &archive, "wrong sources", report);
    Ok(())
}

/// Both implementations verify the archive.
fn verify(elfscope: &Path, archive: &Path, input: &str, report: &mut Report) {
    let mut script = program("python3");
    script.arg(root().join("docs/verify_archive.py")).arg(archive);
    let mut own = program(elfscope);
    own.arg("verify").arg("--archive").arg(archive);
    for (who, command) in [("verify_archive.py", &mut script), ("elfscope verify", &mut own)] {
        match output(command) {
            Ok(said) => {
                let said = String::from_utf8_lossy(&said.stdout);
                println!("  {who}: {}", said.lines().last().unwrap_or_default());
                report.pass();
            }
            Err(error) => {
                println!("  {error:#}");
                report.fail(format!("real: {input}: {who} found damage"));
            }
        }
    }
}
