//! The files and frames that one page cites, numbered for the page.

use elfscope_schema::{CitedFile, Frame, Place, to_canonical};

use super::places::Places;

/// What a page cites so far.
#[derive(Default)]
pub(super) struct Cites {
    /// For each file of the body, its number on the page.
    file_of: Vec<Option<u32>>,
    /// For each frame of the body, its number on the page.
    frame_of: Vec<Option<u32>>,
    /// The page's files.
    pub(super) files: Vec<CitedFile>,
    /// The page's frames.
    pub(super) frames: Vec<Frame>,
}

impl Cites {
    /// Nothing cited yet of a body's places.
    pub(super) fn none(places: &Places) -> Self {
        Self {
            file_of: vec![None; places.files.len()],
            frame_of: vec![None; places.frames.len()],
            ..Self::default()
        }
    }

    /// The bytes that citing a place would add to the page.
    pub(super) fn cost(&self, place: Place, places: &Places, cited: &[CitedFile]) -> usize {
        let mut files = vec![place.file];
        let mut bytes = 0;
        let mut next = place.frame;
        while let Some(frame) = next.filter(|frame| self.frame_of[*frame as usize].is_none()) {
            let frame = &places.frames[frame as usize];
            bytes += to_canonical(frame).len();
            files.extend(frame.call_file);
            next = frame.parent;
        }
        files.sort_unstable();
        files.dedup();
        let new = files.into_iter().filter(|file| self.file_of[*file as usize].is_none());
        let file = |file: u32| &cited[places.files[file as usize] as usize];
        bytes + new.map(|number| to_canonical(file(number)).len()).sum::<usize>()
    }

    /// Cites a place. Returns it as the page numbers it.
    pub(super) fn cite(&mut self, place: Place, places: &Places, cited: &[CitedFile]) -> Place {
        let file = self.file(place.file, places, cited);
        let mut chain = Vec::new();
        let mut next = place.frame;
        let mut parent = loop {
            let Some(frame) = next else { break None };
            if let Some(known) = self.frame_of[frame as usize] {
                break Some(known);
            }
            chain.push(frame);
            next = places.frames[frame as usize].parent;
        };
        for number in chain.into_iter().rev() {
            let frame = &places.frames[number as usize];
            let call_file = frame.call_file.map(|file| self.file(file, places, cited));
            let place = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
            self.frames.push(Frame { call_file, parent, ..frame.clone() });
            self.frame_of[number as usize] = Some(place);
            parent = Some(place);
        }
        Place { file, frame: parent, line: place.line }
    }

    fn file(&mut self, file: u32, places: &Places, cited: &[CitedFile]) -> u32 {
        let files = &mut self.files;
        *self.file_of[file as usize].get_or_insert_with(|| {
            files.push(cited[places.files[file as usize] as usize].clone());
            u32::try_from(files.len() - 1).unwrap_or(u32::MAX)
        })
    }
}
