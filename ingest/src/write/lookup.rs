//! The indices of an edition.

use elfscope_schema::{
    Address, BodyKind, DataItem, DataKind, DigestEntry, Digests, FunctionEntry, ImportEntry, Lookup, Name,
    NameEntry, NamedCode, NamedKind, Record, SourceEntry, SourceFunctions, StringEntry, TableEntry,
};

use super::{
    LazyPack,
    callers::{Callee, Import},
    tree::{self, Leaves, Records},
};
use crate::{
    archive::ArchiveError,
    elf::{Place, Symbol},
    names::CodeNames,
    resolve::Resolver,
    slots::Content,
};

/// What the indices are made from.
pub(crate) struct Sources<'a, 'elf, 'data> {
    /// What is known of the file.
    pub(crate) resolver: &'a Resolver<'elf, 'data>,
    /// Its thread-local names.
    pub(crate) tls: &'a CodeNames<'data>,
    /// Its imports.
    pub(crate) imports: &'a [Import<'data>],
    /// For each symbol of the file, the number of the import that it is.
    pub(crate) import_of: &'a [u32],
    /// For each body, its first page in `fn.jsonl.gz`.
    pub(crate) ordinals: &'a [u64],
    /// For each body, its digests.
    pub(crate) digests: &'a [Option<Digests>],
    /// Whose callers start at which ordinal, sorted.
    pub(crate) callers: &'a [(Callee, u64)],
    /// Strings: address and text.
    pub(crate) strings: Vec<(Address, Name)>,
    /// The pages of data items.
    pub(crate) data: Vec<TableEntry>,
    /// What is cited, and by whom.
    pub(crate) citations: Citations,
}

/// Source files and the bodies that cite them.
#[derive(Default)]
pub(crate) struct Citations {
    /// The files, in the order of their pages.
    pub(crate) cited: Vec<SourceEntry>,
    /// Which bodies cite them, in the same order.
    pub(crate) citing: Vec<SourceFunctions>,
}

/// The strings among data items.
pub(crate) fn strings_of(items: &[DataItem]) -> Vec<(Address, Name)> {
    let strings = items.iter().filter(|item| item.kind == DataKind::String);
    strings.filter_map(|item| Some((item.address, item.text.clone()?))).collect()
}

/// Writes all indices.
pub(crate) fn write(sources: &Sources<'_, '_, '_>, pack: &mut LazyPack<'_>) -> Result<Lookup, ArchiveError> {
    let leaves = vec![Leaves { name: "data", pages: sources.data.clone() }];
    let indices = vec![
        sources.addresses(),
        sources.digests(),
        sources.imports(),
        sources.names(),
        sources.cited(),
        sources.citing(),
        sources.strings(),
    ];
    tree::write(indices, leaves, pack)
}

impl Sources<'_, '_, '_> {
    fn callers_of(&self, callee: Callee) -> Option<u64> {
        let at = self.callers.binary_search_by_key(&callee, |(callee, _)| *callee).ok()?;
        Some(self.callers[at].1)
    }

    fn addresses(&self) -> Records {
        let bodies = (0u32..).zip(self.resolver.bodies.all()).zip(self.ordinals);
        let records = bodies.map(|((index, body), ordinal)| {
            let names = self.resolver.names_of(body).iter().take(FunctionEntry::NAMES);
            let names = names
                .map(|name| (Name::from_bytes(name.name), name.version.map(Name::from_bytes), name.default));
            let callers = self.callers_of(Callee::Body(index));
            let entry = FunctionEntry(body.start, body.size, *ordinal, callers, body.kind, names.collect());
            (body.start.to_string(), Record::from(entry))
        });
        Records { name: "address", records: records.collect(), trigrams: None }
    }

    fn digests(&self) -> Records {
        let bodies = self.resolver.bodies.all().iter().zip(self.digests);
        let functions = bodies.filter(|(body, _)| body.kind != BodyKind::Gap);
        let mut entries: Vec<DigestEntry> = Vec::new();
        for (body, digests) in functions {
            if let Some(digests) = digests {
                entries.push(DigestEntry(digests.shape, body.start, false));
                if digests.unknown == 0 {
                    entries.push(DigestEntry(digests.body, body.start, true));
                }
            }
        }
        entries.sort_unstable_by_key(|entry| (entry.0, entry.1, entry.2));
        let records = entries.into_iter().map(|entry| (entry.0.to_string(), entry.into()));
        Records { name: "digest", records: records.collect(), trigrams: None }
    }

    fn imports(&self) -> Records {
        let mut entries: Vec<ImportEntry> = (0u32..)
            .zip(self.imports)
            .map(|(index, import)| ImportEntry {
                callers: self.callers_of(Callee::Import(index)),
                library: None,
                name: Name::from_bytes(import.name),
                slots: Vec::new(),
                symbol_type: String::new(),
                version: import.version.map(Name::from_bytes),
                weak: true,
            })
            .collect();
        let symbols =
            self.resolver.elf.symbols.iter().zip(self.import_of).filter(|(_, import)| **import != u32::MAX);
        for (symbol, import) in symbols {
            let entry = &mut entries[*import as usize];
            entry.library = entry.library.take().or(symbol.library.map(Name::from_bytes));
            entry.weak &= symbol.binding == object::elf::STB_WEAK.0;
            if entry.symbol_type.is_empty() {
                entry.symbol_type = symbol.kind.name();
            }
        }
        for (at, content) in self.resolver.slots.all() {
            if let Content::Symbol(symbol) = content
                && let Some(entry) = entries.get_mut(self.import_of[symbol as usize] as usize)
                && entry.slots.len() < ImportEntry::SLOTS
            {
                entry.slots.push(at);
            }
        }
        let records =
            entries.into_iter().map(|entry| (Name::sort_key(entry.name.text()).into_owned(), entry));
        let mut records: Vec<(String, ImportEntry)> = records.collect();
        records.sort_by(|a, b| (&a.0, &a.1.version).cmp(&(&b.0, &b.1.version)));
        let records = records.into_iter().map(|(key, entry)| (key, entry.into())).collect();
        Records { name: "import", records, trigrams: None }
    }

    fn names(&self) -> Records {
        let mut entries: Vec<NameEntry> = Vec::new();
        let named = |kind, names: &CodeNames<'_>| {
            let entries = names.all().iter().map(move |name| NameEntry {
                address: Some(name.address),
                code: None,
                default: name.default,
                kind,
                mangled: None,
                name: Name::from_bytes(name.name),
                version: name.version.map(Name::from_bytes),
            });
            entries.collect::<Vec<_>>()
        };
        // A name counts where its body starts: one inside another's stub section, say, names no body.
        let with_code = |mut entry: NameEntry| {
            let index = entry.address.and_then(|address| self.resolver.bodies.find_at(address))? as usize;
            if Some(self.resolver.bodies.all()[index].start) != entry.address {
                return None;
            }
            let digests = self.digests.get(index).and_then(Option::as_ref);
            entry.code = digests.map(|digests| NamedCode(digests.body, digests.unknown == 0));
            Some(entry)
        };
        entries.extend(named(NamedKind::Function, self.resolver.code).into_iter().filter_map(with_code));
        entries.extend(self.resolver.code.all().iter().filter_map(|name| {
            let entry = NameEntry {
                address: Some(name.address),
                code: None,
                default: name.default,
                kind: NamedKind::Demangled,
                mangled: Some(Name::from_bytes(name.name)),
                name: Name::from_bytes(elfscope_demangle::demangle(name.name)?.as_bytes()),
                version: name.version.map(Name::from_bytes),
            };
            Some(entry)
        }));
        entries.extend(named(NamedKind::Data, self.resolver.data));
        entries.extend(named(NamedKind::Tls, self.tls));
        entries.extend(self.imports.iter().map(|import| NameEntry {
            address: None,
            code: None,
            default: false,
            kind: NamedKind::Import,
            mangled: None,
            name: Name::from_bytes(import.name),
            version: import.version.map(Name::from_bytes),
        }));
        let keyed = entries.into_iter().map(|entry| (Name::sort_key(entry.name.text()).into_owned(), entry));
        let mut keyed: Vec<(String, NameEntry)> = keyed.collect();
        keyed.sort_by(|(a_key, a), (b_key, b)| {
            (a_key, a.address, a.kind, &a.version).cmp(&(b_key, b.address, b.kind, &b.version))
        });
        let texts = keyed.iter().map(|(_, entry)| entry.name.text().to_owned()).collect();
        let records = keyed.into_iter().map(|(key, entry)| (key, entry.into())).collect();
        Records { name: "name", records, trigrams: Some(("name_trigram", texts)) }
    }

    fn cited(&self) -> Records {
        let texts = self.citations.cited.iter().map(|entry| entry.path.text().to_owned()).collect();
        let key = |entry: &SourceEntry| Name::sort_key(entry.path.text()).into_owned();
        let records = self.citations.cited.iter().map(|entry| (key(entry), entry.clone().into())).collect();
        Records { name: "source", records, trigrams: Some(("source_trigram", texts)) }
    }

    fn citing(&self) -> Records {
        let key = |record: &SourceFunctions| Name::sort_key(record.0.text()).into_owned();
        let records =
            self.citations.citing.iter().map(|record| (key(record), record.clone().into())).collect();
        Records { name: "source_function", records, trigrams: None }
    }

    fn strings(&self) -> Records {
        let mut keyed: Vec<(String, StringEntry)> = self
            .strings
            .iter()
            .map(|(address, text)| {
                (
                    Name::sort_key(text.text()).into_owned(),
                    StringEntry { address: *address, text: text.clone() },
                )
            })
            .collect();
        keyed.sort_by(|(a_key, a), (b_key, b)| (a_key, a.address).cmp(&(b_key, b.address)));
        let texts = keyed.iter().map(|(_, entry)| entry.text.text().to_owned()).collect();
        let records = keyed.into_iter().map(|(key, entry)| (key, entry.into())).collect();
        Records { name: "string", records, trigrams: Some(("string_trigram", texts)) }
    }
}

/// The imports of a file and, for each of its symbols, the number of the import that it is (`u32::MAX` for none): every
/// undefined symbol with a name, and every symbol that a slot's relocation names.
pub(crate) fn imports<'data>(resolver: &Resolver<'_, 'data>) -> (Vec<Import<'data>>, Vec<u32>) {
    let symbols = &resolver.elf.symbols;
    let mut is_import: Vec<bool> =
        symbols.iter().map(|symbol| symbol.place == Place::Undefined && is_named(symbol)).collect();
    for (_, content) in resolver.slots.all() {
        if let Content::Symbol(symbol) = content {
            is_import[symbol as usize] |= is_named(&symbols[symbol as usize]);
        }
    }
    let imported =
        symbols.iter().zip(&is_import).filter(|(_, import)| **import).map(|(symbol, _)| key(symbol));
    let mut keys: Vec<_> = imported.collect();
    keys.sort_unstable();
    keys.dedup();
    // `.symtab` names an import without the version that `.dynsym` gives it: it is the same symbol.
    let versioned: Vec<&[u8]> =
        keys.iter().filter(|(_, version)| version.is_some()).map(|(name, _)| *name).collect();
    keys.retain(|(name, version)| version.is_some() || versioned.binary_search(name).is_err());
    let number = |symbol: &Symbol<'data>| {
        let exact = keys.binary_search(&key(symbol)).ok();
        let any = || {
            let first = keys.partition_point(|(name, _)| *name < symbol.name);
            keys.get(first).filter(|(name, _)| *name == symbol.name).map(|_| first)
        };
        exact.or_else(any).and_then(|index| u32::try_from(index).ok()).unwrap_or(u32::MAX)
    };
    let import_of = symbols
        .iter()
        .zip(&is_import)
        .map(|(symbol, import)| if *import { number(symbol) } else { u32::MAX })
        .collect();
    (keys.into_iter().map(|(name, version)| Import { name, version }).collect(), import_of)
}

fn is_named(symbol: &Symbol<'_>) -> bool {
    !symbol.name.is_empty()
}

fn key<'data>(symbol: &Symbol<'data>) -> (&'data [u8], Option<&'data [u8]>) {
    (symbol.name, symbol.version)
}
