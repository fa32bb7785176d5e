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
/// Ranges that a unit's entries, and the unit itself, may have beside one for each of its bytes: many may name one list.
pub(crate) const RANGES_LEAST: usize = 256;
/// Units that are read at once, before what they say is put together.
pub(crate) const UNITS_AT_ONCE: usize = 256;
/// Most attributes of one kind of entry. Compilers write about 20; some take no bytes in the entries.
pub(crate) const ATTRIBUTES: usize = 256;
/// Longest name in debug data, in bytes; longer ones are lost. Many entries may share one that is read to its end each time.
pub(crate) const DEBUG_NAME: usize = 16 << 10;
/// How many bytes of names a unit may read: this many for each of its own, and [`NAMES_LEAST`] more.
pub(crate) const NAMES_RATIO: usize = 64;
/// See [`NAMES_RATIO`].
pub(crate) const NAMES_LEAST: usize = 64 << 10;
/// Most bytes, as JSON, of the files and frames that one place stands in; what is in more frames has no place. They must fit a
/// page. The deepest that compilers were seen to make are about 60 frames.
pub(crate) const PLACE: u32 = 40 << 10;
/// Longest path of a cited file, and longest folder and name of one: Linux' `PATH_MAX`.
pub(crate) const CITED_PATH: usize = 4096;
/// How many bytes all cited paths may have: this many times the line tables, and [`CITED_LEAST`] more. Files share folders.
pub(crate) const CITED_RATIO: usize = 16;
/// See [`CITED_RATIO`].
pub(crate) const CITED_LEAST: usize = 1 << 20;
/// Most files that one unit cites.
pub(crate) const UNIT_FILES: usize = 1 << 16;
/// Rows that a line table may have beside one for each byte of code.
pub(crate) const LINE_ROWS_LEAST: usize = 64 << 10;
/// Most functions declared in one file that its text is searched for.
pub(crate) const DECLARED_A_FILE: usize = 100_000;
/// Most different texts of compilers that are kept.
pub(crate) const PRODUCERS: usize = 64;
/// Longest signature, in bytes.
pub(crate) const SIGNATURE: usize = 1024;
/// How deep a type in a signature is followed.
pub(crate) const TYPE_DEPTH: usize = 24;
/// Bytes of names that are read for one signature.
pub(crate) const SIGNATURE_NAMES: usize = 64 << 10;
/// Entries that may stand before the next parameter of a function, or bound of an array. Compilers write them first.
pub(crate) const PARAMETER_GAP: usize = 256;
/// Most ranges of one subprogram that are told as each other's parts; compilers make two.
pub(crate) const PARTS: usize = 16;
/// Most files of one source tree.
pub(crate) const SOURCE_FILES: usize = 1_000_000;
/// Most bytes of one source tree.
pub(crate) const SOURCE_TOTAL: u64 = 16 << 30;
/// Largest file of a tree that is taken for a source; a larger one counts in the tree's digest and fits no path.
pub(crate) const SOURCE_FILE: u64 = 64 << 20;
/// Most source packages at the top of one folder.
pub(crate) const SOURCE_PACKAGES: usize = 100;
/// Most files of a tree that share the longest end of a cited path and say where the tree stood; more say nothing.
pub(crate) const SOURCE_PROPOSALS: usize = 32;
/// Most places of a tree that are compared: those that most cited paths propose.
pub(crate) const SOURCE_ALIGNMENTS: usize = 64;
/// Most different contents of files that fit a path that are compared by their MD5.
pub(crate) const SOURCE_CONTENTS: usize = 32;
/// Most bytes of the lines around a declaration that are searched for its name.
pub(crate) const SOURCE_WINDOW: usize = 64 << 10;
/// Longest name and version of a source package, and longest format.
pub(crate) const SOURCE_PACKAGE_WORD: usize = 256;
/// Bytes of `debian/changelog` that are read for its first entry.
pub(crate) const SOURCE_CHANGELOG: u64 = 4 << 10;
/// Bytes of a `.dsc` that are read for its format, and most of a series of patches.
pub(crate) const SOURCE_CONTROL: u64 = 1 << 20;
/// Bytes of what `dpkg-source` said that an error quotes.
pub(crate) const SOURCE_SAID: u64 = 1 << 10;
/// Most bytes that one package unpacks to. The largest debug packages of Debian have about 20 GB.
pub(crate) const UNPACKED: u64 = 64 << 30;
/// How many times its own size a package may unpack to: debug packages stay under 10, gzip can do
/// 1,000, xz and zstd far more.
pub(crate) const UNPACKED_RATIO: u64 = 100;
/// What any package may unpack to, however small it is.
pub(crate) const UNPACKED_FLOOR: u64 = 256 << 20;
/// Most entries of one package, links and folders included. The largest source trees have some hundred
/// thousand.
pub(crate) const PACKAGE_ENTRIES: u64 = 2_000_000;
/// Most bytes of the paths of hard links, and of what they lead to, of one package.
pub(crate) const HARD_LINKS: usize = 16 << 20;
/// Longest path in a package: Linux' `PATH_MAX`.
pub(crate) const MEMBER_PATH: usize = 4096;
/// Largest extended header of one member, pax or GNU.
pub(crate) const MEMBER_HEADER: u64 = 1 << 20;
/// Largest `control` file of a package.
pub(crate) const CONTROL: u64 = 1 << 20;
/// Longest value of a field that is taken from it.
pub(crate) const CONTROL_VALUE: usize = 256;
/// Most members of a .deb's outer archive. There are three; signatures may be added.
pub(crate) const DEB_PARTS: u32 = 64;
/// Memory that xz data may ask for. `xz -9` asks for 65 MiB.
pub(crate) const XZ_MEMORY: u64 = 256 << 20;
/// Largest window that zstd data may ask for, as a power of two. `zstd --ultra -22` asks for 27.
pub(crate) const ZSTD_WINDOW_LOG: u32 = 27;
/// Most members that are named one by one when they are refused.
pub(crate) const REFUSED_MEMBERS: usize = 20;
/// Most ELF files of one package that are taken.
pub(crate) const PACKAGE_ELFS: usize = 100_000;
/// Largest ELF file that `.gnu_debugdata` unpacks to.
pub(crate) const MINIDEBUG: u64 = 512 << 20;
/// What any `.gnu_debugdata` may unpack to, however small it is.
pub(crate) const MINIDEBUG_FLOOR: u64 = 16 << 20;
