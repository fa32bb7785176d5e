//! Text in data: bytes that read as text up to a NUL.

use elfscope_schema::Address;
use object::elf;

use crate::{elf::Elf, limits};

/// The bytes at an address of data that read as text up to a NUL: UTF-8 of at most [`limits::STRING`] bytes, without
/// control characters other than white space and escape.
///
/// Text of less than [`limits::STRING_SHORT`] bytes could as well be a small number in a table. It must be ASCII with
/// something to see and stand after a NUL (or at a section's start), and what follows its own NUL must be more text (on
/// AArch64 also NULs up to the next multiple of 8).
///
/// A place that the dynamic linker fills is never text.
pub(crate) fn find_at<'data>(elf: &Elf<'data>, address: Address) -> Option<&'data str> {
    let region = elf.image.find_region(address).filter(|region| !region.executable)?;
    let start = usize::try_from(address.offset - region.start.offset).ok()?;
    let rest = region.data.get(start..)?;
    let window = &rest[..rest.len().min(limits::STRING + 1)];
    let end = window.iter().position(|byte| *byte == 0)?;
    let text = std::str::from_utf8(&window[..end]).ok()?;
    if text.is_empty() || !text.bytes().all(is_text) {
        return None;
    }
    if elf.is_filled(address, end as u64 + 1) {
        return None;
    }
    if text.len() >= limits::STRING_SHORT {
        return Some(text);
    }
    let after_nul = start == 0 || region.data[start - 1] == 0;
    let packed = rest.get(end + 1).is_none_or(|next| *next != 0);
    // gcc aligns every string on AArch64; elsewhere a short one before NULs is more likely a number.
    let padded = elf.machine == elf::EM_AARCH64.0
        && text.len() > 1
        && address.offset.is_multiple_of(8)
        && rest.iter().take(8).skip(end).all(|byte| *byte == 0);
    let visible = text.is_ascii() && text.bytes().any(|byte| byte.is_ascii_graphic());
    (after_nul && visible && (packed || padded)).then_some(text)
}

/// Strings that nothing refers to: runs of at least [`limits::STRING_FOUND`] bytes after a NUL or a section's start.
/// Sections that hold tables and not a program's data are left out.
pub(crate) fn scan<'data>(elf: &Elf<'data>) -> Vec<(Address, &'data str)> {
    let mut found = Vec::new();
    let mut total = 0;
    for section in &elf.sections {
        let data = section.has(elf::SHF_ALLOC)
            && !section.has(elf::SHF_EXECINSTR)
            && section.sh_type == elf::SHT_PROGBITS.0;
        if !data || NO_STRINGS.contains(&section.name) {
            continue;
        }
        let mut at = 0u64;
        for bytes in section.data.split_inclusive(|byte| *byte == 0) {
            let start = at;
            at += bytes.len() as u64;
            let Some(text) = bytes.strip_suffix(b"\0") else { continue };
            if text.len() < limits::STRING_FOUND
                || text.len() > limits::STRING
                || !text.iter().copied().all(is_text)
            {
                continue;
            }
            let Ok(text) = std::str::from_utf8(text) else { continue };
            if elf.is_filled(section.address.plus(start), bytes.len() as u64) {
                continue;
            }
            total += text.len();
            if total > limits::STRINGS_TOTAL {
                return found;
            }
            found.push((section.address.plus(start), text));
        }
    }
    found
}

/// The start of a text, of at most this many bytes, and whether that is less than all.
pub(crate) fn start(text: &str, most: usize) -> (&str, bool) {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (&text[..end], end < text.len())
}

const NO_STRINGS: [&[u8]; 5] =
    [b".eh_frame", b".eh_frame_hdr", b".gcc_except_table", b".debug_gdb_scripts", b".gnu_debuglink"];

fn is_text(byte: u8) -> bool {
    byte >= 0x80 || (0x20..0x7f).contains(&byte) || matches!(byte, b'\t' | b'\n' | 0x0b | 0x0c | b'\r' | 0x1b)
}
