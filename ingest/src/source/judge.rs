//! Whether a file that debug data cites is among the sources, and how far that is verified. What fits a path, [`super::fit`] says.

use ::md5::{Digest as _, Md5 as Hasher};
use elfscope_schema::{Lines, Name, Sha256Digest, SourceFile, SourceLevel};

use super::{
    Md5, Trees,
    find::At,
    fit::{self, Fits},
    names,
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
    /// The MD5 that line tables give it.
    pub(crate) md5: Md5,
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

/// Files that fit a path and have the same bytes.
struct Match {
    /// The digest of the bytes.
    sha256: Sha256Digest,
    /// The first of them: an anchored one where there is one.
    at: At,
    /// Whether that is where a source map says, or anchored.
    is_placed: bool,
    /// See [`SourceFile::also`].
    also: Vec<u32>,
}

impl Trees {
    /// Looks for a cited file in the trees.
    pub(crate) fn judge(&self, cited: &Cited) -> Result<Judged, InputError> {
        let mut judged = Judged { file: untold(cited), from: None };
        let Some(mut matches) = self.matches(cited) else {
            judged.file.level = SourceLevel::Ambiguous;
            return Ok(judged);
        };
        if matches.is_empty() {
            return Ok(judged);
        }
        if cited.md5 == Md5::Differs {
            judged.file.level = SourceLevel::Mismatched;
            return Ok(judged);
        }
        let mut read = None;
        if matches.len() > 1 {
            judged.file.level = SourceLevel::Ambiguous;
            let Md5::Known(md5) = cited.md5 else { return Ok(judged) };
            let mut having = Vec::new();
            for one in matches {
                let bytes = self.read(one.at)?;
                if digest(&bytes) == md5 {
                    having.push(one);
                    read = Some(bytes);
                }
            }
            matches = having;
        }
        if matches.len() == 1
            && let Some(one) = matches.pop()
        {
            let bytes = match read {
                Some(bytes) => bytes,
                None => self.read(one.at)?,
            };
            compare(cited, one, &bytes, &mut judged);
        }
        Ok(judged)
    }

    /// The bytes of a file, which are those of its digest: a file that was changed since is refused.
    pub(crate) fn read(&self, at: At) -> Result<Vec<u8>, InputError> {
        let (tree, file) = at.of(&self.trees);
        tree.read(file)
    }

    /// The different contents of the files that fit a path; none where these are too many.
    fn matches(&self, cited: &Cited) -> Option<Vec<Match>> {
        let (placed, inside) = match fit::find(self, &cited.path, cited.below) {
            Fits::Mapped(files) => (files, &[][..]),
            Fits::Found { anchored, inside } if anchored.len() <= limits::SOURCE_MATCHES => {
                (anchored.to_vec(), inside)
            }
            Fits::Found { .. } => return None,
        };
        if placed.len() + inside.len() > limits::SOURCE_MATCHES {
            return None;
        }
        let mut found: Vec<(Sha256Digest, bool, At)> = Vec::with_capacity(placed.len() + inside.len());
        for (files, is_inside) in [(placed.as_slice(), false), (inside, true)] {
            found.extend(files.iter().map(|at| (at.of(&self.trees).1.sha256, is_inside, *at)));
        }
        found.sort_unstable();
        let equal = found.chunk_by(|a, b| a.0 == b.0).take(limits::SOURCE_CONTENTS + 1);
        let matches: Vec<Match> = equal.filter_map(|equal| self.match_of(equal)).collect();
        (matches.len() <= limits::SOURCE_CONTENTS).then_some(matches)
    }

    /// What files of the same bytes are as one.
    fn match_of(&self, equal: &[(Sha256Digest, bool, At)]) -> Option<Match> {
        let (sha256, is_inside, at) = *equal.first()?;
        // A tree that has it only inside, where another has it anchored, doesn't fit as well.
        let mut also: Vec<u32> = equal
            .iter()
            .filter(|(_, inside, other)| *inside == is_inside && other.tree != at.tree)
            .map(|(_, _, other)| other.tree)
            .filter(|tree| self.trees[*tree as usize].whole_package().is_some())
            .collect();
        also.sort_unstable();
        also.dedup();
        also.truncate(SourceFile::ALSO);
        Some(Match { sha256, at, is_placed: !is_inside, also })
    }
}

/// Compares a cited file with the one that fits its path.
fn compare(cited: &Cited, found: Match, bytes: &[u8], judged: &mut Judged) {
    let lines = Lines::of(bytes);
    let names = names::count(bytes, &cited.declared);
    let same = match cited.md5 {
        Md5::Known(md5) | Md5::Partly(md5) => Some(digest(bytes) == md5),
        Md5::Unknown | Md5::Differs => None,
    };
    let is_verified = same == Some(true) && matches!(cited.md5, Md5::Known(_));
    let is_doubtful = !found.is_placed && names.0 == 0 && names.1 > 0;
    judged.file.names = Some(names);
    judged.file.level = match is_verified {
        _ if same == Some(false) || cited.last_line > lines.total || has_lone_return(bytes) => {
            SourceLevel::Mismatched
        }
        true => SourceLevel::Md5Verified,
        false if is_doubtful => SourceLevel::Mismatched,
        false => SourceLevel::PathMatched,
    };
    if judged.file.level != SourceLevel::Mismatched {
        judged.file.also = found.also;
        judged.file.lines = Some(lines);
        judged.file.sha256 = Some(found.sha256);
        judged.file.tree = Some(found.at.tree);
        judged.from = Some(found.at);
    }
}

fn digest(bytes: &[u8]) -> [u8; 16] {
    Hasher::digest(bytes).into()
}

/// Whether a text has a `\r` that no `\n` follows. A line ends there for some compilers (seen: gcc 12) and not for others (seen:
/// rustc 1.95), so that a line's number doesn't say which it is.
fn has_lone_return(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\r') {
        rest = &rest[at + 1..];
        if rest.first() != Some(&b'\n') {
            return true;
        }
    }
    false
}

/// What an edition tells of a file that is missing.
pub(crate) fn untold(cited: &Cited) -> SourceFile {
    let raw = cited.raw.as_ref();
    SourceFile {
        also: Vec::new(),
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
