//! The line that says where every claim of an edition comes from: answers quote it.

use std::fmt::Write as _;

use elfscope_schema::{DERIVATION, DebugFile, FileId, Found, Package};

use crate::disasm::{Family, decode};

/// What a provenance line tells of.
pub(super) struct Provenance<'a> {
    pub(super) file: &'a FileId,
    pub(super) package: Option<&'a Package>,
    pub(super) debug: &'a [DebugFile],
    pub(super) has_dwarf: bool,
    /// How many source files are published, and of how many that are cited.
    pub(super) sources: (u64, u64),
    pub(super) family: Option<&'static dyn Family>,
}

impl Provenance<'_> {
    pub(super) fn line(&self) -> String {
        let mut line = told(self.file);
        if let Some(package) = self.package {
            let _ = write!(line, " of package {}", named(package));
        }
        for debug in self.debug {
            let (file, package) = (told(&debug.file), debug.package.as_ref());
            let of = package.map(|package| format!(" of package {}", named(package))).unwrap_or_default();
            let _ = match debug.found {
                Found::Embedded => write!(line, ", debug data in itself"),
                Found::Minidebuginfo => write!(line, ", symbols of its .gnu_debugdata"),
                Found::DwzAlternate => write!(line, ", shared debug data of {file}{of}"),
                _ => write!(line, ", debug file {file}{of}"),
            };
        }
        if !self.has_dwarf {
            line.push_str(", no source lines: no DWARF");
        }
        if let (published, cited @ 1..) = self.sources {
            let _ = write!(line, ", {published} of {cited} cited sources published");
        }
        let _ = write!(line, ", derivation {DERIVATION}");
        match self.family {
            Some(family) => {
                let _ = write!(line, ", rows by capstone {} ({})", decode::VERSION, family.name());
            }
            None => line.push_str(", no rows: no decoder for this machine"),
        }
        line
    }
}

fn told(file: &FileId) -> String {
    format!("`{}` (sha256 {})", file.name.text().escape_debug(), file.sha256)
}

fn named(package: &Package) -> String {
    let text = format!("{} {} {}", package.name, package.version, package.architecture);
    text.escape_debug().to_string()
}
