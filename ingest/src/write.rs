//! From what was told to the documents of an edition.

pub(crate) mod callers;
pub(crate) mod data;
mod items;
pub(crate) mod lookup;
pub(crate) mod meta;
mod pack;
pub(crate) mod sources;
mod tree;

pub(crate) use pack::LazyPack;
