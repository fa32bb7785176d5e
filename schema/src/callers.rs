//! `archive.callers/1`: reverse edges, by body and by imported name: the exact transpose of all edges that name a target.

use serde::{Deserialize, Serialize};

use crate::{Address, EdgeClass, EdgeKind, FunctionKey, Name};

/// One page of the callers of one thing, a member of `callers.jsonl.gz`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CallersPage {
    /// The edges that lead to it, in the order of the rows that they leave from.
    pub callers: Vec<Caller>,
    /// Whose callers.
    pub of: CallersOf,
    /// This page's number, from 0.
    pub page: u32,
    /// How many pages there are.
    pub pages: u32,
    /// `archive.callers/1`.
    pub schema: String,
    /// How many edges lead to it, over all pages.
    pub total: u64,
}

/// Whose callers a page tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CallersOf {
    /// A body of this binary.
    Body(FunctionKey),
    /// An imported symbol.
    Import {
        /// Its name.
        name: Name,
        /// Its version.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        version: Option<Name>,
    },
}

/// One edge, seen from its target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Caller {
    /// The address of the row that it leaves from.
    pub at: Address,
    /// Its class.
    pub class: EdgeClass,
    /// Whether control may also go on to the next row.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub conditional: bool,
    /// The body that it leaves from.
    pub from: FunctionKey,
    /// How control leaves.
    pub kind: EdgeKind,
    /// The name that listings show of the body it leaves from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<Name>,
    /// How far inside the target it lands: never 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub offset: Option<u64>,
}
