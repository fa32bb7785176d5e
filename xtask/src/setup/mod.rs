//! What the checks need beside Rust: tools to compare with, and real inputs.

mod apt;
mod inputs;
pub(crate) mod node;
mod packages;
pub(crate) mod wasm32;

use anyhow::Result;
use clap::Args;

pub(crate) use inputs::{Debugged, Inputs, Packages};
pub(crate) use packages::SourcePackage;

use crate::{
    report::Report,
    run::{has, is_root, program, show, stdout},
};

#[derive(Args)]
pub(crate) struct Options {
    /// Fetch the real inputs again, even if they are there
    #[arg(long)]
    update: bool,
    /// Only this
    #[arg(value_enum)]
    only: Option<Only>,
}

/// What can be set up by itself.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Only {
    /// A compiler for WebAssembly, which the core is held to
    Wasm32,
    /// Node with the npm packages, and Python with the SDKs, that ask the server as strangers do
    Node,
}

pub(crate) fn run(options: &Options, report: &mut Report) -> Result<()> {
    if options.only == Some(Only::Wasm32) {
        println!("wasm32: {:?}", wasm32::setup()?);
        report.pass();
        return Ok(());
    }
    if options.only == Some(Only::Node) {
        node::setup()?;
        report.pass();
        return Ok(());
    }
    tools(report)?;
    if let Err(error) = node::setup() {
        report.skip("clients of the server", format!("{error:#}"));
    }
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
    ("objcopy", "binutils"),
    ("cc", "gcc"),
    ("c++", "g++"),
    ("python3", "python3"),
    ("setpriv", "util-linux"),
    ("taskset", "util-linux"),
    // What reads debug data: two that tell lines, one that settles it where they differ.
    ("eu-addr2line", "elfutils"),
    ("eu-unstrip", "elfutils"),
    ("gdb", "gdb"),
    // What asks the archive for sources.
    ("debuginfod-find", "debuginfod"),
    // What serves files, and what asks.
    ("gzip", "gzip"),
    ("nginx", "nginx-light"),
    ("wrk", "wrk"),
    // What opens the page.
    ("chromium", "chromium"),
    // What packages are made of.
    ("dpkg-deb", "dpkg"),
    ("dpkg-source", "dpkg-dev"),
    ("xz", "xz-utils"),
    ("zstd", "zstd"),
];

/// Installs the tools that are missing, where that can be done: as root, with apt. Elsewhere the checks that need one
/// say so themselves.
pub(crate) fn tools(report: &mut Report) -> Result<()> {
    let mut packages: Vec<&str> =
        TOOLS.iter().filter(|(tool, _)| !has(tool)).map(|(_, package)| *package).collect();
    if llvm_symbolizer().is_none() {
        packages.push(LLVM);
    }
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
    if apt_install(&packages).is_ok() {
        return Ok(());
    }
    // One name that a release doesn't have must not keep the others away.
    for package in packages {
        if let Err(error) = apt_install(&[package]) {
            report.fail(format!("setup: {error:#}"));
        }
    }
    Ok(())
}

/// Installs Debian's packages, as root.
fn apt_install(packages: &[&str]) -> Result<()> {
    let apt = || {
        let mut apt = program("apt-get");
        apt.arg("-qq").env("DEBIAN_FRONTEND", "noninteractive");
        apt
    };
    // Lists that are old name packages that are gone; without lists nothing is found. An update that fails for one
    // source of several may still have brought what is needed.
    let updated = show(apt().arg("update"));
    let installed = show(apt().args(["install", "-y", "--no-install-recommends"]).args(packages));
    installed.and(updated)
}

/// The package of a symbolizer that is new enough: [`llvm_symbolizer`].
const LLVM: &str = "llvm-19";
/// The first release whose symbolizer doesn't join DWARF 5's directory 0 to the compilation folder again (seen: 14 does).
const LLVM_FIRST: u32 = 15;
const LLVM_LAST: u32 = 40;

/// An `llvm-symbolizer` that is new enough.
pub(crate) fn llvm_symbolizer() -> Option<String> {
    let is_new = |tool: &String| {
        let version = stdout(program(tool).arg("--version")).unwrap_or_default();
        llvm_major(&version).is_some_and(|major| major >= LLVM_FIRST)
    };
    let plain = "llvm-symbolizer".to_owned();
    let numbered = (LLVM_FIRST..=LLVM_LAST).rev().map(|major| format!("llvm-symbolizer-{major}"));
    numbered.chain([plain]).filter(|tool| has(tool)).find(is_new)
}

/// The 19 in `Debian LLVM version 19.1.7`.
fn llvm_major(said: &str) -> Option<u32> {
    said.split_once("LLVM version ")?.1.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_llvm() {
        let said = "llvm-symbolizer\nDebian LLVM version 19.1.7\n  Optimized build.\n";
        assert_eq!(llvm_major(said), Some(19));
    }
}
