//! Packs that are only begun once they have a document: an edition has no empty ones.

use rayon::prelude::*;

use crate::{
    archive::{ArchiveError, PackWriter, Stage, deflate_member},
    tell::Page,
};

/// How many documents are deflated at once.
const BATCH: usize = 64;

/// A pack of an edition.
pub(crate) struct LazyPack<'a> {
    stage: &'a Stage<'a>,
    name: &'static str,
    writer: Option<PackWriter>,
    waiting: Vec<Vec<u8>>,
}

impl<'a> LazyPack<'a> {
    /// A pack with a name; nothing is written yet.
    pub(crate) fn new(stage: &'a Stage<'a>, name: &'static str) -> Self {
        Self { stage, name, writer: None, waiting: Vec::new() }
    }

    /// The ordinal of the next document.
    pub(crate) fn next(&self) -> u64 {
        self.writer.as_ref().map_or(0, PackWriter::members) + self.waiting.len() as u64
    }

    /// Appends a document's canonical text, to be deflated with others. Returns its ordinal.
    pub(crate) fn push(&mut self, text: Vec<u8>) -> Result<u64, ArchiveError> {
        let ordinal = self.next();
        self.waiting.push(text);
        if self.waiting.len() >= BATCH {
            self.flush()?;
        }
        Ok(ordinal)
    }

    /// Appends documents that are deflated already.
    pub(crate) fn push_pages(&mut self, pages: &[Page]) -> Result<(), ArchiveError> {
        self.flush()?;
        for page in pages {
            self.write(&page.text, &page.member)?;
        }
        Ok(())
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self) -> Result<(), ArchiveError> {
        self.flush()?;
        let Some(writer) = self.writer else { return Ok(()) };
        let path = self.stage.edition().join(self.name);
        writer.finish().map(drop).map_err(|source| ArchiveError::Write { path, source })
    }

    fn flush(&mut self) -> Result<(), ArchiveError> {
        let texts = std::mem::take(&mut self.waiting);
        let members: Vec<Vec<u8>> = texts.par_iter().map(|text| deflate_member(text)).collect();
        for (text, member) in texts.iter().zip(&members) {
            self.write(text, member)?;
        }
        Ok(())
    }

    fn write(&mut self, text: &[u8], member: &[u8]) -> Result<(), ArchiveError> {
        if self.writer.is_none() {
            self.writer = Some(self.stage.pack(self.name)?);
        }
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let pushed = writer.push(text, member);
        pushed
            .map(drop)
            .map_err(|source| ArchiveError::Write { path: self.stage.edition().join(self.name), source })
    }
}
