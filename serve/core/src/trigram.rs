//! Substrings: which leaves of an index can have a text, by the trigrams that it is made of.

use elfscope_schema::{TrigramEntry, hex, limits};

use crate::{
    Edition, Request, Result, Store,
    tree::{Key, Leaf, Seek},
};

/// Most trigrams that one search reads.
const MOST: usize = 5;
/// Most leaves of the trigram index that one trigram may take; one with more says too little to be worth them.
const LEAVES: usize = 3;
/// So few leaves are scanned rather than narrowed further.
const FEW: u64 = 3;

/// The leaves that may have what is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Candidates {
    /// Any: the index has no trigrams, or they say nothing.
    All,
    /// Those in these ranges.
    In(Vec<(u64, u64)>),
}

impl Candidates {
    /// The first leaf from this one on.
    pub(crate) fn next(&self, from: u64) -> Option<u64> {
        match self {
            Self::All => Some(from),
            Self::In(ranges) => ranges.iter().find(|range| range.1 > from).map(|range| range.0.max(from)),
        }
    }
}

impl<S: Store> Request<S> {
    /// The leaves of `index` that may have a text with `query` in it, the case of ASCII letters aside. Leaves room for
    /// scanning some of them.
    pub(crate) async fn candidates(
        &mut self,
        edition: &Edition,
        index: &str,
        query: &str,
    ) -> Result<Candidates> {
        let index = format!("{index}_trigram");
        let mut known: Option<Vec<(u64, u64)>> = None;
        for trigram in most_telling_first(query) {
            let few = known
                .as_ref()
                .is_some_and(|ranges| ranges.iter().map(|range| range.1 - range.0).sum::<u64>() <= FEW);
            if few || !self.has_room(8, limits::INDEX_PAGE) {
                break;
            }
            let Some(ranges) = self.postings(edition, &index, &trigram).await? else { continue };
            known = Some(match known {
                Some(known) => intersect(&known, &ranges),
                None => ranges,
            });
        }
        Ok(known.map_or(Candidates::All, Candidates::In))
    }

    /// The leaves that have a trigram; `None` where that says nothing.
    async fn postings(
        &mut self,
        edition: &Edition,
        index: &str,
        trigram: &str,
    ) -> Result<Option<Vec<(u64, u64)>>> {
        if self.index_root(edition, index).await?.is_none() {
            return Ok(None);
        }
        let key = Key::Text(trigram.to_owned());
        let mut leaf = self.seek::<TrigramEntry>(edition, index, &key, Seek::First).await?;
        let mut ranges = Vec::new();
        for _ in 0..LEAVES {
            let Some(Leaf { number, records, last }) = leaf else { return Ok(Some(ranges)) };
            let ends = records.last().is_some_and(|record| record.0.as_str() > trigram);
            for TrigramEntry(_, runs) in records.iter().filter(|record| record.0 == trigram) {
                read_runs(runs, &mut ranges);
            }
            if ends || last {
                return Ok(Some(ranges));
            }
            leaf = self.leaf(edition, index, number + 1).await?;
        }
        Ok(None)
    }
}

/// The trigrams of a query in the order in which they are worth reading: first the one of seldom used characters, then
/// whichever is furthest from all before it. Neighbours say nearly the same, and which of a query's parts is rare in a binary can't
/// be known before: digits are, unless its names end in hashes.
fn most_telling_first(query: &str) -> Vec<String> {
    let bytes = query.to_ascii_lowercase().into_bytes();
    let common = |byte: &u8| match byte {
        b'0'..=b'9' => 12,
        _ => b"_etaoinsrlcdmpu".iter().position(|other| other == byte).map_or(0, |at| 20 - at),
    };
    let mut left: Vec<(usize, usize, &[u8])> = bytes
        .windows(limits::TRIGRAM)
        .enumerate()
        .map(|(at, trigram)| (trigram.iter().map(common).sum(), at, trigram))
        .collect();
    left.sort_unstable();
    let mut chosen: Vec<(usize, &[u8])> = Vec::new();
    while !left.is_empty() && chosen.len() < MOST {
        let distance = |at: usize| chosen.iter().map(|(other, _)| at.abs_diff(*other)).min().unwrap_or(0);
        // The first of the furthest: `left` is in order of how common they are.
        let best = (0..left.len()).rev().max_by_key(|index| distance(left[*index].1)).unwrap_or(0);
        let (_, at, trigram) = left.remove(best);
        if !chosen.iter().any(|(_, other)| *other == trigram) {
            chosen.push((at, trigram));
        }
    }
    chosen.into_iter().map(|(_, trigram)| hex::encode(trigram)).collect()
}

/// Adds the leaves that alternating numbers tell: so many without, so many with, and so on.
fn read_runs(runs: &[u64], ranges: &mut Vec<(u64, u64)>) {
    let mut at = 0_u64;
    for pair in runs.as_chunks::<2>().0 {
        let start = at.saturating_add(pair[0]);
        at = start.saturating_add(pair[1]);
        match ranges.last_mut() {
            Some(before) if before.1 == start => before.1 = at,
            _ => ranges.push((start, at)),
        }
    }
}

fn intersect(a: &[(u64, u64)], b: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let (mut i, mut j) = (0, 0);
    let mut both = Vec::new();
    while let (Some(left), Some(right)) = (a.get(i), b.get(j)) {
        let range = (left.0.max(right.0), left.1.min(right.1));
        if range.0 < range.1 {
            both.push(range);
        }
        if left.1 < right.1 { i += 1 } else { j += 1 }
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_ranges() {
        let mut ranges = Vec::new();
        read_runs(&[2, 3, 1, 1], &mut ranges);
        read_runs(&[7, 2], &mut ranges);
        assert_eq!(ranges, [(2, 5), (6, 9)]);
        assert_eq!(intersect(&ranges, &[(0, 3), (4, 7), (8, 20)]), [(2, 3), (4, 5), (6, 7), (8, 9)]);
        let candidates = Candidates::In(ranges);
        assert_eq!([0, 3, 5, 9].map(|from| candidates.next(from)), [Some(2), Some(3), Some(6), None]);
    }

    #[test]
    fn every_trigram_of_a_query_counts_once() {
        assert_eq!(most_telling_first("aAaa"), ["616161"]);
        assert_eq!(most_telling_first("e_zqx").first().map(String::as_str), Some("7a7178"));
        assert!(most_telling_first("ab").is_empty());
    }

    #[test]
    fn trigrams_are_read_from_all_over_a_query() {
        let read = most_telling_first("needle777");
        assert_eq!(read[..3], ["373737", "6e6565", "646c65"]);
        assert_eq!(read.len(), MOST);
    }
}
