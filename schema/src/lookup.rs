//! `archive.lookup/1`: the indices of an edition. The root is `lookup.json`, further pages are members of
//! `lookup.jsonl.gz`.
//!
//! Every index is a sorted list of records, cut into leaves of at most [`crate::limits::INDEX_PAGE`] bytes, with tables above
//! them until the topmost fits the root. A look-up reads one page a level, whatever the size of the list. An index whose
//! records fit the root stands in it as one leaf.
//!
//! | index | records | sorted by |
//! | --- | --- | --- |
//! | `address` | [`FunctionEntry`] | address |
//! | `data` | pages of `data.jsonl.gz`: a table's ordinals name its members | address |
//! | `digest` | [`DigestEntry`] | digest, address |
//! | `import` | [`ImportEntry`] | sort key of the name, version |
//! | `name` | [`NameEntry`] | sort key of the name, then address |
//! | `string` | [`StringEntry`] | sort key of the text, then address |
//! | `source` | [`SourceEntry`] | sort key of the path, then path |
//! | `source_function` | [`SourceFunctions`] | sort key of the path, then path, first address |
//! | `name_trigram`, `source_trigram`, `string_trigram` | [`TrigramEntry`] | trigram, first leaf |
//!
//! The keys in tables are: of `address` and `data` an [`Address`], compared as one; of `digest` the digest; of `import`,
//! `name`, `source`, `source_function` and `string` the sort key of the text, [`crate::Name::sort_key`]; of the trigram indices the trigram. All but addresses
//! compare by their bytes. A trigram is three
//! consecutive bytes of a text after ASCII letters are lowered, written as six hex digits. Its entry lists the leaves of
//! the other index that have it, as numbers counted from that index's first leaf. Where the other index is a leaf in the root it has
//! no trigrams.
//!
//! An index that is missing has no records.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Address, BodyDigest, Name, Sha256Digest};

/// `lookup.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Lookup {
    /// The indices, by name.
    pub indices: BTreeMap<String, IndexRoot>,
    /// `archive.lookup/1`.
    pub schema: String,
}

/// The root of one index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct IndexRoot {
    /// How many records it has.
    pub entries: u64,
    /// The ordinal of its first leaf; leaves are consecutive. None where the records stand here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_leaf: Option<u64>,
    /// The records themselves, where all of them fit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub leaf: Option<Vec<Record>>,
    /// How many levels of pages stand below: 0 where the records stand here, 1 where the table names leaves.
    pub levels: u32,
    /// The topmost table.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub table: Option<Vec<TableEntry>>,
}

/// A member of `lookup.jsonl.gz`: a table or a leaf. Who knows the index reads its leaves as pages of its own record type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LookupPage<R = Record> {
    /// The index it belongs to.
    pub index: String,
    /// Its records, on a leaf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaf: Option<Vec<R>>,
    /// `archive.lookup/1`.
    pub schema: String,
    /// Its entries, on a table.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub table: Option<Vec<TableEntry>>,
}

/// `[key, ordinal]`: the page `ordinal` starts with this key. Records with an equal key may also end the page before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TableEntry(pub String, pub u64);

/// A record of any index; which one, the index says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Record {
    /// Of `address`.
    Function(FunctionEntry),
    /// Of `name`.
    Name(NameEntry),
    /// Of `digest`.
    Digest(DigestEntry),
    /// Of `import`.
    Import(ImportEntry),
    /// Of `string`.
    String(StringEntry),
    /// Of `source`.
    Source(SourceEntry),
    /// Of `source_function`.
    SourceFunctions(SourceFunctions),
    /// Of the trigram indices.
    Trigram(TrigramEntry),
}

/// `[address, size, ordinal, callers, kind, [[name, version, default], …]]`: a body.
///
/// `ordinal` is its first page in `fn.jsonl.gz`, `callers` its first page in `callers.jsonl.gz` or `null`. At most
/// [`Self::NAMES`] names; all of them are in the body's own document and in the index `name`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FunctionEntry(
    pub Address,
    pub u64,
    pub u64,
    pub Option<u64>,
    pub crate::BodyKind,
    pub Vec<(Name, Option<Name>, bool)>,
);

impl FunctionEntry {
    /// Most names in one entry.
    pub const NAMES: usize = 8;
}

/// What a name in the index names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NamedKind {
    /// A body.
    Function,
    /// A body, by the demangled form of its name.
    Demangled,
    /// An object.
    Data,
    /// A thread-local object: its address is an offset in the thread's block.
    Tls,
    /// An imported symbol, which has no address here.
    Import,
}

/// One name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NameEntry {
    /// The start of what it names.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub address: Option<Address>,
    /// Of a body, by its own name: its code. None where its machine has no decoder.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<NamedCode>,
    /// Whether it is the default of its version.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub default: bool,
    /// What it names.
    pub kind: NamedKind,
    /// Of a demangled form: the name that it is the form of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mangled: Option<Name>,
    /// The name.
    pub name: Name,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<Name>,
}

/// `[digest, exact]`: the code behind a name: its `body` digest, and whether no field of it is unknown
/// ([`crate::Digests`]). With it two builds are compared by walking their names side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct NamedCode(pub BodyDigest, pub bool);

/// `[digest, address, exact]`: a body by its `body` digest (`exact`: no field unknown) or its `shape` (not `exact`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct DigestEntry(pub BodyDigest, pub Address, pub bool);

/// An imported symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ImportEntry {
    /// Its first page in `callers.jsonl.gz`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub callers: Option<u64>,
    /// The library asked for its version.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub library: Option<Name>,
    /// Its name.
    pub name: Name,
    /// The slots that its address is put into, at most 8.
    pub slots: Vec<Address>,
    /// `func`, `object`, `notype`, `tls`, …: what the symbol table says it is.
    #[serde(rename = "type")]
    pub symbol_type: String,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<Name>,
    /// Whether it may stay unresolved.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub weak: bool,
}

impl ImportEntry {
    /// Most slots in one entry.
    pub const SLOTS: usize = 8;
}

/// A string by its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StringEntry {
    /// Where it starts.
    pub address: Address,
    /// Its text, as its item in `data.jsonl.gz` has it.
    pub text: Name,
}

/// A source file by its path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SourceEntry {
    /// Whether it is published, as its file in `sources.jsonl.gz` has it.
    pub level: crate::SourceLevel,
    /// The member of `sources.jsonl.gz` that it stands on.
    pub page: u64,
    /// Its path.
    pub path: Name,
}

/// `[path, addresses]`: starts of bodies, in order, with rows or inlined calls from a source file. A file that many cite has
/// several records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct SourceFunctions(pub Name, pub Vec<Address>);

impl SourceFunctions {
    /// Most addresses in one record; none has none.
    pub const ADDRESSES: usize = 256;
}

/// `[trigram, leaves]`: the leaves as alternating numbers: leaves to skip, leaves that have it, and so on. An entry that
/// would grow too long goes on in the next one with the same trigram, which counts from 0 again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct TrigramEntry(pub String, pub Vec<u64>);

/// The SHA-256 that stands for a string in a body digest: of the bytes up to the NUL.
#[must_use]
pub fn string_digest(text: &[u8]) -> Sha256Digest {
    Sha256Digest::of(text)
}

macro_rules! records {
    ($($variant:ident, $type:ty;)*) => {$(
        impl From<$type> for Record {
            fn from(record: $type) -> Self {
                Self::$variant(record)
            }
        }

        impl TryFrom<Record> for $type {
            type Error = Record;

            fn try_from(record: Record) -> Result<Self, Record> {
                match record {
                    Record::$variant(record) => Ok(record),
                    other => Err(other),
                }
            }
        }
    )*};
}

records! {
    Function, FunctionEntry;
    Name, NameEntry;
    Digest, DigestEntry;
    Import, ImportEntry;
    String, StringEntry;
    Source, SourceEntry;
    SourceFunctions, SourceFunctions;
    Trigram, TrigramEntry;
}
