//! What the checks need beside Rust: tools to compare with, and real inputs.

mod apt;
mod inputs;

use anyhow::Result;
use clap::Args;

pub(crate) use inputs::Inputs;

use crate::{
    report::Report,
    run::{has, is_root, program, show},
};

#[derive(Args)]
pub(crate) struct Options {
    /// Fetch the real inputs again, even if they are there
    #[arg(long)]
    update: bool,
}

pub(crate) fn run(options: &Options, report: &mut Report) -> Result<()> {
    tools(report)?;
    let inputs = Inputs::find(options.update, report)?;
    for (name, path) in inputs.listed() {
        println!("{name}: {}", path.display());
        report.pass();
    }
    Ok(())
}

/// Programs that the checks run, each with Debian's package for it.
const TOOLS: &[(&str, &str)] = &[
    ("readelf", "binutils"),
    ("objdump", "binutils"),
    (
        "x86_64-linux-gnu-objdump",
        if cfg!(target_arch = "x86_64") { "binutils" } else { "binutils-x86-64-linux-gnu" },
    ),
    (
        "aarch64-linux-gnu-objdump",
        if cfg!(target_arch = "aarch64") { "binutils" } else { "binutils-aarch64-linux-gnu" },
    ),
    ("cc", "gcc"),
    ("c++", "g++"),
    ("python3", "python3"),
    ("setpriv", "util-linux"),
];

/// Installs the tools that are missing, where that can be done: as root, with apt. Elsewhere the checks that need one
/// say so themselves.
pub(crate) fn tools(report: &mut Report) -> Result<()> {
    let mut packages: Vec<&str> =
        TOOLS.iter().filter(|(tool, _)| !has(tool)).map(|(_, package)| *package).collect();
    packages.sort_unstable();
    packages.dedup();
    if packages.is_empty() {
        return Ok(());
    }
    let list = packages.join(" ");
    if !is_root() || !has("apt-get") {
        println!("missing: install {list} (Debian's names)");
        return Ok(());
    }
    println!("installing {list}");
    let apt = || {
        let mut apt = program("apt-get");
        apt.arg("-qq").env("DEBIAN_FRONTEND", "noninteractive");
        apt
    };
    // Lists that are old name packages that are gone; without lists nothing is found. An update that fails for one
    // source of several may still have brought what is needed.
    let updated = show(apt().arg("update"));
    let installed = show(apt().args(["install", "-y", "--no-install-recommends"]).args(&packages));
    if let Err(error) = updated.and(installed) {
        report.fail(format!("setup: {error:#}"));
    }
    Ok(())
}
