//! `archive.sources/1`: the source files that the debug data of an edition cites, a page a member of `sources.jsonl.gz`.
//!
//! A page holds at most [`crate::limits::INDEX_PAGE`] bytes. The files are sorted by [`Name::sort_key`] of the text of their path,
//! then path. The index `source` of `archive.lookup/1` finds a file's page, `source_function` the functions that cite it.
//!
//! # Paths
//! The debug data gives a folder and a file's name. A folder that is not absolute is joined to the compilation folder; a DWARF 5
//! directory 0 is the compilation folder and stands as it is. `.` and `..` are folded, where there is something to fold into.
//! What the debug data said is kept in [`SourceFile::raw`] where that differs.
//!
//! # Matching
//! A source map says where a path is looked for, and nowhere else; of several that apply, the one with the longest FROM does.
//! Without one, a source tree has one *alignment* at most: a folder D of the tree, mostly its root, stands at a prefix R of the cited
//! paths, and a path `R/rest` is the tree's file `D/rest`, or missing. Of the alignments that paths propose by the files that
//! share their end, the tree's is the one by which most cited files are confirmed, by the name of a function near the line of its
//! declaration or by their MD5; then, of equals, most are found, most of these are below their compilation folder, D is the root,
//! and most components of paths are shared. One file has to be confirmed, or found by its whole absolute path. What equally
//! good alignments find, where they don't find the same, is [`SourceLevel::Ambiguous`].
//!
//! A path of a compiler, a library or a system (`/rustc`, `/usr/include`, `/usr/lib`, `/usr/share`, those of `/usr/local`, Go's and
//! cargo's folders) is found by the whole of itself or by a map: a package's own `include/stdio.h` is no `/usr/include/stdio.h`.
//!
//! Files of other bytes in several trees are told apart by the MD5 alone, where every unit that cites the file gives it. Equal
//! files are one: that of the first tree.
//!
//! # Publishing
//! A source's bytes are published verbatim as `src/<sha256>`, shared by all builds that cite them, and only where they were
//! supplied and fit: see [`SourceLevel`].

use serde::{Deserialize, Serialize};

use crate::{Name, Sha256Digest};

/// One page of source files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct SourcesPage {
    /// `archive.sources/1`.
    pub schema: String,
    /// The files.
    pub sources: Vec<SourceFile>,
}

/// A source file that the debug data cites.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct SourceFile {
    /// Further source trees that have the same file where it fits as well and that say which source package they are, as
    /// their numbers in [`crate::Meta::sources`]: the first [`Self::ALSO`] of them, sorted. Only where it is published.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub also: Vec<u32>,
    /// The greatest line that a row, call site or declaration cites; 0 where none does.
    pub last_line: u32,
    /// Whether it is published, and how it was verified or why it is not.
    pub level: SourceLevel,
    /// How its lines lie in its bytes, where it is published.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lines: Option<Lines>,
    /// Why it is [`SourceLevel::Mismatched`]. Editions of older programs don't say it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mismatch: Option<Mismatch>,
    /// `[k, n]`: of the `n` functions that the debug data declares in it, how many names occur in its text within 3 lines of
    /// their declaration. A name that no text could hold (`{closure#0}`) counts in neither, what a template is made into counts
    /// once. Only where it was compared with a file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub names: Option<(u32, u32)>,
    /// Its path.
    pub path: Name,
    /// The folder and the file's name as the debug data gives them, where joined as they are they are not the path.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub raw: Option<(Name, Name)>,
    /// SHA-256 of its bytes, where it is published.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sha256: Option<Sha256Digest>,
    /// The source tree that it comes from, as its number in [`crate::Meta::sources`], where it is published. See [`Self::also`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tree: Option<u32>,
}

impl SourceFile {
    /// Most numbers in [`Self::also`].
    pub const ALSO: usize = 16;
}

/// Why a file that a path may be is not published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Mismatch {
    /// Units give it different MD5s: no one file is what all of them were compiled from.
    Differs,
    /// It has another MD5 than a unit gives it.
    Md5,
    /// It has a `\r` without a `\n`: compilers differ in whether a line ends there (gcc: yes, rustc: no). It may be the very file.
    Return,
    /// It ends before a line that is cited.
    Short,
}

/// How the lines of a published source lie in its bytes: a line ends after its `\n`, the last one at the file's end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Lines {
    /// How many bytes the file has.
    pub bytes: u64,
    /// Where the lines `1`, `1 + step`, `1 + 2 * step`, … start, in bytes: at most [`Self::MARKS`], so that any line is found by
    /// reading a small part of a large file.
    pub marks: Vec<u64>,
    /// Lines from one mark to the next, a power of two.
    pub step: u32,
    /// How many lines it has.
    pub total: u32,
}

impl Lines {
    /// Most marks of one file.
    pub const MARKS: usize = 128;

    /// The bytes in which these lines stand, from a mark to a mark: their range, and the number of its first line. None where the
    /// file ends before.
    #[must_use]
    pub fn range(&self, first: u32, last: u32) -> Option<(std::ops::Range<u64>, u32)> {
        if first == 0 || first > self.total || last < first || self.step == 0 {
            return None;
        }
        let mark = (first - 1) / self.step;
        let after = (last.min(self.total) - 1) / self.step + 1;
        let start = *self.marks.get(mark as usize)?;
        let end = self.marks.get(after as usize).copied().unwrap_or(self.bytes);
        (start <= end).then_some((start..end, mark * self.step + 1))
    }

    /// The lines of a file's bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut starts: Vec<u64> = Vec::new();
        let mut step = 1u32;
        let mut total = 0u32;
        let mut at = 0;
        while at < bytes.len() {
            if total.is_multiple_of(step) {
                if starts.len() == Self::MARKS {
                    let mut odd = false;
                    starts.retain(|_| {
                        odd = !odd;
                        odd
                    });
                    step = step.saturating_mul(2);
                }
                if total.is_multiple_of(step) {
                    starts.push(at as u64);
                }
            }
            total = total.saturating_add(1);
            at = bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| at + end + 1);
        }
        Self { bytes: bytes.len() as u64, marks: starts, step, total }
    }
}

/// Whether a source is published, and how it was verified or why it is not.
///
/// A `path-matched` source counts as `package-verified` where [`crate::SourceTree::package_verified`] holds for its tree, or one of
/// [`SourceFile::also`]: that depends on how the binary was found, so `meta.json` says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SourceLevel {
    /// Published: its MD5 is the one in the line table (DWARF 5, section 6.2.4.1) of every unit that cites it.
    Md5Verified,
    /// Published: its path stands for a supplied file, which goes as far as the lines that are cited.
    PathMatched,
    /// Not published: its path may stand for several supplied files, which differ.
    Ambiguous,
    /// Not published: the file that its path stands for is not the one that was compiled, or its lines can't be told: see
    /// [`SourceFile::mismatch`].
    Mismatched,
    /// Not published: its path stands for no supplied file.
    Missing,
}

impl SourceLevel {
    /// Its name in documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Md5Verified => "md5-verified",
            Self::PathMatched => "path-matched",
            Self::Ambiguous => "ambiguous",
            Self::Mismatched => "mismatched",
            Self::Missing => "missing",
        }
    }

    /// The level of a source in a tree whose package is verified.
    pub const PACKAGE_VERIFIED: &str = "package-verified";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_found_between_its_marks() {
        for (count, ending) in
            [(0usize, ""), (1, "\n"), (1, ""), (128, "\n"), (129, ""), (5000, "\n"), (5000, "")]
        {
            let mut text = String::new();
            let mut starts = Vec::new();
            for line in 0..count {
                starts.push(text.len() as u64);
                text += &"x".repeat(line % 7);
                text += if line + 1 < count { "\n" } else { ending };
                if line + 1 == count && ending.is_empty() {
                    text.push('y');
                }
            }
            let lines = Lines::of(text.as_bytes());
            assert_eq!(lines.total as usize, count);
            assert!(lines.marks.len() <= Lines::MARKS && lines.step.is_power_of_two());
            for line in 1..=count {
                let (range, first) = lines.range(line as u32, line as u32).unwrap_or_default();
                assert!(
                    first as usize <= line && line < first as usize + lines.step as usize,
                    "{line} of {count}"
                );
                assert_eq!(range.start, starts[first as usize - 1]);
                let end = starts.get(first as usize - 1 + lines.step as usize).copied();
                assert_eq!(range.end, end.unwrap_or(text.len() as u64));
            }
            assert_eq!(lines.range(0, 1), None);
            assert_eq!(lines.range(count as u32 + 1, count as u32 + 1), None);
        }
    }
}
