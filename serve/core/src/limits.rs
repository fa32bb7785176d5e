//! Every limit of the service, in one table. What is over one is refused by its size, never by the time it takes.
//!
//! Limits of the format stand in [`elfscope_schema::limits`]; a request's own, 24 reads and 256 KiB of JSON, too.

/// Longest argument, query parameter or path, in bytes.
pub const ARGUMENT: usize = 8 * 1024;
/// Longest body of a request, in bytes. A host reads at most one more, so that what is too long is seen without reading it.
pub const BODY: usize = 64 * 1024;
/// Most rows of one window.
pub const ROWS: u32 = 500;
/// Most lines of a source in one answer.
pub const SOURCE_LINES: u32 = 400;
/// Most results of a search in one answer.
pub const RESULTS: usize = 100;
/// Most characters of a tool's answer.
pub const CHARACTERS: usize = 12_000;
/// Most bytes of decoded documents that a host keeps, as inflated.
pub const CACHE: usize = 16 * 1024 * 1024;
/// Most bytes of sources that one request reads: what stands further in, behind lines as long, is refused; a whole source that is
/// longer is streamed by the host.
pub const SOURCE_BYTES: u64 = 4 * 1024 * 1024;
