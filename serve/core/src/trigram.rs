//! Substrings: which leaves of an index can have a text, by the trigrams that it is made of.

use elfscope_schema::{TrigramEntry, hex, limits};

use crate::{
    Edition, Request, Result, Store,
    literals::Group,
    tree::{Key, Leaf, Seek},
};

/// Most trigrams of one literal that a search reads.
const MOST: usize = 5;
/// Most alternatives that a search reads trigrams of.
const ALTERNATIVES: usize = 6;
/// Most leaves of the trigram index that one trigram may take; one with more says too little to be worth them.
const LEAVES: usize = 3;
/// So few leaves are looked through rather than narrowed further: one read mostly has them.
const FEW: u64 = 4;
/// Reads and bytes of JSON that looking through the candidates needs.
const READS: usize = 8;
const JSON: usize = 48 * 1024;
/// Reads and bytes of JSON that one trigram may take: a table with its offsets, and its leaves.
const DOWN: (usize, usize) = (2 + LEAVES, (1 + LEAVES) * limits::INDEX_PAGE);

/// The leaves that may have what is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Candidates {
    /// Any: the index has no trigrams, or they say nothing.
    All,
    /// Those in these ranges.
    In(Vec<(u64, u64)>),
}

impl Candidates {
    /// The first leaves from this one on, at most so many, of an index with so many leaves.
    pub(crate) fn next(&self, from: u64, most: usize, leaves: u64) -> Vec<u64> {
        match self {
            Self::All => (from..leaves).take(most).collect(),
            Self::In(ranges) => {
                let ranges = ranges.iter().filter(|range| range.1 > from);
                ranges.flat_map(|range| range.0.max(from)..range.1.min(leaves)).take(most).collect()
            }
        }
    }
}

impl<S: Store> Request<S> {
    /// The leaves of `index` that may have a text with a literal of each group in it (ASCII letters lowered). Leaves room for
    /// looking through them.
    pub(crate) async fn candidates(
        &mut self,
        edition: &Edition,
        index: &str,
        groups: &[Group],
        leave: usize,
    ) -> Result<Candidates> {
        let index = format!("{index}_trigram");
        if self.index_root(edition, &index).await?.is_none() {
            return Ok(Candidates::All);
        }
        let mut known: Option<Vec<(u64, u64)>> = None;
        for probe in probes(groups) {
            let few = known
                .as_ref()
                .is_some_and(|ranges| ranges.iter().map(|range| range.1 - range.0).sum::<u64>() <= FEW);
            if few {
                break;
            }
            let mut either: Option<Vec<(u64, u64)>> = Some(Vec::new());
            for trigram in &probe {
                if !self.budget().has(READS + 2 * leave + DOWN.0, JSON + leave * limits::INDEX_PAGE + DOWN.1)
                {
                    return Ok(known.map_or(Candidates::All, Candidates::In));
                }
                either = match (either, self.postings(edition, &index, trigram).await?) {
                    (Some(either), Some(ranges)) => Some(unite(either, ranges)),
                    _ => None,
                };
                if either.is_none() {
                    break;
                }
            }
            let Some(ranges) = either else { continue };
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

/// The trigrams to look up, in order: a text has one of each list. The most telling of each group come first, those of groups of
/// few literals before others.
fn probes(groups: &[Group]) -> Vec<Vec<String>> {
    let mut probes: Vec<(usize, usize, Vec<String>)> = Vec::new();
    for group in groups.iter().filter(|group| group.len() <= ALTERNATIVES) {
        let trigrams: Vec<Vec<String>> = group.iter().map(|literal| most_telling_first(literal)).collect();
        let rounds = if group.len() == 1 { MOST } else { 1 };
        for round in 0..rounds {
            let probe: Option<Vec<String>> = trigrams.iter().map(|list| list.get(round).cloned()).collect();
            probes.extend(probe.map(|mut probe| {
                probe.sort_unstable();
                probe.dedup();
                (round, probe.len(), probe)
            }));
        }
    }
    probes.sort_by_key(|(round, alternatives, _)| (*round, *alternatives));
    probes.into_iter().map(|(_, _, probe)| probe).collect()
}

/// The trigrams of a query in the order in which they are worth reading: first the one of seldom used characters, then
/// whichever is furthest from all before it. Neighbours say nearly the same, and which of a query's parts is rare in a binary can't
/// be known before: digits are, unless its names end in hashes.
fn most_telling_first(bytes: &[u8]) -> Vec<String> {
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

fn unite(mut a: Vec<(u64, u64)>, b: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    a.extend(b);
    a.sort_unstable();
    let mut all: Vec<(u64, u64)> = Vec::new();
    for range in a {
        match all.last_mut() {
            Some(before) if before.1 >= range.0 => before.1 = before.1.max(range.1),
            _ => all.push(range),
        }
    }
    all
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
        assert_eq!(unite(ranges.clone(), vec![(0, 1), (4, 7)]), [(0, 1), (2, 9)]);
        let candidates = Candidates::In(ranges);
        let next = [0, 3, 5, 9].map(|from| candidates.next(from, 2, 100));
        assert_eq!(next, [vec![2, 3], vec![3, 4], vec![6, 7], vec![]]);
        assert_eq!(Candidates::All.next(3, 9, 5), [3, 4]);
    }

    #[test]
    fn every_trigram_of_a_query_counts_once() {
        assert_eq!(most_telling_first(b"aaaa"), ["616161"]);
        assert_eq!(most_telling_first(b"e_zqx").first().map(String::as_str), Some("7a7178"));
        assert!(most_telling_first(b"ab").is_empty());
    }

    #[test]
    fn trigrams_are_read_from_all_over_a_query() {
        let read = most_telling_first(b"needle777");
        assert_eq!(read[..3], ["373737", "6e6565", "646c65"]);
        assert_eq!(read.len(), MOST);
    }
}
