//! The source text that stands between the rows of a listing: which lines, and where they come from.
//!
//! Above the rows of a run stands its line. Where the code goes on a few lines further in the same function and file, the lines
//! between stand there too, once, as in gdb's `disassemble /s` and `objdump -S`: comments, braces, declarations.

use std::collections::{BTreeMap, BTreeSet};

use elfscope_schema::{Name, Sha256Digest, SourceFile, limits};

use crate::{
    Edition, Error, LeftOut, Level, Request, Result, SourceLine, Store, Window, WindowFile,
    sources::{HEAD, damaged_source, lines_of},
};

/// So many lines further on, the lines between are shown too.
const STEP: u32 = 5;

/// The lines that a listing of the window shows above each of its runs, first and last; none where it shows none.
pub(crate) fn shown(window: &Window) -> Vec<Option<(u32, u32)>> {
    let mut seen: BTreeSet<(u32, u32)> = BTreeSet::new();
    let mut before: BTreeMap<(u32, Option<u32>), u32> = BTreeMap::new();
    let runs = window.runs.iter().map(|run| {
        let at = run.at.as_ref()?;
        let line = at.line.filter(|line| *line > 0)?;
        let mut first = line;
        if let Some(before) = before.insert((at.file, at.frame), line)
            && before < line
            && line - before <= STEP
        {
            while first - 1 > before && !seen.contains(&(at.file, first - 1)) {
                first -= 1;
            }
        }
        seen.extend((first..=line).map(|line| (at.file, line)));
        Some((first, line))
    });
    runs.collect()
}

impl<S: Store> Request<S> {
    /// Puts the source text into a window that its listing shows between the rows: ask it of the request that the window is
    /// from, whose budget is used for it. Each file is read once, in the order in which the rows cite them. What doesn't fit the
    /// budget, or isn't as the edition says, is told in [`WindowFile::left_out`].
    ///
    /// # Errors
    /// A store that fails. A source that is damaged costs only its own text.
    pub async fn source_text(&mut self, edition: &Edition, window: &mut Window) -> Result<()> {
        let mut wanted: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); window.files.len()];
        for (run, lines) in window.runs.iter().zip(shown(window)) {
            if let (Some(at), Some((first, last))) = (&run.at, lines)
                && let Some(wanted) = wanted.get_mut(at.file as usize)
            {
                wanted.extend(first..=last);
            }
        }
        for (file, wanted) in window.files.iter_mut().zip(&wanted) {
            if file.sha256.is_none() || wanted.is_empty() {
                continue;
            }
            file.lines.clear();
            file.left_out = match self.file_text(edition, file, wanted).await {
                Ok(()) => None,
                Err(Error::OverBudget { .. }) => Some(LeftOut::Budget),
                Err(error) if error.is_archive() && !matches!(error, Error::Store { .. }) => {
                    Some(LeftOut::Damaged)
                }
                Err(error) => return Err(error),
            };
        }
        // Why a source is not published is worth only what is left.
        for (file, wanted) in window.files.iter_mut().zip(&wanted) {
            if file.sha256.is_some() || wanted.is_empty() || !self.has_room(3, limits::INDEX_PAGE) {
                continue;
            }
            let found = self.sources_at(edition, file.path.text()).await?;
            let entry = found.iter().find(|entry| entry.path == file.path);
            let level = entry.map(|entry| Level::of(edition, entry.level, None, &[]));
            file.level = level.filter(|level| !level.is_published());
        }
        Ok(())
    }

    /// Reads the wanted lines of a published file.
    async fn file_text(
        &mut self,
        edition: &Edition,
        file: &mut WindowFile,
        wanted: &BTreeSet<u32>,
    ) -> Result<()> {
        let Some(sha256) = file.sha256 else { return Ok(()) };
        let head = self.source_bytes(sha256, 0, HEAD).await?;
        let is_whole = (head.len() as u64) < HEAD;
        if is_whole && Sha256Digest::of(&head) != sha256 {
            return Err(damaged_source(sha256));
        }
        for (number, bytes) in lines_of(&head, 1, is_whole).filter(|line| wanted.contains(&line.0)) {
            file.lines.push(SourceLine { number, bytes: bytes.to_vec() });
        }
        let mut left: BTreeSet<u32> = wanted.clone();
        left.retain(|number| file.line(*number).is_none());
        if left.is_empty() {
            return Ok(());
        }
        if is_whole {
            return Err(damaged_source(sha256));
        }
        let record = self.record_of(edition, &file.path).await?;
        let record = record.filter(|record| record.sha256 == file.sha256);
        let record = record.ok_or_else(|| damaged_source(sha256))?;
        while let Some((first, last)) = next_span(&record, &mut left) {
            let room = self.source_room();
            let (lines, whole) = self.source_span(&record, first, last, room).await?;
            let missing = |number: &u32| !lines.iter().any(|line| line.number == *number);
            let cut = wanted.range(first..=last).any(missing);
            file.lines.extend(lines.into_iter().filter(|line| wanted.contains(&line.number)));
            if cut {
                let path = format!("src/{sha256}");
                let limit = usize::try_from(room).unwrap_or(usize::MAX);
                return Err(match whole {
                    true => damaged_source(sha256),
                    false => Error::OverBudget { path, what: "read", limit },
                });
            }
        }
        Ok(())
    }

    async fn record_of(&mut self, edition: &Edition, path: &Name) -> Result<Option<SourceFile>> {
        let found = self.sources_at(edition, path.text()).await?;
        match found.iter().find(|entry| entry.path == *path) {
            Some(entry) => self.source_record(edition, entry).await.map(Some),
            None => Ok(None),
        }
    }
}

/// Takes the next lines that one read gives: from the first that is left, as long as the next one stands between the same two
/// marks or the marks after.
fn next_span(file: &SourceFile, left: &mut BTreeSet<u32>) -> Option<(u32, u32)> {
    let step = file.lines.as_ref().map_or(1, |lines| lines.step.max(1));
    let first = left.pop_first()?;
    let mut last = first;
    while let Some(next) = left.first().copied().filter(|next| (next - 1) / step <= (last - 1) / step + 1) {
        left.pop_first();
        last = next;
    }
    Some((first, last))
}
