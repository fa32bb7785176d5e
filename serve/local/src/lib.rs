//! The host on one machine: an archive in a folder, served to people, programs and agents there.
//!
//! | file | subject |
//! | --- | --- |
//! | `folder` | the archive as the core reads it |
//! | `stdio` | MCP over standard input and output |
//! | `serve` | listening, connections, stopping |
//! | `exchange` | one request: from the wire to the core and back |
//! | `stream` | bodies that are read while they are sent |
//! | `page` | the web page's files, which are part of the program |
//! | `headers` | `_headers`: which of them get which headers |
//! | `log` | a line a request on standard error |
//!
//! What is answered is the core's: this crate only moves bytes, keeps the time and ends.

mod exchange;
mod folder;
mod headers;
mod log;
mod page;
mod serve;
pub mod stdio;
mod stream;

pub use folder::FolderStore;
pub use log::Log;
pub use serve::{Limits, Server, Stop};
