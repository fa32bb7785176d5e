//! The real-input check: real binaries are added, and every document is compared with what readelf and objdump say of
//! the same file.
//!
//! To check another input, add it to [`inputs`]. Every comparison prints how much it compared; none may compare nothing.

mod callers;
mod coverage;
mod data;
mod edition;
mod imports;
mod listing;
mod objdump;
mod readelf;
mod registers;
mod same;
mod strings;
mod symbols;
mod tally;
mod targets;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Context as _, Result};
use clap::Args;

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

/// A binary to check.
struct Input {
    name: &'static str,
    file: PathBuf,
    debug: Option<PathBuf>,
    machine: Machine,
}

/// Every input that this machine has.
fn inputs(found: &Inputs, elfscope: &Path) -> Vec<Input> {
    let mut inputs = Vec::new();
    let mut add = |name, file: Option<&PathBuf>, debug: Option<&PathBuf>, machine: Option<Machine>| {
        if let (Some(file), Some(machine)) = (file, machine) {
            inputs.push(Input { name, file: file.clone(), debug: debug.cloned(), machine });
        }
    };
    add("libc amd64", found.amd64.as_ref(), None, Some(Machine::X86_64));
    if found.amd64_debug.is_some() {
        add(
            "libc amd64 and debug file",
            found.amd64.as_ref(),
            found.amd64_debug.as_ref(),
            Some(Machine::X86_64),
        );
    }
    add("libc arm64", found.arm64.as_ref(), None, Some(Machine::Aarch64));
    add("elfscope itself", Some(&elfscope.to_owned()), None, Machine::host());
    inputs
}

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
    let wanted = |input: &Input| options.only.as_ref().is_none_or(|only| input.name.contains(only.as_str()));
    for input in inputs(&found, &elfscope).into_iter().filter(wanted) {
        if objdump::tool(input.machine).is_none() {
            report.skip(
                format!("real input {}", input.name),
                format!("there is no `{}` here", input.machine.objdump()),
            );
            continue;
        }
        check(&elfscope, &input, report).with_context(|| format!("real input {}", input.name))?;
    }
    if options.only.as_ref().is_none_or(|only| "same bytes".contains(only.as_str())) {
        match &found.amd64 {
            Some(libc) => same::check(&elfscope, libc, &elfscope, report)?,
            None => report.skip("same bytes", "there is no libc to add"),
        }
    }
    Ok(())
}

/// Builds the program as a user would.
pub(crate) fn build() -> Result<PathBuf> {
    show(cargo().args(["build", "--quiet", "--release", "--package", "elfscope"]))?;
    let target =
        metadata()?["target_directory"].as_str().map(PathBuf::from).context("no target directory")?;
    Ok(target.join("release/elfscope"))
}

/// Adds one input to an archive of its own and compares.
fn check(elfscope: &Path, input: &Input, report: &mut Report) -> Result<()> {
    let archive = tempfile::tempdir()?;
    println!("{}", input.name);
    let start = Instant::now();
    let mut add = program(elfscope);
    add.arg("add").arg("--archive").arg(archive.path()).arg(&input.file);
    if let Some(debug) = &input.debug {
        add.arg("--debug").arg(debug);
    }
    output(&mut add)?;
    let added = start.elapsed().as_secs_f64();
    let edition = edition::Edition::only(archive.path())?;
    let counts = &edition.meta.counts;
    println!("  added in {added:.2} s: {} functions, {} rows", counts.functions, counts.rows);
    let binary = readelf::Binary::read(&input.file)?;
    listing::compare(&edition, &input.file, &binary, input.machine, input.name, report)?;
    symbols::compare(&edition, &input.file, input.name, report)?;
    if let Some(debug) = &input.debug {
        println!("  symbols of the debug file:");
        symbols::compare(&edition, debug, input.name, report)?;
    }
    data::compare(&edition, &binary, input.name, report)?;
    callers::compare(&edition, input.name, report)?;
    verify(elfscope, archive.path(), input.name, report);
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
