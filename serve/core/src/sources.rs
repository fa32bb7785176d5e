//! Source files: which one a path means, how it was verified, and its lines as they are.

use elfscope_schema::{
    Mismatch, Name, Sha256Digest, SourceEntry, SourceFile, SourceLevel, SourcesPage, limits,
};
use serde::{Serialize, Serializer, ser::SerializeStruct as _};

use crate::{
    Answer, Choice, Edition, Error, Hit, HitKind, Match, Query, Request, Result, Store,
    error::MOST_CHOICES,
    functions::in_build,
    nearest, search,
    tree::{Key, Leaf, Seek, index},
};

/// Most lines of one answer.
pub const MOST_LINES: u32 = 400;

const PACK: &str = "sources.jsonl.gz";
/// Bytes that are read of a source at once, whichever of its lines are wanted: of most sources that is all.
pub(crate) const HEAD: u64 = 64 * 1024;
/// Pages that a path's record and its text may still take once the path is found.
const RESERVE: usize = 4;

/// How a source was verified, or why it is not published, as answers say it: [`SourceLevel`] and what `current.json` adds
/// to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Published: its MD5 is the one in the line table.
    Md5Verified,
    /// Published: it fits its path, and comes from the source package that the binary's own package names.
    PackageVerified,
    /// Published: it fits its path.
    PathMatched,
    /// Not published: several supplied files fit its path equally well and differ.
    Ambiguous,
    /// Not published: what fits its path is another file, or its lines can't be told.
    Mismatched,
    /// Not published: no supplied file fits its path.
    Missing,
}

impl Level {
    /// The level of a source of this edition that comes from the source tree `tree`, and is the same in the trees `also`.
    #[must_use]
    pub fn of(edition: &Edition, level: SourceLevel, tree: Option<u32>, also: &[u32]) -> Self {
        let is_verified = |tree: &u32| edition.told.package_verified.contains(tree);
        match level {
            SourceLevel::Md5Verified => Self::Md5Verified,
            SourceLevel::PathMatched if tree.iter().chain(also).any(is_verified) => Self::PackageVerified,
            SourceLevel::PathMatched => Self::PathMatched,
            SourceLevel::Ambiguous => Self::Ambiguous,
            SourceLevel::Mismatched => Self::Mismatched,
            SourceLevel::Missing => Self::Missing,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Md5Verified => SourceLevel::Md5Verified.name(),
            Self::PackageVerified => SourceLevel::PACKAGE_VERIFIED,
            Self::PathMatched => SourceLevel::PathMatched.name(),
            Self::Ambiguous => SourceLevel::Ambiguous.name(),
            Self::Mismatched => SourceLevel::Mismatched.name(),
            Self::Missing => SourceLevel::Missing.name(),
        }
    }

    /// Whether a source of this level is published.
    #[must_use]
    pub fn is_published(self) -> bool {
        matches!(self, Self::Md5Verified | Self::PackageVerified | Self::PathMatched)
    }

    /// What it says of a source, and `mismatch` with it.
    #[must_use]
    pub fn about(self, mismatch: Option<Mismatch>) -> &'static str {
        match (self, mismatch) {
            (Self::Mismatched, Some(mismatch)) => match mismatch {
                Mismatch::Differs => "the units that cite it were compiled from different files",
                Mismatch::Md5 => "the supplied file that fits its path is not the one: its MD5 differs",
                Mismatch::Return => {
                    "the supplied file has a `\\r` without `\\n`, and compilers differ in whether a line ends there"
                }
                Mismatch::Short => {
                    "the supplied file that fits its path is not the one: it ends before a line that is cited"
                }
            },
            _ => self.about_level(),
        }
    }

    fn about_level(self) -> &'static str {
        match self {
            Self::Md5Verified => "its MD5 is the one in the debug data",
            Self::PackageVerified => "it fits its path, in the source package that the binary was built from",
            Self::PathMatched => "it fits its path; nothing more says that it is the one",
            Self::Ambiguous => "several supplied files fit its path equally well and differ",
            Self::Mismatched => {
                "the supplied file that fits its path is not the one, or has lines that compilers count differently"
            }
            Self::Missing => "no supplied file fits its path",
        }
    }
}

/// A line of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// Its number, from 1.
    pub number: u32,
    /// Its bytes, without the `\n`.
    pub bytes: Vec<u8>,
}

/// The bytes are told as documents tell what strangers say: a text, or what can be shown of it (see [`Name`]).
impl Serialize for SourceLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_struct("SourceLine", 2)?;
        line.serialize_field("number", &self.number)?;
        line.serialize_field("text", &Name::from_bytes(&self.bytes))?;
        line.end()
    }
}

/// Some lines of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceLines {
    /// How it was verified.
    pub level: Level,
    /// The lines.
    pub lines: Vec<SourceLine>,
    /// `[k, n]`: how many of the functions' names declared in it were found there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<(u32, u32)>,
    /// The number of the line after these; none at the file's end.
    pub next_line: Option<u32>,
    /// Its path.
    pub path: Name,
    /// SHA-256 of its bytes.
    pub sha256: Sha256Digest,
    /// How many lines it has.
    pub total: u32,
}

impl<S: Store> Request<S> {
    /// The source file that a path means: the whole path, else the end of it (`ioputs.c`, `libio/ioputs.c`) where just one
    /// file's path ends so.
    ///
    /// # Errors
    /// [`Error::Ambiguous`] with the paths that end so, [`Error::NotFound`] with the nearest.
    pub async fn source(&mut self, edition: &Edition, path: &str) -> Result<SourceFile> {
        let end = path.trim_start_matches("./");
        let (mut found, mut more) = (self.sources_at(edition, end).await?, false);
        let mut near = Vec::new();
        if found.is_empty() && end.len() + 1 >= limits::TRIGRAM && !end.starts_with('/') {
            let (ends, unfinished) = self.sources_ending(edition, end).await?;
            match ends.as_slice() {
                // Where not all could be looked at, one is not the only one.
                [one] if unfinished => near.push(one.name.text().to_owned()),
                [one] => found = self.sources_at(edition, one.name.text()).await?,
                [] => {}
                several => {
                    let about = |hit: &Hit| hit.not_published.map_or("published", SourceLevel::name);
                    let several = several.iter().map(|hit| (hit.name.text().to_owned(), about(hit)));
                    return Err(ambiguous(edition, path, several.collect(), unfinished));
                }
            }
            more = unfinished;
        }
        match found.as_slice() {
            [one] => self.source_record(edition, one).await,
            [] => {
                if near.is_empty() {
                    near = self.paths_like(edition, path).await?;
                }
                let fix = match (edition.told.has_dwarf, more) {
                    (false, _) => "the sources are named by its debug data: add it with `--debug FILE`",
                    (true, true) => "give more of the path",
                    (true, false) => "search for a part of the path",
                };
                Err(Error::NotFound {
                    what: "source",
                    given: path.to_owned(),
                    place: in_build(edition),
                    near,
                    fix: Some(fix.to_owned()),
                })
            }
            several => {
                let several = several.iter().map(|entry| (entry.path.text().to_owned(), entry.level.name()));
                Err(ambiguous(edition, path, several.collect(), false))
            }
        }
    }

    /// At most `count` lines of a published source, up to [`MOST_LINES`], from the line `first` on. They may be fewer than
    /// asked for, where lines are so long that more would pass what one request may read; `next_line` says where it goes on.
    ///
    /// # Errors
    /// [`Error::NotPublished`], [`Error::OutOfRange`] for a line that it doesn't have, [`Error::Damaged`] where the bytes are not
    /// those that its record tells, [`Error::OverBudget`] for a line that lies behind lines too long to pass.
    pub async fn source_lines(
        &mut self,
        edition: &Edition,
        file: &SourceFile,
        first: u32,
        count: u32,
    ) -> Result<Answer<SourceLines>> {
        let level = Level::of(edition, file.level, file.tree, &file.also);
        let (Some(sha256), Some(lines)) = (file.sha256, &file.lines) else {
            return Err(Error::NotPublished {
                path: file.path.text().to_owned(),
                level,
                mismatch: file.mismatch,
            });
        };
        let mut found = SourceLines {
            level,
            lines: Vec::new(),
            names: file.names,
            next_line: None,
            path: file.path.clone(),
            sha256,
            total: lines.total,
        };
        if lines.total == 0 && first == 1 {
            return Ok(Answer::whole(edition, found));
        }
        if first == 0 || first > lines.total {
            let allowed = format!("1 to {}", lines.total);
            return Err(Error::OutOfRange { what: "line", given: first.to_string(), allowed });
        }
        let last = first.saturating_add(count.clamp(1, MOST_LINES) - 1).min(lines.total);
        let room = self.source_room();
        let (read, whole) = self.source_span(file, first, last, room).await?;
        found.lines = read;
        let next = found.lines.last().map_or(first, |line| line.number.saturating_add(1));
        if whole && next <= last {
            return Err(damaged_source(sha256));
        }
        if next == first {
            let limit = usize::try_from(room).unwrap_or(usize::MAX);
            return Err(Error::OverBudget { path: format!("src/{sha256}"), what: "read", limit });
        }
        found.next_line = (next <= lines.total).then_some(next);
        Ok(Answer::whole(edition, found))
    }

    /// The lines `first` to `last` of a published source, by one read of at most `most` bytes, and whether that was all that was
    /// to be read; lines that are not whole in it are left out. Of a small source all is read, which its digest can vouch for,
    /// of a larger one what stands from mark to mark.
    pub(crate) async fn source_span(
        &mut self,
        file: &SourceFile,
        first: u32,
        last: u32,
        most: u64,
    ) -> Result<(Vec<SourceLine>, bool)> {
        let (Some(sha256), Some(lines)) = (file.sha256, &file.lines) else {
            return Ok((Vec::new(), true));
        };
        let (range, number) = match lines.bytes {
            bytes if bytes <= HEAD => (0..bytes, 1),
            _ => lines.range(first, last).ok_or_else(|| damaged_source(sha256))?,
        };
        let size = range.end - range.start;
        let length = size.min(most);
        let bytes = self.source_bytes(sha256, range.start, length).await?;
        let is_file = size == lines.bytes && length == size;
        if bytes.len() as u64 != length || (is_file && Sha256Digest::of(&bytes) != sha256) {
            return Err(damaged_source(sha256));
        }
        let numbered = lines_of(&bytes, number, length == size);
        let wanted = numbered.filter(|line| (first..=last).contains(&line.0));
        let wanted = wanted.map(|(number, bytes)| SourceLine { number, bytes: bytes.to_vec() });
        Ok((wanted.collect(), length == size))
    }

    /// The index's records of this very path.
    pub(crate) async fn sources_at(&mut self, edition: &Edition, path: &str) -> Result<Vec<SourceEntry>> {
        let mut found: Vec<SourceEntry> = Vec::new();
        let mut leaf =
            self.seek::<SourceEntry>(edition, index::SOURCE, &Key::name(path), Seek::First).await?;
        while let Some(Leaf { number, records, last }) = leaf {
            let past = |record: &SourceEntry| Name::sort_key(record.path.text()) > Name::sort_key(path);
            let ends = records.last().is_some_and(past);
            found.extend(records.into_iter().filter(|record| record.path.text() == path));
            if ends || last || !self.has_room(RESERVE, limits::INDEX_PAGE) {
                break;
            }
            leaf = self.leaf(edition, index::SOURCE, number + 1).await?;
        }
        Ok(found)
    }

    /// What `sources.jsonl.gz` says of a source.
    pub(crate) async fn source_record(
        &mut self,
        edition: &Edition,
        entry: &SourceEntry,
    ) -> Result<SourceFile> {
        let page = self.member::<SourcesPage>(edition.folder(), PACK, entry.page).await?;
        let file = page.and_then(|page| page.sources.iter().find(|file| file.path == entry.path).cloned());
        file.filter(|file| file.level == entry.level).ok_or_else(|| Error::Damaged {
            path: format!("{}/{PACK}", edition.folder()),
            expected: "the sources that the look-up names",
            source: None,
        })
    }

    /// The paths that end so, after a `/`; and whether there may be more of them.
    async fn sources_ending(&mut self, edition: &Edition, end: &str) -> Result<(Vec<Hit>, bool)> {
        let text = format!("/{end}");
        let query = Query {
            text: &text,
            matching: Match::Substring,
            kinds: &[HitKind::Source],
            limit: search::MOST,
            cursor: None,
        };
        let mut answer = self.search_leaving(edition, &query, RESERVE).await?;
        answer.value.hits.retain(|hit| hit.name.text().ends_with(&text));
        Ok((answer.value.hits, answer.next_cursor.is_some()))
    }

    /// The paths that come nearest: neighbours in the index, and those with the start of the same file name in them.
    async fn paths_like(&mut self, edition: &Edition, path: &str) -> Result<Vec<String>> {
        let mut candidates = Vec::new();
        if self.has_room(RESERVE, limits::INDEX_PAGE) {
            let leaf =
                self.seek::<SourceEntry>(edition, index::SOURCE, &Key::name(path), Seek::First).await?;
            let records = leaf.into_iter().flat_map(|leaf| leaf.records);
            candidates.extend(records.map(|entry| entry.path.text().to_owned()));
        }
        let file = path.rsplit('/').next().unwrap_or(path);
        let half: String = file.chars().take((file.chars().count() / 2).max(limits::TRIGRAM)).collect();
        // A search takes what a phase takes.
        if half.len() >= limits::TRIGRAM && self.has_room(search::PHASE, limits::INDEX_PAGE) {
            let kinds = &[HitKind::Source];
            let (matching, limit) = (Match::Substring, search::MOST);
            let query = Query { text: &half, matching, kinds, limit, cursor: None };
            let answer = self.search(edition, &query).await?;
            candidates.extend(answer.value.hits.iter().map(|hit| hit.name.text().to_owned()));
        }
        let mut near = nearest::rank_paths(path, candidates.iter().cloned());
        // A file name that is nearly the same, in whatever folder.
        let name_of = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        for name in nearest::rank_paths(file, candidates.iter().map(|path| name_of(path))) {
            let same = candidates.iter().filter(|path| name_of(path) == name);
            for path in same {
                if near.len() < nearest::MOST && !near.contains(path) {
                    near.push(path.clone());
                }
            }
        }
        Ok(near)
    }
}

/// The lines of bytes that start with the line `first`: all of them where they end with one, else without the last, which may
/// be a part.
pub(crate) fn lines_of(bytes: &[u8], first: u32, ends: bool) -> impl Iterator<Item = (u32, &[u8])> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let whole = move |line: &&[u8]| ends || line.ends_with(b"\n");
    (first..).zip(lines.filter(whole).map(|line| line.strip_suffix(b"\n").unwrap_or(line)))
}

pub(crate) fn damaged_source(sha256: Sha256Digest) -> Error {
    Error::Damaged {
        path: format!("src/{sha256}"),
        expected: "the bytes that its record tells",
        source: None,
    }
}

fn ambiguous(edition: &Edition, given: &str, paths: Vec<(String, &'static str)>, unfinished: bool) -> Error {
    let more = unfinished || paths.len() > MOST_CHOICES;
    let choices = paths.into_iter().take(MOST_CHOICES).map(|(path, about)| Choice {
        ask: path.clone(),
        name: path,
        about: about.to_owned(),
    });
    Error::Ambiguous {
        what: "source",
        given: given.to_owned(),
        place: in_build(edition),
        choices: choices.collect(),
        more,
    }
}
