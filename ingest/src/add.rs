//! Adding inputs to an archive.

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use elfscope_schema::{BuildId, Diagnostic, EditionId};

use crate::{
    archive::{self, Archive, ArchiveError},
    edition::{self, Source},
    error::InputError,
    input::{self, Input},
    progress::Progress,
};

/// What to add.
#[derive(Clone, Copy, Debug)]
pub struct AddOptions<'a> {
    /// ELF files, and folders of which each ELF file is added.
    pub inputs: &'a [PathBuf],
    /// Debug files, each of the build whose id it has.
    pub debug: &'a [PathBuf],
    /// Threads; all cores where none are given. It changes no byte.
    pub jobs: Option<NonZeroUsize>,
}

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
    /// Files in folders that are not ELF files.
    pub skipped_files: u64,
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
    let elf = input.elf()?;
    Ok(input.build_id(&elf))
}

fn add_all(archive: &Archive, options: &AddOptions<'_>, progress: &dyn Progress) -> Result<Report, AddError> {
    let mut report = Report::default();
    let mut files = Vec::new();
    for path in options.inputs {
        match input::expand(path) {
            Ok(expanded) => {
                report.skipped_files += expanded.skipped;
                files.extend(expanded.files);
            }
            Err(error) => report.failed.push((path.clone(), error)),
        }
    }
    // Each file is opened twice, so that a folder of thousands doesn't hold them all: here for its id and order.
    let mut found = Vec::new();
    for path in files {
        match identify(&path) {
            Ok((order, build)) => found.push((order, path, build)),
            Err(error) => report.failed.push((path, error)),
        }
    }
    found.sort();
    let debug = debug_files(options.debug, &found)?;
    progress.total(found.len() as u64);
    for (_, path, build) in found {
        let given = debug.iter().find(|(of, _)| *of == build).map(|(_, input)| input);
        match add_one(archive, &path, given, progress)? {
            Ok(added) => report.added.push(added),
            Err(error) => report.failed.push((path, error)),
        }
    }
    Ok(report)
}

fn identify(
    path: &Path,
) -> Result<((elfscope_schema::Name, elfscope_schema::Sha256Digest), BuildId), InputError> {
    let input = Input::open(path)?;
    let elf = input.elf()?;
    if elf.is_debug_only() {
        let reason =
            "it is a separate debug file, without code of its own: give it with `--debug` beside its binary";
        return Err(InputError::BadElf { name: path.display().to_string(), reason: reason.to_owned() });
    }
    let build = input.build_id(&elf);
    Ok(((input.id.name.clone(), input.id.sha256), build))
}

/// Opens the debug files and checks that each belongs to one of the inputs.
fn debug_files<O>(
    paths: &[PathBuf],
    found: &[(O, PathBuf, BuildId)],
) -> Result<Vec<(BuildId, Input)>, InputError> {
    let mut files: Vec<(BuildId, Input)> = Vec::new();
    for path in paths {
        let input = Input::open(path)?;
        let build = input.elf()?.build_id.ok_or_else(|| InputError::NoBuildId { path: path.clone() })?;
        if !found.iter().any(|(_, _, of)| *of == build) {
            return Err(InputError::OtherBuild { path: path.clone(), given: build });
        }
        if let Some((_, other)) =
            files.iter().find(|(of, other)| *of == build && other.id.sha256 != input.id.sha256)
        {
            return Err(InputError::TwoDebugFiles { path: path.clone(), other: other.path.clone(), build });
        }
        files.push((build, input));
    }
    Ok(files)
}

fn add_one(
    archive: &Archive,
    path: &Path,
    debug: Option<&Input>,
    progress: &dyn Progress,
) -> Result<Result<Added, InputError>, ArchiveError> {
    let input = match Input::open(path) {
        Ok(input) => input,
        Err(error) => return Ok(Err(error)),
    };
    let elf = match input.elf() {
        Ok(elf) => elf,
        Err(error) => return Ok(Err(error)),
    };
    let build = input.build_id(&elf);
    let trees = crate::source::Trees::default();
    let given = edition::given(
        std::iter::once(&input.id).chain(debug.map(|debug| &debug.id)),
        std::iter::empty(),
        &trees,
    );
    let mut added = Added {
        input: path.to_owned(),
        build_id: build.clone(),
        edition: EditionId::of_manifest(b""),
        outcome: Outcome::AlreadyThere,
        name: input.id.name.text().to_owned(),
        functions: 0,
        rows: 0,
        rows_with_line: 0,
        diagnostics: 0,
        first_diagnostics: Vec::new(),
        standing: Standing::Behind,
    };
    if let Some(edition) = archive.find_inputs(&build, given.digest())? {
        if let Some(current) = archive.current(&build)?
            && let Some(known) = current.editions.iter().find(|known| known.edition == edition)
        {
            (added.functions, added.rows, added.rows_with_line) =
                (known.functions, known.rows, known.rows_with_line);
            added.diagnostics = known.diagnostics;
            let first = current.edition().map(|first| &first.edition);
            added.standing = Standing::of(&edition, first, current.file != known.file);
        }
        added.edition = edition;
        return Ok(Ok(added));
    }
    let debug_elf = match debug.map(|debug| debug.elf().map(|elf| Source { id: debug.id.clone(), elf })) {
        Some(Err(error)) => return Ok(Err(error)),
        Some(Ok(source)) => {
            Some(edition::DebugSource { source, found: elfscope_schema::Found::Given, package: None })
        }
        None => None,
    };
    let source = Source { id: input.id.clone(), elf };
    let material = edition::Material {
        binary: source,
        package: None,
        debug: edition::DebugSources { main: debug_elf, alternate: None, mini: None },
        diagnostics: crate::diagnostics::Diagnostics::default(),
    };
    let derived = edition::derive(archive, &build, &given, material, &trees, progress)?;
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
    added.diagnostics = derived.diagnostics.len() as u64;
    added.first_diagnostics = derived.diagnostics.into_iter().take(FIRST).collect();
    Ok(Ok(added))
}
