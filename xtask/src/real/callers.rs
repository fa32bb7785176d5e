//! Callers are the exact transpose of edges.

use std::collections::BTreeMap;

use anyhow::Result;
use elfscope_schema::{CallersOf, Edge, EdgeClass, to_canonical};

use super::{edition::Edition, tally::Tally};
use crate::report::Report;

pub(super) fn compare(edition: &Edition, input: &str, report: &mut Report) -> Result<()> {
    // `of`, then everything that a caller says of the edge: how often the edges say it, less how often callers do.
    let mut balance: BTreeMap<(String, String), i64> = BTreeMap::new();
    let mut told = Tally::new("callers: every edge that names a target is there");
    let mut totals = Tally::new("callers: the totals are right");
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for page in edition.functions()? {
        let page = page?;
        for edge in &page.edges {
            let Some(of) = target_of(edge) else { continue };
            let of = text(&of);
            let at = page.key.address.plus(u64::from(edge.row));
            let offset = edge.target.as_ref().and_then(|target| target.offset);
            let what = format!(
                "{at} {} {:?} {} {} {offset:?}",
                edge.class.name(),
                edge.kind,
                edge.conditional,
                page.key
            );
            *counts.entry(of.clone()).or_default() += 1;
            *balance.entry((of, what)).or_default() += 1;
        }
    }
    for page in edition.callers()? {
        let page = page?;
        let of = text(&page.of);
        let expected = counts.get(&of).copied().unwrap_or(0);
        totals.check(page.total == expected, || format!("{of}: {} here, {expected} edges", page.total));
        for caller in &page.callers {
            let (at, class, from) = (caller.at, caller.class.name(), caller.from);
            let what =
                format!("{at} {class} {:?} {} {from} {:?}", caller.kind, caller.conditional, caller.offset);
            *balance.entry((of.clone(), what)).or_default() -= 1;
        }
    }
    for ((of, what), count) in balance {
        told.check(count == 0, || format!("{of}: {what}: {count:+} (edges less callers)"));
    }
    told.finish(input, report);
    totals.finish(input, report);
    Ok(())
}

/// What an edge names as its target: an imported symbol, or a body.
fn target_of(edge: &Edge) -> Option<CallersOf> {
    let target = edge.target.as_ref()?;
    if edge.class == EdgeClass::Import {
        return Some(CallersOf::Import {
            name: target.names.first()?.clone(),
            version: target.version.clone(),
        });
    }
    target.key.map(CallersOf::Body)
}

fn text(of: &CallersOf) -> String {
    String::from_utf8_lossy(&to_canonical(of)).trim_end().to_owned()
}
