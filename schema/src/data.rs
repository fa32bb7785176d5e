//! `archive.data/1`: strings, objects, pointer tables and other places that code refers to, and who refers to them.

use serde::{Deserialize, Serialize};

use crate::{Address, FunctionKey, FunctionName, Name};

/// One page of data items in address order, a member of `data.jsonl.gz`.
///
/// An item whose references or entries don't fit its page goes on on the next ones: `refs_from` and `entries_from` say
/// where, and `refs_total` and `entries_total` how many there are in all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct DataPage {
    /// The items.
    pub items: Vec<DataItem>,
    /// `archive.data/1`.
    pub schema: String,
}

/// What kind of item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DataKind {
    /// Bytes that read as text up to a NUL: UTF-8 without control characters other than white space and escape. Where
    /// several references point into one run of bytes up to a NUL, each start is an item of its own. Languages that
    /// keep lengths instead of a NUL (Rust, Go) run strings together: `next` tells where another reference starts.
    String,
    /// What an OBJECT symbol names.
    Object,
    /// Consecutive slots, one or more, that the dynamic linker fills with addresses. Slots inside an object are the
    /// object's entries instead.
    Table,
    /// A place that code refers to and that is none of the others: unnamed data, or code whose address is taken.
    Place,
}

/// One item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct DataItem {
    /// Where it starts.
    pub address: Address,
    /// The slots of a pointer table.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub entries: Vec<Slot>,
    /// The number of the first of `entries`.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub entries_from: u64,
    /// How many slots the table has in all.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub entries_total: u64,
    /// What it is.
    pub kind: DataKind,
    /// Its names.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub names: Vec<FunctionName>,
    /// Offset of the first other reference inside a string.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<u64>,
    /// The rows that refer to it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub refs: Vec<DataRef>,
    /// The number of the first of `refs`.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub refs_from: u64,
    /// How many rows refer to it in all.
    pub refs_total: u64,
    /// The section it is in.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub section: Option<Name>,
    /// Its size in bytes, a string's NUL left out; none where nothing says it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub size: Option<u64>,
    /// The slots of tables that hold its address, at most [`DataItem::SLOTS`].
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub slots: Vec<Address>,
    /// How many slots hold its address.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub slots_total: u64,
    /// The text of a string; over [`crate::limits::STRING`] bytes a prefix, its length and digest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<Name>,
}

impl DataItem {
    /// Most slots that an item lists.
    pub const SLOTS: usize = 100;
}

/// A row that refers to an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct DataRef {
    /// The row's address.
    pub at: Address,
    /// The body it is in.
    pub from: FunctionKey,
    /// The name that listings show of that body.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<Name>,
    /// How far inside the item it points: never 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub offset: Option<u64>,
    /// Whether the row makes the address itself, rather than reading or writing there.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub taken: bool,
}

/// One slot of a pointer table: what the dynamic linker puts there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Slot {
    /// The address it holds; none for an import.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub address: Option<Address>,
    /// Where the slot is.
    pub at: Address,
    /// What it points to: a function, object or imported symbol by name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<Name>,
    /// How far inside it: never 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub offset: Option<u64>,
    /// The text it points to, cut at [`crate::limits::ROW_TEXT`] bytes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
    /// The version of an imported symbol.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<Name>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
