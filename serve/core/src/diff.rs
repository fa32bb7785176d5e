//! What differs between two builds, or between two functions.
//!
//! Nothing is guessed: what is said to belong together says by what ([`builds::Basis`]), and *equal* is only said of
//! equal `body` digests without unknown fields, or of rows that say the same.

use serde::Serialize;

use crate::{Edition, Source};

pub mod builds;
pub mod functions;
mod rows;
mod same_code;
mod side;
mod summary;

pub use builds::{BuildDiff, Change, Changed};
pub use functions::{FunctionDiff, PairWindow, RowPair};
pub use same_code::Same;
pub use summary::Summary;

/// An answer about two editions, with where both come from and where it goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Compared<T> {
    /// Where one side comes from.
    pub a: Source,
    /// Where the other comes from.
    pub b: Source,
    /// What the answer says.
    #[serde(flatten)]
    pub value: T,
    /// Asked with this, the question goes on; none where nothing is left.
    pub next_cursor: Option<String>,
}

/// What a cursor of two editions starts with.
fn editions(a: &Edition, b: &Edition) -> String {
    format!("{}-{}", a.source().edition, b.source().edition)
}
