//! Whether a file that debug data cites is among the sources, and how far that is verified. Which file
//! it may be, [`super::align`] says.

use ::md5::{Digest as _, Md5 as Hasher};
use elfscope_schema::{Lines, Mismatch, Name, Sha256Digest, SourceFile, SourceLevel};

use super::{
    Md5, Trees,
    align::{Aligned, Fits},
    find::At,
    names,
};
use crate::{InputError, limits};

/// A source file as debug data cites it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cited {
    /// Its path, joined and folded.
    pub(crate) path: Vec<u8>,
    /// Whether it is below the compilation folder, as every relative path is.
    pub(crate) is_below: bool,
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
    /// The first of them.
    at: At,
    /// See [`SourceFile::also`].
    also: Vec<u32>,
}

impl Aligned<'_> {
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
            judged.file.mismatch = Some(Mismatch::Differs);
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

    /// See [`Trees::read`].
    pub(crate) fn read(&self, at: At) -> Result<Vec<u8>, InputError> {
        self.trees.read(at)
    }

    /// The different contents of the files that a path may be; none where that is not known, or these are too many.
    fn matches(&self, cited: &Cited) -> Option<Vec<Match>> {
        let Fits::Files(files) = self.find(&cited.path) else { return None };
        let with_digest = files.iter().map(|at| (at.of(&self.trees.trees).1.sha256, *at));
        let mut found: Vec<(Sha256Digest, At)> = with_digest.collect();
        found.sort_unstable();
        let equal = found.chunk_by(|a, b| a.0 == b.0).take(limits::SOURCE_CONTENTS + 1);
        let matches: Vec<Match> = equal.filter_map(|equal| self.match_of(equal)).collect();
        (matches.len() <= limits::SOURCE_CONTENTS).then_some(matches)
    }

    /// What files of the same bytes are as one.
    fn match_of(&self, equal: &[(Sha256Digest, At)]) -> Option<Match> {
        let ((sha256, at), others) = equal.split_first()?;
        let others = others.iter().map(|(_, other)| other.tree);
        let also = others.filter(|tree| self.trees.trees[*tree as usize].whole_package().is_some());
        Some(Match { sha256: *sha256, at: *at, also: also.take(SourceFile::ALSO).collect() })
    }
}

impl Trees {
    /// The bytes of a file, which are those of its digest: a file that was changed since is refused.
    pub(crate) fn read(&self, at: At) -> Result<Vec<u8>, InputError> {
        let (tree, file) = at.of(&self.trees);
        tree.read(file)
    }
}

/// Whether a file has a function that is declared in the cited one, or its MD5.
pub(super) fn confirms(cited: &Cited, bytes: &[u8]) -> bool {
    match cited.md5 {
        Md5::Known(md5) => digest(bytes) == md5,
        _ => names::count(bytes, &cited.declared).0 > 0,
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
    judged.file.names = Some(names);
    judged.file.mismatch = if same == Some(false) {
        Some(Mismatch::Md5)
    } else if cited.last_line > lines.total {
        Some(Mismatch::Short)
    } else {
        has_lone_return(bytes).then_some(Mismatch::Return)
    };
    judged.file.level = match judged.file.mismatch {
        Some(_) => SourceLevel::Mismatched,
        None if is_verified => SourceLevel::Md5Verified,
        None => SourceLevel::PathMatched,
    };
    if judged.file.mismatch.is_none() {
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
        mismatch: None,
        names: None,
        path: Name::from_bytes(&cited.path),
        raw: raw.map(|(folder, name)| (Name::from_bytes(folder), Name::from_bytes(name))),
        sha256: None,
        tree: None,
    }
}
