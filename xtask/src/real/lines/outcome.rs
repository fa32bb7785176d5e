//! What one tool's answers and an edition's have in common, and what a third tool says of the rest.

use std::{collections::BTreeMap, fmt};

use super::{
    stack::{Level, Text, Texts},
    third::Judgement,
};
use crate::report::Report;

/// How many differences are kept for a judge, and how many ranges of them are shown.
const KEPT: usize = 200_000;
const SHOWN: usize = 40;

/// What differs first in two stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    NothingHere,
    NothingThere,
    Depth,
    /// They name no function where we do.
    Unnamed,
    Function,
    File,
    Line,
    /// File or line of a call.
    Call,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::NothingHere => "nothing here",
            Self::NothingThere => "nothing there",
            Self::Depth => "depth",
            Self::Unnamed => "no name there",
            Self::Function => "function",
            Self::File => "file",
            Self::Line => "line",
            Self::Call => "place of a call",
        })
    }
}

impl Kind {
    /// What differs, if anything does.
    pub(super) fn of(ours: &[Level], theirs: &[Level]) -> Option<Self> {
        if ours == theirs {
            return None;
        }
        if ours.is_empty() || theirs.is_empty() {
            return Some(if ours.is_empty() { Self::NothingHere } else { Self::NothingThere });
        }
        let place = |level: &Level| (level.file, level.line);
        if place(&ours[0]) != place(&theirs[0]) {
            return Some(if ours[0].file == theirs[0].file { Self::Line } else { Self::File });
        }
        if ours.len() != theirs.len() {
            return Some(Self::Depth);
        }
        if ours.iter().zip(theirs).any(|(ours, theirs)| place(ours) != place(theirs)) {
            return Some(Self::Call);
        }
        let lost = |(ours, theirs): (&Level, &Level)| {
            ours.function == theirs.function || theirs.function == Text::NONE
        };
        Some(if ours.iter().zip(theirs).all(lost) { Self::Unnamed } else { Self::Function })
    }

    /// Whether a judgement sides with our stack in what differs.
    fn sides_with(self, judgement: &Judgement, ours: &[Level], texts: &Texts) -> bool {
        match self {
            Self::NothingHere => judgement.has_place(texts, None),
            Self::NothingThere => judgement.has_place(texts, ours.first()) && judgement.has_functions(ours),
            // The place is the same in both.
            Self::Depth | Self::Unnamed | Self::Function => judgement.has_functions(ours),
            Self::File | Self::Line => judgement.has_place(texts, ours.first()),
            // gdb tells no call's place of code that doesn't run.
            Self::Call => false,
        }
    }
}

/// One row where both differ.
struct Difference {
    address: u64,
    kind: Kind,
    ours: Vec<Level>,
    theirs: Vec<Level>,
}

/// Counts of one comparison.
pub(super) struct Outcome {
    what: &'static str,
    /// How many rows there must be the same or explained, as a share of all.
    required: f64,
    compared: u64,
    different: u64,
    kept: Vec<Difference>,
}

impl Outcome {
    pub(super) fn new(what: &'static str, required: f64) -> Self {
        Self { what, required, compared: 0, different: 0, kept: Vec::new() }
    }

    pub(super) fn count(&mut self, address: u64, kind: Option<Kind>, ours: &[Level], theirs: &[Level]) {
        self.compared += 1;
        let Some(kind) = kind else { return };
        self.different += 1;
        if self.kept.len() < KEPT {
            self.kept.push(Difference { address, kind, ours: ours.to_vec(), theirs: theirs.to_vec() });
        }
    }

    /// The addresses where both differ.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u64> {
        self.kept.iter().map(|difference| difference.address)
    }

    /// Prints it and counts it as one check.
    pub(super) fn finish(
        self,
        judged: &BTreeMap<u64, Judgement>,
        texts: &Texts,
        input: &str,
        report: &mut Report,
    ) {
        let is_explained = |difference: &&Difference| {
            let judgement = judged.get(&difference.address);
            judgement.is_some_and(|told| difference.kind.sides_with(told, &difference.ours, texts))
        };
        let (explained, left): (Vec<_>, Vec<_>) = self.kept.iter().partition(is_explained);
        let unexplained = self.different - explained.len() as u64;
        let share = if self.compared == 0 { 0.0 } else { 1.0 - unexplained as f64 / self.compared as f64 };
        println!(
            "  {:<52}{:>9} compared{:>8} differ{:>8} explained by gdb: {:.4} %",
            self.what,
            self.compared,
            self.different,
            explained.len(),
            share * 100.0
        );
        for (name, differences) in [("explained", &explained), ("not explained", &left)] {
            let mut kinds: BTreeMap<Kind, u64> = BTreeMap::new();
            for difference in differences {
                *kinds.entry(difference.kind).or_default() += 1;
            }
            for (kind, count) in kinds {
                println!("      {name}: {kind}: {count}");
            }
        }
        show(&left, judged, texts);
        if self.compared == 0 {
            report.fail(format!("real: {input}: {}: nothing was compared", self.what));
        } else if share < self.required {
            let (required, compared) = (self.required * 100.0, self.compared);
            report.fail(format!(
                "real: {input}: {}: {unexplained} of {compared} differ, more than {required} % allow",
                self.what
            ));
        } else {
            report.pass();
        }
    }
}

/// Shows differences, those that follow each other and say the same as one.
fn show(differences: &[&Difference], judged: &BTreeMap<u64, Judgement>, texts: &Texts) {
    let mut shown = 0;
    let mut rest = differences;
    while let Some((first, after)) = rest.split_first() {
        let same = after
            .iter()
            .take_while(|other| (&other.ours, &other.theirs) == (&first.ours, &first.theirs))
            .count();
        if shown == SHOWN {
            println!("      and {} more", rest.len());
            return;
        }
        shown += 1;
        let (address, rows) = (first.address, same + 1);
        println!("      {address:x} ({rows} rows, {}): {} here", first.kind, texts.told(&first.ours));
        println!("          {} there", texts.told(&first.theirs));
        if let Some(judgement) = judged.get(&address) {
            println!("          {} says gdb", judgement.told(texts));
        }
        rest = &after[same..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_first() {
        let mut texts = Texts::new();
        let mut level = |function: &str, file: &str, line| Level {
            function: texts.text(function),
            file: texts.path(file),
            line,
        };
        let ours = [level("inner", "a.c", 3), level("outer", "b.c", 20)];
        let cases = [
            (ours.to_vec(), None),
            (vec![], Some(Kind::NothingThere)),
            (vec![level("inner", "a.c", 4), ours[1]], Some(Kind::Line)),
            (vec![level("inner", "b.c", 3), ours[1]], Some(Kind::File)),
            (vec![ours[0]], Some(Kind::Depth)),
            (vec![ours[0], level("outer", "b.c", 21)], Some(Kind::Call)),
            (vec![ours[0], level("other", "b.c", 20)], Some(Kind::Function)),
            (vec![level("", "a.c", 3), ours[1]], Some(Kind::Unnamed)),
        ];
        for (theirs, kind) in cases {
            assert_eq!(Kind::of(&ours, &theirs), kind, "{theirs:?}");
        }
        assert_eq!(Kind::of(&[], &ours), Some(Kind::NothingHere));
    }
}
