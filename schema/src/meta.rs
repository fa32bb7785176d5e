//! `archive.meta/1` and `archive.more/1`: what a binary is, and where every claim comes from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Address, BuildId, Name, Sha256Digest};

/// `meta.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Meta {
    /// The build.
    pub build_id: BuildId,
    /// `little` or `big`.
    pub byte_order: String,
    /// 32 or 64 (`EI_CLASS`).
    pub class: u32,
    /// What compilers and linkers said of themselves.
    pub compilers: Vec<Compiler>,
    /// How much there is of everything.
    pub counts: Counts,
    /// Which executable bytes are in what kind of body.
    pub coverage: Coverage,
    /// The debug files that were used.
    pub debug: Vec<DebugFile>,
    /// The decoder that made the rows; none where there are no rows.
    pub decoder: Option<Decoder>,
    /// The derivation version.
    pub derivation: u32,
    /// What could not be read, the first of it here.
    pub diagnostics: Listed<Diagnostic>,
    /// `e_entry`, where it isn't 0.
    pub entry: Option<Address>,
    /// The file.
    pub file: FileId,
    /// The interpreter that `PT_INTERP` names.
    pub interpreter: Option<Name>,
    /// The machine.
    pub machine: Machine,
    /// The libraries that it needs, with the versions that it asks of each.
    pub needed: Vec<Needed>,
    /// The package that it came in.
    pub package: Option<Package>,
    /// `archive.meta/1`.
    pub schema: String,
    /// Its sections.
    pub sections: Listed<Section>,
    /// Its segments (program headers).
    pub segments: Listed<Segment>,
    /// `DT_SONAME`.
    pub soname: Option<Name>,
    /// The source trees that were searched, by their digests. Files in `sources.jsonl.gz` name them by their number here.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sources: Vec<SourceTree>,
    /// `e_type`: `ET_EXEC`, `ET_DYN`, `ET_REL`, or the number of another.
    #[serde(rename = "type")]
    pub elf_type: String,
}

/// A list whose start stands here and whose rest is in `more.jsonl.gz`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Listed<T> {
    /// The first items.
    pub items: Vec<T>,
    /// The member of `more.jsonl.gz` where the list goes on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub more: Option<u64>,
    /// How many there are in all.
    pub total: u64,
}

/// One page of the rest of a list, a member of `more.jsonl.gz`. The list goes on in the next member while `from` plus
/// the items here are less than the total.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct More {
    /// The number of the first item here.
    pub from: u64,
    /// The items.
    pub items: MoreItems,
    /// `archive.more/1`.
    pub schema: String,
}

/// The items of one list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MoreItems {
    /// Diagnostics.
    Diagnostics(Vec<Diagnostic>),
    /// Sections.
    Sections(Vec<Section>),
    /// Segments.
    Segments(Vec<Segment>),
}

/// A file by what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FileId {
    /// Its name, without folder.
    pub name: Name,
    /// Its SHA-256.
    pub sha256: Sha256Digest,
    /// Its size in bytes.
    pub size: u64,
}

/// The machine that a file is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Machine {
    /// `x86-64`, `aarch64`, …; `machine-<number>` for one without a name here.
    pub name: String,
    /// `e_machine`.
    pub number: u16,
}

/// A tool's own words about itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Compiler {
    /// Where it stands: `.comment` or `DW_AT_producer`.
    pub from: String,
    /// What it says.
    pub text: Name,
}

/// How much there is of everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Bodies by where their bounds come from ([`crate::Origin`]).
    pub bodies: BTreeMap<String, u64>,
    /// Data items by kind.
    pub data: BTreeMap<String, u64>,
    /// Edges by class.
    pub edges: BTreeMap<String, u64>,
    /// Bodies that are functions (resolvers included, stubs and gaps not).
    pub functions: u64,
    /// Rows.
    pub rows: u64,
    /// Rows with a source line.
    pub rows_with_line: u64,
    /// Sources by level of verification.
    pub sources: BTreeMap<String, u64>,
    /// Rows that the decoder does not know (`.byte`).
    pub undecoded: u64,
}

/// Which executable bytes are in what kind of body. The sum of the last three is the first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Coverage {
    /// Bytes in executable sections (in executable segments where there are no sections).
    pub executable: u64,
    /// Bytes in functions.
    pub functions: u64,
    /// Bytes in no function.
    pub gaps: u64,
    /// Bytes in linker stubs.
    pub stubs: u64,
}

/// How a debug file was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// It was given and has the build's id.
    Given,
    /// In the binary itself.
    Embedded,
    /// By `.gnu_debuglink`.
    Debuglink,
    /// By its build id, in a folder of debug files.
    BuildIdPath,
    /// By `.gnu_debugaltlink`.
    DwzAlternate,
    /// A package of split DWARF.
    Dwp,
    /// In `.gnu_debugdata`.
    Minidebuginfo,
}

/// A debug file that was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct DebugFile {
    /// The file.
    pub file: FileId,
    /// How it was found.
    pub found: Found,
    /// The package that it came in.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub package: Option<Package>,
}

/// The decoder that made the rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Decoder {
    /// The machine mode it ran in.
    pub mode: String,
    /// Its name.
    pub name: String,
    /// The syntax of operands: `att`, or `default` where the machine has one syntax.
    pub syntax: String,
    /// Its version: that of the crate, since the library itself says only its series.
    pub version: String,
}

/// Something that could not be read, or is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Diagnostic {
    /// A stable code.
    pub code: String,
    /// One sentence: what was found, and what was expected or is left out for it.
    pub message: String,
    /// What it is about: a section, table, symbol.
    pub subject: Name,
}

/// A library that is needed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Needed {
    /// Its `DT_NEEDED` name.
    pub library: Name,
    /// The versions that are asked of it.
    pub versions: Vec<Name>,
}

/// The package a file came in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Package {
    /// Its architecture.
    pub architecture: String,
    /// Its name.
    pub name: String,
    /// The file's path in it, without `./` at its start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<Name>,
    /// The SHA-256 of the package's file.
    pub sha256: Sha256Digest,
    /// The source package that it was built from, where it names one: else that has its own name and version.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<SourcePackage>,
    /// Its version.
    pub version: String,
}

/// A source package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct SourcePackage {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A source tree that was searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct SourceTree {
    /// SHA-256 over its files: see [`crate::manifest::Given::sources`].
    pub digest: Sha256Digest,
    /// How many files it has.
    pub files: u64,
    /// The source package that it says it is (`debian/changelog`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub package: Option<SourcePackage>,
    /// Whether that is the source package that the binary's own package says it was built from, with all of its patches and no
    /// other: then its files count as `package-verified`. `.pc/applied-patches`, quilt's record, must have the patches of
    /// `debian/patches/debian.series`, or where that is not there `debian/patches/series`, in their order.
    pub package_verified: bool,
}

/// One section header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Section {
    /// `sh_addr`.
    pub address: Address,
    /// `sh_flags`, in hex.
    pub flags: String,
    /// `sh_name`.
    pub name: Name,
    /// `sh_offset`, in hex.
    pub offset: String,
    /// `sh_size`, in hex.
    pub size: String,
    /// `sh_type`.
    #[serde(rename = "type")]
    pub sh_type: u32,
}

/// One program header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Segment {
    /// `p_vaddr`.
    pub address: Address,
    /// `p_filesz`, in hex.
    pub file_size: String,
    /// `p_flags`.
    pub flags: u32,
    /// `p_memsz`, in hex.
    pub memory_size: String,
    /// `p_offset`, in hex.
    pub offset: String,
    /// `p_type`.
    #[serde(rename = "type")]
    pub p_type: u32,
}
