//! From what was told to the documents of an edition.

pub(crate) mod callers;
pub(crate) mod data;
mod items;
pub(crate) mod lookup;
pub(crate) mod meta;
mod pack;
#[cfg_attr(not(test), expect(dead_code, reason = "no debug data is read yet"))]
pub(crate) mod sources;
mod tree;

pub(crate) use pack::LazyPack;
