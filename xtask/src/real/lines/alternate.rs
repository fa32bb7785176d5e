//! Debug data without the alternate that dwz made: names are lost, and nothing else.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use anyhow::Result;
use elfscope_schema::FunctionKey;

use super::{
    claims::Claims,
    stack::{Level, Text, Texts},
};
use crate::{
    real::{edition::Edition, tally::Tally},
    report::Report,
};

/// The diagnostic that says so.
const CODE: &str = "dwz-alternate-missing";

/// Compares an edition with the one that was made without.
pub(in crate::real) fn compare(
    with: &Edition,
    without: &Edition,
    input: &str,
    report: &mut Report,
) -> Result<()> {
    let mut said = Tally::new("alternate: a diagnostic says that it is missing");
    for (edition, expected) in [(with, false), (without, true)] {
        let told = edition.meta.diagnostics.items.iter().any(|diagnostic| diagnostic.code == CODE);
        said.check(told == expected, || format!("{told}, where {expected} was expected"));
    }
    let mut texts = Texts::new();
    let (first, second) = (Claims::read(with, &mut texts)?, Claims::read(without, &mut texts)?);
    let mut places = Tally::new("alternate: every row's place and calls are the same");
    let mut names = Tally::new("alternate: a function's name is the same or lost");
    let mut lost = 0u64;
    places.check(first.rows.len() == second.rows.len(), || "not as many rows".to_owned());
    for (ours, theirs) in first.rows.iter().zip(&second.rows) {
        let (address, ours, theirs) = (ours.address, first.stack(ours), second.stack(theirs));
        let place = |level: &Level| (level.file, level.line);
        places.check(ours.iter().map(place).eq(theirs.iter().map(place)), || {
            format!("{address:x}: {} with, {} without", texts.told(ours), texts.told(theirs))
        });
        for (ours, theirs) in ours.iter().zip(theirs) {
            let is_lost = theirs.function == Text::NONE && ours.function != Text::NONE;
            lost += u64::from(is_lost);
            names.check(is_lost || ours.function == theirs.function, || {
                let (ours, theirs) = (texts.get(ours.function), texts.get(theirs.function));
                format!("{address:x}: {ours} with, {theirs} without")
            });
        }
    }
    println!("  {lost} names are lost without the alternate");
    let mut some = Tally::new("alternate: some names are lost");
    some.check(lost > 0, || "none is".to_owned());
    let mut rest = Tally::new("alternate: rows and edges are the same");
    let (first, second) = (code(with)?, code(without)?);
    for key in first.keys().chain(second.keys().filter(|key| !first.contains_key(*key))) {
        rest.check(first.get(key) == second.get(key), || key.to_string());
    }
    for tally in [said, places, names, some, rest] {
        tally.finish(input, report);
    }
    Ok(())
}

/// Digests of what is said of the code of each body. Pages end where they are full, so they may end elsewhere.
fn code(edition: &Edition) -> Result<BTreeMap<FunctionKey, u64>> {
    let mut bodies: BTreeMap<FunctionKey, (DefaultHasher, DefaultHasher)> = BTreeMap::new();
    for page in edition.functions()? {
        let page = page?;
        let (rows, edges) = bodies.entry(page.key).or_default();
        for row in page.runs.iter().flat_map(|run| &run.rows) {
            format!("{row:?}").hash(rows);
        }
        for edge in &page.edges {
            format!("{edge:?}").hash(edges);
        }
    }
    let both = |(rows, edges): (DefaultHasher, DefaultHasher)| rows.finish().rotate_left(1) ^ edges.finish();
    Ok(bodies.into_iter().map(|(key, body)| (key, both(body))).collect())
}
