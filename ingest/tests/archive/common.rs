//! Small editions that are made of nothing.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use elfscope_ingest::archive::{
    Archive, ArchiveError, Facts, Published, Scope, Stage, Verified, deflate_member,
};
use elfscope_schema::{
    BuildId, CitedFile, DERIVATION, Given, Lines, Lookup, Name, Sha256Digest, SourceFile, SourceLevel,
    SourcesPage, documents::schema, to_canonical,
};
use serde_json::{Value, json};

/// A source that a test edition cites: its path, and its bytes where it is published.
pub(crate) type Source = (Name, Option<Vec<u8>>);

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
    /// The sources that all its functions cite.
    pub(crate) sources: Vec<Source>,
    /// Changes a document of a pack before it is written.
    pub(crate) twist: Option<fn(&str, &mut Value)>,
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
            sources: Vec::new(),
            twist: None,
        }
    }

    /// The same with these sources.
    pub(crate) fn with_sources(mut self, sources: Vec<Source>) -> Self {
        self.given.sources = vec![Sha256Digest::of(&to_canonical(&sources))];
        self.facts.sources = sources.iter().filter(|(_, bytes)| bytes.is_some()).count() as u64;
        self.sources = sources;
        self
    }

    /// The same with a source of its own, one that all have, and one that isn't published.
    pub(crate) fn with_some_sources(self) -> Self {
        let own = format!("{}\nint own;\n", self.build).into_bytes();
        self.with_sources(vec![
            ("/usr/include/all.h".into(), Some(SHARED.to_vec())),
            ("/usr/include/missing.h".into(), None),
            ("src/own.c".into(), Some(own)),
        ])
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
        let cited = self.write_sources(stage)?;
        let mut pack = stage.pack("fn.jsonl.gz")?;
        for number in 0..self.functions {
            let mut text = function(number, self.salt);
            if !cited.is_empty() {
                let mut page: Value = serde_json::from_slice(&text).unwrap();
                page["files"] = json!(cited);
                page["frames"] =
                    json!([{ "function": "main" }, { "call_file": 0, "call_line": 3, "parent": 0 }]);
                page["runs"] = json!([{ "at": { "file": 0, "frame": 1, "line": number + 1 }, "rows": [] }]);
                text = self.twisted("fn", page);
            }
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

    /// Writes the sources and their pages, two on each. Returns how they are cited.
    fn write_sources(&self, stage: &Stage<'_>) -> Result<Vec<CitedFile>, ArchiveError> {
        let full = |source| ArchiveError::Write { path: stage.edition(), source };
        let (mut files, mut cited) = (Vec::new(), Vec::new());
        for (path, bytes) in &self.sources {
            let bytes = bytes.as_ref();
            let sha256 = bytes.map(|bytes| stage.source(bytes)).transpose()?;
            let level = if bytes.is_some() { SourceLevel::PathMatched } else { SourceLevel::Missing };
            let file = SourceFile {
                also: Vec::new(),
                last_line: 1,
                level,
                lines: bytes.map(|bytes| Lines::of(bytes)),
                mismatch: None,
                names: bytes.map(|_| (2, 3)),
                path: path.clone(),
                raw: None,
                sha256,
                tree: bytes.map(|_| 0),
            };
            let published = file.sha256.map(|_| level);
            cited.push(CitedFile {
                also: Vec::new(),
                level: published,
                names: file.names,
                path: path.clone(),
                sha256,
                tree: file.tree,
            });
            files.push(file);
        }
        if !files.is_empty() {
            files.sort_by_key(|file| (Name::sort_key(file.path.text()).into_owned(), file.path.clone()));
            let mut pack = stage.pack("sources.jsonl.gz")?;
            for sources in files.chunks(2) {
                let page = SourcesPage { schema: schema::SOURCES.to_owned(), sources: sources.to_vec() };
                let text = self.twisted("sources", json!(page));
                pack.push(&text, &deflate_member(&text)).map_err(full)?;
            }
            pack.finish().map_err(full)?;
        }
        Ok(cited)
    }

    fn twisted(&self, kind: &str, mut page: Value) -> Vec<u8> {
        if let Some(twist) = self.twist {
            twist(kind, &mut page);
        }
        to_canonical(&page)
    }

    pub(crate) fn add(&self, archive: &Archive) -> Result<Published, ArchiveError> {
        let stage = archive.stage()?;
        self.write(&stage)?;
        stage.publish(&self.build, &self.given, self.facts.clone())
    }
}

/// What all editions with sources share.
pub(crate) const SHARED: &[u8] = b"/* shared */\nint all;\n";

/// Where an archive has a source.
pub(crate) fn stored(archive: &Archive, bytes: &[u8]) -> PathBuf {
    archive.root().join(format!("src/{}", Sha256Digest::of(bytes)))
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
