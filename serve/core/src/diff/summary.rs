//! What two files are, and how that differs: from their `meta.json`.

use std::collections::{BTreeMap, BTreeSet};

use elfscope_schema::{Address, FileId, Meta, Name, Needed, Section};
use serde::Serialize;

use crate::{Edition, Request, Result, Store};

/// Most items of one list.
const MOST: usize = 50;

/// What two files are, and how that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// One file.
    pub a: File,
    /// The other.
    pub b: File,
    /// Whether both are the same file, byte for byte.
    pub same_file: bool,
    /// Libraries (and, where it is asked for, a version of one) that only `a` needs.
    pub needed_removed: Vec<String>,
    /// Libraries and versions that only `b` needs.
    pub needed_added: Vec<String>,
    /// Sections that differ in address or size, or that one side has; the first `MOST` of those that `meta.json` lists.
    pub sections: Vec<SectionChange>,
    /// Whether a file has more sections than were compared.
    pub sections_cut: bool,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct File {
    /// What it is.
    pub file: FileId,
    /// Its machine.
    pub machine: String,
    /// `DT_SONAME`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soname: Option<Name>,
    /// How many functions it has.
    pub functions: u64,
    /// How many rows.
    pub rows: u64,
    /// How many strings.
    pub strings: u64,
    /// Whose code it is, in the compilers' words.
    pub compilers: Vec<String>,
}

/// A section that differs: address and size in hex, on either side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SectionChange {
    /// Its name.
    pub name: Name,
    /// Address and size in `a`.
    pub a: Option<(Address, String)>,
    /// Address and size in `b`.
    pub b: Option<(Address, String)>,
}

impl<S: Store> Request<S> {
    pub(super) async fn summary(&mut self, a: &Edition, b: &Edition) -> Result<Summary> {
        let (a, b) = (self.meta(a).await?, self.meta(b).await?);
        let (needed_a, needed_b) = (needed(&a.needed), needed(&b.needed));
        let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
            one.difference(other).take(MOST).cloned().collect::<Vec<_>>()
        };
        let (mut left, mut right) = (sections(&a.sections.items), sections(&b.sections.items));
        let mut changes = Vec::new();
        for (name, number) in left.keys().chain(right.keys()).cloned().collect::<BTreeSet<_>>() {
            let key = (name.clone(), number);
            let (a, b) = (left.remove(&key), right.remove(&key));
            if a != b && changes.len() < MOST {
                changes.push(SectionChange { name, a, b });
            }
        }
        Ok(Summary {
            same_file: a.file.sha256 == b.file.sha256,
            needed_removed: only(&needed_a, &needed_b),
            needed_added: only(&needed_b, &needed_a),
            sections: changes,
            sections_cut: a.sections.more.is_some() || b.sections.more.is_some(),
            a: file(&a),
            b: file(&b),
        })
    }
}

fn file(meta: &Meta) -> File {
    File {
        file: meta.file.clone(),
        machine: meta.machine.name.clone(),
        soname: meta.soname.clone(),
        functions: meta.counts.functions,
        rows: meta.counts.rows,
        strings: meta.counts.data.get("string").copied().unwrap_or(0),
        compilers: meta.compilers.iter().take(4).map(|compiler| compiler.text.text().to_owned()).collect(),
    }
}

fn needed(needed: &[Needed]) -> BTreeSet<String> {
    let lines = needed.iter().flat_map(|one| {
        let library = one.library.text();
        let versions = one.versions.iter().map(move |version| format!("{library} {}", version.text()));
        versions.chain([library.to_owned()])
    });
    lines.collect()
}

/// Sections by name and, where several have one, number.
fn sections(sections: &[Section]) -> BTreeMap<(Name, usize), (Address, String)> {
    let mut found = BTreeMap::new();
    for section in sections {
        let mut number = 0;
        while found.contains_key(&(section.name.clone(), number)) {
            number += 1;
        }
        found.insert((section.name.clone(), number), (section.address, section.size.clone()));
    }
    found
}
