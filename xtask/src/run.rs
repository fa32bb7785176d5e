//! Running other programs, and where things are.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::LazyLock,
};

use anyhow::{Context as _, Result, bail};

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_owned)
    });
    &ROOT
}

/// The cargo that runs this, in the root of the repository.
pub(crate) fn cargo() -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.current_dir(root());
    command
}

/// A program in the C locale, so that what it prints can be read.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.env("LC_ALL", "C").stdin(Stdio::null());
    command
}

/// Whether a program is on the path.
pub(crate) fn has(name: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}

/// Whether this runs as root.
pub(crate) fn is_root() -> bool {
    stdout(program("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

/// Runs a command and fails if it fails; what it prints is shown.
pub(crate) fn show(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("`{}` can't be run", text(command)))?;
    if !status.success() {
        bail!("`{}` ended with {status}", text(command));
    }
    Ok(())
}

/// Runs a command quietly and gives what it prints. What it said is in the error if it fails.
pub(crate) fn stdout(command: &mut Command) -> Result<String> {
    Ok(String::from_utf8_lossy(&output(command)?.stdout).into_owned())
}

/// Runs a command quietly.
pub(crate) fn output(command: &mut Command) -> Result<Output> {
    let output = command.output().with_context(|| format!("`{}` can't be run", text(command)))?;
    if !output.status.success() {
        let said = [&output.stdout[..], &output.stderr[..]].concat();
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = said.lines().collect();
        let end = lines[lines.len().saturating_sub(8)..].join("\n");
        bail!("`{}` ended with {}: {end}", text(command), output.status);
    }
    Ok(output)
}

/// A command as one would type it, without the folder of its program.
pub(crate) fn text(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let words =
        std::iter::once(program.file_name().unwrap_or(command.get_program())).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// `cargo metadata`, with every package of the lock file.
pub(crate) fn metadata() -> Result<serde_json::Value> {
    let text = stdout(cargo().args(["metadata", "--format-version", "1", "--locked"]))?;
    serde_json::from_str(&text).context("`cargo metadata` printed no JSON")
}

/// The folder that lasts between runs and checkouts: what was fetched once is not fetched again.
pub(crate) fn cache() -> PathBuf {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let user = from("XDG_CACHE_HOME").or_else(|| from("HOME").map(|home| home.join(".cache")));
    user.map_or_else(|| root().join("target/real-inputs"), |folder| folder.join("elfscope/real-inputs"))
}
