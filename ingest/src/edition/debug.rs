//! The debug data of a binary: which files of it are used, and what they hold.

use elfscope_schema::{DebugFile, Found, Origin, Package};

use super::Source;
use crate::{
    diagnostics::Diagnostics,
    dwarf::Sections,
    elf::{Elf, Symbol},
};

/// A debug file that belongs to a binary.
pub(crate) struct DebugSource<'a> {
    /// The file.
    pub(crate) source: Source<'a>,
    /// How it was found.
    pub(crate) found: Found,
    /// The package that it came in.
    pub(crate) package: Option<Package>,
}

/// The debug files that were found for a binary.
pub(crate) struct DebugSources<'a> {
    /// Its separate debug file.
    pub(crate) main: Option<DebugSource<'a>>,
    /// What dwz shares between that file, or the binary, and others.
    pub(crate) alternate: Option<DebugSource<'a>>,
    /// What is packed in its `.gnu_debugdata`.
    pub(crate) mini: Option<DebugSource<'a>>,
}

/// What the debug files hold.
pub(super) struct Debug<'a> {
    /// Symbols beside the binary's own.
    pub(super) symbols: Vec<Symbol<'a>>,
    /// The files that were used.
    pub(super) files: Vec<DebugFile>,
    /// The DWARF.
    pub(super) sections: Option<Sections<'a>>,
    /// What it shares with other files.
    pub(super) alternate: Option<Sections<'a>>,
}

impl<'a> Debug<'a> {
    /// Reads what of the files belongs to the binary.
    pub(super) fn of(binary: &Source<'a>, sources: DebugSources<'a>, diagnostics: &mut Diagnostics) -> Self {
        let mut debug = Self { symbols: Vec::new(), files: Vec::new(), sections: None, alternate: None };
        if let Some(main) = sources.main.filter(|main| fits(&binary.elf, main, diagnostics)) {
            debug.sections = Sections::load(&main.source.elf, main.source.id.size, diagnostics);
            debug.take(main, Origin::Symtab, diagnostics);
        }
        if let Some(mini) = sources.mini.filter(|mini| fits(&binary.elf, mini, diagnostics)) {
            debug.take(mini, Origin::Minidebuginfo, diagnostics);
        }
        if debug.sections.is_none() {
            debug.sections = Sections::load(&binary.elf, binary.id.size, diagnostics);
            if debug.sections.is_some() {
                let file = binary.id.clone();
                debug.files.push(DebugFile { file, found: Found::Embedded, package: None });
            }
        }
        if let Some(alternate) = sources.alternate.filter(|_| debug.sections.is_some()) {
            let DebugSource { source, found, package } = alternate;
            debug.alternate = Sections::load(&source.elf, source.id.size, diagnostics);
            diagnostics.absorb(source.elf.diagnostics);
            debug.files.push(DebugFile { file: source.id, found, package });
        }
        debug
    }

    /// Takes over a file's symbols.
    fn take(&mut self, file: DebugSource<'a>, origin: Origin, diagnostics: &mut Diagnostics) {
        let DebugSource { source, found, package } = file;
        diagnostics.absorb(source.elf.diagnostics);
        let symbols = source.elf.symbols.into_iter().filter(|symbol| symbol.origin == Origin::Symtab);
        self.symbols.extend(symbols.map(|symbol| Symbol { origin, ..symbol }));
        self.files.push(DebugFile { file: source.id, found, package });
    }
}

/// Whether a debug file is of a file of the same kind: an id is only a claim.
fn fits(elf: &Elf<'_>, debug: &DebugSource<'_>, diagnostics: &mut Diagnostics) -> bool {
    let other = &debug.source.elf;
    let same = (other.machine, other.class, other.elf_type) == (elf.machine, elf.class, elf.elf_type);
    if !same {
        let message =
            "the debug file has the build's id but is of another machine, class or type: it is not used";
        diagnostics.add("debug-file-differs", debug.source.id.name.text().as_bytes(), message);
    }
    same
}
