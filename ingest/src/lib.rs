//! From any ELF to an edition of the archive. Knows no terminal and no network.

mod add;
pub mod archive;
mod bodies;
mod diagnostics;
mod disasm;
mod dwarf;
mod edition;
mod elf;
mod error;
mod input;
mod landings;
mod limits;
mod marks;
mod names;
mod progress;
mod resolve;
mod slots;
mod source;
mod strings;
mod tell;
mod write;

pub use add::{AddError, AddOptions, Added, Outcome, Report, Standing, add, build_id_of};
pub use error::InputError;
pub use progress::Progress;
pub use source::{Hint, Origin, SourceError, SourceMap};
