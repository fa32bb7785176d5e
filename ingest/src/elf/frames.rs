//! Ranges of code that `.eh_frame` describes (LSB "Exception Frames"). gimli reads it.

use elfscope_schema::Address;
use gimli::{BaseAddresses, CieOrFde, EhFrame, EndianSlice, RunTimeEndian, UnwindSection as _};
use object::Endianness;

use super::Section;
use crate::diagnostics::Diagnostics;

/// The range of one frame description entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Its first address.
    pub(crate) start: Address,
    /// Its size in bytes.
    pub(crate) size: u64,
    /// Whether exceptions may land in it: it has a language-specific data area.
    pub(crate) lands: bool,
}

pub(super) fn read(
    sections: &[Section<'_>],
    endian: Endianness,
    class: u32,
    diagnostics: &mut Diagnostics,
) -> Vec<Frame> {
    let find = |name: &[u8]| sections.iter().find(|section| section.name == name && !section.data.is_empty());
    let Some(section) = find(b".eh_frame") else { return Vec::new() };
    let endian = if endian == Endianness::Big { RunTimeEndian::Big } else { RunTimeEndian::Little };
    let mut table = EhFrame::new(section.data, endian);
    table.set_address_size(if class == 64 { 8 } else { 4 });
    let mut bases = BaseAddresses::default().set_eh_frame(section.address.offset);
    if let Some(text) = find(b".text") {
        bases = bases.set_text(text.address.offset);
    }
    if let Some(got) = find(b".got") {
        bases = bases.set_got(got.address.offset);
    }
    let mut frames = Vec::new();
    let mut entries = table.entries(&bases);
    loop {
        match entries.next() {
            Ok(Some(CieOrFde::Cie(_))) => {}
            Ok(Some(CieOrFde::Fde(partial))) => {
                let fde = partial.parse(|_: &EhFrame<EndianSlice<'_, RunTimeEndian>>, bases, offset| {
                    table.cie_from_offset(bases, offset)
                });
                match fde {
                    // glibc lets the range of `__restore_rt` start one byte early, for unwinders that look up the address
                    // before a return address: where a signal trampoline starts its entry doesn't say.
                    Ok(fde) if fde.is_signal_trampoline() => {}
                    Ok(fde) if fde.len() > 0 => {
                        frames.push(Frame {
                            start: Address::virt(fde.initial_address()),
                            size: fde.len(),
                            lands: fde.lsda().is_some(),
                        });
                    }
                    Ok(_) => {}
                    Err(error) => {
                        diagnostics.add(
                            "frame-unreadable",
                            section.name,
                            format!("a frame entry can't be read ({error})"),
                        );
                    }
                }
            }
            Ok(None) => break,
            Err(error) => {
                let message = format!("the table can't be read to its end ({error}): later entries are lost");
                diagnostics.add("frames-cut", section.name, message);
                break;
            }
        }
    }
    frames.sort_by_key(|frame| (frame.start, std::cmp::Reverse(frame.size)));
    frames.dedup_by_key(|frame| frame.start);
    frames
}
