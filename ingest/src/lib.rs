//! From any ELF to an edition of the archive. Knows no terminal and no network.

mod disasm;
