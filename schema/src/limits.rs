//! Every limit of the format, by name. Sizes in bytes.

/// Longest name that a document holds whole; a longer one is a prefix, its length and digest.
pub const NAME: usize = 4096;
/// Longest part of a name that an index sorts by.
pub const SORT_KEY: usize = 192;
/// Longest part of a string's text that a row shows; the rest is in the string's own item.
pub const ROW_TEXT: usize = 120;
/// Longest part of a string's text that its item holds; a longer one is a prefix, its length and digest.
pub const STRING: usize = 4096;
/// Most items on a page of rows, callers, data, sections, diagnostics.
pub const PAGE_ITEMS: usize = 1000;
/// Most bytes on such a page; one item that is larger alone stands alone.
pub const PAGE: usize = 64 * 1024;
/// Most bytes on a page of `index`, `current`, `lookup` and `sources`.
pub const INDEX_PAGE: usize = 16 * 1024;
/// Most names that an edge or caller repeats of its other end; all of them are in that body's own document.
pub const EDGE_NAMES: usize = 4;
/// Most bytes of a tombstone's reason.
pub const REASON: usize = 500;
/// Store reads that one request may make (promise 6).
pub const REQUEST_READS: usize = 24;
/// Bytes of JSON that one request may parse (promise 6).
pub const REQUEST_JSON: usize = 256 * 1024;
/// Fewest bytes of a substring query: one trigram.
pub const TRIGRAM: usize = 3;
