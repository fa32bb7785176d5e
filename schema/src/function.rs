//! `archive.fn/1`: one page of one body, a member of `fn.jsonl.gz`, in address order.
//!
//! A body is one contiguous range of code. Page 0 has the `head`; every page has rows, and the edges that leave from
//! them. A page ends at [`crate::limits::PAGE_ITEMS`] rows or [`crate::limits::PAGE`] bytes, whichever comes first.

use serde::{Deserialize, Serialize};

use crate::{Address, BodyDigest, FunctionKey, Name, Row};

/// One page of a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FunctionPage {
    /// The edges that leave from this page's rows, in row order.
    pub edges: Vec<Edge>,
    /// What is said of the whole body: on page 0 only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub head: Option<Head>,
    /// The body.
    pub key: FunctionKey,
    /// Further names of the body, where they don't fit the head.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub names: Vec<FunctionName>,
    /// This page's number, from 0.
    pub page: u32,
    /// How many pages the body has.
    pub pages: u32,
    /// The number, in the body, of this page's first row.
    pub rows_from: u32,
    /// The rows, in runs.
    pub runs: Vec<Run>,
    /// `archive.fn/1`.
    pub schema: String,
}

impl FunctionPage {
    /// The canonical bytes of this page with these rows, in one run without a place, and these edges, each list given as
    /// its items' JSON with commas between. Its own `edges` and `runs` must be empty.
    #[must_use]
    pub fn with_items(&self, edges: &[u8], rows: &[u8]) -> Vec<u8> {
        debug_assert!(self.edges.is_empty() && self.runs.is_empty(), "the items are given");
        let frame = crate::to_canonical(self);
        // The members are in the order of their keys: `edges` is the first, and after `runs` only `schema` follows.
        let (before, after) = (b"{\"edges\":[".len(), format!("],\"schema\":\"{}\"}}\n", self.schema).len());
        let mut page = Vec::with_capacity(frame.len() + edges.len() + rows.len() + 16);
        page.extend_from_slice(&frame[..before]);
        page.extend_from_slice(edges);
        page.extend_from_slice(&frame[before..frame.len() - after]);
        if !rows.is_empty() {
            page.extend_from_slice(b"{\"rows\":[");
            page.extend_from_slice(rows);
            page.extend_from_slice(b"]}");
        }
        page.extend_from_slice(&frame[frame.len() - after..]);
        page
    }
}

/// What is said of a whole body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Head {
    /// Where its bounds come from: the most trusted source that names its start.
    pub bounds: Origin,
    /// The size that the most trusted source claims, where the body is shorter (it ends at the next entry or its
    /// section's end) or the claim is 0 (then the size is inferred from what follows).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub claimed_size: Option<u64>,
    /// Its digests; none for a gap, or where its machine has no decoder.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub digests: Option<Digests>,
    /// Edges of the whole body.
    pub edges_total: u32,
    /// Further exact entries (ELFv2 local entries).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub entries: Vec<Address>,
    /// What kind of body it is.
    pub kind: BodyKind,
    /// Where a linker stub leads.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub leads: Option<EdgeTarget>,
    /// Its names, the one that listings show first; those that don't fit here stand on the next pages.
    pub names: Vec<FunctionName>,
    /// How many names it has in all.
    pub names_total: u32,
    /// The other bodies of the same subprogram (`.cold`).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub parts: Vec<FunctionKey>,
    /// Rows of the whole body.
    pub rows_total: u32,
    /// The bodies that the claimed size runs into; more than 16 are cut there, and the claimed size says how far it goes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub runs_into: Vec<FunctionKey>,
    /// The section it is in, if the file has sections.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub section: Option<Name>,
    /// Its signature from the debug data.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signature: Option<String>,
}

/// What kind of body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BodyKind {
    /// A function.
    Function,
    /// The resolver of a `STT_GNU_IFUNC` symbol: it runs at load time and returns the function that is then called.
    Ifunc,
    /// A linker's stub: a PLT entry or veneer.
    Stub,
    /// Executable bytes that no source says to be a function: padding, data in code, or code without symbols. They have rows,
    /// as the decoder reads them, but claim no edges: it may be data that they tell.
    Gap,
}

/// Which source says so, the most trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// `.symtab`, of the file or its debug file.
    Symtab,
    /// `.dynsym`.
    Dynsym,
    /// A DWARF subprogram.
    Dwarf,
    /// The symbol table in `.gnu_debugdata`.
    Minidebuginfo,
    /// Go's table of functions.
    Gopclntab,
    /// A frame description entry in `.eh_frame`.
    EhFrame,
    /// `.ARM.exidx`.
    Exidx,
    /// The entry point, `DT_INIT`, `DT_FINI`, or the entries of their arrays.
    Entry,
    /// The shape of a linker's stub section.
    Stub,
    /// What lies around it.
    Inferred,
}

/// One name of a function or object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FunctionName {
    /// `local`, `global`, `weak`, `unique`, or the number of another `STB_`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub binding: Option<String>,
    /// Whether it is the default of its version (`name@@version`).
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub default: bool,
    /// The demangled form of a mangled name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub demangled: Option<String>,
    /// Where the name comes from.
    pub from: Vec<Origin>,
    /// The name, without version.
    pub name: Name,
    /// The size that its symbol claims, in bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub size: Option<u64>,
    /// `func`, `ifunc`, `notype`, `object`, `tls`, or the number of another `STT_`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none", default)]
    pub symbol_type: Option<String>,
    /// Its version (gABI: GNU symbol versioning).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<Name>,
    /// `default`, `internal`, `hidden`, `protected`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub visibility: Option<String>,
}

/// Digests of a body, for finding the same code in other builds.
///
/// Algorithm 1. A *field* is the position-dependent part of a unit: the displacement of a relative branch, a
/// pc-relative displacement, a page or the rest of a page-relative address, a field that a relocation of a relocatable
/// file fills. `shape` is the first 16 bytes of SHA-256 over the body's bytes with every field's bits cleared. `body` is
/// the first 16 bytes of SHA-256 over: `elfscope-body-1\n`, the 16 bytes of `shape`, then for each field, in order, one
/// line of UTF-8 that ends in `\n`:
///
/// - `import <name> <version or ->` for an imported symbol, through a stub, a slot or a relocation;
/// - `function <name> <version or -> +<offset hex>` for another body that a symbol names;
/// - `string <sha256 hex>` for text up to its NUL;
/// - `self <offset hex>` for a place in the body itself;
/// - `unknown` for all else: objects, tables, bodies without a symbol.
///
/// What is not hashed: names and addresses of the body itself, sources, the machine. Immediates that happen to be
/// addresses in a fixed-position executable are not fields (nothing proves what they are), so such bodies may differ
/// where only their place differs; they never seem equal where they are not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Digests {
    /// The algorithm: 1.
    pub algorithm: u32,
    /// Shape and what every field refers to.
    pub body: BodyDigest,
    /// The bytes without position-dependent fields.
    pub shape: BodyDigest,
    /// How many fields are `unknown`. Two bodies are *equal* only where `body` is equal and this is 0; else an equal
    /// `shape` is just the *same shape*.
    pub unknown: u32,
}

/// Consecutive rows with one claim about their source, or none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Run {
    /// The line that all rows of this run come from, and the inlined frames above it. A run without makes no claim.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at: Option<Place>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A place in the source, with the chain of inlined frames above it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Place {
    /// The path of the file, as the debug data gives it.
    pub file: Name,
    /// The frames, innermost first; the last is the function itself. Empty where nothing was inlined.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub frames: Vec<Frame>,
    /// The line, from 1; `null` for code that the compiler made (line 0).
    pub line: Option<u32>,
}

/// One inlined frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Frame {
    /// Where it was called from: path.
    pub call_file: Name,
    /// Where it was called from: line.
    pub call_line: Option<u32>,
    /// The function's name.
    pub function: Name,
}

/// The class of an edge. Each edge has exactly one, never a guess; readers keep classes that they don't know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EdgeClass {
    /// Call to the exact entry of a function.
    Direct,
    /// Jump, or falling through, into the exact entry of another function.
    Tail,
    /// Through a stub or slot whose relocation names a symbol, or a branch whose relocation names an undefined one.
    Import,
    /// The slot is IRELATIVE or the target is a GNU_IFUNC: the final target is chosen at run time.
    Ifunc,
    /// Lands inside another function.
    IntoBody,
    /// Lands in this binary where no function is known.
    InternalUnresolved,
    /// Through a register or computed memory: not statically resolvable.
    Indirect,
    /// A class that a newer derivation knows.
    #[serde(untagged)]
    Other(String),
}

impl EdgeClass {
    /// Its name in documents.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Direct => "direct",
            Self::Tail => "tail",
            Self::Import => "import",
            Self::Ifunc => "ifunc",
            Self::IntoBody => "into_body",
            Self::InternalUnresolved => "internal_unresolved",
            Self::Indirect => "indirect",
            Self::Other(name) => name,
        }
    }
}

/// How control leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EdgeKind {
    /// A call: control comes back to the next row.
    Call,
    /// A jump.
    Jump,
    /// The last row goes on into what follows.
    Fallthrough,
}

/// One way out of a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Edge {
    /// Its class.
    pub class: EdgeClass,
    /// Whether control may also go on to the next row.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub conditional: bool,
    /// How control leaves.
    pub kind: EdgeKind,
    /// Offset in the body of the row that it leaves from.
    pub row: u32,
    /// `true` for an indirect jump that has the form of a switch: its targets may all be in this body.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub switch: bool,
    /// Where it leads; none for `indirect`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target: Option<EdgeTarget>,
}

/// Where an edge or stub leads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct EdgeTarget {
    /// The address it lands on, where that is in this binary.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub address: Option<Address>,
    /// The body it lands in.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<FunctionKey>,
    /// The library that the binary asks for the symbol's version; none where no version says which.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub library: Option<Name>,
    /// Names of the body it lands in, or of the imported symbol: at most [`crate::limits::EDGE_NAMES`].
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub names: Vec<Name>,
    /// How far inside the body it lands: never 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub offset: Option<u64>,
    /// The slot (GOT entry) that it goes through.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slot: Option<Address>,
    /// The linker stub that it goes through.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stub: Option<FunctionKey>,
    /// The version of the imported symbol.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<Name>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Notes, to_canonical};

    #[test]
    fn a_page_put_together_is_the_page() {
        let row = |offset| Row {
            offset,
            bytes: vec![0x90],
            mnemonic: "nop".into(),
            operands: String::new(),
            notes: Notes::default(),
        };
        let edge = Edge {
            class: EdgeClass::Indirect,
            conditional: false,
            kind: EdgeKind::Call,
            row: 1,
            switch: false,
            target: None,
        };
        let empty = FunctionPage {
            edges: Vec::new(),
            head: None,
            key: "401000-2".parse().unwrap(),
            names: Vec::new(),
            page: 0,
            pages: 1,
            rows_from: 0,
            runs: Vec::new(),
            schema: crate::documents::schema::FN.to_owned(),
        };
        let json = |item: &dyn Fn() -> Vec<u8>| item()[..].strip_suffix(b"\n").unwrap().to_vec();
        for rows in [vec![], vec![row(0)], vec![row(0), row(1)]] {
            let runs = if rows.is_empty() { vec![] } else { vec![Run { at: None, rows: rows.clone() }] };
            let whole = FunctionPage { edges: vec![edge.clone()], runs, ..empty.clone() };
            let rows: Vec<Vec<u8>> = rows.iter().map(|row| json(&|| to_canonical(row))).collect();
            let put = empty.with_items(&json(&|| to_canonical(&edge)), &rows.join(&b','));
            assert_eq!(String::from_utf8(put), String::from_utf8(to_canonical(&whole)));
        }
    }
}
