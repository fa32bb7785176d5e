//! What to give next for sources that are missing: the flags as they are to be typed.

use std::collections::BTreeMap;

use elfscope_core::{
    escape,
    listing::{Kind, Line},
};
use elfscope_ingest::{Added, Hint, Origin};
use elfscope_schema::Name;

use crate::output::{count, grouped};

/// Sources to give, as JSON.
#[derive(serde::Serialize)]
pub(super) struct Told<'a> {
    ambiguous: u64,
    example: &'a Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    fetch: Option<&'a [String]>,
    flags: &'a [String],
    folder: &'a str,
    mismatched: u64,
    missing: u64,
}

impl<'a> Told<'a> {
    pub(super) fn of(hint: &'a Hint) -> Self {
        Self {
            ambiguous: hint.ambiguous,
            example: &hint.example,
            fetch: hint.fetch.as_deref(),
            flags: &hint.flags,
            folder: &hint.folder,
            mismatched: hint.mismatched,
            missing: hint.missing,
        }
    }
}

/// Most hints of one run.
const MOST: usize = 4;

/// Hints of all that was added, those of equal flags as one, most files first.
pub(super) fn lines(added: &[Added]) -> Vec<Line> {
    let mut together = BTreeMap::new();
    for hint in added.iter().flat_map(|added| &added.hints) {
        let key = (&hint.of, &hint.folder, &hint.flags);
        together
            .entry(key)
            .and_modify(|sum: &mut Hint| {
                sum.missing += hint.missing;
                sum.mismatched += hint.mismatched;
                sum.ambiguous += hint.ambiguous;
            })
            .or_insert_with(|| hint.clone());
    }
    let mut hints: Vec<Hint> = together.into_values().collect();
    hints.sort_by_key(|hint| std::cmp::Reverse(hint.files()));
    let left = hints.len().saturating_sub(MOST);
    let mut lines: Vec<Line> = hints.iter().take(MOST).flat_map(told).collect();
    if left > 0 {
        lines.push(Line::of(
            Kind::Note,
            format!("sources of {} more", count(left as u64, "folder", "folders")),
        ));
    }
    lines
}

fn told(hint: &Hint) -> Vec<Line> {
    let folder = match hint.folder.as_str() {
        "." => "with relative paths".to_owned(),
        folder => format!("below {}", escape::path(folder)),
    };
    let of = match &hint.of {
        Origin::Rust(version) => format!(" of Rust's library ({})", escape::name(version)),
        Origin::Go(version) => format!(" of Go {}", escape::name(version)),
        Origin::Package(name) => format!(" of {}", escape::name(name)),
        Origin::Elsewhere(_) => " that the package's sources have elsewhere,".to_owned(),
        _ => String::new(),
    };
    let example = escape::name(hint.example.text());
    let mut lines = vec![Line::of(Kind::Note, format!("{}{of} {folder}, such as {example}", counts(hint)))];
    if let Some(fetch) = &hint.fetch {
        lines.push(Line::of(Kind::Note, "  fetch: ").and(Kind::Plain, shell(fetch)));
    }
    lines.push(Line::of(Kind::Note, "  add again with: ").and(Kind::Plain, shell(&hint.flags)));
    lines
}

/// How many sources lack, and in which way: `8 sources missing, 2 don't fit`.
fn counts(hint: &Hint) -> String {
    let ways = [
        (hint.missing, "missing", "missing"),
        (hint.mismatched, "doesn't fit", "don't fit"),
        (hint.ambiguous, "fits several files that differ", "fit several files that differ"),
    ];
    let mut told = String::new();
    for (number, one, many) in ways.into_iter().filter(|(number, ..)| *number > 0) {
        let way = if number == 1 { one } else { many };
        match told.is_empty() {
            true => told = format!("{} {way}", count(number, "source", "sources")),
            false => told = format!("{told}, {} {way}", grouped(number)),
        }
    }
    told
}

/// Words as a shell reads them back.
fn shell(words: &[String]) -> String {
    let plain = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./=:+~,@%".contains(&byte))
    };
    let quoted = words.iter().map(|word| match plain(word) {
        true => word.clone(),
        // What a terminal would act on is shown escaped: it can't be typed, but does no harm either.
        false => escape::line(&format!("'{}'", word.replace('\'', "'\\''"))),
    });
    quoted.collect::<Vec<_>>().join(" ")
}
