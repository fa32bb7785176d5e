//! `cargo xtask test clients`: what others wrote, let loose on the built server. See `serve/clients/README.md`.

mod sdk;
mod server;
mod suite;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

pub(crate) use self::server::Server;
use crate::{
    report::Report,
    run::{cargo, metadata, output, program, root, show},
    setup::node::{self, Node},
};

/// Most bytes of `tools/list` for the seven archive tools: every agent's context holds it, for ever.
const MOST_LIST: usize = 9_000;
/// Batches of hostile messages on one connection.
const BATCHES: &str = "2000";

/// What the stage works with.
struct Work {
    folder: TempDir,
    archive: PathBuf,
    /// The program as people get it.
    elfscope: PathBuf,
    /// The program with what the conformance suite calls by name.
    fixtures: PathBuf,
}

pub(crate) fn run(report: &mut Report) -> Result<()> {
    let work = Work::make()?;
    let node = match Node::find() {
        Ok(node) => Some(node),
        Err(error) => {
            report.skip("conformance suite, TypeScript SDK, inspector", format!("{error:#}"));
            None
        }
    };
    if let Some(node) = &node {
        let server = Server::start(&work.fixtures, &work.archive)?;
        suite::run(node, &server, &work, report)?;
    }
    let server = Server::start(&work.elfscope, &work.archive)?;
    let mut digests = Vec::new();
    if let Some(node) = &node {
        suite::without_fixtures(node, &server, &work, report)?;
        sdk::typescript(node, &server, &work, &mut digests, report)?;
        inspector(node, &server, &work, report)?;
    }
    for name in ["mcp-1", "mcp-2"] {
        match node::python(name) {
            Ok(python) => sdk::python(&python, name, &server, &work, &mut digests, report)?,
            Err(error) => report.skip(format!("Python SDK, {name}"), format!("{error:#}")),
        }
    }
    // Whoever asks, over whatever, in whichever era, is told the same.
    digests.dedup();
    match digests.len() {
        0 => {}
        1 => report.pass(),
        _ => report.fail("clients: the SDKs were told different things"),
    }
    list(&work, report)?;
    hostile(&server, &work, report)
}

impl Work {
    fn make() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        // The fixtures first, so that the program that is left in the target folder is the usual one.
        let fixtures = build(&["--features", "conformance"], &folder.path().join("elfscope-fixtures"))?;
        let elfscope = build(&[], &folder.path().join("elfscope"))?;
        let archive = folder.path().join("archive");
        let add = || {
            let mut add = program(&elfscope);
            add.arg("--archive").arg(&archive).arg("add");
            add
        };
        let hello = root().join("examples/hello");
        output(add().arg(hello.join("hello")).arg("--source").arg(&hello))?;
        output(add().args(
            ["hello", "world"].map(|name| root().join(format!("fixtures/bin/changed-{name}-x86_64"))),
        ))?;
        Ok(Self { folder, archive, elfscope, fixtures })
    }

    /// The command that answers on standard input.
    fn stdio(&self, elfscope: &Path) -> Vec<String> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        vec![text(elfscope), "--archive".to_owned(), text(&self.archive), "mcp".to_owned()]
    }
}

/// Builds the program with these arguments, and copies it.
pub(crate) fn build(arguments: &[&str], to: &Path) -> Result<PathBuf> {
    show(cargo().args(["build", "--quiet", "--package", "elfscope"]).args(arguments))?;
    let target =
        metadata()?["target_directory"].as_str().map(PathBuf::from).context("no target directory")?;
    fs::copy(target.join("debug/elfscope"), to)?;
    Ok(to.to_owned())
}

/// The inspector's opinion of the tools' schemas.
fn inspector(node: &Node, server: &Server, work: &Work, report: &mut Report) -> Result<()> {
    let url = vec![server.url()];
    for (over, target) in [("HTTP", url), ("stdio", work.stdio(&work.elfscope))] {
        let mut command = program(node.program());
        command.env("HOME", work.folder.path());
        command.arg(node.file("@modelcontextprotocol/inspector/clients/launcher/build/index.js"));
        command.arg("--cli").args(target).args(["--method", "tools/list", "--strict"]);
        let said = command.output()?;
        let problems = String::from_utf8_lossy(&said.stderr);
        let listed: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap_or_default();
        let tools = listed["tools"].as_array().map_or(0, Vec::len);
        if said.status.success() && tools > 0 && problems.trim().is_empty() {
            println!("inspector, {over}: {tools} tools, nothing to say of them");
            report.pass();
        } else {
            println!("{problems}");
            report.fail(format!("clients: the inspector over {over}, {}", said.status));
        }
    }
    Ok(())
}

/// What the list of tools costs.
fn list(work: &Work, report: &mut Report) -> Result<()> {
    let asked = work.folder.path().join("list.json");
    fs::write(&asked, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n")?;
    let command = work.stdio(&work.elfscope);
    let mut list = program(&command[0]);
    let said = output(list.args(&command[1..]).stdin(fs::File::open(&asked)?))?.stdout;
    let told: serde_json::Value = serde_json::from_slice(&said)?;
    let result = told["result"].to_string().len();
    let tools = told["result"]["tools"].as_array().map_or(0, Vec::len);
    println!("tools/list: {tools} tools, {result} bytes");
    if result < MOST_LIST {
        report.pass();
    } else {
        report.fail(format!("clients: tools/list has {result} bytes, {MOST_LIST} are the most"));
    }
    Ok(())
}

/// Anything over one connection, and a good call after each batch.
fn hostile(server: &Server, work: &Work, report: &mut Report) -> Result<()> {
    let mut command = program("python3");
    command.arg(root().join("serve/clients/python/hostile.py"));
    command.args([&server.port().to_string(), "1", BATCHES]).args(work.stdio(&work.elfscope));
    let told = output(&mut command)?;
    told_by("hostile client", &String::from_utf8_lossy(&told.stdout), report).map(drop)
}

/// Counts what a script told in its last line, and gives that line.
fn told_by(who: &str, said: &str, report: &mut Report) -> Result<serde_json::Value> {
    let last = said.lines().last().unwrap_or_default();
    let Ok(told) = serde_json::from_str::<serde_json::Value>(last) else { bail!("{who} said `{last}`") };
    let passed = told["passed"].as_u64().unwrap_or(0);
    let failed = told["failed"].as_array().cloned().unwrap_or_default();
    println!("{who}: {passed} passed, {} failed", failed.len());
    report.pass_many(passed);
    for what in failed {
        report.fail(format!("clients: {who}: {}", what.as_str().unwrap_or_default()));
    }
    Ok(told)
}
