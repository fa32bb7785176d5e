//! Rules about dependencies: who knows whom, which versions, which licences.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::files::Tree;
use crate::run::metadata;

/// Crates of ours, and what each may depend on (`Only`) or must not (`Not`). Names of ours start with `elfscope-`.
enum Knows {
    Only(&'static [&'static str]),
    Not(&'static [&'static str]),
}

const KNOWS: &[(&str, Knows)] = &[
    ("elfscope-schema", Knows::Only(&["schemars", "serde", "serde_json", "sha2"])),
    (
        "elfscope-ingest",
        Knows::Not(&["elfscope-core", "elfscope", "clap", "indicatif", "anyhow", "tokio", "ureq", "reqwest"]),
    ),
    (
        "elfscope-core",
        Knows::Not(&[
            "elfscope-ingest",
            "elfscope",
            "tokio",
            "worker",
            "axum",
            "clap",
            "anyhow",
            "indicatif",
            "memmap2",
            "elfscope-local",
            "hyper",
            "include_dir",
        ]),
    ),
    ("elfscope-local", Knows::Not(&["elfscope-ingest", "elfscope", "worker", "clap", "anyhow", "indicatif"])),
];

pub(super) fn who_knows_whom(_: &Tree) -> Result<Vec<String>> {
    let metadata = metadata()?;
    let mut found = Vec::new();
    for (name, knows) in KNOWS {
        let package = packages(&metadata)
            .find(|package| package["name"] == *name)
            .with_context(|| format!("the workspace has no package {name}"))?;
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        let normal = package["dependencies"].as_array().into_iter().flatten();
        for dependency in normal.filter(|dependency| dependency["kind"].is_null()) {
            let other = dependency["name"].as_str().unwrap_or_default();
            let allowed = match knows {
                Knows::Only(only) => only.contains(&other),
                Knows::Not(not) => !not.contains(&other),
            };
            if !allowed {
                found.push(format!(
                    "{}:1: {name} must not know {other}; see ARCHITECTURE.md",
                    relative(manifest)
                ));
            }
        }
    }
    Ok(found)
}

pub(super) fn pinned(tree: &Tree) -> Result<Vec<String>> {
    let lock = tree.find("Cargo.lock")?;
    let mut locked = BTreeSet::new();
    let mut name = "";
    for (_, line) in lock.lines() {
        if let Some(value) = quoted(line, "name = ") {
            name = value;
        } else if let Some(version) = quoted(line, "version = ") {
            locked.insert((name, version));
        }
    }
    let mut found = Vec::new();
    for (name, version) in elfscope_schema::PINNED {
        let versions: Vec<&str> =
            locked.iter().filter(|(other, _)| *other == name).map(|(_, v)| *v).collect();
        if versions != [version] {
            found.push(format!(
                "schema/src/lib.rs:1: PINNED says {name} {version}, Cargo.lock says {versions:?}; raise DERIVATION with it"
            ));
        }
    }
    Ok(found)
}

pub(super) fn licences(tree: &Tree) -> Result<Vec<String>> {
    let deny = tree.find("deny.toml")?.text().context("deny.toml is not text")?;
    let list = deny.split_once("allow = [").and_then(|(_, rest)| rest.split_once(']')).map(|(list, _)| list);
    let list = list.context("deny.toml has no list `allow`")?;
    let allowed: BTreeSet<&str> = list.split(',').map(|item| item.trim().trim_matches('"')).collect();
    let mut found = Vec::new();
    for package in packages(&metadata()?) {
        let licence = package["license"].as_str().unwrap_or("none");
        if !permits(licence, &allowed) {
            let (name, version) = (&package["name"], &package["version"]);
            found.push(format!(
                "deny.toml:1: {name} {version} has the licence `{licence}`; use another crate"
            ));
        }
    }
    Ok(found)
}

/// Whether an SPDX expression can be met with these licences. `/` is an old way to write OR.
fn permits(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    any_of(&words, &mut at, allowed) && at == words.len()
}

fn any_of(words: &[&str], at: &mut usize, allowed: &BTreeSet<&str>) -> bool {
    let mut good = all_of(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        good |= all_of(words, at, allowed);
    }
    good
}

fn all_of(words: &[&str], at: &mut usize, allowed: &BTreeSet<&str>) -> bool {
    let mut good = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        good &= one(words, at, allowed);
    }
    good
}

fn one(words: &[&str], at: &mut usize, allowed: &BTreeSet<&str>) -> bool {
    let Some(word) = words.get(*at) else { return false };
    *at += 1;
    if *word == "(" {
        let good = any_of(words, at, allowed);
        let closed = words.get(*at) == Some(&")");
        *at += usize::from(closed);
        return good && closed;
    }
    if words.get(*at) == Some(&"WITH") {
        // An exception only ever permits more.
        *at += 2;
    }
    allowed.contains(word)
}

fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().into_iter().flatten()
}

fn quoted<'a>(line: &'a str, start: &str) -> Option<&'a str> {
    line.strip_prefix(start).map(|value| value.trim_matches('"'))
}

fn relative(path: &str) -> &str {
    path.strip_prefix(&*crate::run::root().to_string_lossy())
        .map_or(path, |rest| rest.trim_start_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licence_expressions() {
        let allowed = BTreeSet::from(["MIT", "Apache-2.0"]);
        for good in [
            "MIT",
            "GPL-3.0 OR MIT",
            "MIT/GPL-3.0",
            "(GPL-3.0 OR MIT) AND Apache-2.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(permits(good, &allowed), "{good}");
        }
        for bad in
            ["", "none", "GPL-3.0", "MIT AND GPL-3.0", "MIT AND (GPL-3.0 OR", "GPL-3.0 WITH MIT", "MIT MIT"]
        {
            assert!(!permits(bad, &allowed), "{bad}");
        }
    }
}
