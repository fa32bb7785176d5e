//! Debug data that was given: files, folders and packages, indexed by build id and by name.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use elfscope_schema::{BuildId, Found, Sha256Digest};

use super::{Located, Wants, link_problem};
use crate::{
    elf::{DebugLink, Outline},
    error::InputError,
    input::{
        Bytes, OnDisk, Spool, Trouble,
        expand::{package_of, shown_in},
        folder, package,
    },
};

/// All that was given and may belong to an input.
#[derive(Debug, Default)]
pub(super) struct Given {
    sources: Vec<Source>,
    candidates: Vec<Candidate>,
}

/// One `--debug`.
#[derive(Debug)]
struct Source {
    path: PathBuf,
    kind: Kind,
    /// How many ELF files are in it.
    files: u64,
    /// Those that no input asked for, by build id: what dwz shares is known by its id only once the files that link to
    /// it are. The path of a file in a folder; a package is read again.
    others: BTreeMap<BuildId, Option<PathBuf>>,
    belongs: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
    Package,
}

/// A file of one of them.
#[derive(Debug)]
struct Candidate {
    located: Located,
    build: Option<BuildId>,
    source: usize,
    rank: Rank,
}

/// Which of several files of one build is used: one that was named, then the one that says most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    named: bool,
    has_dwarf: bool,
    has_symtab: bool,
    is_debug_only: bool,
    size: u64,
}

impl Rank {
    fn of(named: bool, elf: &Outline<'_>, bytes: &[u8]) -> Self {
        Self {
            named,
            has_dwarf: elf.has_dwarf(),
            has_symtab: elf.has_symtab(),
            is_debug_only: elf.is_debug_only(),
            size: bytes.len() as u64,
        }
    }

    /// Whether a file of this rank can be of use: a folder of debug data may hold the binaries too.
    fn is_of_use(self) -> bool {
        self.named || self.has_dwarf || self.has_symtab || self.is_debug_only
    }
}

/// Which ELF files of a package are kept, by build id, name and path.
type Keep<'k> = dyn Fn(Option<&BuildId>, &[u8], &[u8]) -> bool + 'k;

/// What inputs ask for.
struct Asked<'a> {
    builds: BTreeSet<&'a BuildId>,
    names: BTreeSet<&'a [u8]>,
}

impl Asked<'_> {
    fn wants(&self, build: Option<&BuildId>, name: &[u8]) -> bool {
        build.is_some_and(|build| self.builds.contains(build)) || self.names.contains(name)
    }
}

impl Given {
    /// Reads all that was given once and keeps what inputs ask for.
    pub(super) fn index(paths: &[PathBuf], wants: &[Wants], spool: &mut Spool<'_>) -> Result<Self, Trouble> {
        let asked = Asked {
            builds: wants.iter().filter_map(|want| want.build.as_ref()).collect(),
            names: wants
                .iter()
                .filter_map(|want| want.link.as_ref())
                .map(|link| link.name.as_slice())
                .collect(),
        };
        let mut given = Self::default();
        for path in paths {
            let meta = fs::metadata(path);
            let meta = meta.map_err(|source| InputError::Unreadable { path: path.clone(), source })?;
            if meta.is_dir() {
                given.folder(path, &asked)?;
            } else if meta.is_file() && package::recognise(path)?.is_some() {
                let source = given.source(path, Kind::Package);
                given.package(
                    source,
                    &|build, name, path| {
                        asked.wants(build, name)
                            || path.split(|byte| *byte == b'/').any(|part| part == b".dwz")
                    },
                    spool,
                )?;
            } else {
                given.file(path)?;
            }
        }
        given.one_file_a_build(&asked)?;
        Ok(given)
    }

    fn source(&mut self, path: &Path, kind: Kind) -> usize {
        let (path, others) = (path.to_owned(), BTreeMap::new());
        self.sources.push(Source { path, kind, files: 0, others, belongs: false });
        self.sources.len() - 1
    }

    fn file(&mut self, path: &Path) -> Result<(), InputError> {
        let bytes = Bytes::map(path, path)?;
        let elf = Outline::read(bytes.get(), &path.display().to_string())?;
        let source = self.source(path, Kind::File);
        let (build, rank) = (elf.build_id.clone(), Rank::of(true, &elf, bytes.get()));
        self.candidates.push(Candidate { located: Located::plain(path, &elf), build, source, rank });
        Ok(())
    }

    fn folder(&mut self, path: &Path, asked: &Asked<'_>) -> Result<(), InputError> {
        let found = folder::walk(path)?;
        let source = self.source(path, Kind::Folder);
        self.sources[source].files = found.files.len() as u64;
        for file in found.files {
            // One that is damaged belongs to nothing: the folder may hold anything.
            let Ok(bytes) = Bytes::map(&file, &file) else { continue };
            let Ok(elf) = Outline::read(bytes.get(), "") else { continue };
            let (build, rank) = (elf.build_id.clone(), Rank::of(false, &elf, bytes.get()));
            let located = Located::plain(&file, &elf);
            if asked.wants(build.as_ref(), &located.name) && rank.is_of_use() {
                self.candidates.push(Candidate { located, build, source, rank });
            } else if let Some(build) = build {
                self.sources[source].others.insert(build, Some(file));
            }
        }
        Ok(())
    }

    /// Reads a package and keeps the ELF files that `keep` wants, by build id, name and path.
    fn package(&mut self, source: usize, keep: &Keep<'_>, spool: &mut Spool<'_>) -> Result<(), Trouble> {
        let path = self.sources[source].path.clone();
        let (mut files, mut others, mut kept) = (0, BTreeMap::new(), Vec::new());
        let facts = package::read(&path, &package::Limits::default(), &mut |member| {
            if !member.is_elf().map_err(|error| package::unreadable(&path, error))? {
                return Ok(());
            }
            files += 1;
            let (shown, name) = (shown_in(&path, member), member.file_name().to_vec());
            // It is deleted again with the last that refers to it: here, unless it is kept.
            let file = spool.keep(&path, member)?;
            let bytes = Bytes::map(file.path(), &shown)?;
            let Ok(elf) = Outline::read(bytes.get(), "") else { return Ok(()) };
            let (build, rank) = (elf.build_id.clone(), Rank::of(false, &elf, bytes.get()));
            if keep(build.as_ref(), &name, member.path) && rank.is_of_use() {
                let alternate = elf.alternate().and_then(Result::ok);
                let located = Located { file, shown, name, package: None, found: Found::Given, alternate };
                kept.push((Candidate { located, build, source, rank }, member.path.to_vec()));
            } else if let Some(build) = build {
                others.insert(build, None);
            }
            Ok::<(), Trouble>(())
        })?;
        self.sources[source].files = files;
        self.sources[source].others = others;
        self.candidates.extend(kept.into_iter().map(|(mut candidate, path)| {
            candidate.located.package = package_of(&facts, &path);
            candidate
        }));
        Ok(())
    }

    /// Refuses two files that were named for one build and differ: neither is better.
    fn one_file_a_build(&self, asked: &Asked<'_>) -> Result<(), InputError> {
        let mut seen: BTreeMap<&BuildId, (&Located, Sha256Digest)> = BTreeMap::new();
        for candidate in self.candidates.iter().filter(|candidate| candidate.rank.named) {
            let Some(build) = candidate.build.as_ref().filter(|build| asked.builds.contains(build)) else {
                continue;
            };
            let digest = candidate.located.digest()?;
            if let Some((other, _)) = seen.get(build).filter(|(_, other)| *other != digest) {
                let (path, other) = (candidate.located.shown.clone(), other.shown.clone());
                return Err(InputError::TwoDebugFiles { path, other, build: build.clone() });
            }
            seen.insert(build, (&candidate.located, digest));
        }
        Ok(())
    }

    /// The debug file of the build that a binary says it is.
    pub(super) fn by_build(&mut self, want: &Wants, notes: &mut Vec<String>) -> Option<Located> {
        let build = want.build.as_ref()?;
        let fits = |candidate: &Candidate| {
            candidate.build.as_ref() == Some(build) && (candidate.rank.named || !candidate.is(want))
        };
        self.best(&fits, build, notes)
    }

    /// The debug file whose name and checksum a binary says.
    pub(super) fn by_link(
        &mut self,
        link: &DebugLink,
        want: &Wants,
        notes: &mut Vec<String>,
    ) -> Option<Located> {
        for candidate in &self.candidates {
            let located = &candidate.located;
            if located.name != link.name || candidate.is(want) {
                continue;
            }
            let Ok(bytes) = Bytes::map(located.file.path(), &located.shown) else { continue };
            match link_problem(link, want, candidate.build.as_ref(), bytes.get(), &located.shown) {
                None => {
                    self.sources[candidate.source].belongs = true;
                    return Some(Located { found: Found::Debuglink, ..located.clone() });
                }
                Some(problem) => notes.push(problem),
            }
        }
        None
    }

    /// What dwz shares, by the id that links to it say.
    pub(super) fn alternate(&mut self, build: &BuildId, notes: &mut Vec<String>) -> Option<Located> {
        let found = self.best(&|candidate| candidate.build.as_ref() == Some(build), build, notes)?;
        Some(Located { found: Found::DwzAlternate, ..found })
    }

    /// The best of those that fit. All of them belong to an input.
    fn best(
        &mut self,
        fits: &dyn Fn(&Candidate) -> bool,
        build: &BuildId,
        notes: &mut Vec<String>,
    ) -> Option<Located> {
        let mut all: Vec<&Candidate> = Vec::new();
        for candidate in self.candidates.iter().filter(|candidate| fits(candidate)) {
            self.sources[candidate.source].belongs = true;
            all.push(candidate);
        }
        let rank = all.iter().map(|candidate| candidate.rank).max()?;
        all.retain(|candidate| candidate.rank == rank);
        // The order in which they were given changes nothing.
        if all.len() > 1 {
            let mut digests: Vec<_> =
                all.iter().map(|candidate| (candidate.located.digest().ok(), *candidate)).collect();
            digests.sort_by(|a, b| (&a.0, &a.1.located.shown).cmp(&(&b.0, &b.1.located.shown)));
            if digests.first().map(|(digest, _)| digest) != digests.last().map(|(digest, _)| digest) {
                let used = digests[0].1.located.shown.display();
                notes.push(format!(
                    "{} different files are debug data of build {build}: `{used}` is used",
                    all.len()
                ));
            }
            return Some(digests[0].1.located.clone());
        }
        all.first().map(|candidate| candidate.located.clone())
    }

    /// Keeps what else is asked for by build id: what dwz shares. A package is read again where it has some of it.
    pub(super) fn ask(&mut self, builds: &BTreeSet<BuildId>, spool: &mut Spool<'_>) -> Result<(), Trouble> {
        let have: BTreeSet<_> =
            self.candidates.iter().filter_map(|candidate| candidate.build.clone()).collect();
        let missing: BTreeSet<_> = builds.difference(&have).cloned().collect();
        for source in 0..self.sources.len() {
            let others = &self.sources[source].others;
            let here: BTreeMap<_, _> = missing
                .iter()
                .filter_map(|build| Some((build.clone(), others.get(build)?.clone())))
                .collect();
            if here.is_empty() {
                continue;
            }
            if self.sources[source].kind == Kind::Package {
                let keep = |build: Option<&BuildId>, _: &[u8], _: &[u8]| {
                    build.is_some_and(|build| here.contains_key(build))
                };
                self.package(source, &keep, spool)?;
                continue;
            }
            for path in here.into_values().flatten() {
                let bytes = Bytes::map(&path, &path)?;
                let elf = Outline::read(bytes.get(), &path.display().to_string())?;
                let (build, rank) = (elf.build_id.clone(), Rank::of(false, &elf, bytes.get()));
                self.candidates.push(Candidate { located: Located::plain(&path, &elf), build, source, rank });
            }
        }
        Ok(())
    }

    /// Refuses what belongs to none of the inputs.
    pub(super) fn all_belong(&self) -> Result<(), InputError> {
        let Some(index) = self.sources.iter().position(|source| !source.belongs) else { return Ok(()) };
        let source = &self.sources[index];
        let (path, files) = (source.path.clone(), source.files);
        Err(match source.kind {
            Kind::Package => InputError::NoneBelongs { kind: "package", path, files },
            Kind::Folder => InputError::NoneBelongs { kind: "folder", path, files },
            Kind::File => {
                let candidate = self.candidates.iter().find(|candidate| candidate.source == index);
                match candidate.and_then(|candidate| candidate.build.clone()) {
                    Some(given) => InputError::OtherBuild { path, given },
                    None => InputError::NoBuildId { path },
                }
            }
        })
    }
}

impl Candidate {
    /// Whether it is the binary itself.
    fn is(&self, want: &Wants) -> bool {
        self.rank.size == want.size && self.located.digest().is_ok_and(|digest| digest == want.sha256)
    }
}

impl Located {
    fn plain(path: &Path, elf: &Outline<'_>) -> Self {
        Self {
            file: OnDisk::Plain(path.to_owned()),
            shown: path.to_owned(),
            name: path.file_name().unwrap_or_default().as_encoded_bytes().to_vec(),
            package: None,
            found: Found::Given,
            alternate: elf.alternate().and_then(Result::ok),
        }
    }

    fn digest(&self) -> Result<Sha256Digest, InputError> {
        Ok(Sha256Digest::of(Bytes::map(self.file.path(), &self.shown)?.get()))
    }
}
