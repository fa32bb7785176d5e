//! Every function symbol of readelf is in the archive, under every name and version.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use anyhow::Result;
use elfscope_schema::{Name, NamedKind, Record};

use super::{edition::Edition, readelf, tally::Tally};
use crate::report::Report;

/// Compares with the symbols of the file, or of its debug file.
pub(super) fn compare(edition: &Edition, file: &Path, input: &str, report: &mut Report) -> Result<()> {
    // By address and name as readelf prints it: the sizes that are claimed.
    let mut names: BTreeMap<(u64, String), BTreeSet<Option<u64>>> = BTreeMap::new();
    for page in edition.functions()? {
        let page = page?;
        for name in page.head.iter().flat_map(|head| &head.names).chain(&page.names) {
            let text = spelled(&name.name, name.version.as_ref(), name.default);
            names.entry((page.key.address.offset, text)).or_default().insert(name.size);
        }
    }
    let mut indexed: BTreeSet<(u64, String)> = BTreeSet::new();
    for record in edition.index("name")? {
        let Record::Name(entry) = record else { continue };
        if let (NamedKind::Function, Some(address)) = (entry.kind, entry.address) {
            indexed.insert((address.offset, spelled(&entry.name, entry.version.as_ref(), entry.default)));
        }
    }
    let mut found = Tally::new("symbols: a body at the address has the name and version");
    let mut sizes = Tally::new("symbols: it claims the size");
    let mut index = Tally::new("symbols: the index has the name and version");
    let symbols = readelf::symbols(file)?;
    for symbol in symbols.into_iter().filter(is_function) {
        let key = (symbol.address, symbol.name);
        let (address, name) = &key;
        found.check(names.contains_key(&key), || format!("{address:x} {name}"));
        let claimed = names.get(&key);
        sizes.check(claimed.is_some_and(|sizes| sizes.contains(&Some(symbol.size))), || {
            format!("{address:x} {name}: {} there, {claimed:?} here", symbol.size)
        });
        index.check(indexed.contains(&key), || format!("{address:x} {name}"));
    }
    for tally in [found, sizes, index] {
        tally.finish(input, report);
    }
    Ok(())
}

fn is_function(symbol: &readelf::Symbol) -> bool {
    ["FUNC", "IFUNC"].contains(&&*symbol.kind)
        && !["UND", "ABS"].contains(&&*symbol.section)
        && !symbol.name.is_empty()
}

fn spelled(name: &Name, version: Option<&Name>, default: bool) -> String {
    match version {
        Some(version) => format!("{}{}{}", name.text(), if default { "@@" } else { "@" }, version.text()),
        None => name.text().to_owned(),
    }
}
