//! Finding debug data: what was given first, then what a binary points to, then where systems keep it.
//!
//! Everything is found before anything is derived, so that a debug file that belongs to no input can be refused first.
//! A build id is only a claim and so is a path: a file counts when its id, or the checksum of its bytes, is the one asked
//! for.

mod given;
mod mini;
mod place;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use elfscope_schema::{BuildId, FileId, Found, Package, Sha256Digest};

use self::given::Given;
use super::{Bytes, Entry, Input, OnDisk, Spool, Trouble};
use crate::{
    diagnostics::Diagnostics,
    elf::{AlternateLink, DebugLink, Outline, shown},
    error::InputError,
};

/// Where debug data is looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places<'a> {
    /// Files, packages and folders that were given.
    pub(crate) given: &'a [PathBuf],
    /// Whether nothing else counts.
    pub(crate) only_given: bool,
    /// The system's folder of debug data.
    pub(crate) root: &'a Path,
}

/// What a binary says of its debug data.
#[derive(Debug)]
pub(crate) struct Wants {
    /// Its file, where that is somebody's own.
    plain: Option<PathBuf>,
    /// Its name, for diagnostics.
    name: Vec<u8>,
    /// The id in its note.
    build: Option<BuildId>,
    link: Option<DebugLink>,
    alternate: Option<AlternateLink>,
    has_dwarf: bool,
    size: u64,
    sha256: Sha256Digest,
    diagnostics: Diagnostics,
}

impl Wants {
    /// Reads it from the binary's headers.
    pub(crate) fn of(entry: &Entry, file: &FileId, elf: &Outline<'_>) -> Self {
        let mut diagnostics = Diagnostics::default();
        let link = elf.link().and_then(|link| {
            let said = |reason| diagnostics.add("debuglink-unusable", b".gnu_debuglink", reason);
            link.map_err(said).ok()
        });
        let alternate = alternate_of(elf, &entry.name, &mut diagnostics);
        Self {
            plain: entry.file.plain().map(Path::to_owned),
            name: entry.name.clone(),
            build: elf.build_id.clone(),
            link,
            alternate,
            has_dwarf: elf.has_dwarf(),
            size: file.size,
            sha256: file.sha256,
            diagnostics,
        }
    }
}

fn alternate_of(elf: &Outline<'_>, name: &[u8], diagnostics: &mut Diagnostics) -> Option<AlternateLink> {
    let said = |reason| {
        diagnostics.add(
            "dwz-alternate-unusable",
            name,
            format!("its `.gnu_debugaltlink` can't be used: {reason}"),
        );
    };
    elf.alternate().and_then(|link| link.map_err(said).ok())
}

/// A debug file that was found, not opened yet.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    file: OnDisk,
    shown: PathBuf,
    name: Vec<u8>,
    package: Option<Package>,
    found: Found,
    alternate: Option<AlternateLink>,
}

/// What was found for one binary.
#[derive(Debug)]
pub(crate) struct Plan {
    main: Option<Located>,
    alternate: Option<Located>,
    diagnostics: Diagnostics,
}

/// What was found for all binaries.
#[derive(Debug)]
pub(crate) struct Plans {
    /// One for each binary, in their order.
    pub(crate) plans: Vec<Plan>,
    /// What was come across and not used, one sentence each. It gets into no document: the same inputs would give
    /// another one on a machine that doesn't have it.
    pub(crate) notes: Vec<String>,
}

/// The debug data of one binary.
#[derive(Default)]
pub(crate) struct DebugFiles {
    /// Its separate debug file.
    pub(crate) main: Option<DebugInput>,
    /// What dwz shares between that file, or the binary, and others.
    pub(crate) alternate: Option<DebugInput>,
    /// What is packed in `.gnu_debugdata`.
    pub(crate) mini: Option<DebugInput>,
    /// What could not be had.
    pub(crate) diagnostics: Diagnostics,
}

/// A debug file.
pub(crate) struct DebugInput {
    /// Its bytes.
    pub(crate) input: Input,
    /// How it was found.
    pub(crate) found: Found,
}

/// Finds the debug data of all binaries, in their order.
///
/// # Errors
/// What was given and can't be read, or belongs to none of the binaries. An archive that can't be written.
pub(crate) fn find(places: &Places<'_>, wants: Vec<Wants>, spool: &mut Spool<'_>) -> Result<Plans, Trouble> {
    let mut given = Given::index(places.given, &wants, spool)?;
    let mut plans = Vec::with_capacity(wants.len());
    let mut notes = Vec::new();
    let mut asked = BTreeSet::new();
    let mut all = Vec::with_capacity(wants.len());
    for mut want in wants {
        let diagnostics = std::mem::take(&mut want.diagnostics);
        let main = place::main(places, &mut given, &want, &mut notes);
        // With a debug file the DWARF is there, and what it shares.
        let link = main.as_ref().map_or(want.alternate.clone(), |main| main.alternate.clone());
        asked.extend(link.as_ref().map(|link| link.build.clone()));
        all.push((want, main, link, diagnostics));
    }
    given.ask(&asked, spool)?;
    for (want, main, link, mut diagnostics) in all {
        let alternate = link.and_then(|link| {
            let beside = main.as_ref().map_or(want.plain.as_deref(), |main| main.file.plain());
            let found = place::alternate(places, &mut given, &link, beside, &mut notes);
            if found.is_none() {
                let message = format!(
                    "what dwz shares with it, `{}` of build {}, is not found: names and types in there are lost",
                    shown(&link.path),
                    link.build
                );
                let name = main.as_ref().map_or(&want.name, |main| &main.name);
                diagnostics.add("dwz-alternate-missing", name, message);
            }
            found
        });
        plans.push(Plan { main, alternate, diagnostics });
    }
    given.all_belong()?;
    Ok(Plans { plans, notes })
}

/// Why a file of the name that a binary's debug link says isn't the one it means.
fn link_problem(
    link: &DebugLink,
    want: &Wants,
    build: Option<&BuildId>,
    bytes: &[u8],
    path: &Path,
) -> Option<String> {
    let (path, name) = (path.display(), shown(&want.name));
    if let (Some(ours), Some(other)) = (&want.build, build)
        && ours != other
    {
        return Some(format!(
            "`{path}` has the name that `{name}` links to, but is of build {other}: it is not used"
        ));
    }
    let crc = crc32fast::hash(bytes);
    (crc != link.crc).then(|| {
        let asked = link.crc;
        format!("`{path}` has the name that `{name}` links to, but its CRC is {crc:08x}, not {asked:08x}: it is not used")
    })
}

impl Plan {
    /// Opens what was found for a binary.
    ///
    /// # Errors
    /// A file that was given and can't be read any more. One that was found costs only itself.
    pub(crate) fn open(self, binary: &Input) -> Result<DebugFiles, InputError> {
        let mut files = DebugFiles { diagnostics: self.diagnostics, ..DebugFiles::default() };
        files.main = self.main.map(|main| main.open(&mut files.diagnostics)).transpose()?.flatten();
        files.alternate = self.alternate.map(|file| file.open(&mut files.diagnostics)).transpose()?.flatten();
        files.mini = mini::unpack(binary, &mut files.diagnostics);
        Ok(files)
    }
}

impl Located {
    /// A file on disk, where there is one that can be read and is an ELF.
    fn at(path: PathBuf, found: Found, fits: impl FnOnce(&Outline<'_>, &[u8]) -> bool) -> Option<Self> {
        // A pipe or device is never opened.
        if !fs::metadata(&path).is_ok_and(|meta| meta.is_file()) {
            return None;
        }
        let bytes = Bytes::map(&path, &path).ok()?;
        let elf = Outline::read(bytes.get(), "").ok()?;
        if !fits(&elf, bytes.get()) {
            return None;
        }
        let name = path.file_name().unwrap_or_default().as_encoded_bytes().to_vec();
        let alternate = elf.alternate().and_then(Result::ok);
        Some(Self { file: OnDisk::Plain(path.clone()), shown: path, name, package: None, found, alternate })
    }

    fn open(self, diagnostics: &mut Diagnostics) -> Result<Option<DebugInput>, InputError> {
        let bytes = match Bytes::map(self.file.path(), &self.shown) {
            Ok(bytes) => bytes,
            Err(error) if self.found == Found::Given => return Err(error),
            Err(error) => {
                diagnostics.add("debug-file-unreadable", &self.name, format!("{error}: it is not used"));
                return Ok(None);
            }
        };
        let input = Input::new(self.shown, &self.name, bytes, self.package);
        Ok(Some(DebugInput { input, found: self.found }))
    }
}
