//! `meta.json` and the lists that go on in `more.jsonl.gz`.

use elfscope_schema::{
    Address, BuildId, Compiler, Counts, Coverage, DERIVATION, DebugFile, Decoder, Diagnostic, FileId, Listed,
    Machine, Meta, More, MoreItems, Name, Needed, Package, Section, Segment, SourceTree, documents::schema,
    limits, to_canonical,
};
use serde::Serialize;

use super::{LazyPack, items};
use crate::{
    archive::ArchiveError,
    disasm::{Family, decode},
    elf::{Elf, machine_name, type_name},
};

/// What `meta.json` says that the ELF itself doesn't.
pub(crate) struct About {
    /// The build.
    pub(crate) build_id: BuildId,
    /// The file.
    pub(crate) file: FileId,
    /// The package that the file came in.
    pub(crate) package: Option<Package>,
    /// The source trees that were searched.
    pub(crate) sources: Vec<SourceTree>,
    /// The debug files.
    pub(crate) debug: Vec<DebugFile>,
    /// What compilers said of themselves in the debug data.
    pub(crate) producers: Vec<Vec<u8>>,
    /// The machine's family.
    pub(crate) family: Option<&'static dyn Family>,
    /// Counts.
    pub(crate) counts: Counts,
    /// Coverage.
    pub(crate) coverage: Coverage,
    /// Diagnostics.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Items of each list that stand in `meta.json` itself.
const FIRST_SECTIONS: usize = 100;
const FIRST_SEGMENTS: usize = 50;
const FIRST_DIAGNOSTICS: usize = 20;

/// Writes `more.jsonl.gz` and gives `meta.json`.
pub(crate) fn write(elf: &Elf<'_>, about: About, more: &mut LazyPack<'_>) -> Result<Meta, ArchiveError> {
    let sections: Vec<Section> = elf.sections.iter().map(section).collect();
    let segments: Vec<Segment> = elf
        .segments
        .iter()
        .map(|segment| Segment {
            address: Address::virt(segment.address),
            file_size: format!("{:x}", segment.file_size),
            flags: segment.flags,
            memory_size: format!("{:x}", segment.memory_size),
            offset: format!("{:x}", segment.offset),
            p_type: segment.p_type,
        })
        .collect();
    let compilers = elf
        .comments
        .iter()
        .map(|text| Compiler { from: ".comment".to_owned(), text: Name::from_bytes(text) });
    let producers = about
        .producers
        .iter()
        .map(|text| Compiler { from: "DW_AT_producer".to_owned(), text: Name::from_bytes(text) });
    let mut compilers: Vec<Compiler> = compilers.chain(producers).collect();
    compilers.sort();
    compilers.dedup();
    Ok(Meta {
        build_id: about.build_id,
        byte_order: if elf.big_endian { "big" } else { "little" }.to_owned(),
        class: elf.class,
        compilers,
        counts: about.counts,
        coverage: about.coverage,
        debug: about.debug,
        decoder: about.family.map(|family| Decoder {
            mode: family.name().to_owned(),
            name: "capstone".to_owned(),
            syntax: family.syntax().to_owned(),
            version: decode::VERSION.to_owned(),
        }),
        derivation: DERIVATION,
        diagnostics: listed(about.diagnostics, FIRST_DIAGNOSTICS, MoreItems::Diagnostics, more)?,
        entry: (elf.entry != 0).then_some(Address::virt(elf.entry)),
        file: about.file,
        interpreter: elf.interpreter.map(Name::from_bytes),
        machine: Machine { name: machine_name(elf.machine), number: elf.machine },
        needed: elf
            .dynamic
            .needed
            .iter()
            .map(|(library, versions)| Needed {
                library: Name::from_bytes(library),
                versions: versions.iter().map(|version| Name::from_bytes(version)).collect(),
            })
            .collect(),
        package: about.package,
        schema: schema::META.to_owned(),
        sections: listed(sections, FIRST_SECTIONS, MoreItems::Sections, more)?,
        segments: listed(segments, FIRST_SEGMENTS, MoreItems::Segments, more)?,
        soname: elf.dynamic.soname.map(Name::from_bytes),
        sources: about.sources,
        elf_type: type_name(elf.elf_type),
    })
}

fn section(section: &crate::elf::Section<'_>) -> Section {
    Section {
        address: section.address,
        flags: format!("{:x}", section.flags),
        name: Name::from_bytes(section.name),
        offset: format!("{:x}", section.offset),
        size: format!("{:x}", section.size),
        sh_type: section.sh_type,
    }
}

/// Keeps the start of a list and writes the rest.
fn listed<T: Serialize + Clone>(
    mut all: Vec<T>,
    first: usize,
    wrap: fn(Vec<T>) -> MoreItems,
    pack: &mut LazyPack<'_>,
) -> Result<Listed<T>, ArchiveError> {
    let total = all.len() as u64;
    // The start is bounded in bytes too: a name may have four thousand of them.
    let fit = items::cut(&all, limits::PAGE / 4, first).first().map_or(0, |range| range.end);
    let rest = all.split_off(fit);
    let more = (!rest.is_empty()).then(|| pack.next());
    for range in items::cut(&rest, limits::PAGE - 200, limits::PAGE_ITEMS) {
        let from = (fit + range.start) as u64;
        let page = More { from, items: wrap(rest[range].to_vec()), schema: schema::MORE.to_owned() };
        pack.push(to_canonical(&page))?;
    }
    Ok(Listed { items: all, more, total })
}
