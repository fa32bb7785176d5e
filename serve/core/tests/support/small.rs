//! The archive that tests of answers ask: `small`, with a function of hundreds of pages, and `other`, of which only the
//! pointer is there.

use elfscope_core::{Edition, Request};
use elfscope_schema::{
    Address, BodyKind, Caller, CallersOf, CallersPage, DataItem, DataKind, DataPage, DataRef, Edge,
    EdgeClass, EdgeKind, EdgeTarget, FunctionEntry, FunctionKey, FunctionName, FunctionPage, Head,
    ImportEntry, Name, NameEntry, Notes, Origin, Referent, ReferentKind, Row, Run, StringEntry,
    documents::schema, lookup::NamedKind,
};
use pollster::block_on;

use super::{MemoryStore, Writer, counting::CountingStore};

pub const SMALL: &str = "aabbccddeeff0011223344556677889900aabbcc";
pub const OTHER: &str = "aabbccddeeff9911223344556677889900aabbcc";
/// Rows of `huge`, and of each of its pages.
pub const ROWS: (u32, u32) = (6000, 20);
pub const HUGE: FunctionKey = FunctionKey { address: Address::virt(0x10000), size: 4 * 6000 };
pub const MAIN: FunctionKey = FunctionKey { address: Address::virt(0x1000), size: 16 };

pub fn row(offset: u32) -> Row {
    Row {
        offset,
        bytes: vec![0x90; 4],
        mnemonic: "nop".into(),
        operands: String::new(),
        notes: Notes::default(),
    }
}

pub fn head(name: &str, rows: u32, edges: u32) -> Head {
    Head {
        bounds: Origin::Symtab,
        declared: None,
        claimed_size: None,
        digests: None,
        edges_total: edges,
        entries: Vec::new(),
        kind: BodyKind::Function,
        leads: None,
        names: vec![FunctionName {
            binding: None,
            default: false,
            demangled: None,
            from: vec![Origin::Symtab],
            name: Name::from(name),
            size: None,
            symbol_type: None,
            version: None,
            visibility: None,
        }],
        names_total: 1,
        parts: Vec::new(),
        rows_total: rows,
        runs_into: Vec::new(),
        section: Some(Name::from(".text")),
        signature: None,
    }
}

pub fn edge(row: u32) -> Edge {
    Edge {
        class: EdgeClass::Indirect,
        conditional: false,
        kind: EdgeKind::Call,
        row,
        switch: false,
        target: None,
    }
}

/// `main` of four rows, one of them hostile.
pub fn main_page() -> FunctionPage {
    let mut rows: Vec<Row> = (0..4).map(|number| row(number * 4)).collect();
    rows[1].notes.to = Some(Referent {
        address: Some(Address::virt(0x2000)),
        cut: false,
        kind: ReferentKind::String,
        name: None,
        offset: None,
        text: Some("red \u{1b}[31m\n\u{202e}".into()),
        version: None,
    });
    let import = EdgeTarget {
        library: Some(Name::from("libc.so.6")),
        names: vec![Name::from("puts")],
        stub: Some(FunctionKey { address: Address::virt(0x1030), size: 16 }),
        version: Some(Name::from("GLIBC_2.34")),
        ..EdgeTarget::default()
    };
    FunctionPage {
        edges: vec![Edge { class: EdgeClass::Import, target: Some(import), ..edge(8) }],
        files: vec![],
        frames: vec![],
        head: Some(head("main", 4, 1)),
        key: MAIN,
        names: Vec::new(),
        page: 0,
        pages: 1,
        rows_from: 0,
        runs: vec![Run { at: None, rows }],
        schema: schema::FN.to_owned(),
    }
}

pub fn entry(key: FunctionKey, ordinal: u64, callers: Option<u64>, names: &[&str]) -> FunctionEntry {
    let names = names.iter().map(|name| (Name::from(*name), None, false)).collect();
    FunctionEntry(key.address, key.size, ordinal, callers, BodyKind::Function, names)
}

pub fn named(name: &str, kind: NamedKind, address: Option<u64>, version: Option<(&str, bool)>) -> NameEntry {
    NameEntry {
        address: address.map(Address::virt),
        code: None,
        default: version.is_some_and(|version| version.1),
        kind,
        mangled: None,
        name: Name::from(name),
        version: version.map(|version| Name::from(version.0)),
    }
}

pub fn archive(page: usize) -> CountingStore<MemoryStore> {
    let mut writer = Writer::new("small", SMALL);
    writer.page = page;
    let main = writer.functions.add(&main_page());
    let pages = ROWS.0 / ROWS.1;
    let mut huge = None;
    for number in 0..pages {
        let from = number * ROWS.1;
        let rows = (from..from + ROWS.1).map(|row| self::row(row * 4)).collect();
        // Rows of a strange size would be found too: pages are not all alike.
        let ordinal = writer.functions.add(&FunctionPage {
            edges: vec![edge(from * 4), edge(from * 4 + 8)],
            files: vec![],
            frames: vec![],
            head: (number == 0).then(|| head("huge", ROWS.0, 2 * pages)),
            key: HUGE,
            names: Vec::new(),
            page: number,
            pages,
            rows_from: from,
            runs: vec![Run { at: None, rows }],
            schema: schema::FN.to_owned(),
        });
        huge.get_or_insert(ordinal);
    }
    let callers: Vec<Caller> = (0..250)
        .map(|number| Caller {
            at: Address::virt(0x10000 + number * 4),
            class: EdgeClass::Direct,
            conditional: false,
            from: HUGE,
            kind: EdgeKind::Call,
            name: Some(Name::from("huge")),
            offset: None,
        })
        .collect();
    for (number, callers) in callers.chunks(90).enumerate() {
        writer.callers.add(&CallersPage {
            callers: callers.to_vec(),
            of: CallersOf::Body(MAIN),
            page: number as u32,
            pages: 3,
            schema: schema::CALLERS.to_owned(),
            total: 250,
        });
    }
    let double = [0x30000, 0x30100].map(|start| FunctionKey { address: Address::virt(start), size: 16 });
    let entries = [
        entry(MAIN, main, Some(0), &["main"]),
        entry(HUGE, huge.unwrap(), None, &["huge"]),
        entry(double[0], 900, None, &["twice", "copy"]),
        entry(double[1], 901, None, &["twice", "copy"]),
    ];
    writer.index("address", &entries, |entry| entry.0.to_string());
    let mut names = vec![
        named("main", NamedKind::Function, Some(0x1000), None),
        named("huge", NamedKind::Function, Some(0x10000), None),
        named("space::huge(int)", NamedKind::Demangled, Some(0x10000), None),
        named("twice", NamedKind::Function, Some(0x30000), None),
        named("twice", NamedKind::Function, Some(0x30100), None),
        named("copy", NamedKind::Function, Some(0x30000), Some(("V_1", false))),
        named("copy", NamedKind::Function, Some(0x30100), Some(("V_2", true))),
        named("counter", NamedKind::Data, Some(0x2000), None),
        named("puts", NamedKind::Import, None, Some(("GLIBC_2.34", false))),
    ];
    names.extend((0..300).map(|number| {
        named(&format!("filler_{number:03}_main_part"), NamedKind::Data, Some(0x5000 + number), None)
    }));
    names.sort_by(|a, b| (a.name.text(), a.address).cmp(&(b.name.text(), b.address)));
    writer.texts("name", &names, |entry| entry.name.text());
    let strings: Vec<StringEntry> = (0..200)
        .map(|number| StringEntry {
            address: Address::virt(0x6000 + number),
            text: Name::from(format!("text {number:03} of the MAIN part").as_str()),
        })
        .collect();
    writer.texts("string", &strings, |entry| entry.text.text());
    let import = ImportEntry {
        callers: None,
        library: Some(Name::from("libc.so.6")),
        name: Name::from("puts"),
        slots: Vec::new(),
        symbol_type: "func".into(),
        version: Some(Name::from("GLIBC_2.34")),
        weak: false,
    };
    writer.index("import", &[import], |entry| entry.name.text().to_owned());
    let item = |address: u64| DataItem {
        address: Address::virt(address),
        entries: Vec::new(),
        entries_from: 0,
        entries_total: 0,
        kind: DataKind::Object,
        names: Vec::new(),
        next: None,
        refs: vec![DataRef { at: Address::virt(0x1004), from: MAIN, name: None, offset: None, taken: true }],
        refs_from: 0,
        refs_total: 1,
        section: None,
        size: Some(8),
        slots: Vec::new(),
        slots_total: 0,
        text: None,
    };
    for start in [0x2000, 0x3000, 0x4000] {
        let items = (0..4).map(|number| item(start + number * 16)).collect();
        writer.data.add(&DataPage { items, schema: schema::DATA.to_owned() });
    }
    writer.data_index(&[0x2000, 0x3000, 0x4000].map(Address::virt));
    let mut store = MemoryStore::default();
    writer.publish(&mut store);
    Writer::new("other", OTHER).publish(&mut store);
    CountingStore::new(store)
}

pub fn small(store: &CountingStore<MemoryStore>) -> Edition {
    let edition = block_on(Request::new(store).edition(SMALL)).unwrap();
    store.take_reads();
    edition
}
