//! Where a tree stood on the machine that compiled: one rule for all paths that debug data cites, and nothing else.
//!
//! Debug data has the path on that machine; a tree has paths below its root, and nothing says what folder of the machine its root
//! was. An *alignment* says it: a folder D of the tree, mostly its root, stands at a prefix R of the cited paths, which is
//! `/`, a folder, or nothing for relative paths. A cited path `R/rest` is then the tree's file `D/rest`, and nothing else.
//!
//! 1. A source map that applies says where a file is, and it is nowhere else. It needs no evidence, and has no vote.
//! 2. A tree has one alignment at most. Each other cited path proposes those by which it is one of the tree's files that share
//!    the longest end with it, or one that is named from the tree's root on by an end of it; where very many files share that
//!    end, none of them ([`limits::SOURCE_PROPOSALS`]). A *reserved* path ([`super::reserved`]) proposes, and is found by,
//!    nothing but its whole self: D is the root, R is `/`.
//! 3. Of those most proposed ([`limits::SOURCE_ALIGNMENTS`]) the best is the one by which most cited files are *confirmed*: they
//!    have a function that is declared in them, or the MD5 that they should. Among equals, the one by which most are found, then most
//!    of those below their compilation folder; then one of the tree's root; then the one by which most components of paths are.
//! 4. Without evidence there is none: a file has to be confirmed, or found by its whole absolute path. Where two are
//!    equally good and find other files, it is not known which it is, and what either finds is ambiguous.
//!
//! What another alignment would find as well, a source map has to say.

use std::collections::{BTreeMap, BTreeSet};

use elfscope_schema::Sha256Digest;
use rayon::prelude::*;

use super::{
    Cited, Trees,
    find::{self, At, Index},
    judge, map,
    path::components,
    reserved::is_reserved,
};
use crate::limits;

/// A folder of a tree at a prefix of cited paths.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Alignment {
    /// The folder of the tree; empty for its root.
    folder: Vec<u8>,
    /// Whether the prefix is of absolute paths.
    absolute: bool,
    /// The prefix, without a `/` at its start.
    prefix: Vec<u8>,
}

impl Alignment {
    /// Whether a path is found by the whole of itself.
    fn is_whole(&self) -> bool {
        self.folder.is_empty() && self.prefix.is_empty()
    }

    /// The path in the tree that a cited path stands for.
    fn apply(&self, path: &Parts<'_>) -> Option<Vec<u8>> {
        if self.absolute != path.absolute || (path.is_reserved && !self.is_whole()) {
            return None;
        }
        let rest = below(&path.joined, &self.prefix)?;
        Some(if self.folder.is_empty() { rest.to_vec() } else { [&self.folder, rest].join(&b'/') })
    }

    /// The source map that says the same.
    fn told(&self) -> Option<(String, String)> {
        let [prefix, folder] = [&self.prefix, &self.folder].map(|part| String::from_utf8(part.clone()).ok());
        let (prefix, folder) = (prefix?, folder?);
        let dot = |path: String| if path.is_empty() { ".".to_owned() } else { path };
        Some((if self.absolute { format!("/{prefix}") } else { dot(prefix) }, dot(folder)))
    }
}

/// What of a path stands below a folder, by whole components.
fn below<'a>(path: &'a [u8], folder: &[u8]) -> Option<&'a [u8]> {
    let rest = if folder.is_empty() { path } else { path.strip_prefix(folder)?.strip_prefix(b"/")? };
    (!rest.is_empty()).then_some(rest)
}

/// A cited path.
struct Parts<'a> {
    absolute: bool,
    parts: Vec<&'a [u8]>,
    joined: Vec<u8>,
    is_reserved: bool,
}

impl<'a> Parts<'a> {
    fn of(path: &'a [u8]) -> Self {
        let absolute = path.starts_with(b"/");
        let parts = components(path);
        let up = parts.iter().take_while(|part| **part == b"..").count();
        let is_reserved = is_reserved(&parts[up..], absolute || up > 0);
        Self { absolute, joined: parts.join(&b'/'), parts, is_reserved }
    }
}

/// How good an alignment is: the greater the better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    confirmed: usize,
    found: usize,
    below: usize,
    is_root: bool,
    components: usize,
}

/// An alignment, and what is found by it: numbers of cited paths, and what bytes these are.
struct Scored {
    alignment: Alignment,
    score: Score,
    found: Vec<(usize, Sha256Digest)>,
}

/// Where one tree stands.
#[derive(Debug, Default)]
struct Stand {
    /// Its alignment; several where it is not known which of them it is.
    best: Vec<Alignment>,
    /// What would find further files: with evidence, or the best where none has any.
    others: Vec<Alignment>,
}

/// Trees, and where each of them stood for the binary whose debug data cites.
pub(crate) struct Aligned<'a> {
    pub(super) trees: &'a Trees,
    stands: Vec<Stand>,
}

/// The files that a cited path may be.
pub(super) enum Fits {
    /// One a tree at most.
    Files(Vec<At>),
    /// It is not known which.
    Unknown,
}

impl Trees {
    /// Finds out where the trees stood. A file that can't be read confirms nothing.
    pub(crate) fn align(&self, cited: &[Cited]) -> Aligned<'_> {
        let voting = cited.iter().map(|cited| (cited, Parts::of(&cited.path)));
        let voting: Vec<(&Cited, Parts<'_>)> =
            voting.filter(|(_, path)| map::apply(&self.maps, path.absolute, &path.parts).is_none()).collect();
        let trees = (0u32..).zip(&self.trees);
        Aligned { trees: self, stands: trees.map(|(tree, _)| self.stand(tree, &voting)).collect() }
    }

    fn stand(&self, tree: u32, voting: &[(&Cited, Parts<'_>)]) -> Stand {
        let proposed = self.proposed(tree, voting);
        let scored = proposed.into_par_iter().map(|alignment| self.score(tree, alignment, voting));
        let mut scored: Vec<Scored> = scored.filter(|scored| scored.score.found > 0).collect();
        scored.sort_by(|a, b| b.score.cmp(&a.score).then_with(|| a.alignment.cmp(&b.alignment)));
        let has_evidence = |scored: &Scored| {
            scored.score.confirmed > 0 || (scored.alignment.absolute && scored.alignment.is_whole())
        };
        let Some(best) = scored.iter().position(has_evidence) else {
            // All that is known is what finds most.
            let others = scored.into_iter().take(1).map(|scored| scored.alignment).collect();
            return Stand { best: Vec::new(), others };
        };
        let best = scored.remove(best);
        let equal = scored.iter().filter(|other| other.score == best.score && other.found != best.found);
        let equal: Vec<Alignment> = equal.map(|other| other.alignment.clone()).collect();
        let others = scored.into_iter().filter(|other| other.score.confirmed > 0);
        let others = others.map(|other| other.alignment).collect();
        Stand { best: std::iter::once(best.alignment).chain(equal).collect(), others }
    }

    /// The alignments that are most proposed.
    fn proposed(&self, tree: u32, voting: &[(&Cited, Parts<'_>)]) -> Vec<Alignment> {
        let files = &self.trees[tree as usize];
        let index = Index::of(files);
        let mut proposals: BTreeMap<Alignment, usize> = BTreeMap::new();
        for (_, path) in voting {
            let count = path.parts.len();
            let prefix = |shared: usize| path.parts[..count - shared].join(&b'/');
            let root =
                |shared| Alignment { folder: Vec::new(), absolute: path.absolute, prefix: prefix(shared) };
            let is_there = |path: &[u8]| find::exact(&self.trees, tree, path).is_some();
            if path.is_reserved {
                if is_there(&path.joined) {
                    *proposals.entry(root(count)).or_default() += 1;
                }
                continue;
            }
            let (shared, longest) = index.longest(&path.parts);
            let rooted = (1..=shared).filter(|shared| is_there(&path.parts[count - shared..].join(&b'/')));
            let mut of_path: BTreeSet<Alignment> = rooted.map(root).collect();
            if longest.len() <= limits::SOURCE_PROPOSALS {
                of_path.extend(longest.iter().map(|file| {
                    let parts: Vec<&[u8]> =
                        files.files[*file as usize].path.split(|byte| *byte == b'/').collect();
                    Alignment { folder: parts[..parts.len() - shared].join(&b'/'), ..root(shared) }
                }));
            }
            for alignment in of_path {
                *proposals.entry(alignment).or_default() += 1;
            }
        }
        let mut proposals: Vec<(usize, Alignment)> =
            proposals.into_iter().map(|(alignment, count)| (count, alignment)).collect();
        // What stands at the tree's root goes first.
        proposals.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        proposals.truncate(limits::SOURCE_ALIGNMENTS);
        proposals.into_iter().map(|(_, alignment)| alignment).collect()
    }

    fn score(&self, tree: u32, alignment: Alignment, voting: &[(&Cited, Parts<'_>)]) -> Scored {
        let each = (0..voting.len()).into_par_iter().filter_map(|number| {
            let (cited, path) = &voting[number];
            let at = find::exact(&self.trees, tree, &alignment.apply(path)?)?;
            let confirmed = self.read(at).is_ok_and(|bytes| judge::confirms(cited, &bytes));
            let prefix = components(&alignment.prefix).len();
            let score = Score {
                confirmed: usize::from(confirmed),
                found: 1,
                below: usize::from(cited.is_below),
                is_root: alignment.folder.is_empty(),
                components: path.parts.len() - prefix,
            };
            Some((number, at.of(&self.trees).1.sha256, score))
        });
        let each: Vec<(usize, Sha256Digest, Score)> = each.collect();
        let mut score = Score::default();
        for (.., one) in &each {
            score.confirmed += one.confirmed;
            score.found += one.found;
            score.below += one.below;
            score.is_root |= one.is_root;
            score.components += one.components;
        }
        Scored {
            alignment,
            score,
            found: each.into_iter().map(|(number, sha256, _)| (number, sha256)).collect(),
        }
    }
}

impl Aligned<'_> {
    /// The files that a cited path may be.
    pub(super) fn find(&self, path: &[u8]) -> Fits {
        let path = Parts::of(path);
        let trees = 0..u32::try_from(self.stands.len()).unwrap_or(u32::MAX);
        let at = |tree: u32, path: &[u8]| find::exact(&self.trees.trees, tree, path);
        if let Some(path) = map::apply(&self.trees.maps, path.absolute, &path.parts) {
            return Fits::Files(trees.filter_map(|tree| at(tree, &path)).collect());
        }
        let mut files = Vec::new();
        for (tree, stand) in trees.zip(&self.stands) {
            let mut found = stand.best.iter().filter_map(|alignment| at(tree, &alignment.apply(&path)?));
            match stand.best.len() {
                0 | 1 => files.extend(found),
                _ if found.next().is_some() => return Fits::Unknown,
                _ => {}
            }
        }
        Fits::Files(files)
    }

    /// The source map by which a tree would have a path that isn't found in it.
    pub(crate) fn elsewhere(&self, tree: usize, path: &[u8]) -> Option<(String, String)> {
        let (path, number) = (Parts::of(path), u32::try_from(tree).ok()?);
        let stand = self.stands.get(tree)?;
        // Where the tree stands above the path, the path was looked for: what another place gave would be another file, such as
        // the `config.h` beside a generated one.
        if stand.best.iter().any(|alignment| alignment.apply(&path).is_some()) {
            return None;
        }
        let mut fitting = stand.others.iter().filter(|alignment| {
            let file = alignment.apply(&path);
            file.is_some_and(|file| find::exact(&self.trees.trees, number, &file).is_some())
        });
        fitting.next()?.told()
    }
}
