//! `NT_GNU_BUILD_ID`: in any note segment or section.

use elfscope_schema::BuildId;
use object::{Endianness, elf};

use super::{
    Section, Segment,
    header::{Shares, available},
};
use crate::diagnostics::Diagnostics;

const NT_GNU_BUILD_ID: u32 = 3;

/// The build id that the file's notes claim; a note of unusable length is a diagnostic.
pub(super) fn build_id(
    sections: &[Section<'_>],
    segments: &[Segment],
    data: &[u8],
    endian: Endianness,
    diagnostics: &mut Diagnostics,
) -> Option<BuildId> {
    let in_segments = segments
        .iter()
        .filter(|segment| segment.p_type == elf::PT_NOTE.0)
        .map(|segment| available(data, segment.offset, segment.file_size));
    // A debug file keeps its notes in sections only: its segments have no bytes.
    let in_sections =
        sections.iter().filter(|section| section.sh_type == elf::SHT_NOTE.0).map(|section| section.data);
    let mut shares = Shares::of(data);
    for notes in in_segments.chain(in_sections) {
        if !shares.take(notes.len()) {
            diagnostics.add(
                "bytes-claimed-again",
                b"PT_NOTE",
                "the notes claim more bytes than the file has",
            );
            return None;
        }
        // Notes are aligned to 4 bytes, or to 8 in a segment of that alignment; the id's own owner and size are
        // multiples of 4, so both walks find it.
        for align in [4, 8] {
            let Some(descriptor) = find(notes, endian, align) else { continue };
            if let Some(id) = BuildId::from_note(descriptor) {
                return Some(id);
            }
            let message = format!(
                "the build id note has {} bytes, where {} to {} are used: the file's sha256 stands for it",
                descriptor.len(),
                BuildId::MIN_NOTE,
                BuildId::MAX_NOTE
            );
            diagnostics.add("build-id-length", b"NT_GNU_BUILD_ID", message);
            return None;
        }
    }
    None
}

fn find(mut notes: &[u8], endian: Endianness, align: usize) -> Option<&[u8]> {
    loop {
        let (header, rest) = notes.split_at_checked(12)?;
        let word = |at: usize| {
            let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            if endian == Endianness::Big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
        };
        let (owner_size, size, kind) = (word(0) as usize, word(4) as usize, word(8));
        let owner = rest.get(..owner_size)?;
        // The descriptor starts at the next multiple of the alignment, counted from the note's start.
        let start = (12usize.checked_add(owner_size)?).checked_next_multiple_of(align)? - 12;
        let descriptor = rest.get(start..start.checked_add(size)?)?;
        if kind == NT_GNU_BUILD_ID && owner == b"GNU\0" {
            return Some(descriptor);
        }
        let next = (12 + start + size).checked_next_multiple_of(align)?;
        notes = notes.get(next..)?;
    }
}
