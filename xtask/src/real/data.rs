//! Data items: their texts are the file's, and who refers to them is the exact transpose of what rows refer to.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use elfscope_schema::{Address, DataItem, DataKind, Name, ReferentKind};

use super::{edition::Edition, readelf::Binary, strings::holds_text, tally::Tally};
use crate::report::Report;

pub(super) fn compare(edition: &Edition, binary: &Binary, input: &str, report: &mut Report) -> Result<()> {
    let mut texts = Tally::new("data: a string's text is the section's bytes");
    let mut found = Tally::new("data: every reference is that of a row");
    let mut told = Tally::new("data: every row that refers to data is there");
    let mut totals = Tally::new("data: the totals are right");
    let rows = rows(edition)?;
    let mut refs: BTreeSet<(Address, Address)> = BTreeSet::new();
    // References that an item claims in all, and those on its pages.
    let mut counts: BTreeMap<(Address, DataKind), (u64, u64)> = BTreeMap::new();
    for page in edition.data()? {
        for item in page?.items {
            check_text(&item, binary, &mut texts);
            let count = counts.entry((item.address, item.kind)).or_insert((item.refs_total, 0));
            count.1 += item.refs.len() as u64;
            for reference in &item.refs {
                let to = item.address.plus(reference.offset.unwrap_or(0));
                let once = refs.insert((reference.at, to));
                let same = once && rows.contains_key(&(reference.at, to));
                found.check(same, || format!("{} of {:?} {}", reference.at, item.kind, item.address));
            }
        }
    }
    for ((at, to), kind) in rows {
        let is_data = [ReferentKind::String, ReferentKind::Object, ReferentKind::Data].contains(&kind);
        if is_data {
            told.check(refs.contains(&(at, to)), || format!("{at} refers to {kind:?} {to}"));
        }
    }
    for ((address, kind), (total, listed)) in counts {
        totals.check(total == listed, || format!("{kind:?} {address}: {total} in all, {listed} listed"));
    }
    for tally in [texts, found, told, totals] {
        tally.finish(input, report);
    }
    Ok(())
}

/// What every row refers to, by the row's address and the referent's.
fn rows(edition: &Edition) -> Result<BTreeMap<(Address, Address), ReferentKind>> {
    let mut rows = BTreeMap::new();
    for page in edition.functions()? {
        let page = page?;
        for row in page.runs.iter().flat_map(|run| &run.rows) {
            if let Some(to) = &row.notes.to
                && let Some(address) = to.address
            {
                rows.insert((page.key.address.plus(u64::from(row.offset)), address), to.kind);
            }
        }
    }
    Ok(rows)
}

fn check_text(item: &DataItem, binary: &Binary, texts: &mut Tally) {
    let address = item.address.offset;
    match &item.text {
        Some(Name::Text(text)) => {
            texts.check(holds_text(binary, address, text, false), || format!("{address:x}: {text:?}"));
        }
        Some(Name::Long { prefix, .. }) => {
            texts.check(holds_text(binary, address, prefix, true), || format!("{address:x}: {prefix:?}"));
        }
        Some(Name::Bytes { lossy, .. }) => {
            texts.check(false, || format!("{address:x}: not UTF-8: {lossy:?}"));
        }
        None => {}
    }
}
