//! Small editions that are made of nothing.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use elfscope_ingest::archive::{
    Archive, ArchiveError, Facts, Published, Scope, Stage, Verified, deflate_member,
};
use elfscope_schema::{BuildId, DERIVATION, Given, Lookup, Sha256Digest, documents::schema, to_canonical};
use serde_json::json;

/// What a test edition is made of.
#[derive(Clone)]
pub(crate) struct Recipe {
    pub(crate) build: BuildId,
    pub(crate) given: Given,
    pub(crate) facts: Facts,
    /// Functions in its pack.
    pub(crate) functions: u32,
    /// Changes `content`.
    pub(crate) salt: u64,
    /// Changes `meta.json` only.
    pub(crate) meta: u64,
}

impl Recipe {
    pub(crate) fn new(number: u64) -> Self {
        let file = Sha256Digest::of(&number.to_le_bytes());
        Self {
            build: BuildId::from_note(&(number + 0x0100_0000_0000).to_be_bytes()).unwrap(),
            given: Given {
                derivation: DERIVATION,
                files: vec![file],
                maps: Vec::new(),
                packages: Vec::new(),
                sources: Vec::new(),
            },
            facts: Facts {
                diagnostics: 0,
                file,
                functions: 12,
                has_dwarf: false,
                machine: "x86-64".to_owned(),
                name: format!("lib{number}.so.1").as_str().into(),
                package: Some(format!("lib{} 1.0-{number} amd64", number % 7)),
                package_verified: Vec::new(),
                provenance: format!("file {file} given"),
                rows: 12,
                named: 0,
                rows_with_line: 0,
                soname: Some(format!("lib{}.so.1", number / 2).as_str().into()),
                sources: 0,
            },
            functions: 12,
            salt: 0,
            meta: 0,
        }
    }

    /// The same with debug data.
    pub(crate) fn with_dwarf(mut self) -> Self {
        self.given.files.push(Sha256Digest::of(b"debug"));
        self.given.files.sort();
        self.facts.has_dwarf = true;
        self.salt += 1;
        self
    }

    pub(crate) fn write(&self, stage: &Stage<'_>) -> Result<(), ArchiveError> {
        let full = |source| ArchiveError::Write { path: stage.edition(), source };
        let mut pack = stage.pack("fn.jsonl.gz")?;
        for number in 0..self.functions {
            let text = function(number, self.salt);
            assert_eq!(pack.push(&text, &deflate_member(&text)).map_err(full)?, u64::from(number));
        }
        pack.finish().map_err(full)?;
        let mut pack = stage.pack("callers.jsonl.gz")?;
        for number in 0..self.functions / 2 {
            let page = json!({ "of": number, "schema": schema::CALLERS });
            let text = to_canonical(&page);
            pack.push(&text, &deflate_member(&text)).map_err(full)?;
        }
        pack.finish().map_err(full)?;
        stage.pack("data.jsonl.gz")?.finish().map_err(full)?;
        let lookup = Lookup { indices: BTreeMap::new(), schema: schema::LOOKUP.to_owned() };
        stage.document("lookup.json", &lookup)?;
        let meta = json!({ "note": self.meta, "schema": schema::META, "x": "y".repeat(200) });
        stage.document("meta.json", &meta)
    }

    pub(crate) fn add(&self, archive: &Archive) -> Result<Published, ArchiveError> {
        let stage = archive.stage()?;
        self.write(&stage)?;
        stage.publish(&self.build, &self.given, self.facts.clone())
    }
}

pub(crate) fn function(number: u32, salt: u64) -> Vec<u8> {
    let page = json!({
        "key": format!("{:x}-{}", 0x1000 + u64::from(number) * 16, 7 + salt),
        "page": 0,
        "schema": schema::FN,
    });
    to_canonical(&page)
}

/// A new archive in a folder that goes with the returned guard.
pub(crate) fn archive() -> (tempfile::TempDir, Archive) {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::create(folder.path().join("archive")).unwrap();
    (folder, archive)
}

/// Every file under a folder but what is no part of the archive, by path from there.
pub(crate) fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, folder: PathBuf, into: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name() == ".tmp" {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                walk(root, entry.path(), into);
            } else {
                let path = entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                into.insert(path, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    let mut into = BTreeMap::new();
    walk(root, root.to_owned(), &mut into);
    into
}

/// A small generator (SplitMix64, Steele et al. 2014), so that a failure can be had again.
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// What `verify` says of the whole archive.
pub(crate) fn verified(archive: &Archive) -> Verified {
    archive.verify(Scope::All, 100, &|_, _| {}).unwrap()
}

const ARGS: &str = "ELFSCOPE_TEST_CHILD";

/// Runs an ignored test of this executable as a process of its own.
pub(crate) fn child(test: &str, args: &[&str]) -> std::process::Child {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test]).env(ARGS, args.join("\n")).stdout(std::process::Stdio::null());
    command.spawn().unwrap()
}

/// The arguments that [`child`] was given, in the child; none in the test run itself, where there is nothing to do then.
#[expect(clippy::disallowed_methods, reason = "the test harness takes no arguments but its own")]
pub(crate) fn child_args() -> Option<Vec<String>> {
    Some(std::env::var(ARGS).ok()?.split('\n').map(str::to_owned).collect())
}
