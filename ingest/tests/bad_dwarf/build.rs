//! Small ELF files around debug data that no compiler would write.

/// Where the code starts, in memory and in the file.
pub(crate) const TEXT: u64 = 0x1000;
/// Bytes of one function.
pub(crate) const FUNCTION: u64 = 16;

/// The sections of debug data, by name.
pub(crate) type Sections<'a> = &'a [(&'a str, Vec<u8>)];

/// A section that may be compressed.
pub(crate) struct Section<'a> {
    pub(crate) name: &'a str,
    pub(crate) bytes: Vec<u8>,
    pub(crate) flags: u64,
}

/// A shared library of so many functions, with a symbol each, and these sections.
pub(crate) fn library(functions: u64, sections: Sections<'_>) -> Vec<u8> {
    let sections = sections.iter().map(|(name, bytes)| Section { name, bytes: bytes.clone(), flags: 0 });
    library_with(functions, &sections.collect::<Vec<_>>())
}

/// The same, with flags of sections.
pub(crate) fn library_with(functions: u64, sections: &[Section<'_>]) -> Vec<u8> {
    let mut code = Vec::new();
    let mut symbols = Bytes::default();
    symbols.zeros(24);
    let mut strings = b"\0".to_vec();
    for number in 0..functions {
        code.extend([0x90; FUNCTION as usize - 1]);
        code.push(0xc3);
        // STB_GLOBAL, STT_FUNC in section 1.
        symbols.u32(strings.len() as u32).u8(0x12).u8(0).u16(1).u64(TEXT + number * FUNCTION).u64(FUNCTION);
        strings.extend(format!("function_{number}\0").bytes());
    }
    let mut names = b"\0".to_vec();
    let mut file = vec![0; TEXT as usize];
    let mut headers = Bytes::default();
    headers.zeros(64);
    let first = [
        Section { name: ".text", bytes: code, flags: 6 },
        Section { name: ".symtab", bytes: symbols.0, flags: 0 },
        Section { name: ".strtab", bytes: strings, flags: 0 },
    ];
    let count = first.len() + sections.len() + 2;
    let size = first[0].bytes.len() as u64;
    for (index, section) in first.iter().chain(sections).enumerate() {
        let (kind, link, info, entry) = match index {
            1 => (2, 3, 1, 24),
            2 => (3, 0, 0, 0),
            _ => (1, 0, 0, 0),
        };
        let name = names.len() as u32;
        names.extend(section.name.bytes().chain([0]));
        let address = if index == 0 { TEXT } else { 0 };
        headers.u32(name).u32(kind).u64(section.flags).u64(address).u64(file.len() as u64);
        headers.u64(section.bytes.len() as u64).u32(link).u32(info).u64(1).u64(entry);
        file.extend(&section.bytes);
    }
    let name = names.len() as u32;
    names.extend(b".shstrtab\0");
    headers.u32(name).u32(3).u64(0).u64(0).u64(file.len() as u64).u64(names.len() as u64);
    headers.u32(0).u32(0).u64(1).u64(0);
    file.extend(names);
    let table = file.len() as u64;
    file.extend(headers.0);
    let mut head = Bytes(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec());
    head.u16(3).u16(62).u32(1).u64(0).u64(64).u64(table).u32(0).u16(64).u16(56).u16(1).u16(64);
    head.u16(count as u16).u16(count as u16 - 1);
    // PT_LOAD, PF_R | PF_X.
    head.u32(1).u32(5).u64(0).u64(0).u64(0).u64(TEXT + size).u64(TEXT + size).u64(0x1000);
    file[..head.0.len()].copy_from_slice(&head.0);
    file
}

/// Bytes that are written one value after the other.
#[derive(Clone, Default)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Bytes {
    pub(crate) fn u8(&mut self, value: u8) -> &mut Self {
        self.raw(&[value])
    }

    pub(crate) fn u16(&mut self, value: u16) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(crate) fn uleb(&mut self, mut value: u64) -> &mut Self {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.u8(value as u8)
    }

    pub(crate) fn sleb(&mut self, mut value: i64) -> &mut Self {
        while !(-0x40..0x40).contains(&value) {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.u8(value as u8 & 0x7f)
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.raw(text.as_bytes()).u8(0)
    }

    pub(crate) fn zeros(&mut self, count: usize) -> &mut Self {
        self.raw(&vec![0; count])
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }
}

/// Tags, attributes and forms that the cases use (DWARF 5, section 7.5).
pub(crate) mod dw {
    pub(crate) const ARRAY: u64 = 0x01;
    pub(crate) const PARAMETER: u64 = 0x05;
    pub(crate) const POINTER: u64 = 0x0f;
    pub(crate) const UNIT: u64 = 0x11;
    pub(crate) const SUBROUTINE: u64 = 0x15;
    pub(crate) const INLINED: u64 = 0x1d;
    pub(crate) const CONST: u64 = 0x26;
    pub(crate) const SUBPROGRAM: u64 = 0x2e;

    pub(crate) const NAME: u64 = 0x03;
    pub(crate) const STMT_LIST: u64 = 0x10;
    pub(crate) const LOW_PC: u64 = 0x11;
    pub(crate) const HIGH_PC: u64 = 0x12;
    pub(crate) const COMP_DIR: u64 = 0x1b;
    pub(crate) const INLINE: u64 = 0x20;
    pub(crate) const PRODUCER: u64 = 0x25;
    pub(crate) const ORIGIN: u64 = 0x31;
    pub(crate) const DECL_FILE: u64 = 0x3a;
    pub(crate) const DECL_LINE: u64 = 0x3b;
    pub(crate) const SPECIFICATION: u64 = 0x47;
    pub(crate) const TYPE: u64 = 0x49;
    pub(crate) const RANGES: u64 = 0x55;
    pub(crate) const CALL_FILE: u64 = 0x58;
    pub(crate) const CALL_LINE: u64 = 0x59;

    pub(crate) const ADDR: u64 = 0x01;
    pub(crate) const DATA4: u64 = 0x06;
    pub(crate) const DATA8: u64 = 0x07;
    pub(crate) const STRING: u64 = 0x08;
    pub(crate) const STRP: u64 = 0x0e;
    pub(crate) const UDATA: u64 = 0x0f;
    pub(crate) const REF4: u64 = 0x13;
    pub(crate) const INDIRECT: u64 = 0x16;
    pub(crate) const SEC_OFFSET: u64 = 0x17;
    pub(crate) const FLAG_PRESENT: u64 = 0x19;
}

/// One kind of entry: code, tag, whether it has children, attributes with their forms.
pub(crate) type Kind<'a> = (u64, u64, bool, &'a [(u64, u64)]);

/// A table of abbreviations.
pub(crate) fn abbreviations(all: &[Kind<'_>]) -> Vec<u8> {
    let mut table = Bytes::default();
    for (code, tag, children, attributes) in all {
        table.uleb(*code).uleb(*tag).u8(u8::from(*children));
        for (attribute, form) in *attributes {
            table.uleb(*attribute).uleb(*form);
        }
        table.u16(0);
    }
    table.u8(0);
    table.0
}

/// A unit of DWARF 4 with these entries, its header in front: entries count from byte 11.
pub(crate) fn unit(abbreviations: u32, entries: &[u8]) -> Vec<u8> {
    let mut unit = Bytes::default();
    unit.u32(entries.len() as u32 + 7).u16(4).u32(abbreviations).u8(8).raw(entries);
    unit.0
}

/// A line table of DWARF 4: folders, files with the number of their folder, and the program.
pub(crate) fn line_table(folders: &[&str], files: &[(&str, u64)], program: &[u8]) -> Vec<u8> {
    let mut names = Bytes::default();
    for folder in folders {
        names.text(folder);
    }
    names.u8(0);
    for (name, folder) in files {
        names.text(name).uleb(*folder).u8(0).u8(0);
    }
    names.u8(0);
    let mut head = Bytes::default();
    head.u8(1)
        .u8(1)
        .u8(1)
        .u8(-5i8 as u8)
        .u8(14)
        .u8(13)
        .raw(&[0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
        .raw(&names.0);
    let mut table = Bytes::default();
    table
        .u32((head.0.len() + program.len()) as u32 + 6)
        .u16(4)
        .u32(head.0.len() as u32)
        .raw(&head.0)
        .raw(program);
    table.0
}

/// The part of a line program that gives so many bytes from an address on to a line of a file, as a sequence of its own.
pub(crate) fn sequence(address: u64, size: u64, file: u64, line: i64) -> Vec<u8> {
    let mut program = Bytes::default();
    // DW_LNE_set_address, DW_LNS_set_file, _advance_line, _copy, _advance_pc, DW_LNE_end_sequence.
    program
        .raw(&[0, 9, 2])
        .u64(address)
        .u8(4)
        .uleb(file)
        .u8(3)
        .sleb(line - 1)
        .u8(1)
        .u8(2)
        .uleb(size)
        .raw(&[0, 1, 1]);
    program.0
}
