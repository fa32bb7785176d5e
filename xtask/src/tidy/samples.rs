//! Rules about the documents: samples and JSON Schema files.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use elfscope_schema::documents::DOCUMENTS;

use super::{
    cover::Cover,
    files::{File, Tree},
};
use crate::{docs, run::root};

const FOLDER: &str = "schema/samples/";

pub(super) fn complete(tree: &Tree) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    let (mut wanted, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for document in DOCUMENTS {
        let schema = (document.json_schema)().to_value();
        let mut cover = Cover::new(&schema);
        let mut any = false;
        for (file, _) in samples(tree).filter(|(_, name)| *name == document.name) {
            any = true;
            let value = serde_json::from_slice(&file.bytes).with_context(|| file.path.clone())?;
            if let Err(error) = cover.check(&value) {
                found.push(format!("{}:1: not valid: {error}", file.path));
            }
        }
        if !any {
            found.push(format!("{FOLDER}{}.json:1: missing; every document has a sample", document.name));
        }
        wanted.extend(cover.wanted());
        seen.extend(cover.seen);
    }
    // A sample that isn't valid is not counted, and all that it has would be told as missing.
    for missing in wanted.difference(&seen).take_while(|_| found.is_empty()) {
        lacking.push(format!("{FOLDER}:1: no sample has {missing}; add one (never change an old one)"));
    }
    found.extend(lacking);
    for (file, name) in samples(tree) {
        if !DOCUMENTS.iter().any(|document| document.name == name) {
            found.push(format!("{}:1: a sample of no document", file.path));
        }
    }
    Ok(found)
}

pub(super) fn schemas_are_fresh(_: &Tree) -> Result<Vec<String>> {
    let shown = |path: &std::path::Path| path.strip_prefix(root()).unwrap_or(path).display().to_string();
    let stale = docs::stale()?;
    Ok(stale
        .iter()
        .map(|(path, _)| format!("{}:1: out of date; run `cargo xtask docs`", shown(path)))
        .collect())
}

/// Sample files and the names of their documents.
fn samples(tree: &Tree) -> impl Iterator<Item = (&File, &str)> {
    tree.files().iter().filter_map(|file| {
        let name = file.path.strip_prefix(FOLDER)?;
        Some((file, name.split('.').next().unwrap_or(name)))
    })
}
