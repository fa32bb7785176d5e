//! Ranges of addresses that may overlap, flattened so that one binary search finds who has an address.

use std::collections::BTreeSet;

/// A range and who claims it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Its first address.
    pub(super) start: u64,
    /// The address after its last.
    pub(super) end: u64,
    /// Who claims it. Where several do, the greatest has it.
    pub(super) owner: u32,
}

/// Disjoint ranges, by address.
#[derive(Clone, Debug, Default)]
pub(super) struct Flat {
    spans: Box<[Span]>,
}

impl Flat {
    /// Flattens spans: an address is its greatest owner's. Owners are numbered in the order of the entries, so inner entries
    /// win over outer ones, and later ones over earlier ones.
    pub(super) fn of(spans: &[Span]) -> Self {
        let mut edges: Vec<(u64, bool, u32)> = Vec::with_capacity(spans.len() * 2);
        for span in spans.iter().filter(|span| span.start < span.end) {
            edges.push((span.start, true, span.owner));
            edges.push((span.end, false, span.owner));
        }
        edges.sort_unstable();
        let mut flat: Vec<Span> = Vec::with_capacity(edges.len() / 2);
        // One owner may claim an address twice.
        let mut open: BTreeSet<(u32, u32)> = BTreeSet::new();
        let mut at = 0;
        for (address, starts, owner) in edges {
            if let Some(&(top, _)) = open.last().filter(|_| at < address) {
                match flat.last_mut() {
                    Some(last) if last.end == at && last.owner == top => last.end = address,
                    _ => flat.push(Span { start: at, end: address, owner: top }),
                }
            }
            at = address;
            let same = open.range((owner, 0)..=(owner, u32::MAX)).next_back().copied();
            if starts {
                open.insert((owner, same.map_or(0, |(_, count)| count + 1)));
            } else if let Some(same) = same {
                open.remove(&same);
            }
        }
        Self { spans: flat.into() }
    }

    /// The range that has an address.
    pub(super) fn find(&self, address: u64) -> Option<&Span> {
        let after = self.spans.partition_point(|span| span.start <= address);
        self.spans[..after].last().filter(|span| address < span.end)
    }

    /// Whether one range has all of these addresses.
    pub(super) fn covers(&self, (start, end): (u64, u64)) -> bool {
        self.find(start).is_some_and(|span| end <= span.end)
    }

    /// Gives to others what nobody has.
    pub(super) fn or(self, others: &Self) -> Self {
        let mut open = Vec::new();
        let mut at = 0;
        for &Span { mut start, end, owner } in &others.spans {
            while let Some(span) = self.spans.get(at).filter(|span| span.start < end) {
                if start < span.start {
                    open.push(Span { start, end: span.start, owner });
                }
                start = start.max(span.end);
                // It may reach into the next one, too.
                if span.end > end {
                    break;
                }
                at += 1;
            }
            if start < end {
                open.push(Span { start, end, owner });
            }
        }
        if open.is_empty() {
            return self;
        }
        open.extend_from_slice(&self.spans);
        open.sort_unstable_by_key(|span| span.start);
        Self { spans: open.into() }
    }

    /// All of them.
    pub(super) fn all(&self) -> &[Span] {
        &self.spans
    }

    /// The bytes that it takes in memory.
    pub(super) fn size(&self) -> usize {
        size_of_val(&*self.spans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_owner_has_an_address() {
        let span = |start, end, owner| Span { start, end, owner };
        let flat = Flat::of(&[
            span(0, 10, 1),
            span(2, 6, 2),
            span(4, 8, 3),
            span(12, 14, 1),
            span(14, 15, 1),
            span(13, 20, 0),
            span(9, 9, 7),
        ]);
        let told =
            [span(0, 2, 1), span(2, 4, 2), span(4, 8, 3), span(8, 10, 1), span(12, 15, 1), span(15, 20, 0)];
        assert_eq!(flat.all(), told);
        assert_eq!(flat.find(11), None);
        assert_eq!(flat.find(7).map(|span| span.owner), Some(3));
        assert_eq!(flat.find(20), None);
        // An owner that claims an address twice still has it when one claim ends.
        assert_eq!(Flat::of(&[span(0, 4, 5), span(1, 9, 5), span(0, 9, 2)]).all(), [span(0, 9, 5)]);
    }
    #[test]
    fn others_have_what_is_left() {
        let span = |start, end, owner| Span { start, end, owner };
        let own = Flat::of(&[span(10, 20, 1), span(30, 40, 2), span(40, 50, 1)]);
        let others = Flat::of(&[
            span(0, 5, 7),
            span(8, 12, 8),
            span(13, 20, 9),
            span(20, 22, 7),
            span(25, 35, 8),
            span(36, 60, 9),
        ]);
        let told = [
            span(0, 5, 7),
            span(8, 10, 8),
            span(10, 20, 1),
            span(20, 22, 7),
            span(25, 30, 8),
            span(30, 40, 2),
            span(40, 50, 1),
            span(50, 60, 9),
        ];
        assert_eq!(own.clone().or(&others).all(), told);
        assert_eq!(own.clone().or(&own).all(), own.all());
        assert_eq!(Flat::default().or(&own).all(), own.all());
        assert_eq!(own.clone().or(&Flat::of(&[span(0, 60, 7)])).all().len(), 6);
        assert!(own.covers((11, 20)) && !own.covers((11, 21)) && !own.covers((25, 31)));
    }
}
