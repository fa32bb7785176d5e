//! The documents of an elfscope archive: the authoritative specification of the format.
//!
//! # Layout
//! A folder and a bucket look alike:
//!
//! | path | document |
//! | --- | --- |
//! | `index.json`, `index/{id,name,soname,package}/…` | [`Index`], [`IndexPage`]: the catalogue, derived from the `current.json` files |
//! | `<build-id>/current.json` | [`Current`]: the editions of a build, the current one first |
//! | `<build-id>/<edition>/manifest.json` | [`Manifest`]: inputs, content, every file with size and SHA-256 |
//! | `<build-id>/<edition>/packs.json` | [`Packs`]: stored size and SHA-256 of each pack |
//! | `<build-id>/<edition>/meta.json` | [`Meta`]: what the binary is, and where every claim comes from |
//! | `<build-id>/<edition>/more.jsonl.gz` | [`More`]: further sections, segments, diagnostics |
//! | `<build-id>/<edition>/lookup.json`, `lookup.jsonl.gz` | [`Lookup`], [`LookupPage`]: the indices |
//! | `<build-id>/<edition>/fn.jsonl.gz` | [`FunctionPage`]: one page of one body |
//! | `<build-id>/<edition>/callers.jsonl.gz` | [`CallersPage`]: reverse edges |
//! | `<build-id>/<edition>/data.jsonl.gz` | [`DataPage`]: strings, objects, pointer tables, and who refers to them |
//! | `<build-id>/<edition>/sources.jsonl.gz` | [`SourcesPage`]: cited source files, and how they were verified |
//! | `src/<sha256>` | the bytes of a published source, shared by every build that cites them |
//!
//! Only `index*` and `current.json` ever change. A **build** is a GNU build id ([`BuildId`]), an **edition** one derivation
//! of it ([`EditionId`]), so what an edition says never changes.
//!
//! # Packs
//! A `.jsonl.gz` file holds one gzip member (RFC 1952) a document, one document a line, in order, each member with the
//! header [`GZIP_HEADER`]. Documents name members by ordinal, from 0; `<pack>.idx` holds their offsets, 8 bytes
//! little-endian each, and last the pack's size, so that the range of a member is one look-up.
//!
//! # Canonical bytes
//! See [`canonical`]. No clock, host, machine path, user, locale or thread order gets into a file.
//!
//! # Versions
//! Every document names its schema, `archive.<name>/<version>`; [`documents`] lists them. Within a version members are
//! only added. [`DERIVATION`] counts what the derivation does: the same inputs under the same derivation version give the same bytes.

pub mod callers;
pub mod canonical;
pub mod current;
pub mod data;
pub mod documents;
pub mod function;
pub mod hex;
pub mod id;
pub mod limits;
pub mod lookup;
pub mod manifest;
pub mod meta;
pub mod name;
pub mod row;
pub mod sources;
mod text;

pub use callers::{Caller, CallersOf, CallersPage};
pub use canonical::{from_slice, is_canonical, to_canonical};
pub use current::{Current, CurrentEdition, Index, IndexEntry, IndexPage, Tombstone};
pub use data::{DataItem, DataKind, DataPage, DataRef, Slot};
pub use function::{
    BodyKind, CitedFile, Declared, Digests, Edge, EdgeClass, EdgeKind, EdgeTarget, Frame, FunctionName,
    FunctionPage, Head, Origin, Place, Run, StackFrame,
};
pub use id::{Address, BadId, BodyDigest, BuildId, EditionId, FunctionKey, Sha256Digest};
pub use lookup::{
    DigestEntry, FunctionEntry, ImportEntry, IndexRoot, Lookup, LookupPage, NameEntry, NamedCode, NamedKind,
    Record, SourceEntry, SourceFunctions, StringEntry, TableEntry, TrigramEntry,
};
pub use manifest::{
    GZIP_HEADER, GZIP_TRAILER, Given, Manifest, ManifestFile, Pack, Packs, content_digest, index_name,
};
pub use meta::{
    Compiler, Counts, Coverage, DebugFile, Decoder, Diagnostic, FileId, Found, Listed, Machine, Meta, More,
    MoreItems, Needed, Package, Section, Segment, SourcePackage, SourceTree,
};
pub use name::Name;
pub use row::{Notes, Referent, ReferentKind, Relocation, Row};
pub use sources::{Lines, Mismatch, SourceFile, SourceLevel, SourcesPage};

/// The derivation version: raised whenever the same inputs would give other documents.
///
/// | version | what changed |
/// | --- | --- |
/// | 1 | the first: bodies, rows, edges, callers, data for x86-64 and AArch64; no lines, no sources |
/// | 2 | DWARF 2 to 5: lines, inlined frames, functions, parts, signatures; `.gnu_debugdata`; sources |
/// | 3 | names in the look-up tell their body's digest, demangled ones the name that they are the form of |
pub const DERIVATION: u32 = 3;

/// The decoders, demanglers and the reader of DWARF that derivation [`DERIVATION`] stands for: another version of one of them may print other
/// bytes. `cargo xtask tidy` holds `Cargo.lock` to this list.
pub const PINNED: [(&str, &str); 6] = [
    ("capstone", "0.14.0"),
    ("capstone-sys", "0.18.0"),
    ("cpp_demangle", "0.5.1"),
    ("gimli", "0.34.0"),
    ("miniz_oxide", "0.9.1"),
    ("rustc-demangle", "0.1.28"),
];
