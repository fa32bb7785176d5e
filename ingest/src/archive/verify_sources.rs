//! Verifying published sources, the pages that name them and the pages that cite them.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read as _},
    sync::{Mutex, PoisonError},
};

use elfscope_schema::{
    CitedFile, Frame, Lines, Name, Place, Sha256Digest, SourceFile, SourceLevel, SourcesPage, from_slice,
    to_canonical,
};
use rayon::prelude::*;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::{Archive, ArchiveError, store, verify::Findings};

/// Most sources of which it is remembered that they were looked at, and how their lines lie; what is not remembered is looked
/// at again. Some 80 bytes each.
const REMEMBERED: usize = 1 << 18;
/// Most files of an edition that are held to be compared with what its functions cite, 16 bytes each.
const FILES: usize = 1 << 22;
/// How much of a source is read at once.
const READ: usize = 64 * 1024;
/// How many entries of the folder of sources are looked at before more are read.
const BATCH: usize = 1 << 12;

/// Half a SHA-256: for comparing what was read in the same run.
type Print = [u8; 16];

/// The published sources, and what was seen of them.
pub(super) struct Sources<'a> {
    archive: &'a Archive,
    /// The print of their lines; none where their bytes are damaged, which has been said.
    seen: Mutex<BTreeMap<Sha256Digest, Option<Print>>>,
}

/// What a source turned out to be.
enum Seen {
    /// It has the bytes of its name, and these lines.
    Good(Print),
    /// It hasn't.
    Damaged,
    /// There is none.
    Missing,
}

impl<'a> Sources<'a> {
    pub(super) fn new(archive: &'a Archive) -> Self {
        Self { archive, seen: Mutex::default() }
    }

    /// Looks at one, unless that was done. A damaged one is said to `findings` once, whichever edition cites it.
    fn look(&self, digest: Sha256Digest, findings: &Findings<'_>) -> Result<Seen, ArchiveError> {
        if let Some(seen) = self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(&digest) {
            return Ok(seen.map_or(Seen::Damaged, Seen::Good));
        }
        let path = self.archive.source_path(digest);
        let is_absent = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        // Opening what is no plain file might wait for ever.
        let opened = match path.symlink_metadata() {
            Ok(found) if found.is_file() => File::open(&path),
            Ok(_) => return Ok(self.damaged(digest, "it is no plain file", findings)),
            Err(error) => Err(error),
        };
        let file = match opened {
            Ok(file) => file,
            Err(error) if is_absent(&error) => return Ok(Seen::Missing),
            Err(source) => return Err(ArchiveError::Read { path, source }),
        };
        let (found, lines) = read(file, findings).map_err(ArchiveError::read(path))?;
        if found != digest {
            return Ok(self.damaged(digest, "its SHA-256 is not its name", findings));
        }
        let print = print(&lines);
        self.remember(digest, Some(print));
        Ok(Seen::Good(print))
    }

    fn damaged(&self, digest: Sha256Digest, what: &str, findings: &Findings<'_>) -> Seen {
        if self.remember(digest, None) {
            findings.add(format!("{}/{digest}", store::SOURCES), what);
        }
        Seen::Damaged
    }

    /// Whether that is new.
    fn remember(&self, digest: Sha256Digest, print: Option<Print>) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = seen.len() < REMEMBERED;
        match seen.get(&digest) {
            Some(_) => false,
            None if has_room => seen.insert(digest, print).is_none(),
            None => true,
        }
    }

    /// Looks at every file in the folder of sources that wasn't looked at yet.
    pub(super) fn sweep(&self, findings: &Findings<'_>) -> Result<(), ArchiveError> {
        let folder = self.archive.sources();
        let mut entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(());
            }
            Err(source) => return Err(ArchiveError::Read { path: folder, source }),
        };
        loop {
            let batch: Vec<_> = entries.by_ref().take(BATCH).collect();
            if batch.is_empty() || findings.is_full() {
                return Ok(());
            }
            batch.into_par_iter().try_for_each(|entry| {
                let name = entry.map_err(ArchiveError::read(&folder))?.file_name();
                match name.to_str().and_then(|name| name.parse().ok()) {
                    // One that is missing by now was deleted by `gc`.
                    Some(digest) => self.look(digest, findings).map(drop),
                    None => {
                        let path = format!("{}/{}", store::SOURCES, name.to_string_lossy());
                        findings
                            .add(path, "it does not belong to the sources: it is not called by a SHA-256");
                        Ok(())
                    }
                }
            })?;
        }
    }
}

/// The digest and the lines of a file, however long it is.
fn read(mut file: File, findings: &Findings<'_>) -> io::Result<(Sha256Digest, Lines)> {
    findings.expect(file.metadata()?.len());
    let (mut hash, mut lines) = (Sha256::new(), Marks::default());
    let mut buffer = vec![0; READ];
    loop {
        let count = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(&buffer[..count]);
        lines.push(&buffer[..count]);
        findings.looked_at(count as u64);
    }
    Ok((Sha256Digest::from_bytes(hash.finalize().into()), lines.finish()))
}

/// The lines of a text that comes in parts: what [`Lines::of`] gives of the whole, found another way.
#[derive(Default)]
struct Marks {
    bytes: u64,
    total: u32,
    /// Where every `2^shift`-th line starts.
    marks: Vec<u64>,
    shift: u32,
    /// Whether a line goes on.
    is_inside: bool,
}

impl Marks {
    fn push(&mut self, part: &[u8]) {
        for line in part.split_inclusive(|byte| *byte == b'\n') {
            if !self.is_inside {
                if self.total & ((1 << self.shift) - 1) == 0 {
                    self.marks.push(self.bytes);
                }
                self.total = self.total.saturating_add(1);
                if self.marks.len() > Lines::MARKS {
                    let mut number = 0u32;
                    self.marks.retain(|_| {
                        number += 1;
                        number % 2 == 1
                    });
                    self.shift += 1;
                }
            }
            self.bytes += line.len() as u64;
            self.is_inside = !line.ends_with(b"\n");
        }
    }

    fn finish(self) -> Lines {
        Lines { bytes: self.bytes, marks: self.marks, step: 1 << self.shift, total: self.total }
    }
}

/// What is compared of a document.
fn print<T: serde::Serialize>(document: &T) -> Print {
    let digest = Sha256Digest::of(&to_canonical(document));
    let (print, _) = digest.as_bytes().as_chunks::<16>();
    print[0]
}

/// The source files of an edition, as its functions are to cite them.
pub(super) enum Told {
    /// It tells of none.
    None,
    /// It can't be read, which has been said.
    Damaged,
    /// The prints of them as [`CitedFile`], sorted.
    Files(Vec<Print>),
}

/// Reads the pages of `sources.jsonl.gz`, in order.
pub(super) struct Pages<'a> {
    sources: &'a Sources<'a>,
    last: Option<(String, Name)>,
    told: Vec<Print>,
}

impl<'a> Pages<'a> {
    pub(super) fn new(sources: &'a Sources<'a>) -> Self {
        Self { sources, last: None, told: Vec::new() }
    }

    /// Checks the next page: its files, their order, and the published sources that they name. `missing` is told of those that
    /// aren't there.
    ///
    /// Says what is wrong with the page. The outer error is the file system's.
    pub(super) fn check(
        &mut self,
        text: &[u8],
        missing: &(dyn Fn(Sha256Digest) + Sync),
        findings: &Findings<'_>,
    ) -> Result<Result<(), String>, ArchiveError> {
        let page: SourcesPage = match from_slice(text) {
            Ok(page) => page,
            Err(error) => return Ok(Err(format!("it does not read as a page of sources: {error}"))),
        };
        for file in &page.sources {
            let key = (Name::sort_key(file.path.text()).into_owned(), file.path.clone());
            if self.last.as_ref().is_some_and(|last| *last >= key) {
                return Ok(Err(format!("{} does not come in order", shown(file))));
            }
            self.last = Some(key);
            if is_published(file.level) != file.sha256.is_some()
                || file.sha256.is_some() != file.lines.is_some()
            {
                let what = "has another level than a SHA-256 and lines, or their lack, say";
                return Ok(Err(format!("{} {what}", shown(file))));
            }
            if self.told.len() == FILES {
                return Ok(Err(format!("it tells of more than {FILES} files, so that not all are compared")));
            }
            self.told.push(print(&cited(file)));
        }
        // Most of the time goes into the sources.
        let wrong = page.sources.par_iter().map(|file| {
            let (Some(digest), Some(lines)) = (file.sha256, &file.lines) else { return Ok(None) };
            match self.sources.look(digest, findings)? {
                Seen::Good(seen) if seen != print(lines) => {
                    Ok(Some(format!("{} has other lines than `lines` says", shown(file))))
                }
                Seen::Missing => {
                    missing(digest);
                    Ok(None)
                }
                Seen::Good(_) | Seen::Damaged => Ok(None),
            }
        });
        let wrong = wrong.collect::<Result<Vec<Option<String>>, ArchiveError>>()?;
        Ok(wrong.into_iter().flatten().next().map_or(Ok(()), Err))
    }

    pub(super) fn finish(mut self) -> Told {
        self.told.sort_unstable();
        Told::Files(self.told)
    }
}

fn is_published(level: SourceLevel) -> bool {
    matches!(level, SourceLevel::Md5Verified | SourceLevel::PathMatched)
}

/// A file as functions are to cite it.
fn cited(file: &SourceFile) -> CitedFile {
    let (also, level, names, tree) = match file.sha256 {
        Some(_) => (file.also.clone(), Some(file.level), file.names, file.tree),
        None => (Vec::new(), None, None, None),
    };
    CitedFile { also, level, names, path: file.path.clone(), sha256: file.sha256, tree }
}

fn shown(file: &SourceFile) -> String {
    format!("`{}`", Name::sort_prefix(file.path.text()).escape_debug())
}

/// Whether a page of a body cites files as the edition tells of them, and names files and frames that it has. A page that cites
/// none is not compared: what else it holds is the business of who reads it.
pub(super) fn check_function(text: &[u8], told: &Told) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Page {
        #[serde(default)]
        files: Vec<CitedFile>,
        #[serde(default)]
        frames: Vec<Frame>,
        #[serde(default)]
        runs: Vec<Run>,
    }
    #[derive(Deserialize)]
    struct Run {
        #[serde(default)]
        at: Option<Place>,
    }
    let page: Page =
        from_slice(text).map_err(|error| format!("it does not read as a page of a body: {error}"))?;
    for file in &page.files {
        let is_told = match told {
            Told::Damaged => true,
            Told::None => file.sha256.is_none(),
            Told::Files(files) => files.binary_search(&print(file)).is_ok(),
        };
        if !is_told {
            let path = Name::sort_prefix(file.path.text()).escape_debug();
            return Err(format!("it cites `{path}` otherwise than `sources.jsonl.gz` tells of it"));
        }
    }
    let has = |list: usize, number: u32| (number as usize) < list;
    for (number, frame) in page.frames.iter().enumerate() {
        if frame.parent.is_some_and(|parent| !has(number, parent)) {
            return Err(format!("frame {number} has a parent that does not stand before it"));
        }
        if frame.call_file.is_some_and(|file| !has(page.files.len(), file)) || frame.call_line == Some(0) {
            return Err(format!(
                "frame {number} was called in a file that the page does not have, or in line 0"
            ));
        }
    }
    for place in page.runs.iter().filter_map(|run| run.at) {
        if !has(page.files.len(), place.file) {
            return Err(format!("a place is in file {}, and there are {}", place.file, page.files.len()));
        }
        if let Some(frame) = place.frame.filter(|frame| !has(page.frames.len(), *frame)) {
            return Err(format!("a place is in frame {frame}, and there are {}", page.frames.len()));
        }
        if place.line == Some(0) {
            return Err("a place is in line 0".to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_come_in_parts_are_the_lines_of_the_whole() {
        for count in [0usize, 1, 2, 127, 128, 129, 256, 257, 1000, 5000] {
            for ending in ["", "\n", "\n\n", "x"] {
                let text: String = (0..count).map(|line| "x".repeat(line % 9) + "\n").collect();
                let text = (text.trim_end().to_owned() + ending).into_bytes();
                for part in [1, 7, 4096] {
                    let mut marks = Marks::default();
                    text.chunks(part).for_each(|part| marks.push(part));
                    assert_eq!(marks.finish(), Lines::of(&text), "{count} lines in parts of {part}");
                }
            }
        }
    }

    #[test]
    fn a_page_names_only_what_it_has() {
        let page = |files: &str, frames: &str, at: &str| {
            let text =
                format!(r#"{{"files":[{files}],"frames":[{frames}],"runs":[{{"at":{at},"rows":[]}}]}}"#);
            check_function(text.as_bytes(), &Told::None)
        };
        let (file, main) = (r#"{"path":"a.c"}"#, r#"{"function":"main"}"#);
        let inlined = r#"{"call_file":0,"call_line":3,"function":"f","parent":0}"#;
        let both = format!("{main},{inlined}");
        assert_eq!(page(file, &both, r#"{"file":0,"frame":1,"line":7}"#), Ok(()));
        assert_eq!(page(file, "", r#"{"file":0,"line":null}"#), Ok(()));
        assert_eq!(page("", "", "null"), Ok(()));
        let published = format!(r#"{{"path":"a.c","sha256":"{}"}}"#, "0".repeat(64));
        for (files, frames, at) in [
            (file, &*both, r#"{"file":1,"frame":1,"line":7}"#),
            (file, &both, r#"{"file":0,"frame":2,"line":7}"#),
            (file, &both, r#"{"file":0,"frame":1,"line":0}"#),
            (file, inlined, r#"{"file":0,"frame":0,"line":7}"#),
            (file, &format!("{inlined},{main}"), r#"{"file":0,"frame":0,"line":7}"#),
            ("", &both, "null"),
            (&published, main, "null"),
        ] {
            assert!(page(files, frames, at).is_err(), "{files} {frames} {at}");
        }
    }
}
