//! Adding inputs to an archive.

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use elfscope_schema::{BuildId, Diagnostic, EditionId, FileId};

use crate::{
    archive::{self, Archive, ArchiveError},
    diagnostics::Diagnostics,
    edition::{self, DebugSource, DebugSources, Material, Source},
    error::InputError,
    input::{
        self, Entry, Input, Spool, Trouble,
        debug::{self, DebugFiles, DebugInput, Places, Plan, Wants},
        package,
    },
    progress::Progress,
    source::{Hint, SourceMap, Trees},
};

/// What to add.
#[derive(Clone, Copy, Debug)]
pub struct AddOptions<'a> {
    /// ELF files, and folders and packages of which each ELF file is added.
    pub inputs: &'a [PathBuf],
    /// Debug files, and folders and packages of them.
    pub debug: &'a [PathBuf],
    /// Whether debug data that was not given doesn't count: then nothing is looked up beside the inputs or in
    /// `debug_root`.
    pub only_given: bool,
    /// The system's folder of debug data.
    pub debug_root: &'a Path,
    /// Sources: folders, tarballs, Debian source packages (`.dsc`), and folders of those.
    pub sources: &'a [PathBuf],
    /// Where folders of the debug data are in the sources.
    pub source_maps: &'a [SourceMap],
    /// Threads; all cores where none are given. It changes no byte.
    pub jobs: Option<NonZeroUsize>,
}

impl<'a> AddOptions<'a> {
    /// Inputs with whatever debug data the system has of them, on all cores.
    #[must_use]
    pub fn new(inputs: &'a [PathBuf]) -> Self {
        Self {
            inputs,
            debug: &[],
            only_given: false,
            debug_root: Path::new(DEBUG_ROOT),
            sources: &[],
            source_maps: &[],
            jobs: None,
        }
    }
}

/// Where Debian and Fedora, and gdb by default, keep debug data.
const DEBUG_ROOT: &str = "/usr/lib/debug";

/// What became of one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is a new edition, or one that had been removed.
    Added,
    /// It is in the archive already: nothing was done.
    AlreadyThere,
    /// What is there already says the same; it now names these inputs too.
    SameContent,
}

/// One input that is in the archive now.
#[derive(Clone, Debug)]
pub struct Added {
    /// The input.
    pub input: PathBuf,
    /// The build that it is.
    pub build_id: BuildId,
    /// The edition that holds it.
    pub edition: EditionId,
    /// What was done.
    pub outcome: Outcome,
    /// The file's name.
    pub name: String,
    /// How many functions it has.
    pub functions: u64,
    /// How many rows it has.
    pub rows: u64,
    /// How many of them have a source line.
    pub rows_with_line: u64,
    /// How many diagnostics it has.
    pub diagnostics: u64,
    /// The first of them, where they were just made.
    pub first_diagnostics: Vec<Diagnostic>,
    /// How many source files of it are published.
    pub sources: u64,
    /// What to give for the sources that are missing, where that was just found.
    pub hints: Vec<Hint>,
    /// How the edition stands among those of its build.
    pub standing: Standing,
}

/// How an edition stands among those of its build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is the current one.
    Current,
    /// Another edition of the same file says more, and is the current one.
    Behind,
    /// Another file has the same build id and was there first: its edition is the current one.
    OtherFile,
    /// Another file has the same build id and was there first, but no edition of it is left: none is current.
    NoneCurrent,
}

impl Standing {
    fn of(edition: &EditionId, current: Option<&EditionId>, other_file: bool) -> Self {
        match current {
            Some(current) if current == edition => Self::Current,
            None => Self::NoneCurrent,
            Some(_) if other_file => Self::OtherFile,
            Some(_) => Self::Behind,
        }
    }
}

/// What became of all inputs.
#[derive(Debug, Default)]
pub struct Report {
    /// Those that are in the archive now, in the order of their files' names.
    pub added: Vec<Added>,
    /// Those that can't be read.
    pub failed: Vec<(PathBuf, InputError)>,
    /// Files in folders and packages that are not ELF files.
    pub skipped_files: u64,
    /// Separate debug files in folders and packages that were given as inputs: they have no code to tell.
    pub skipped_debug: u64,
    /// What else was come across and left out, one sentence each.
    pub notes: Vec<String>,
}

/// Why nothing more could be added.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    /// A debug file can't be used: what was asked for can't be made, so nothing is.
    #[error(transparent)]
    Debug(#[from] InputError),
    /// The archive can't be written.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// Threads can't be had.
    #[error("{jobs} threads can't be started")]
    Threads {
        /// How many were asked for.
        jobs: usize,
        /// Why.
        source: rayon::ThreadPoolBuildError,
    },
}

/// Most diagnostics that [`Added::first_diagnostics`] holds.
const FIRST: usize = 5;

/// Adds inputs to an archive. One that can't be read does not keep the others from being added.
///
/// The order of the inputs changes nothing: they are added in the order of their names and digests.
///
/// # Errors
/// A debug file that can't be read or belongs to none of the inputs; then nothing is added. An archive that can't be
/// written; then what was added before stays.
pub fn add(archive: &Archive, options: &AddOptions<'_>, progress: &dyn Progress) -> Result<Report, AddError> {
    let jobs = options.jobs.map_or(0, NonZeroUsize::get);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.map_err(|source| AddError::Threads { jobs, source })?;
    pool.install(|| add_all(archive, options, progress))
}

/// The build that an ELF file is.
///
/// # Errors
/// A file that can't be read or is no ELF file.
pub fn build_id_of(path: &Path) -> Result<BuildId, InputError> {
    let input = Input::open(path)?;
    let noted = input.outline()?.build_id;
    Ok(input.build_id(noted.as_ref()))
}

fn add_all(archive: &Archive, options: &AddOptions<'_>, progress: &dyn Progress) -> Result<Report, AddError> {
    let mut report = Report::default();
    let mut spool = Spool::new(archive);
    let mut entries = Vec::new();
    for path in options.inputs {
        match input::expand(path, &mut spool) {
            Ok(expanded) => {
                report.skipped_files += expanded.skipped;
                report.skipped_debug += expanded.debug_only;
                report.notes.extend(expanded.notes);
                entries.extend(expanded.entries);
            }
            Err(Trouble::Input(error)) => report.failed.push((path.clone(), error)),
            Err(Trouble::Archive(error)) => return Err(error.into()),
        }
    }
    // Each file is opened twice, so that a folder of thousands doesn't hold them all: here for its order and what it asks for.
    let mut known = Vec::new();
    for entry in entries {
        match identify(&entry) {
            Ok((id, wants)) => known.push((id, wants, entry)),
            Err(error) => report.failed.push((entry.shown, error)),
        }
    }
    known.sort_by(|(a, _, in_a), (b, _, in_b)| {
        (&a.name, &a.sha256, &in_a.shown).cmp(&(&b.name, &b.sha256, &in_b.shown))
    });
    let (mut wants, mut entries) = (Vec::new(), Vec::new());
    for (_, want, entry) in known {
        wants.push(want);
        entries.push(entry);
    }
    if entries.is_empty() {
        // Why no input can be read is what there is to say, not that debug files belong to none.
        return Ok(report);
    }
    let places = Places { given: options.debug, only_given: options.only_given, root: options.debug_root };
    let found = debug::find(&places, wants, &mut spool).map_err(|trouble| match trouble {
        Trouble::Input(error) => AddError::Debug(error),
        Trouble::Archive(error) => AddError::Archive(error),
    })?;
    report.notes.extend(found.notes);
    let trees = open_sources(options, &mut spool)?;
    progress.total(entries.len() as u64);
    for (entry, plan) in entries.into_iter().zip(found.plans) {
        match add_one(archive, &entry, plan, &trees, progress)? {
            Ok(added) => report.added.push(added),
            Err(error) => report.failed.push((entry.shown, error)),
        }
    }
    if report.added.iter().all(|added| added.sources == 0) {
        report.notes.extend(options.sources.iter().filter_map(|path| binary_package(path)));
    }
    Ok(report)
}

/// What to say of a binary package that was given as sources, and of which nothing fits.
fn binary_package(path: &Path) -> Option<String> {
    let is_one =
        path.is_file() && package::recognise(path).is_ok_and(|kind| kind == Some(package::Kind::Deb));
    is_one.then(|| {
        format!(
            "`{}` is a binary package: it holds no sources that fit; `--source` takes the source package (.dsc)",
            path.display()
        )
    })
}

/// Opens the sources; what of them is packed is unpacked into the spool.
fn open_sources(options: &AddOptions<'_>, spool: &mut Spool<'_>) -> Result<Trees, AddError> {
    let mut full = None;
    let mut folder = || {
        spool.folder().map_err(|error| {
            let source = std::io::Error::other("the archive has no room for it");
            full = Some(error);
            InputError::Unreadable { path: PathBuf::from("the unpacked sources"), source }
        })
    };
    let opened = Trees::open(options.sources, options.source_maps, &mut folder);
    match full {
        Some(error) => Err(error.into()),
        None => Ok(opened?),
    }
}

fn identify(entry: &Entry) -> Result<(FileId, Wants), InputError> {
    let input = entry.open()?;
    let elf = input.outline()?;
    if elf.is_debug_only() {
        let reason =
            "it is a separate debug file, without code of its own: give it with `--debug` beside its binary";
        return Err(InputError::BadElf {
            name: entry.shown.display().to_string(),
            reason: reason.to_owned(),
        });
    }
    Ok((input.id.clone(), Wants::of(entry, &input.id, &elf)))
}

fn add_one(
    archive: &Archive,
    entry: &Entry,
    plan: Plan,
    trees: &Trees,
    progress: &dyn Progress,
) -> Result<Result<Added, InputError>, ArchiveError> {
    let (input, mut files) =
        match entry.open().and_then(|input| plan.open(&input).map(|files| (input, files))) {
            Ok(opened) => opened,
            Err(error) => return Ok(Err(error)),
        };
    let noted = match input.outline() {
        Ok(elf) => elf.build_id,
        Err(error) => return Ok(Err(error)),
    };
    let build = input.build_id(noted.as_ref());
    let used = || {
        std::iter::once(&input)
            .chain([&files.main, &files.alternate].into_iter().flatten().map(|file| &file.input))
    };
    let given =
        edition::given(used().map(|used| &used.id), used().filter_map(|used| used.package.as_ref()), trees);
    let mut added = Added {
        input: entry.shown.clone(),
        build_id: build.clone(),
        edition: EditionId::of_manifest(b""),
        outcome: Outcome::AlreadyThere,
        name: input.id.name.text().to_owned(),
        functions: 0,
        rows: 0,
        rows_with_line: 0,
        diagnostics: 0,
        first_diagnostics: Vec::new(),
        sources: 0,
        hints: Vec::new(),
        standing: Standing::Behind,
    };
    if let Some(edition) = archive.find_inputs(&build, given.digest())? {
        if let Some(current) = archive.current(&build)?
            && let Some(known) = current.editions.iter().find(|known| known.edition == edition)
        {
            (added.functions, added.rows, added.rows_with_line) =
                (known.functions, known.rows, known.rows_with_line);
            (added.diagnostics, added.sources) = (known.diagnostics, known.sources);
            let first = current.edition().map(|first| &first.edition);
            added.standing = Standing::of(&edition, first, current.file != known.file);
        }
        added.edition = edition;
        return Ok(Ok(added));
    }
    let diagnostics = std::mem::take(&mut files.diagnostics);
    let material = match material(&input, &files, diagnostics) {
        Ok(material) => material,
        Err(error) => return Ok(Err(error)),
    };
    let derived = edition::derive(archive, &build, &given, material, trees, progress)?;
    added.outcome = match derived.published.outcome {
        archive::Outcome::Added | archive::Outcome::Restored => Outcome::Added,
        archive::Outcome::AlreadyThere => Outcome::AlreadyThere,
        archive::Outcome::SameContent => Outcome::SameContent,
    };
    let published = &derived.published;
    added.standing =
        Standing::of(&published.edition, published.current.as_ref(), published.other_file.is_some());
    added.edition = derived.published.edition;
    (added.functions, added.rows, added.rows_with_line) =
        (derived.functions, derived.rows, derived.rows_with_line);
    (added.sources, added.hints) = (derived.sources, derived.hints);
    added.diagnostics = derived.diagnostics.len() as u64;
    added.first_diagnostics = derived.diagnostics.into_iter().take(FIRST).collect();
    Ok(Ok(added))
}

fn material<'a>(
    input: &'a Input,
    files: &'a DebugFiles,
    mut diagnostics: Diagnostics,
) -> Result<Material<'a>, InputError> {
    // A debug file that can't be read costs what it holds.
    let mut open = |file: &'a Option<DebugInput>| {
        let DebugInput { input, found } = file.as_ref()?;
        let elf = input.elf().map_err(|error| {
            let message = format!("the debug file is not used: {error}");
            diagnostics.add("debug-file-unreadable", input.id.name.text().as_bytes(), message);
        });
        let source = Source { id: input.id.clone(), elf: elf.ok()? };
        Some(DebugSource { source, found: *found, package: input.package.clone() })
    };
    let debug =
        DebugSources { main: open(&files.main), alternate: open(&files.alternate), mini: open(&files.mini) };
    Ok(Material {
        binary: Source { id: input.id.clone(), elf: input.elf()? },
        package: input.package.clone(),
        debug,
        diagnostics,
    })
}
