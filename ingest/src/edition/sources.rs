//! The source files that an edition cites: judged, published, told.

use elfscope_schema::{Address, CitedFile, Name, Package, SourceFile, SourceLevel, SourceTree};
use rayon::prelude::*;

use crate::{
    archive::{ArchiveError, Stage},
    diagnostics::Diagnostics,
    dwarf::{CitedPath, Dwarf},
    source::{Aligned, Cited, Hint, Judged, Md5, Trees},
    write::{LazyPack, lookup::Citations, sources},
};

/// What is known of the cited files before a body is told.
pub(super) struct Sources<'a> {
    /// Where the trees stood.
    aligned: Aligned<'a>,
    /// For each of [`Dwarf::paths`], what pages of functions say of it.
    pub(super) cited: Vec<CitedFile>,
    /// All of them, in the order of their pages.
    files: Vec<SourceFile>,
    /// For each of [`Dwarf::paths`], its number among [`Self::files`].
    place: Vec<u32>,
}

impl<'a> Sources<'a> {
    /// Looks for the cited files in the source trees and publishes those that fit.
    pub(super) fn publish(
        dwarf: Option<&Dwarf<'_>>,
        trees: &'a Trees,
        stage: &Stage<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Self, ArchiveError> {
        let paths = dwarf.map(Dwarf::paths).unwrap_or_default();
        let all: Vec<Cited> = paths.iter().map(as_cited).collect();
        let aligned = trees.align(&all);
        let judged: Result<Vec<(SourceFile, Option<String>)>, ArchiveError> =
            all.par_iter().map(|cited| judge(cited, &aligned, stage)).collect();
        let judged = judged?;
        for package in trees.unpatched() {
            let trouble = format!(
                "the sources of {} {} don't have the patches applied that their series names: no file of them is \
                 package-verified",
                package.name, package.version
            );
            diagnostics.add("sources-not-patched", package.name.as_bytes(), trouble);
        }
        for (file, trouble) in &judged {
            if let Some(trouble) = trouble {
                diagnostics.add("source-unusable", file.path.text().as_bytes(), trouble.as_str());
            }
        }
        let files: Vec<SourceFile> = judged.into_iter().map(|(file, _)| file).collect();
        let cited = files.iter().map(cited).collect();
        let mut order: Vec<usize> = (0..files.len()).collect();
        order.sort_by(|a, b| sources::key(&files[*a]).cmp(&sources::key(&files[*b])));
        let mut place = vec![0; files.len()];
        for (position, path) in (0u32..).zip(&order) {
            place[*path] = position;
        }
        let files = order.into_iter().map(|path| files[path].clone()).collect();
        Ok(Self { aligned, cited, files, place })
    }

    /// How many are published.
    pub(super) fn published(&self) -> u64 {
        self.files.iter().filter(|file| file.sha256.is_some()).count() as u64
    }

    /// The level of each, with `package-verified` for those of a tree that is.
    pub(super) fn levels(&self, trees: &[SourceTree]) -> impl Iterator<Item = String> {
        self.files.iter().map(|file| {
            let mut having = file.tree.iter().chain(&file.also);
            let is_verified = file.level == SourceLevel::PathMatched
                && having.any(|tree| trees.get(*tree as usize).is_some_and(|tree| tree.package_verified));
            if is_verified { SourceLevel::PACKAGE_VERIFIED.to_owned() } else { file.level.name().to_owned() }
        })
    }

    /// What to give for those that are missing or don't fit.
    pub(super) fn hints(&self, package: Option<&Package>, trees: &[SourceTree]) -> Vec<Hint> {
        crate::source::hints(&self.files, package, trees, &self.aligned)
    }

    /// All of them, in the order of their pages.
    pub(super) fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Writes their pages. `citing` are pairs of a path's number and the start of a body that cites it.
    pub(super) fn write(
        &self,
        citing: &[(u32, Address)],
        pack: &mut LazyPack<'_>,
    ) -> Result<Citations, ArchiveError> {
        let cited = sources::write(&self.files, pack)?;
        let mut by_file = vec![Vec::new(); self.files.len()];
        for (path, body) in citing {
            by_file[self.place[*path as usize] as usize].push(*body);
        }
        Ok(Citations { cited, citing: sources::functions(&self.files, by_file) })
    }
}

/// A cited path, without what only pages of functions need.
fn as_cited(path: &CitedPath) -> Cited {
    Cited {
        path: path.path.clone(),
        is_below: path.is_below,
        raw: path.raw.clone(),
        last_line: path.last_line,
        md5: path.md5,
        declared: path.declared.iter().map(|(line, name)| (name.clone(), *line)).collect(),
    }
}

/// Looks for one file and publishes it. What goes wrong with a source costs that source.
fn judge(
    cited: &Cited,
    aligned: &Aligned<'_>,
    stage: &Stage<'_>,
) -> Result<(SourceFile, Option<String>), ArchiveError> {
    let withheld = |level| {
        let mut file = crate::source::untold(cited);
        file.level = level;
        file
    };
    let judged = aligned.judge(cited).and_then(|Judged { file, from }| {
        let bytes = from.map(|from| aligned.read(from)).transpose()?;
        Ok((file, bytes))
    });
    match judged {
        Ok((file, None)) if cited.md5 == Md5::Differs && file.level != SourceLevel::Missing => {
            let trouble = "units of this binary give it different MD5s: no one file is what all of them were compiled from";
            Ok((file, Some(trouble.to_owned())))
        }
        Ok((file, None)) => Ok((file, None)),
        Ok((file, Some(bytes))) if file.sha256 == Some(stage.source(&bytes)?) => Ok((file, None)),
        Ok(_) => {
            let trouble = "the file changed while it was read: it is not published";
            Ok((withheld(SourceLevel::Missing), Some(trouble.to_owned())))
        }
        Err(error) => {
            let trouble = format!("a file that fits it can't be read, so it is not published ({error})");
            Ok((withheld(SourceLevel::Missing), Some(trouble)))
        }
    }
}

/// What pages of functions say of a file.
fn cited(file: &SourceFile) -> CitedFile {
    let is_published = file.sha256.is_some();
    CitedFile {
        also: file.also.clone(),
        level: is_published.then_some(file.level),
        names: file.names.filter(|_| is_published),
        path: Name::clone(&file.path),
        sha256: file.sha256,
        tree: file.tree,
    }
}
