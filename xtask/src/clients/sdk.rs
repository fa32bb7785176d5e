//! The official SDKs: each asks for everything that is listed, over HTTP and standard input.

use std::{fs, path::Path, process::Command};

use anyhow::{Context as _, Result};

use super::{Server, Work, told_by};
use crate::{
    report::Report,
    run::{program, root},
    setup::node::Node,
};

const MODERN: &str = "2026-07-28";
const OLDER: &str = "2025-11-25";

/// Versions 1 and 2 of the TypeScript SDK.
pub(super) fn typescript(
    node: &Node,
    server: &Server,
    work: &Work,
    digests: &mut Vec<String>,
    report: &mut Report,
) -> Result<()> {
    // Scripts find packages in the folders above them.
    let scripts = tempfile::tempdir_in(node.folder())?;
    for name in ["walk.mjs", "v1.mjs", "v2.mjs"] {
        fs::copy(root().join("serve/clients/node").join(name), scripts.path().join(name))?;
    }
    for (script, version) in [("v1.mjs", OLDER), ("v2.mjs", OLDER), ("v2.mjs", MODERN)] {
        let start = || {
            let mut command = program(node.program());
            command.arg(scripts.path().join(script));
            command
        };
        both(
            start,
            &format!("TypeScript SDK {}, {version}", &script[..2]),
            version,
            server,
            work,
            digests,
            report,
        )?;
    }
    Ok(())
}

/// One version of the Python SDK.
pub(super) fn python(
    python: &Path,
    name: &str,
    server: &Server,
    work: &Work,
    digests: &mut Vec<String>,
    report: &mut Report,
) -> Result<()> {
    let (script, versions): (_, &[&str]) = match name {
        "mcp-1" => ("v1.py", &[OLDER]),
        _ => ("v2.py", &[OLDER, MODERN]),
    };
    for version in versions {
        let start = || {
            let mut command = program(python);
            // Nothing is written beside the scripts.
            command.env("PYTHONDONTWRITEBYTECODE", "1");
            command.arg(root().join("serve/clients/python").join(script));
            command
        };
        both(
            start,
            &format!("Python SDK {}, {version}", &script[..2]),
            version,
            server,
            work,
            digests,
            report,
        )?;
    }
    Ok(())
}

/// One client over both transports.
fn both(
    start: impl Fn() -> Command,
    name: &str,
    version: &str,
    server: &Server,
    work: &Work,
    digests: &mut Vec<String>,
    report: &mut Report,
) -> Result<()> {
    let plan = root().join("serve/clients/calls.json");
    let mut http = start();
    http.arg(&plan).args(["http", &server.url(), version]);
    let mut stdio = start();
    stdio.arg(&plan).args(["stdio", version]).args(work.stdio(&work.elfscope));
    for (over, mut command) in [("HTTP", http), ("stdio", stdio)] {
        let who = format!("{name}, {over}");
        let said = command.output().with_context(|| who.clone())?;
        if !said.status.success() {
            print!("{}", String::from_utf8_lossy(&said.stderr));
            report.fail(format!("clients: {who}: {}", said.status));
            continue;
        }
        let told = told_by(&who, &String::from_utf8_lossy(&said.stdout), report)?;
        digests.extend(told["digest"].as_str().map(str::to_owned));
        digests.sort_unstable();
    }
    Ok(())
}
