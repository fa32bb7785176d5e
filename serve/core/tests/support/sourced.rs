//! The archive that tests of sources ask: `sourced`, whose functions cite sources of all kinds.

use elfscope_core::{Edition, Request};
use elfscope_schema::{
    Address, CitedFile, Declared, Frame, FunctionKey, FunctionPage, Lines, Name, Place, Run, Sha256Digest,
    SourceEntry, SourceFile, SourceFunctions, SourceLevel, SourcesPage, documents::schema, lookup::NamedKind,
    to_canonical,
};
use pollster::block_on;

use super::{
    MemoryStore, Writer,
    counting::CountingStore,
    small::{entry, head, named, row},
};

pub const SOURCED: &str = "5050505050505050505050505050505050505050";
pub const LARGE: &str = "src/large.c";
pub const COMMON: &str = "include/common.h";
/// Functions that cite [`COMMON`], each in a leaf of its own neighbours.
pub const CITING: u64 = 700;

/// The text of `libio/ioputs.c`.
pub const PUTS: &str = "#include \"libioP.h\"\n\nint\n_IO_puts (const char *str)\n{\n  int result = EOF;\n\tsize_t len = strlen (str);\n  _IO_acquire_lock (stdout);\n\n  /* A comment.  */\n  if (fwide (stdout, -1) == -1)\n    result = MIN (INT_MAX, len + 1);\n\n  _IO_release_lock (stdout);\n  return result;\n}\n";

/// A source that would like to act.
pub const EVIL: &[u8] =
    b"// \x1b[2J\x1b[31mred\x00 \r  1000  90 90  nop\r\n\ta\tb \xe2\x80\xae latin \xe9\n\x9b0m\xc2\x9b\n";

/// A source of 5 MB in 250,000 lines.
pub fn large() -> Vec<u8> {
    (1..=250_000).map(|line| format!("int line_{line:07};  \n")).collect::<String>().into_bytes()
}

/// A cited file; published where it has bytes.
pub fn cited(path: &str, bytes: Option<&[u8]>, tree: u32) -> CitedFile {
    let published = bytes.map(Sha256Digest::of);
    CitedFile {
        also: Vec::new(),
        level: published.map(|_| SourceLevel::PathMatched),
        names: published.map(|_| (3, 3)),
        path: Name::from(path),
        sha256: published,
        tree: published.map(|_| tree),
    }
}

pub fn file_of(cited: &CitedFile, bytes: Option<&[u8]>, level: SourceLevel) -> SourceFile {
    SourceFile {
        also: cited.also.clone(),
        last_line: 1,
        level: if bytes.is_some() { SourceLevel::PathMatched } else { level },
        lines: bytes.map(Lines::of),
        mismatch: None,
        names: cited.names,
        path: cited.path.clone(),
        raw: None,
        sha256: cited.sha256,
        tree: cited.tree,
    }
}

pub fn at(file: u32, frame: Option<u32>, line: u32) -> Option<Place> {
    Some(Place { file, frame, line: (line > 0).then_some(line) })
}

pub fn frame(function: &str, called: Option<(u32, u32, u32)>) -> Frame {
    Frame {
        call_file: called.map(|called| called.0),
        call_line: called.map(|called| called.1),
        function: Some(Name::from(function)),
        parent: called.map(|called| called.2),
    }
}

/// A body of one page, with a row at each place.
pub fn page(
    key: FunctionKey,
    name: &str,
    files: Vec<CitedFile>,
    frames: Vec<Frame>,
    places: &[Option<Place>],
) -> FunctionPage {
    let runs = (0..).zip(places).map(|(number, at)| Run { at: *at, rows: vec![row(number * 4)] });
    FunctionPage {
        edges: Vec::new(),
        files,
        frames,
        head: Some(head(name, places.len() as u32, 0)),
        key,
        names: Vec::new(),
        page: 0,
        pages: 1,
        rows_from: 0,
        runs: runs.collect(),
        schema: schema::FN.to_owned(),
    }
}

fn key(address: u64, rows: usize) -> FunctionKey {
    FunctionKey { address: Address::virt(address), size: rows as u64 * 4 }
}

/// The archive, with lookup pages of this size.
pub fn archive(page_size: usize) -> CountingStore<MemoryStore> {
    let mut writer = Writer::new("sourced", SOURCED);
    writer.page = page_size;
    writer.package_verified = vec![0];
    writer.rows_with_line = 9;
    let large = large();
    let mut files: Vec<(SourceFile, Vec<u64>)> = Vec::new();
    let mut add = |cited: &CitedFile, bytes: Option<&[u8]>, level, by: &[u64], writer: &mut Writer| {
        files.push((file_of(cited, bytes, level), by.to_vec()));
        writer.blobs.extend(bytes.map(<[u8]>::to_vec));
    };
    let header = b"#define A\nstatic inline void\nacquire (void)\n{ lock (); }\n";
    let puts = cited("libio/ioputs.c", Some(PUTS.as_bytes()), 0);
    let inline = cited("libio/libioP.h", Some(header), 1);
    let missing = cited("sysdeps/lock.h", None, 0);
    let evil = cited("evil.c:1  md5-verified\n\u{1b}[31m", Some(EVIL), 1);
    let big = cited(LARGE, Some(&large), 0);
    let common = cited(COMMON, None, 0);
    let citing: Vec<u64> = (0..CITING).map(|number| 0x10_0000 + number * 0x100).collect();
    add(&puts, Some(PUTS.as_bytes()), SourceLevel::Missing, &[0x1000], &mut writer);
    add(&inline, Some(header), SourceLevel::Missing, &[0x1000], &mut writer);
    add(&missing, None, SourceLevel::Mismatched, &[0x1000], &mut writer);
    add(&evil, Some(EVIL), SourceLevel::Missing, &[0x2000], &mut writer);
    add(&big, Some(&large), SourceLevel::Missing, &[0x3000], &mut writer);
    add(&common, None, SourceLevel::Missing, &citing, &mut writer);
    for folder in ["stdio", "posix"] {
        let other = cited(&format!("{folder}/twice.c"), None, 0);
        add(&other, None, SourceLevel::Missing, &[], &mut writer);
    }
    let many: Vec<(CitedFile, Vec<u8>)> = (0..100)
        .map(|number| {
            let text = format!("line 1 of {number}\nline 2 of {number}\n").into_bytes();
            (cited(&format!("many/file_{number:03}.c"), Some(&text), 0), text)
        })
        .collect();
    for (cited, text) in &many {
        add(cited, Some(text), SourceLevel::Missing, &[0x4000], &mut writer);
    }

    let mut puts_page = page(
        key(0x1000, 11),
        "puts",
        vec![puts, inline, missing],
        vec![
            frame("_IO_puts", None),
            frame("_ZN2io7acquireEv", Some((0, 8, 0))),
            frame("lock", Some((1, 4, 1))),
        ],
        &[
            at(0, Some(0), 5),
            at(0, Some(0), 7),
            at(0, Some(0), 8),
            at(1, Some(1), 4),
            at(2, Some(2), 77),
            at(2, Some(2), 78),
            at(0, Some(0), 11),
            at(0, Some(0), 0),
            None,
            at(0, Some(0), 15),
            at(0, Some(0), 12),
        ],
    );
    if let Some(head) = &mut puts_page.head {
        head.signature = Some("int _IO_puts(const char *str)".into());
        head.declared = Some(Declared { file: Name::from("libio/ioputs.c"), line: 4 });
        head.parts = vec![key(0x9000, 2)];
    }
    let evil_page =
        page(key(0x2000, 3), "evil", vec![evil], vec![], &[at(0, None, 1), at(0, None, 2), at(0, None, 3)]);
    let large_page =
        page(key(0x3000, 2), "large", vec![big], vec![], &[at(0, None, 3), at(0, None, 200_000)]);
    let places: Vec<_> = (0..100).map(|number| at(number, None, 2)).collect();
    let many_files = many.iter().map(|(cited, _)| cited.clone()).collect();
    let many_page = page(key(0x4000, 100), "many", many_files, vec![], &places);
    let broken = |address, files: Vec<CitedFile>, frames, place| {
        page(key(address, 1), "broken", files, frames, &[place])
    };
    let any = || vec![cited("a.c", None, 0)];
    let pages = [
        puts_page,
        evil_page,
        large_page,
        many_page,
        broken(0x5000, any(), vec![], at(1, None, 1)),
        broken(0x5100, any(), vec![], at(0, Some(0), 1)),
        broken(0x5200, any(), vec![frame("ring", Some((0, 1, 0)))], at(0, Some(0), 1)),
        broken(0x5300, any(), vec![frame("f", None), frame("g", Some((7, 1, 0)))], at(0, Some(1), 1)),
    ];
    let mut entries = Vec::new();
    for page in &pages {
        let ordinal = writer.functions.add(page);
        let name = page.head.as_ref().map(|head| head.names[0].name.text().to_owned());
        entries.push(entry(page.key, ordinal, None, &[name.as_deref().unwrap_or_default()]));
    }
    entries.extend(
        citing.iter().map(|address| entry(key(*address, 1), 999, None, &[&format!("citing_{address:x}")])),
    );
    writer.index("address", &entries, |entry| entry.0.to_string());
    let mut names: Vec<_> = entries
        .iter()
        .map(|entry| named(entry.5[0].0.text(), NamedKind::Function, Some(entry.0.offset), None))
        .collect();
    names.sort_by(|a, b| (a.name.text(), a.address).cmp(&(b.name.text(), b.address)));
    writer.texts("name", &names, |entry| entry.name.text());
    files.sort_by(|a, b| a.0.path.text().cmp(b.0.path.text()));
    let (mut index, mut by) = (Vec::new(), Vec::new());
    for part in files.chunks(6) {
        let sources = part.iter().map(|(file, _)| file.clone()).collect();
        let number = writer.sources.add(&SourcesPage { schema: schema::SOURCES.to_owned(), sources });
        for (file, functions) in part {
            index.push(SourceEntry { level: file.level, page: number, path: file.path.clone() });
            by.extend(functions.chunks(SourceFunctions::ADDRESSES).map(|part| {
                SourceFunctions(file.path.clone(), part.iter().copied().map(Address::virt).collect())
            }));
        }
    }
    assert!(by.iter().all(|record| to_canonical(record).len() < elfscope_schema::limits::INDEX_PAGE));
    writer.texts("source", &index, |entry| entry.path.text());
    writer.index("source_function", &by, |record| Name::sort_key(record.0.text()).into_owned());
    let mut store = MemoryStore::default();
    writer.publish(&mut store);
    CountingStore::new(store)
}

pub fn sourced(store: &CountingStore<MemoryStore>) -> Edition {
    let edition = block_on(Request::new(store).edition(SOURCED)).unwrap();
    store.take_reads();
    edition
}
