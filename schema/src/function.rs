//! `archive.fn/1`: one page of one body, a member of `fn.jsonl.gz`, in address order.
//!
//! A body is one contiguous range of code. Page 0 has the `head`; every page has rows, and the edges that leave from
//! them. A page ends at [`crate::limits::PAGE_ITEMS`] rows or [`crate::limits::PAGE`] bytes, whichever comes first.

use serde::{Deserialize, Serialize};

use crate::{Address, BodyDigest, FunctionKey, Name, Row, Sha256Digest, SourceLevel};

/// One page of a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct FunctionPage {
    /// The edges that leave from this page's rows, in row order.
    pub edges: Vec<Edge>,
    /// The source files that this page cites, by path: places and frames name them by their number here.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub files: Vec<CitedFile>,
    /// The frames that this page's places stand in: a place and a frame name one by its number here.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub frames: Vec<Frame>,
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
    /// The canonical bytes of this page with these runs and these edges, each list given as its items' JSON with commas
    /// between. Its own `edges` and `runs` must be empty.
    #[must_use]
    pub fn with_items(&self, edges: &[u8], runs: &[u8]) -> Vec<u8> {
        debug_assert!(self.edges.is_empty() && self.runs.is_empty(), "the items are given");
        let frame = crate::to_canonical(self);
        // The members are in the order of their keys: `edges` is the first, and after `runs` only `schema` follows.
        let (before, after) = (b"{\"edges\":[".len(), format!("],\"schema\":\"{}\"}}\n", self.schema).len());
        let mut page = Vec::with_capacity(frame.len() + edges.len() + runs.len());
        page.extend_from_slice(&frame[..before]);
        page.extend_from_slice(edges);
        page.extend_from_slice(&frame[before..frame.len() - after]);
        page.extend_from_slice(runs);
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
    /// Where the debug data declares it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub declared: Option<Declared>,
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

/// A place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Place {
    /// The file, as its number in the page's `files`.
    pub file: u32,
    /// The innermost frame it stands in, as its number in the page's `frames`; none where the debug data names no function
    /// (assembly).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub frame: Option<u32>,
    /// The line, from 1; `null` for code that the compiler made (line 0).
    pub line: Option<u32>,
}

/// A function that code stands in: the subprogram itself, or one that was inlined into another frame.
///
/// The frames above one are its `parent` and so on. A parent stands before its children in the list, so a chain ends. The
/// last one, which has no parent, is the subprogram that the debug data gives for the code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Frame {
    /// Where it was called in its parent: the file, as its number in the page's `files`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub call_file: Option<u32>,
    /// Where it was called in its parent: the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub call_line: Option<u32>,
    /// The function's name: its linkage name where it has one. None where the debug data names none, or the name was lost.
    pub function: Option<Name>,
    /// The frame that it was inlined into, as its number in the page's `frames`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parent: Option<u32>,
}

/// A source file that a page cites.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CitedFile {
    /// Further source trees that have it: [`crate::SourceFile::also`].
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub also: Vec<u32>,
    /// How it was verified, where it is published: [`crate::SourceFile::level`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub level: Option<SourceLevel>,
    /// How many of its functions' names were found, where it is published: [`crate::SourceFile::names`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub names: Option<(u32, u32)>,
    /// Its path as [`crate::SourceFile::path`] tells it.
    pub path: Name,
    /// SHA-256 of the source, where it is published: the name of its bytes in `src/`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sha256: Option<Sha256Digest>,
    /// The source tree that it comes from, where it is published: [`crate::SourceFile::tree`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tree: Option<u32>,
}

/// Where the debug data declares a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Declared {
    /// The file's path as [`crate::SourceFile::path`] tells it.
    pub file: Name,
    /// The line, from 1.
    pub line: u32,
}

/// One level of the stack at a place, see [`FunctionPage::stack`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackFrame<'a> {
    /// The function.
    pub function: Option<&'a Name>,
    /// The file that the code of this level is in; none where the debug data doesn't say where it was called.
    pub file: Option<&'a CitedFile>,
    /// The line in it.
    pub line: Option<u32>,
}

impl FunctionPage {
    /// The stack at a place of this page, innermost first: where a row's code stands, then where each function was
    /// inlined into. Numbers that name nothing end it.
    #[must_use]
    pub fn stack(&self, place: &Place) -> Vec<StackFrame<'_>> {
        let file = |number: Option<u32>| self.files.get(number? as usize);
        let mut stack = vec![StackFrame { function: None, file: file(Some(place.file)), line: place.line }];
        let mut below = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        let mut at = place.frame;
        while let Some(number) = at.filter(|number| *number < below)
            && let Some(frame) = self.frames.get(number as usize)
        {
            if let Some(last) = stack.last_mut() {
                last.function = frame.function.as_ref();
            }
            if frame.parent.is_some() {
                stack.push(StackFrame { function: None, file: file(frame.call_file), line: frame.call_line });
            }
            (below, at) = (number, frame.parent);
        }
        stack
    }
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
            files: Vec::new(),
            frames: Vec::new(),
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
        let place = Place { file: 0, frame: None, line: Some(7) };
        let run = |at, rows: &[u32]| Run { at, rows: rows.iter().map(|offset| row(*offset)).collect() };
        for runs in [vec![], vec![run(None, &[0])], vec![run(Some(place), &[0, 1]), run(None, &[2])]] {
            let whole = FunctionPage { edges: vec![edge.clone()], runs: runs.clone(), ..empty.clone() };
            let runs: Vec<Vec<u8>> = runs.iter().map(|run| json(&|| to_canonical(run))).collect();
            let put = empty.with_items(&json(&|| to_canonical(&edge)), &runs.join(&b','));
            assert_eq!(String::from_utf8(put), String::from_utf8(to_canonical(&whole)));
        }
        // What holds frames still puts together.
        let path = "a.c".into();
        let file = CitedFile { also: vec![], level: None, names: None, path, sha256: None, tree: None };
        let frame = |parent: Option<u32>, name: &str| Frame {
            call_file: parent.map(|_| 0),
            call_line: parent.map(|_| 3),
            function: Some(name.into()),
            parent,
        };
        let cited = FunctionPage {
            files: vec![file.clone()],
            frames: vec![frame(None, "main"), frame(Some(0), "inlined"), frame(Some(2), "ring")],
            ..empty
        };
        assert_eq!(cited.with_items(b"", b""), to_canonical(&cited));
        let stack = cited.stack(&Place { frame: Some(1), ..place });
        let told: Vec<_> = stack.iter().map(|level| (level.function.map(Name::text), level.line)).collect();
        assert_eq!(told, [(Some("inlined"), Some(7)), (Some("main"), Some(3))]);
        assert!(stack.iter().all(|level| level.file == Some(&file)));
        // A chain that doesn't go down ends.
        assert_eq!(cited.stack(&Place { frame: Some(2), ..place }).len(), 2);
        assert_eq!(cited.stack(&Place { frame: Some(9), ..place })[0].function, None);
    }
}
