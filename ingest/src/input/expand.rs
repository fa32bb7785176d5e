//! What an input stands for: a file is itself, a folder and a package all ELF files in them.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use elfscope_schema::{Name, Package};

use super::{
    Bytes, Input, OnDisk, Spool, Trouble, folder,
    package::{self, Entries, Member, PackageFacts},
};
use crate::{
    elf::{Outline, shown},
    error::InputError,
    limits,
};

/// One ELF file to add.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// What reports call it.
    pub(crate) shown: PathBuf,
    /// Where it is.
    pub(crate) file: OnDisk,
    /// Its own name: the last part of its path, on disk or in the package.
    pub(crate) name: Vec<u8>,
    /// The package that it came in.
    pub(crate) package: Option<Package>,
}

impl Entry {
    fn plain(path: PathBuf) -> Self {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes().to_vec();
        Self { shown: path.clone(), file: OnDisk::Plain(path), name, package: None }
    }

    /// Maps it and takes its digest.
    pub(crate) fn open(&self) -> Result<Input, InputError> {
        let bytes = Bytes::map(self.file.path(), &self.shown)?;
        Ok(Input::new(self.shown.clone(), &self.name, bytes, self.package.clone()))
    }
}

/// What an input stands for.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    /// ELF files, in order of their paths; in a package in its order.
    pub(crate) entries: Vec<Entry>,
    /// Other files beside them.
    pub(crate) skipped: u64,
    /// Separate debug files beside them: they have no code to tell.
    pub(crate) debug_only: u64,
    /// What else is to be said of a package, one sentence each.
    pub(crate) notes: Vec<String>,
}

/// Finds the ELF files that an input stands for.
///
/// # Errors
/// An input that can't be read, or a folder or package with no binary in it.
pub(crate) fn expand(path: &Path, spool: &mut Spool<'_>) -> Result<Expanded, Trouble> {
    let meta = fs::metadata(path);
    let meta = meta.map_err(|source| InputError::Unreadable { path: path.to_owned(), source })?;
    if meta.is_dir() {
        return Ok(of_folder(path)?);
    }
    if meta.is_file() && package::recognise(path)?.is_some() {
        return of_package(path, spool);
    }
    Ok(Expanded { entries: vec![Entry::plain(path.to_owned())], ..Expanded::default() })
}

fn of_folder(path: &Path) -> Result<Expanded, InputError> {
    let found = folder::walk(path)?;
    let mut expanded = Expanded { skipped: found.others, ..Expanded::default() };
    for file in found.files {
        // What can't be read is said when it is added.
        let is_debug_only = Bytes::map(&file, &file).is_ok_and(|bytes| is_debug_only(&bytes));
        if is_debug_only {
            expanded.debug_only += 1;
        } else {
            expanded.entries.push(Entry::plain(file));
        }
    }
    expanded.or_none(path, "folder")
}

fn of_package(path: &Path, spool: &mut Spool<'_>) -> Result<Expanded, Trouble> {
    let mut expanded = Expanded::default();
    let mut paths = Vec::new();
    let facts = package::read(path, &package::Limits::default(), &mut |member| {
        if !member.is_elf().map_err(|error| package::unreadable(path, error))? {
            expanded.skipped += 1;
            return Ok(());
        }
        if paths.len() >= limits::PACKAGE_ELFS {
            let reason = format!("it holds more than {} ELF files", limits::PACKAGE_ELFS);
            return Err(InputError::BadPackage { path: path.to_owned(), reason }.into());
        }
        let (shown, name) = (shown_in(path, member), member.file_name().to_vec());
        let file = spool.keep(path, member)?;
        if is_debug_only(&Bytes::map(file.path(), &shown)?) {
            expanded.debug_only += 1;
            return Ok(());
        }
        // Its package is known when that was read to its end.
        expanded.entries.push(Entry { shown, file, name, package: None });
        paths.push(member.path.to_vec());
        Ok::<(), Trouble>(())
    })?;
    for (entry, path) in expanded.entries.iter_mut().zip(&paths) {
        entry.package = package_of(&facts, path);
    }
    if let (true, Some((member, reason))) = (expanded.entries.is_empty(), facts.entries.first_refused.first())
    {
        let (refused, member) = (facts.entries.refused, shown(member).to_string());
        let (path, debug, files) = (path.to_owned(), expanded.debug_only, expanded.skipped);
        return Err(InputError::AllRefused { path, refused, member, reason, debug, files }.into());
    }
    expanded.notes = notes(path, &facts.entries);
    Ok(expanded.or_none(path, "package")?)
}

fn is_debug_only(bytes: &Bytes) -> bool {
    Outline::read(bytes.get(), "").is_ok_and(|elf| elf.is_debug_only())
}

/// What reports call a member: its package and its path there.
pub(super) fn shown_in(package: &Path, member: &Member<'_, '_>) -> PathBuf {
    let mut shown = OsString::from(package);
    shown.push(format!(": {}", String::from_utf8_lossy(member.path).escape_debug()));
    shown.into()
}

/// The package of a member, as documents tell it; none where it says nothing of itself.
pub(super) fn package_of(facts: &PackageFacts, path: &[u8]) -> Option<Package> {
    let about = facts.about.clone()?;
    Some(Package {
        architecture: about.architecture,
        name: about.name,
        path: Some(Name::from_bytes(path)),
        sha256: facts.sha256,
        source: about.source,
        version: about.version,
    })
}

/// What is to be said of a package that was read.
pub(super) fn notes(package: &Path, entries: &Entries) -> Vec<String> {
    let package = package.display();
    let refused = entries
        .first_refused
        .iter()
        .map(|(path, reason)| format!("`{}` in `{package}` is left out: {reason}", shown(path)));
    let mut notes: Vec<String> = refused.collect();
    let more = entries.refused - notes.len() as u64;
    if more > 0 {
        notes.push(format!("{more} more members of `{package}` are left out for their paths or forms"));
    }
    if entries.after_end {
        notes.push(format!("what stands after the end of the archive in `{package}` is not read"));
    }
    notes
}

impl Expanded {
    /// Itself, unless there is nothing to add in it.
    fn or_none(self, path: &Path, kind: &'static str) -> Result<Self, InputError> {
        if !self.entries.is_empty() {
            return Ok(self);
        }
        let (path, files, debug) = (path.to_owned(), self.skipped, self.debug_only);
        Err(if debug > 0 {
            InputError::OnlyDebug { kind, path, debug }
        } else {
            InputError::NoElf { kind, path, files }
        })
    }
}
