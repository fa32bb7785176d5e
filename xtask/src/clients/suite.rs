//! The official conformance suite.

use std::process::Command;

use anyhow::Result;

use super::{Server, Work};
use crate::{
    report::Report,
    run::{program, root},
    setup::node::Node,
};

/// The two sets of what a revision requires: one for each era.
const REVISIONS: [&str; 2] = ["2026-07-28", "2025-11-25"];
/// What needs no fixtures, with the revisions that have it: asked of the program as people get it.
const WITHOUT_FIXTURES: &[(&str, &[&str])] = &[
    ("tools-list", &REVISIONS),
    ("resources-list", &REVISIONS),
    ("prompts-list", &REVISIONS),
    ("dns-rebinding-protection", &REVISIONS),
    ("sep-2164-resource-not-found", &[REVISIONS[0]]),
    ("caching", &[REVISIONS[0]]),
    ("http-header-validation", &[REVISIONS[0]]),
    ("server-initialize", &[REVISIONS[1]]),
    ("server-session-lifecycle", &[REVISIONS[1]]),
    ("ping", &[REVISIONS[1]]),
];

/// Runs both sets on a server with fixtures.
pub(super) fn run(node: &Node, server: &Server, work: &Work, report: &mut Report) -> Result<()> {
    let expected = root().join("serve/clients/expected-failures.yml");
    for revision in REVISIONS {
        let mut command = conformance(node, server, work);
        command.args(["--requirements", revision, "--expected-failures"]).arg(&expected);
        judged(&mut command, &format!("conformance suite, {revision}"), report)?;
    }
    Ok(())
}

/// Runs what needs no fixtures on the program as it is.
pub(super) fn without_fixtures(node: &Node, server: &Server, work: &Work, report: &mut Report) -> Result<()> {
    for (scenario, revisions) in WITHOUT_FIXTURES {
        for revision in *revisions {
            let mut command = conformance(node, server, work);
            command.args(["--scenario", scenario, "--spec-version", revision]);
            judged(&mut command, &format!("{scenario}, {revision}, without fixtures"), report)?;
        }
    }
    Ok(())
}

fn conformance(node: &Node, server: &Server, work: &Work) -> Command {
    let mut command = program(node.program());
    command.arg(node.file("@modelcontextprotocol/conformance/dist/index.js"));
    command.args(["server", "--url", &server.url(), "--output-dir"]).arg(work.folder.path().join("results"));
    command
}

/// Counts the checks of the scenarios; whether they are as expected is the suite's own verdict.
fn judged(command: &mut Command, name: &str, report: &mut Report) -> Result<()> {
    let said = command.output()?;
    let text = String::from_utf8_lossy(&said.stdout);
    let counts: Vec<(u64, u64)> = text.lines().filter_map(count).collect();
    let (passed, failed) = counts.iter().fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    println!("{name}: {} scenarios, {passed} checks passed, {failed} failed", counts.len());
    report.pass_many(passed);
    if !said.status.success() || counts.is_empty() {
        print!("{text}{}", String::from_utf8_lossy(&said.stderr));
        report.fail(format!("clients: {name}: {}", said.status));
    }
    Ok(())
}

/// The numbers in `✓ caching: 8 passed, 0 failed`, and in `Passed: 2/2, 0 failed, 0 warnings`.
fn count(line: &str) -> Option<(u64, u64)> {
    if let Some(rest) = line.strip_prefix("Passed: ") {
        let (passed, rest) = rest.split_once('/')?;
        let failed = rest.split_once(", ")?.1.split_once(" failed")?.0;
        return Some((passed.parse().ok()?, failed.parse().ok()?));
    }
    let rest = line.strip_prefix('✓').or_else(|| line.strip_prefix('✗'))?;
    let (passed, rest) = rest.split_once(": ")?.1.split_once(" passed, ")?;
    Some((passed.parse().ok()?, rest.strip_suffix(" failed")?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_counted() {
        assert_eq!(count("✓ caching: 8 passed, 0 failed"), Some((8, 0)));
        assert_eq!(count("✗ tasks-lifecycle: 1 passed, 8 failed"), Some((1, 8)));
        assert_eq!(count("Passed: 14/14, 0 failed, 0 warnings"), Some((14, 0)));
        assert_eq!(count("  ✗ tasks-lifecycle (extension)"), None);
        assert_eq!(count("Total: 130 passed, 45 failed"), None);
    }
}
