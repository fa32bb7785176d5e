//! Every limit of reading an input, by name. Sizes in bytes.

/// Largest input that is read, in bytes: beyond any ELF that a linker makes today.
pub(crate) const FILE: u64 = 16 << 30;
/// How often a file's bytes may be claimed by its headers, all in all. Linkers claim each once.
pub(crate) const SHARES: usize = 2;
/// Most `PT_GNU_RELRO` headers that count; linkers write one.
pub(crate) const RELRO: usize = 4;
/// How often the executable bytes of a file may be decoded, all in all, to follow calls into code without names.
pub(crate) const INFERRED_WORK: u64 = 16;
/// How many bytes all names together may have, as a multiple of the file: string tables share ends of names.
pub(crate) const NAME_SHARES: usize = 16;
/// Most diagnostics of one code that an edition holds one by one; the rest are counted in the last.
pub(crate) const DIAGNOSTICS_A_CODE: usize = 100;
/// Most symbols that are read of one table.
pub(crate) const SYMBOLS: usize = 16 << 20;
/// Most relocations that are read of one file.
pub(crate) const RELOCATIONS: usize = 32 << 20;
/// Most names of one body that are kept: no linker folds more functions into one than this.
pub(crate) const NAMES_A_BODY: usize = 2000;
/// Longest run of bytes that is read as one string.
pub(crate) const STRING: usize = 64 << 10;
/// Fewest bytes of text that is believed to be text wherever it stands.
pub(crate) const STRING_SHORT: usize = 4;
/// Fewest bytes of a string that nothing refers to.
pub(crate) const STRING_FOUND: usize = 4;
/// Most bytes of all strings that nothing refers to in one file.
pub(crate) const STRINGS_TOTAL: usize = 256 << 20;
/// Most bodies that one claimed size is said to run into.
pub(crate) const RUNS_INTO: usize = 16;
/// Files in one folder that `add` walks.
pub(crate) const FOLDER_FILES: usize = 1_000_000;
/// How deep `add` walks into a folder.
pub(crate) const FOLDER_DEPTH: usize = 64;
/// How many bytes decompressed debug sections may have: this many times the file's size, and [`DEBUG_LEAST`] more.
pub(crate) const DEBUG_RATIO: u64 = 64;
/// See [`DEBUG_RATIO`].
pub(crate) const DEBUG_LEAST: u64 = 64 << 20;
/// How often the bytes of `.debug_abbrev` and `.debug_line` may be read, all in all: producers share tables among few units.
pub(crate) const DEBUG_SHARES: u64 = 8;
/// Bytes of what units say of single addresses that are kept; of what is beyond units are read again when they are needed.
pub(crate) const DEBUG_HELD: usize = 256 << 20;
/// How many entries one may be an instance or the definition of, one after the other: compilers make two or three.
pub(crate) const DEBUG_CHAIN: usize = 16;
/// Ranges that a unit's entries may have beside one for each of its bytes.
pub(crate) const RANGES_LEAST: usize = 4096;
/// Most ranges of a unit itself.
pub(crate) const UNIT_RANGES: usize = 1 << 20;
/// Most files that one unit cites.
pub(crate) const UNIT_FILES: usize = 1 << 16;
/// Most rows of one line table.
pub(crate) const LINE_ROWS: usize = 64 << 20;
/// Most functions declared in one file that its text is searched for.
pub(crate) const DECLARED_A_FILE: usize = 100_000;
/// Most different texts of compilers that are kept.
pub(crate) const PRODUCERS: usize = 64;
/// Longest signature, in bytes.
pub(crate) const SIGNATURE: usize = 1024;
/// How deep a type in a signature is followed.
pub(crate) const TYPE_DEPTH: usize = 24;
/// Most ranges of one subprogram that are told as each other's parts; compilers make two.
pub(crate) const PARTS: usize = 16;
