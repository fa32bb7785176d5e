//! `archive.current/1` and `archive.index/1`: the only documents that ever change.

use serde::{Deserialize, Serialize};

use crate::{BuildId, EditionId, Name, Sha256Digest, limits, to_canonical};

/// `<build-id>/current.json`: the editions of a build, the current one first. It stays under
/// [`limits::INDEX_PAGE`]; an `add` that would pass that is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Current {
    /// The build.
    pub build_id: BuildId,
    /// SHA-256 of the canonical bytes of this document without this member.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub check: Option<Sha256Digest>,
    /// The editions, the current one first, then by rank. Empty once all are removed.
    pub editions: Vec<CurrentEdition>,
    /// The file that the build is, where several claim its id: the first added, until `promote` says another.
    pub file: Sha256Digest,
    /// `archive.current/1`.
    pub schema: String,
    /// Editions that were removed.
    pub tombstones: Vec<Tombstone>,
}

/// What `current.json` says of one edition: enough for the catalogue and for every answer's provenance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CurrentEdition {
    /// `inputs` of other derivations that gave the same `content`.
    pub also: Vec<Sha256Digest>,
    /// The manifest's `content`.
    pub content: Sha256Digest,
    /// The derivation version.
    pub derivation: u32,
    /// How many diagnostics it has.
    pub diagnostics: u64,
    /// Its name.
    pub edition: EditionId,
    /// SHA-256 of the ELF.
    pub file: Sha256Digest,
    /// How many functions it has.
    pub functions: u64,
    /// Whether DWARF was read.
    pub has_dwarf: bool,
    /// The manifest's `inputs`.
    pub inputs: Sha256Digest,
    /// The machine's name.
    pub machine: String,
    /// The file's name. This, `package` and `soname` are cut where they would take more than 1,024 bytes.
    pub name: Name,
    /// How many of its functions have a name.
    pub named: u64,
    /// The package it came in: `name version architecture`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub package: Option<String>,
    /// The numbers, in [`crate::Meta::sources`], of the trees whose files count as `package-verified`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub package_verified: Vec<u32>,
    /// One line that says where every claim of this edition comes from. Answers quote it.
    pub provenance: String,
    /// How many rows it has.
    pub rows: u64,
    /// How many of them have a source line.
    pub rows_with_line: u64,
    /// `DT_SONAME`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub soname: Option<Name>,
    /// How many source files are published.
    pub sources: u64,
}

impl CurrentEdition {
    /// What makes one edition of a file better than another: the greatest is current.
    #[must_use]
    pub fn rank(&self) -> impl Ord + use<'_> {
        let says = (self.has_dwarf, self.sources, self.rows_with_line, self.named);
        let verified = self.package_verified.len();
        (says, self.derivation, verified, self.package.is_some(), &self.edition)
    }
}

/// An edition that was removed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Tombstone {
    /// Its name.
    pub edition: EditionId,
    /// Why, in the words of who removed it; at most [`limits::REASON`] bytes.
    pub reason: String,
}

impl Current {
    /// Sorts the editions (the current one first) and sets the check digest: do this after every change.
    pub fn seal(&mut self) {
        let file = self.file;
        self.editions.sort_by(|a, b| (b.file == file, b.rank()).cmp(&(a.file == file, a.rank())));
        self.tombstones.sort();
        self.check = Some(self.digest());
    }

    /// Whether nothing in a pointer was changed since it was sealed. Members that only a newer version knows count too.
    #[must_use]
    pub fn is_sealed(bytes: &[u8]) -> bool {
        let Ok(mut document) = crate::from_slice::<serde_json::Value>(bytes) else { return false };
        let check = document.as_object_mut().and_then(|members| members.remove("check"));
        let digest = Sha256Digest::of(&crate::canonical::value_to_canonical(&document));
        check.is_some_and(|check| check.as_str() == Some(&digest.to_string()))
    }

    /// The current edition: the best one of `file`. A build whose current file has no edition left has none.
    #[must_use]
    pub fn edition(&self) -> Option<&CurrentEdition> {
        self.editions.first().filter(|first| first.file == self.file)
    }

    fn digest(&self) -> Sha256Digest {
        Sha256Digest::of(&to_canonical(&Self { check: None, ..self.clone() }))
    }
}

/// `index.json`: the catalogue. While it stays within [`limits::INDEX_PAGE`] bytes the builds stand in it and there are no
/// pages; else they stand in pages `index/id/<prefix>.json`, see [`IndexPage`]. A build whose current file has no edition left
/// isn't in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Index {
    /// The builds, by the text of their names and then id, while they fit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub builds: Option<Vec<IndexEntry>>,
    /// `archive.index/1`.
    pub schema: String,
    /// How many builds there are.
    pub total: u64,
}

/// `index/<by>/<prefix>.json`: the builds whose key's digits start with `<prefix>`. `<by>` is `id`,
/// `name`, `soname` or `package`; the key is the text that is asked for (of a name [`Name::text`], of a package its name
/// without version). A key's digits are the hex digits of its SHA-256; of an id they are [`Self::id_digits`], so that the start of an
/// id finds it. The root's prefix is empty and its file is `index/<by>/root.json`. Where no build has such a key there
/// is no page.
///
/// A page that would pass [`limits::INDEX_PAGE`] has no builds but says which digits follow. Only where all its builds have
/// one key, which no digit tells apart, it holds the first of them and says in `pages` how many pages more there are:
/// `<prefix>.<n>.json` (`root.<n>.json`) with `n` from 1, each as full as can be. So a key is found by one read a digit,
/// log16 of the number of keys, and a name that a thousand builds have can be read page by page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct IndexPage {
    /// The builds, by key and then id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub builds: Option<Vec<IndexEntry>>,
    /// How many numbered pages follow, on the first of one key; none where it is the only one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pages: Option<u64>,
    /// `archive.index/1`.
    pub schema: String,
    /// The hex digits after which pages follow.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub split: Option<String>,
}

impl IndexPage {
    /// How many digits of its own an id is sorted by.
    pub const OWN_DIGITS: usize = 12;

    /// The digits of a key that is no id.
    #[must_use]
    pub fn digits(key: &str) -> String {
        Sha256Digest::of(key.as_bytes()).to_string()
    }

    /// The digits of an id: its own first [`Self::OWN_DIGITS`], of `sha256-…` an `s` and those after the dash, and then those of its
    /// SHA-256. Anyone can write ids with a long start in common; after these few they spread, so that no page stands deep.
    #[must_use]
    pub fn id_digits(id: &str) -> String {
        format!("{}{}", Self::own_digits(id), Self::digits(id))
    }

    /// The digits of its own that an id, or the start of one, is sorted by.
    #[must_use]
    pub fn own_digits(id: &str) -> String {
        let own = id.strip_prefix("sha256-").map(|digits| format!("s{digits}"));
        own.as_deref().unwrap_or(id).chars().take(Self::OWN_DIGITS).collect()
    }
}

/// What the catalogue says of a build: its current edition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct IndexEntry {
    /// The build.
    pub build_id: BuildId,
    /// Its current edition.
    pub edition: EditionId,
    /// How many functions it has.
    pub functions: u64,
    /// The machine's name.
    pub machine: String,
    /// The file's name.
    pub name: Name,
    /// The package it came in.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub package: Option<String>,
    /// How many rows it has.
    pub rows: u64,
    /// How many of them have a source line.
    pub rows_with_line: u64,
    /// `DT_SONAME`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub soname: Option<Name>,
}

/// Longest provenance line, in bytes.
pub const PROVENANCE: usize = limits::NAME;
