//! The archive: the only writer of editions, their pointers and the catalogue.
//!
//! An [`Archive`] is a folder. A writer takes a private [`Stage`] inside it, fills it with packs ([`PackWriter`]) and
//! documents from as many threads as it likes, and publishes it: the files are synced, published sources are moved to
//! `src/<sha256>`, the folder is renamed to `<build-id>/<edition>`, and then the pointer `current.json` and the catalogue `index*` are moved under the archive's
//! lock. A crash or a full disk at any moment leaves every published edition readable; what it leaves behind is deleted
//! by the next publication or by [`Archive::gc`].
//!
//! The folder `.tmp` holds the lock, the stages and a mark that the catalogue is being written. It is no part of the
//! archive: copies leave it out.
//!
//! Nothing here prints, reads a clock or the environment, or knows what an ELF is.

pub mod clip;
mod error;
mod export;
mod export_sources;
mod files;
mod gc;
mod gc_sources;
mod index;
mod index_update;
mod members;
mod pack;
mod publish;
mod remove;
mod sources;
mod stage;
mod store;
mod verify;
mod verify_edition;
mod verify_sources;

pub use error::{ArchiveError, ErrorClass};
pub use export::Exported;
pub use gc::Collected;
pub use pack::{PackWriter, Packed, deflate_member};
pub use publish::{Facts, Outcome, Published};
pub use remove::Removed;
pub use stage::Stage;
pub use store::Archive;
pub use verify::{Finding, Progress, Scope, Verified};
