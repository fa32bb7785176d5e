//! Whether a file that debug data cites is among the sources, and how far that is verified.

use elfscope_schema::{Lines, Name, Sha256Digest, SourceFile, SourceLevel};
use md5::{Digest as _, Md5};

use super::{
    Trees,
    find::{self, At},
    map, names,
    path::components,
};
use crate::{InputError, limits};

/// A source file as debug data cites it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cited {
    /// Its path, joined and folded.
    pub(crate) path: Vec<u8>,
    /// How many of its last components stand below the compilation folder, where it is below it: all, of a relative path.
    pub(crate) below: Option<usize>,
    /// The folder and the file's name as given, where joined as they are they are not the path.
    pub(crate) raw: Option<(Vec<u8>, Vec<u8>)>,
    /// The greatest line that is cited.
    pub(crate) last_line: u32,
    /// The MD5 that the line table gives it.
    pub(crate) md5: Option<[u8; 16]>,
    /// Names of functions that are declared in it, each with its line.
    pub(crate) declared: Vec<(Vec<u8>, u32)>,
}

/// A cited file, judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judged {
    /// What the edition tells of it.
    pub(crate) file: SourceFile,
    /// The file whose bytes are published, for [`Trees::read`].
    pub(crate) from: Option<At>,
}

impl Trees {
    /// Looks for a cited file in the trees.
    ///
    /// A source map that applies says where it is. Otherwise it is the file with the longest end of its path, by whole
    /// components. One bare name counts only where nothing else of the path is known to matter: it is all of it, or all below
    /// the compilation folder. `/usr/include/stdio.h` is no `stdio.h` of some tree.
    pub(crate) fn judge(&self, cited: &Cited) -> Result<Judged, InputError> {
        let mut judged = Judged { file: untold(cited), from: None };
        let mut contents = match self.matches(cited) {
            Matches::None => return Ok(judged),
            Matches::TooMany => {
                judged.file.level = SourceLevel::Ambiguous;
                return Ok(judged);
            }
            Matches::Some(contents) => contents,
        };
        let mut read = None;
        if contents.len() > 1 {
            judged.file.level = SourceLevel::Ambiguous;
            let Some(md5) = cited.md5 else { return Ok(judged) };
            let mut having = Vec::new();
            for (sha256, at) in contents {
                let bytes = self.read(at)?;
                if <[u8; 16]>::from(Md5::digest(&bytes)) == md5 {
                    having.push((sha256, at));
                    read = Some(bytes);
                }
            }
            contents = having;
        }
        if let [(sha256, at)] = contents[..] {
            let bytes = match read {
                Some(bytes) => bytes,
                None => self.read(at)?,
            };
            self.compare(cited, (sha256, at), &bytes, &mut judged);
        }
        Ok(judged)
    }

    /// The bytes of a file, which are those of its digest: a file that was changed since is refused.
    pub(crate) fn read(&self, at: At) -> Result<Vec<u8>, InputError> {
        let (tree, file) = at.of(&self.trees);
        tree.read(file)
    }

    /// Compares a cited file with the one that has its path.
    fn compare(&self, cited: &Cited, (sha256, at): (Sha256Digest, At), bytes: &[u8], judged: &mut Judged) {
        let lines = Lines::of(bytes);
        let same = cited.md5.map(|md5| <[u8; 16]>::from(Md5::digest(bytes)) == md5);
        judged.file.names = Some(names::count(bytes, &cited.declared));
        judged.file.level = match same {
            Some(false) => SourceLevel::Mismatched,
            _ if cited.last_line > lines.total => SourceLevel::Mismatched,
            Some(true) => SourceLevel::Md5Verified,
            None => SourceLevel::PathMatched,
        };
        if judged.file.level != SourceLevel::Mismatched {
            judged.file.lines = Some(lines);
            judged.file.sha256 = Some(sha256);
            judged.file.tree = Some(at.tree);
            judged.from = Some(at);
        }
    }

    /// The different contents of the files that fit a path best, each with the first file that has it.
    fn matches(&self, cited: &Cited) -> Matches {
        let parts = components(&cited.path);
        let absolute = cited.path.starts_with(b"/");
        let mapped;
        let found = match map::apply(&self.maps, absolute, &parts) {
            Some(path) => {
                mapped = find::exact(&self.trees, &path);
                mapped.as_slice()
            }
            None => self.longest(absolute, &parts, cited.below),
        };
        if found.len() > limits::SOURCE_MATCHES {
            return Matches::TooMany;
        }
        let mut contents: Vec<(Sha256Digest, At)> =
            found.iter().map(|at| (at.of(&self.trees).1.sha256, *at)).collect();
        contents.sort_unstable();
        contents.dedup_by_key(|(sha256, _)| *sha256);
        match contents.len() {
            0 => Matches::None,
            1..=limits::SOURCE_CONTENTS => Matches::Some(contents),
            _ => Matches::TooMany,
        }
    }

    /// The files with the longest end of a path, where that says enough. A relative path that a tree has from its root on is
    /// longer than the same one inside a folder: glibc's `bits/elfclass.h` is not the one of `sysdeps/mips/`.
    fn longest(&self, absolute: bool, parts: &[&[u8]], below: Option<usize>) -> &[At] {
        // What leads up from an unknown folder is no part of a path in a tree.
        let up = parts.iter().take_while(|part| **part == b"..").count();
        let parts = &parts[up..];
        let (length, found) = self.index.longest(&self.trees, parts);
        if length == parts.len() && !absolute && up == 0 {
            let whole = parts.join(&b'/');
            // Of paths with the same end, the shortest stand first.
            let at_root = found.iter().take_while(|at| at.of(&self.trees).1.path == whole).count();
            return if at_root > 0 { &found[..at_root] } else { found };
        }
        let enough = length >= 2 || length == parts.len() || below.is_some_and(|below| length >= below);
        if enough { found } else { &[] }
    }
}

/// What fits a path.
enum Matches {
    None,
    TooMany,
    Some(Vec<(Sha256Digest, At)>),
}

/// What an edition tells of a file that is missing.
pub(crate) fn untold(cited: &Cited) -> SourceFile {
    let raw = cited.raw.as_ref();
    SourceFile {
        last_line: cited.last_line,
        level: SourceLevel::Missing,
        lines: None,
        names: None,
        path: Name::from_bytes(&cited.path),
        raw: raw.map(|(folder, name)| (Name::from_bytes(folder), Name::from_bytes(name))),
        sha256: None,
        tree: None,
    }
}
