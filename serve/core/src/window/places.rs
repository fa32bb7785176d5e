//! Where the rows of a window stand in the source: its files and frames, gathered from the pages that it is cut out of.

use std::collections::BTreeMap;

use elfscope_schema::{CitedFile, Frame, FunctionPage, Name, Place, Sha256Digest};
use serde::Serialize;

use super::Window;
use crate::{Edition, Level, SourceLine};

/// A source file that a window cites.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WindowFile {
    /// Why some of the text that was asked for is not here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// How it was verified, where it is published; why it isn't, where [`crate::Request::source_text`] asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// The lines that a listing shows, in order: see [`crate::Request::source_text`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<SourceLine>,
    /// `[k, n]`: how many of the functions' names declared in it were found there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<(u32, u32)>,
    /// Its path.
    pub path: Name,
    /// SHA-256 of its bytes, where it is published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256Digest>,
}

impl WindowFile {
    /// The text of a line, where it is here.
    #[must_use]
    pub fn line(&self, number: u32) -> Option<&SourceLine> {
        let at = self.lines.binary_search_by_key(&number, |line| line.number).ok()?;
        self.lines.get(at)
    }
}

/// Why source text that was asked for is not in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// It would pass what one request may read: fewer rows at once leave room for it.
    Budget,
    /// The archive's bytes are not what its documents say.
    Damaged,
}

/// One level of the stack at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackLevel<'a> {
    /// The function; none where the debug data names none.
    pub function: Option<&'a Name>,
    /// The file that the code of this level is in; none where the debug data doesn't say where it was called.
    pub file: Option<&'a WindowFile>,
    /// The line in it.
    pub line: Option<u32>,
}

impl Window {
    /// The file of a place.
    #[must_use]
    pub fn file(&self, place: &Place) -> Option<&WindowFile> {
        self.files.get(place.file as usize)
    }

    /// The stack at a place of this window, innermost first, as [`FunctionPage::stack`] tells it.
    #[must_use]
    pub fn stack(&self, place: &Place) -> Vec<StackLevel<'_>> {
        let file = |number: Option<u32>| self.files.get(number? as usize);
        let mut stack = vec![StackLevel { function: None, file: self.file(place), line: place.line }];
        let mut at = place.frame;
        // Parents stand before their children: every step goes down.
        while let Some(frame) = at.and_then(|number| self.frames.get(number as usize)) {
            if let Some(last) = stack.last_mut() {
                last.function = frame.function.as_ref();
            }
            if frame.parent.is_some() {
                stack.push(StackLevel { function: None, file: file(frame.call_file), line: frame.call_line });
            }
            at = frame.parent.filter(|parent| Some(*parent) < at);
        }
        stack
    }
}

/// The files and frames that a window has already, from whichever page.
#[derive(Debug, Default)]
pub(super) struct Known {
    files: BTreeMap<CitedFile, u32>,
    frames: BTreeMap<Frame, u32>,
}

/// The numbers of a page's files and frames in a window, as far as they were asked for: each is worked out once, so that a
/// chain of a thousand frames under every row costs no more than its length.
pub(super) struct PageNumbers<'a> {
    page: &'a FunctionPage,
    files: Vec<Option<u32>>,
    frames: Vec<Option<u32>>,
}

impl<'a> PageNumbers<'a> {
    pub(super) fn new(page: &'a FunctionPage) -> Self {
        Self { page, files: vec![None; page.files.len()], frames: vec![None; page.frames.len()] }
    }

    /// A place of the page as the window counts; none where it names what the page lacks.
    pub(super) fn place(
        &mut self,
        window: &mut Window,
        edition: &Edition,
        known: &mut Known,
        place: &Place,
    ) -> Option<Place> {
        let file = self.file(window, edition, known, place.file)?;
        let frame = match place.frame {
            Some(number) => Some(self.frame(window, edition, known, number)?),
            None => None,
        };
        Some(Place { file, frame, line: place.line })
    }

    fn file(
        &mut self,
        window: &mut Window,
        edition: &Edition,
        known: &mut Known,
        number: u32,
    ) -> Option<u32> {
        let slot = self.files.get_mut(number as usize)?;
        if slot.is_none() {
            let cited = self.page.files.get(number as usize)?;
            *slot = Some(*known.files.entry(cited.clone()).or_insert_with(|| {
                window.files.push(WindowFile {
                    left_out: None,
                    level: cited.level.map(|level| Level::of(edition, level, cited.tree, &cited.also)),
                    lines: Vec::new(),
                    names: cited.names,
                    path: cited.path.clone(),
                    sha256: cited.sha256,
                });
                last_of(&window.files)
            }));
        }
        *slot
    }

    fn frame(
        &mut self,
        window: &mut Window,
        edition: &Edition,
        known: &mut Known,
        number: u32,
    ) -> Option<u32> {
        // Up to the first frame that the window has.
        let mut chain = Vec::new();
        let mut at = Some(number);
        let mut parent = None;
        while let Some(number) = at {
            parent = *self.frames.get(number as usize)?;
            if parent.is_some() {
                break;
            }
            chain.push(number);
            at = self.page.frames.get(number as usize)?.parent;
            if at.is_some_and(|parent| parent >= number) {
                return None;
            }
        }
        for number in chain.into_iter().rev() {
            let frame = self.page.frames.get(number as usize)?;
            let call_file = match frame.call_file {
                Some(file) => Some(self.file(window, edition, known, file)?),
                None => None,
            };
            let frame = Frame { call_file, parent, ..frame.clone() };
            let mapped = *known.frames.entry(frame).or_insert_with_key(|frame| {
                window.frames.push(frame.clone());
                last_of(&window.frames)
            });
            *self.frames.get_mut(number as usize)? = Some(mapped);
            parent = Some(mapped);
        }
        parent
    }
}

/// The number of the last of a list.
fn last_of<T>(list: &[T]) -> u32 {
    u32::try_from(list.len().saturating_sub(1)).unwrap_or(u32::MAX)
}
