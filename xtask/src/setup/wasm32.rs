//! A compiler for `wasm32-unknown-unknown`: what is there, else what rustup can get, else Debian's packages.
//!
//! Debian's `rustc-web` brings the compiler and the sources of its standard library, but not the library compiled for this
//! target: it is built once, and put where that compiler looks for it. All of it is skipped where it was done before.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};

use super::apt_install;
use crate::run::{cargo, has, is_root, program, root, show, stdout};

/// The target.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Debian's packages: a compiler, its cargo, the sources of its standard library, and a linker.
const PACKAGES: &[&str] = &["rustc-web", "cargo-web", "rust-web-src", "lld-19"];
const LINKER: &str = "/usr/bin/wasm-ld-19";
/// What rustup calls Debian's compiler once it is linked.
const LINKED: &str = "debian-wasm";

/// How cargo compiles for the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compiler {
    /// With the toolchain that compiles everything else.
    Own,
    /// With Debian's.
    Debian,
}

impl Compiler {
    /// A cargo for the target, with a target folder of its own: two compilers would make each other build all anew.
    pub(crate) fn cargo(self) -> Command {
        let folder = root().join("target/wasm32");
        match self {
            Self::Own => {
                let mut command = cargo();
                command.env("CARGO_TARGET_DIR", folder);
                command
            }
            Self::Debian => {
                let mut command = debian_cargo();
                command.env("CARGO_TARGET_DIR", folder).current_dir(root());
                command
            }
        }
    }
}

/// Finds or gets a compiler.
pub(crate) fn setup() -> Result<Compiler> {
    if own_library().is_some() {
        return Ok(Compiler::Own);
    }
    if debian_library().is_some_and(|folder| has_std(&folder)) {
        return Ok(Compiler::Debian);
    }
    if has("rustup")
        && show(program("rustup").args(["target", "add", TARGET])).is_ok()
        && own_library().is_some()
    {
        return Ok(Compiler::Own);
    }
    if !has("apt-get") || !is_root() {
        bail!(
            "no compiler for {TARGET}: run `rustup target add {TARGET}`, or as root on Debian `apt-get install {}`",
            PACKAGES.join(" ")
        );
    }
    apt_install(PACKAGES)?;
    let folder = debian_library().context("Debian's compiler doesn't say where its libraries are")?;
    if !has_std(&folder) {
        build_std(&folder)?;
    }
    Ok(Compiler::Debian)
}

/// Where the library of the usual toolchain stands, where it has it.
fn own_library() -> Option<PathBuf> {
    let folder =
        stdout(program("rustc").args(["--print", "target-libdir", "--target", TARGET]).current_dir(root()));
    Some(PathBuf::from(folder.ok()?.trim())).filter(|folder| has_std(folder))
}

fn debian_library() -> Option<PathBuf> {
    let folder = stdout(program("/usr/bin/rustc").args(["--print", "target-libdir", "--target", TARGET]));
    Some(PathBuf::from(folder.ok()?.trim()))
}

fn has_std(folder: &Path) -> bool {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.into_iter().any(|name| name.to_string_lossy().starts_with("libstd-"))
}

/// Debian's cargo and compiler, whatever else is on the path.
fn debian_cargo() -> Command {
    let mut command = program("/usr/bin/cargo");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(PathBuf::from("/usr/bin")).chain(std::env::split_paths(&path));
    if let Ok(path) = std::env::join_paths(path) {
        command.env("PATH", path);
    }
    // What the cargo that runs this says of itself would lead the other to its compiler.
    for name in ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTC", "RUSTDOC", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        command.env_remove(name);
    }
    command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", LINKER);
    command
}

/// Builds the standard library for the target, and puts it where Debian's compiler looks.
fn build_std(folder: &Path) -> Result<()> {
    println!("building the standard library for {TARGET}, once");
    let work = tempfile::tempdir()?;
    fs::create_dir(work.path().join("src"))?;
    fs::write(work.path().join("src/lib.rs"), "")?;
    fs::write(work.path().join("Cargo.toml"), "[package]\nname = \"nothing\"\nedition = \"2024\"\n")?;
    let mut build = debian_cargo();
    build
        .current_dir(work.path())
        .args(["build", "--quiet", "--release", "--target", TARGET, "-Zbuild-std=std,panic_abort"])
        // Without bitcode in it, what is linked against it can't be optimised as a whole.
        .env("RUSTFLAGS", "-Cembed-bitcode=yes")
        // `-Zbuild-std` is unstable: this lets a stable compiler build its own library.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", work.path().join("target"));
    show(&mut build)?;
    fs::create_dir_all(folder)?;
    for entry in fs::read_dir(work.path().join(format!("target/{TARGET}/release/deps")))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".rlib") && !name.starts_with("libnothing") {
            fs::copy(entry.path(), folder.join(&name))?;
        }
    }
    // What was compiled against another build of the library can't be used with this one.
    if root().join("target/wasm32").exists() {
        fs::remove_dir_all(root().join("target/wasm32"))?;
    }
    if has("rustup") {
        show(program("rustup").args(["toolchain", "link", LINKED, "/usr"]))?;
    }
    Ok(())
}

/// Compiles the core for the target: what needs an operating system doesn't compile there, or has no use.
pub(crate) fn check() -> Result<()> {
    let compiler = setup()?;
    show(compiler.cargo().args(["check", "--quiet", "--package", "elfscope-core", "--target", TARGET]))
}
