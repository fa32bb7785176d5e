//! Every import: its symbol, version and slot are readelf's, its stub is the one that objdump calls `name@plt`.

use std::{collections::BTreeMap, path::Path};

use anyhow::Result;
use elfscope_schema::{Edge, EdgeClass, Name, Record, ReferentKind};

use super::{
    edition::Edition,
    listing::{Site, is_import, told},
    readelf::{self, Relocation, split_version},
    tally::Tally,
};
use crate::report::Report;

pub(super) struct Imports {
    /// By slot.
    relocations: BTreeMap<u64, Relocation>,
    edges: Tally,
    labels: Tally,
    slots: Tally,
    referents: Tally,
    referents_by_slot: Tally,
}

impl Imports {
    pub(super) fn read(file: &Path) -> Result<Self> {
        let relocations = readelf::relocations(file)?;
        Ok(Self {
            relocations: relocations.into_iter().map(|relocation| (relocation.slot, relocation)).collect(),
            edges: Tally::new("imports: an edge's slot, symbol, version are readelf's"),
            labels: Tally::new("imports: objdump's `name@plt` is the edge's symbol"),
            slots: Tally::new("imports: every slot of readelf -rW is in the index"),
            referents: Tally::optional("imports: a row's stub is objdump's `name@plt`"),
            referents_by_slot: Tally::new("imports: a row's slot is readelf's"),
        })
    }

    pub(super) fn check(&mut self, site: &Site) {
        let at = site.address;
        for edge in site.edges.iter().filter(|edge| is_import(edge)) {
            let same = self.is_relocated(edge);
            self.edges.check(same, || {
                format!("{at:x} in {}: {} {:?}", site.body.key, told(site.edges), edge.target)
            });
        }
        let label =
            site.oracle.and_then(|oracle| oracle.label()).and_then(|label| label.strip_suffix("@plt"));
        let label = label.filter(|_| !site.edges.is_empty());
        if let Some(label) = label {
            self.labels.check(site.edges.iter().any(|edge| is_labelled(edge, label)), || {
                format!("{at:x} in {}: {label}@plt there, {} here", site.body.key, told(site.edges))
            });
        }
        let referent = site.row.notes.to.as_ref().filter(|to| to.kind == ReferentKind::Import);
        if let Some(to) = referent {
            let relocation = to.address.and_then(|address| self.relocations.get(&address.offset));
            let name = to.name.as_ref().map_or("", Name::text);
            let version = to.version.as_ref().map(Name::text);
            if let Some(relocation) = relocation {
                self.referents_by_slot.check(is_symbol(relocation, name, version), || {
                    format!("{at:x}: {name} {version:?} here, {:?} there", relocation.symbol)
                });
            } else {
                self.referents.check(label == Some(name), || format!("{at:x}: {name} here, {label:?} there"));
            }
        }
    }

    fn is_relocated(&self, edge: &Edge) -> bool {
        let Some(target) = &edge.target else { return false };
        let Some(relocation) = target.slot.and_then(|slot| self.relocations.get(&slot.offset)) else {
            return false;
        };
        let [name, ..] = &target.names[..] else { return false };
        is_symbol(relocation, name.text(), target.version.as_ref().map(Name::text))
    }

    pub(super) fn finish(mut self, edition: &Edition, input: &str, report: &mut Report) -> Result<()> {
        let mut known: BTreeMap<(String, Option<String>), (Vec<u64>, bool)> = BTreeMap::new();
        for record in edition.index("import")? {
            let Record::Import(entry) = record else { continue };
            let version = entry.version.as_ref().map(|version| version.text().to_owned());
            let slots = entry.slots.iter().map(|slot| slot.offset).collect();
            known.insert((entry.name.text().to_owned(), version), (slots, entry.slots.len() == 8));
        }
        for relocation in
            self.relocations.values().filter(|relocation| relocation.is_slot() && relocation.value == 0)
        {
            let Some(symbol) = &relocation.symbol else { continue };
            let (name, version) = split_version(symbol);
            let entry = known.get(&(name.to_owned(), version.map(str::to_owned)));
            let same = entry.is_some_and(|(slots, full)| *full || slots.contains(&relocation.slot));
            self.slots.check(same, || {
                format!("{:x}: {} {symbol} there, {entry:x?} here", relocation.slot, relocation.kind)
            });
        }
        for tally in [self.edges, self.labels, self.slots, self.referents, self.referents_by_slot] {
            tally.finish(input, report);
        }
        Ok(())
    }
}

fn is_symbol(relocation: &Relocation, name: &str, version: Option<&str>) -> bool {
    relocation.symbol.as_deref().is_some_and(|symbol| split_version(symbol) == (name, version))
}

/// Whether an edge leads where objdump's `label@plt` says: a symbol, or `*ABS*+0xa86f0` for a resolver's address.
fn is_labelled(edge: &Edge, label: &str) -> bool {
    let Some(target) = &edge.target else { return false };
    match label.strip_prefix("*ABS*+0x").and_then(readelf::hex) {
        Some(resolver) => {
            let told = target.address.or(target.key.map(|key| key.address));
            edge.class == EdgeClass::Ifunc && told.is_some_and(|address| address.offset == resolver)
        }
        None => is_import(edge) && target.names.iter().any(|name| name.text() == label),
    }
}
