//! 64-bit little-endian ELF files with other sections than their linker gave them.

fn number(file: &[u8], at: usize, size: usize) -> usize {
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(&file[at..at + size]);
    u64::from_le_bytes(bytes) as usize
}

fn put(file: &mut [u8], at: usize, value: usize, size: usize) {
    file[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
}

/// The offset of each section header, with the section's name.
fn headers(file: &[u8]) -> Vec<(usize, String)> {
    let (table, count, strings) = (number(file, 0x28, 8), number(file, 0x3c, 2), number(file, 0x3e, 2));
    let names = number(file, table + strings * 64 + 0x18, 8);
    let name = |header: usize| {
        let at = names + number(file, header, 4);
        let bytes = file[at..].iter().take_while(|byte| **byte != 0).copied();
        String::from_utf8(bytes.collect()).unwrap()
    };
    (0..count).map(|index| table + index * 64).map(|header| (header, name(header))).collect()
}

/// The file with more sections, which no segment loads.
pub(crate) fn with_sections(file: &[u8], more: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = file.to_vec();
    let (table, count, strings) = (number(&file, 0x28, 8), number(&file, 0x3c, 2), number(&file, 0x3e, 2));
    let mut headers = file[table..table + count * 64].to_vec();
    let (at, size) = (number(&headers, strings * 64 + 0x18, 8), number(&headers, strings * 64 + 0x20, 8));
    let mut names = file[at..at + size].to_vec();
    for (name, contents) in more {
        file.resize(file.len().next_multiple_of(8), 0);
        let mut header = [0; 64];
        put(&mut header, 0, names.len(), 4);
        // SHT_PROGBITS
        put(&mut header, 4, 1, 4);
        put(&mut header, 0x18, file.len(), 8);
        put(&mut header, 0x20, contents.len(), 8);
        put(&mut header, 0x30, 1, 8);
        headers.extend(header);
        names.extend(name.bytes().chain([0]));
        file.extend_from_slice(contents);
    }
    put(&mut headers, strings * 64 + 0x18, file.len(), 8);
    put(&mut headers, strings * 64 + 0x20, names.len(), 8);
    file.extend(names);
    file.resize(file.len().next_multiple_of(8), 0);
    let table = file.len();
    put(&mut file, 0x28, table, 8);
    put(&mut file, 0x3c, count + more.len(), 2);
    file.extend(headers);
    file
}

/// The file without its `.symtab`, as `strip` leaves it.
pub(crate) fn stripped(file: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    for (header, name) in headers(&file) {
        if name == ".symtab" {
            put(&mut file, header + 4, 0, 4);
        }
    }
    file
}

/// The file without its code, as `objcopy --only-keep-debug` leaves it.
pub(crate) fn only_debug(file: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    for (header, name) in headers(&file) {
        let flags = number(&file, header + 8, 8);
        // Everything that is loaded but the notes becomes SHT_NOBITS.
        if flags & 2 != 0 && !name.starts_with(".note") {
            put(&mut file, header + 4, 8, 4);
        }
    }
    file
}

/// The file with another build id, of the same length.
pub(crate) fn with_build_id(file: &[u8], id: [u8; 20]) -> Vec<u8> {
    let mut file = file.to_vec();
    let (header, _) = headers(&file).into_iter().find(|(_, name)| name == ".note.gnu.build-id").unwrap();
    let at = number(&file, header + 0x18, 8) + 16;
    file[at..at + 20].copy_from_slice(&id);
    file
}

/// `.gnu_debuglink`.
pub(crate) fn debug_link(name: &str, crc: u32) -> Vec<u8> {
    let mut link = name.as_bytes().to_vec();
    link.resize((name.len() + 1).next_multiple_of(4), 0);
    link.extend(crc.to_le_bytes());
    link
}
