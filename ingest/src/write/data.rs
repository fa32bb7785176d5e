//! Data items: strings, objects, pointer tables and other places, and who refers to them.

use std::collections::BTreeMap;

use elfscope_schema::{
    Address, DataItem, DataKind, DataPage, DataRef, Name, Slot, TableEntry, documents::schema, limits,
    to_canonical,
};

use super::LazyPack;
use crate::{
    archive::ArchiveError,
    elf::Elf,
    names::PlaceName,
    resolve::{Resolver, Usage},
    slots::Content,
    strings,
    tell::RefSite,
};

/// A reference and the body that it is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataSite {
    /// The body.
    pub(crate) from: u32,
    /// The reference.
    pub(crate) site: RefSite,
}

/// All items of a file, by address and then kind.
pub(crate) struct Items {
    items: Vec<DataItem>,
}

impl Items {
    /// Finds the items of a file.
    pub(crate) fn find(resolver: &Resolver<'_, '_>, sites: &mut [DataSite]) -> Self {
        sites.sort_by_key(|site| (site.site.to, site.from, site.site.row));
        let mut items: BTreeMap<(Address, DataKind), DataItem> = BTreeMap::new();
        objects(resolver, &mut items);
        let pointed = slots(resolver, &mut items);
        texts(resolver, sites, &pointed, &mut items);
        refer(resolver, sites, &mut items);
        for (to, at) in pointed {
            if let Some(item) = items.get_mut(&(to, DataKind::String)) {
                item.slots_total += 1;
                if item.slots.len() < DataItem::SLOTS {
                    item.slots.push(at);
                }
            }
        }
        Self { items: items.into_values().collect() }
    }

    /// All of them.
    pub(crate) fn all(&self) -> &[DataItem] {
        &self.items
    }

    /// Writes their pages. Returns the first address and ordinal of each.
    pub(crate) fn write(self, pack: &mut LazyPack<'_>) -> Result<Vec<TableEntry>, ArchiveError> {
        let mut pages = Vec::new();
        let mut writer = Pages { items: Vec::new(), size: 0, count: 0 };
        for item in self.items {
            writer.add(item, pack, &mut pages)?;
        }
        writer.close(pack, &mut pages)?;
        Ok(pages)
    }
}

/// The page that is being filled.
struct Pages {
    items: Vec<DataItem>,
    size: usize,
    count: usize,
}

/// What a page takes beside its items.
const FRAME: usize = 100;

impl Pages {
    /// Adds an item; what of its entries and references doesn't fit goes on on further pages.
    fn add(
        &mut self,
        mut item: DataItem,
        pack: &mut LazyPack<'_>,
        pages: &mut Vec<TableEntry>,
    ) -> Result<(), ArchiveError> {
        let mut entries = std::mem::take(&mut item.entries).into_iter().peekable();
        let mut refs = std::mem::take(&mut item.refs).into_iter().peekable();
        loop {
            let mut part = item.clone();
            let base = to_canonical(&part).len() + 40;
            if !self.items.is_empty()
                && (self.size + base > limits::PAGE - FRAME || self.count >= limits::PAGE_ITEMS)
            {
                self.close(pack, pages)?;
            }
            self.size += base;
            self.count += 1;
            while let Some(entry) = entries.next_if(|entry| self.takes(to_canonical(entry).len())) {
                part.entries.push(entry);
            }
            while let Some(site) = refs.next_if(|site| self.takes(to_canonical(site).len())) {
                part.refs.push(site);
            }
            item.entries_from += part.entries.len() as u64;
            item.refs_from += part.refs.len() as u64;
            self.items.push(part);
            if entries.peek().is_none() && refs.peek().is_none() {
                return Ok(());
            }
            self.close(pack, pages)?;
        }
    }

    fn takes(&mut self, size: usize) -> bool {
        let fits = self.size + size <= limits::PAGE - FRAME && self.count < limits::PAGE_ITEMS;
        if fits {
            self.size += size;
            self.count += 1;
        }
        fits
    }

    fn close(&mut self, pack: &mut LazyPack<'_>, pages: &mut Vec<TableEntry>) -> Result<(), ArchiveError> {
        let items = std::mem::take(&mut self.items);
        (self.size, self.count) = (0, 0);
        if let Some(first) = items.first() {
            pages.push(TableEntry(first.address.to_string(), pack.next()));
            pack.push(to_canonical(&DataPage { items, schema: schema::DATA.to_owned() }))?;
        }
        Ok(())
    }
}

fn item(elf: &Elf<'_>, address: Address, kind: DataKind) -> DataItem {
    DataItem {
        address,
        entries: Vec::new(),
        entries_from: 0,
        entries_total: 0,
        kind,
        names: Vec::new(),
        next: None,
        refs: Vec::new(),
        refs_from: 0,
        refs_total: 0,
        section: elf.image.find_region(address).and_then(|region| region.name).map(Name::from_bytes),
        size: None,
        slots: Vec::new(),
        slots_total: 0,
        text: None,
    }
}

type Map = BTreeMap<(Address, DataKind), DataItem>;

fn objects(resolver: &Resolver<'_, '_>, items: &mut Map) {
    for same in resolver.data.all().chunk_by(|a, b| a.address == b.address) {
        let mut object = item(resolver.elf, same[0].address, DataKind::Object);
        object.names = same.iter().take(NAMES).map(PlaceName::to_document).collect();
        object.size = same.iter().map(|name| name.size).max();
        items.insert((object.address, DataKind::Object), object);
    }
}

/// Most names that an item lists; all are in the index of names.
const NAMES: usize = 16;

/// Puts every slot into the object around it, or a table. Returns which place each slot points to, sorted.
fn slots(resolver: &Resolver<'_, '_>, items: &mut Map) -> Vec<(Address, Address)> {
    let mut pointed = Vec::new();
    let mut table: Option<DataItem> = None;
    let word = resolver.elf.word_size();
    for (at, content) in resolver.slots.all() {
        let slot = slot(resolver, at, content);
        if let Content::Address(to) = content {
            pointed.push((to, at));
        }
        let object = resolver.find_object(at).map(|object| (object.address, DataKind::Object));
        if let Some(object) = object.and_then(|key| items.get_mut(&key)) {
            object.entries.push(slot);
            object.entries_total += 1;
            continue;
        }
        let section = resolver.elf.image.find_region(at).map(|region| region.start);
        match &mut table {
            Some(open)
                if open.address.plus(open.entries_total * word) == at
                    && resolver.elf.image.find_region(open.address).map(|region| region.start) == section =>
            {
                open.entries.push(slot);
                open.entries_total += 1;
            }
            _ => {
                close_table(table.take(), word, items);
                let mut open = item(resolver.elf, at, DataKind::Table);
                open.entries.push(slot);
                open.entries_total = 1;
                table = Some(open);
            }
        }
    }
    close_table(table, word, items);
    pointed.sort_unstable();
    pointed
}

fn close_table(table: Option<DataItem>, word: u64, items: &mut Map) {
    if let Some(mut table) = table {
        table.size = Some(table.entries_total * word);
        items.insert((table.address, DataKind::Table), table);
    }
}

fn slot(resolver: &Resolver<'_, '_>, at: Address, content: Content) -> Slot {
    let mut slot = Slot { address: None, at, name: None, offset: None, text: None, version: None };
    match content {
        Content::Symbol(symbol) => {
            let symbol = &resolver.elf.symbols[symbol as usize];
            slot.name = Some(Name::from_bytes(symbol.name));
            slot.version = symbol.version.map(Name::from_bytes);
        }
        Content::Address(address) | Content::Ifunc(address) => {
            let referent = resolver.referent(address, Usage::Taken);
            slot.address = Some(address);
            if referent.kind != elfscope_schema::ReferentKind::Data {
                slot.name = referent.name;
            }
            (slot.offset, slot.text) = (referent.offset, referent.text);
        }
    }
    slot
}

/// Adds the strings: those that a row takes the address of, that a slot points to, and what else reads as one.
fn texts(resolver: &Resolver<'_, '_>, sites: &[DataSite], pointed: &[(Address, Address)], items: &mut Map) {
    let elf = resolver.elf;
    let taken = sites.iter().filter(|site| site.site.usage == Usage::Taken).map(|site| site.site.to);
    let mut referred: Vec<Address> = taken.chain(pointed.iter().map(|(to, _)| *to)).collect();
    referred.sort_unstable();
    referred.dedup();
    let mut add = |address: Address, text: &str| {
        let mut string = item(elf, address, DataKind::String);
        string.size = Some(text.len() as u64);
        string.text = Some(Name::from_bytes(text.as_bytes()));
        let after = referred.partition_point(|other| *other <= address);
        let inside = referred.get(after).filter(|other| other.section == address.section);
        string.next =
            inside.map(|other| other.offset - address.offset).filter(|offset| *offset < text.len() as u64);
        items.insert((address, DataKind::String), string);
    };
    for address in referred.iter().filter(|address| resolver.find_object(**address).is_none()) {
        if let Some(text) = strings::find_at(elf, *address) {
            add(*address, text);
        }
    }
    for (address, text) in strings::scan(elf) {
        add(address, text);
    }
}

/// Attaches every reference to the item that it points to: the object around it, the string or table at it, or a place
/// of its own.
fn refer(resolver: &Resolver<'_, '_>, sites: &[DataSite], items: &mut Map) {
    let tables = items.values().filter(|item| item.kind == DataKind::Table);
    let tables: Vec<(Address, u64)> = tables.map(|table| (table.address, table.size.unwrap_or(0))).collect();
    for site in sites {
        let to = site.site.to;
        let object = resolver.find_object(to).map(|object| (object.address, DataKind::Object));
        let table = || {
            let after = tables.partition_point(|(start, _)| *start <= to);
            let (start, size) = tables[after.checked_sub(1)?];
            let inside = start.section == to.section && to.offset - start.offset < size;
            inside.then_some((start, DataKind::Table))
        };
        let string = Some((to, DataKind::String)).filter(|key| items.contains_key(key));
        let key = object.or(string).or_else(table).unwrap_or((to, DataKind::Place));
        let body = &resolver.bodies.all()[site.from as usize];
        let found = items.entry(key).or_insert_with(|| {
            let mut place = item(resolver.elf, to, DataKind::Place);
            let code = resolver.bodies.find_at(to).map(|index| &resolver.bodies.all()[index as usize]);
            if let Some(code) = code.filter(|code| code.start == to) {
                place.names =
                    resolver.names_of(code).iter().take(NAMES).map(PlaceName::to_document).collect();
            }
            place
        });
        let offset = to.offset - found.address.offset;
        found.refs_total += 1;
        found.refs.push(DataRef {
            at: body.start.plus(u64::from(site.site.row)),
            from: body.key(),
            name: resolver.shown_name(body),
            offset: (offset != 0).then_some(offset),
            taken: site.site.usage != Usage::Accessed,
        });
    }
}
