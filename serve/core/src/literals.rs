//! What text every match of a regular expression must have: groups of literals, one of each of which a match contains.
//!
//! Literals are bytes with ASCII letters lowered, as the trigram index has them. Only literals of a trigram or more count. This is
//! the idea of Cox, "Regular Expression Matching with a Trigram Index", without the sets of prefixes and suffixes: literals are
//! joined while they are few, and cut where they become many.

use elfscope_schema::limits;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Literals of which one must occur.
pub(crate) type Group = Vec<Vec<u8>>;

/// Most literals of a group.
const MOST: usize = 16;
/// Longest literal: longer ones say no more.
const LONGEST: usize = 64;
/// Repetitions that are written out.
const REPEATED: u32 = 4;
/// Most groups that are kept.
const GROUPS: usize = 16;

/// The groups of an expression; none where a match need have no trigram.
pub(crate) fn required(hir: &Hir) -> Vec<Group> {
    let mut known = Known::of(hir);
    known.flush();
    known.groups.truncate(GROUPS);
    known.groups
}

/// What is known of the texts that a part of an expression fits.
struct Known {
    /// Groups that any such text has.
    groups: Vec<Group>,
    /// All that such a text may end in after what the groups cover; just one empty text where nothing is known.
    tail: Group,
    /// Whether `tail` is the whole of the texts, and there are no groups.
    whole: bool,
}

impl Known {
    fn nothing() -> Self {
        Self { groups: Vec::new(), tail: vec![Vec::new()], whole: false }
    }

    fn whole(texts: Group) -> Self {
        Self { groups: Vec::new(), tail: texts, whole: true }
    }

    fn of(hir: &Hir) -> Self {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Self::whole(vec![Vec::new()]),
            HirKind::Literal(literal) => Self::whole(vec![literal.0.to_ascii_lowercase()]),
            HirKind::Class(class) => class_texts(class).map_or_else(Self::nothing, Self::whole),
            HirKind::Alternation(parts) => Self::either(parts.iter().map(Self::of).collect()),
            HirKind::Repetition(repetition) if repetition.min == 0 => {
                let once = Self::of(&repetition.sub);
                match repetition.max {
                    Some(1) if once.whole => Self::either(vec![once, Self::whole(vec![Vec::new()])]),
                    _ => Self::nothing(),
                }
            }
            HirKind::Capture(_) | HirKind::Concat(_) | HirKind::Repetition(_) => {
                let mut known = Self::whole(vec![Vec::new()]);
                known.append(hir);
                known
            }
        }
    }

    /// What an expression that follows adds.
    fn append(&mut self, hir: &Hir) {
        match hir.kind() {
            HirKind::Capture(capture) => self.append(&capture.sub),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.append(part)),
            HirKind::Repetition(repetition) if repetition.min > 0 => {
                for _ in 0..repetition.min.min(REPEATED) {
                    self.append(&repetition.sub);
                }
                if repetition.max != Some(repetition.min) || repetition.min > REPEATED {
                    // More may stand between: what follows stands behind one of these again, or behind what isn't known.
                    self.flush();
                    let again = Self::of(&repetition.sub);
                    if again.whole {
                        self.tail = again.tail;
                    }
                }
            }
            _ => self.join(Self::of(hir)),
        }
    }

    /// What follows this one.
    fn join(&mut self, next: Self) {
        let product = self.tail.len().saturating_mul(next.tail.len());
        let longest = |texts: &Group| texts.iter().map(Vec::len).max().unwrap_or(0);
        let fits = product <= MOST && longest(&self.tail) + longest(&next.tail) <= LONGEST;
        if next.whole && fits {
            self.tail =
                self.tail.iter().flat_map(|a| next.tail.iter().map(|b| [a.as_slice(), b].concat())).collect();
            tidy(&mut self.tail);
            return;
        }
        self.flush();
        self.groups.extend(next.groups);
        self.tail = next.tail;
        self.whole = false;
    }

    /// Makes a group of the tail, where it says enough.
    fn flush(&mut self) {
        let tail = std::mem::replace(&mut self.tail, vec![Vec::new()]);
        if tail.iter().all(|text| text.len() >= limits::TRIGRAM) {
            self.groups.push(tail);
        }
        self.whole = false;
    }

    fn either(parts: Vec<Self>) -> Self {
        let all: usize = parts.iter().map(|part| part.tail.len()).sum();
        if all <= MOST && parts.iter().all(|part| part.whole) {
            let mut tail: Group = parts.into_iter().flat_map(|part| part.tail).collect();
            tidy(&mut tail);
            return Self::whole(tail);
        }
        // Of each alternative the group that says most; what one lacks, all lack.
        let mut group = Group::new();
        for mut part in parts {
            part.flush();
            let best = part
                .groups
                .into_iter()
                .min_by_key(|group| (group.len(), std::cmp::Reverse(group.iter().map(Vec::len).min())));
            let Some(best) = best else { return Self::nothing() };
            group.extend(best);
        }
        tidy(&mut group);
        if group.len() > MOST {
            return Self::nothing();
        }
        Self { groups: vec![group], tail: vec![Vec::new()], whole: false }
    }
}

fn tidy(texts: &mut Group) {
    texts.sort_unstable();
    texts.dedup();
}

/// The characters of a small class, lowered.
fn class_texts(class: &Class) -> Option<Group> {
    let mut texts: Group = match class {
        Class::Unicode(class) => {
            let all: u64 = class
                .iter()
                .map(|range| u64::from(u32::from(range.end()) - u32::from(range.start())) + 1)
                .sum();
            if all > 2 * MOST as u64 {
                return None;
            }
            let chars = class.iter().flat_map(|range| range.start()..=range.end());
            chars.map(|one| one.to_ascii_lowercase().to_string().into_bytes()).collect()
        }
        Class::Bytes(class) => {
            let all: u64 = class.iter().map(|range| u64::from(range.end() - range.start()) + 1).sum();
            if all > 2 * MOST as u64 {
                return None;
            }
            let bytes = class.iter().flat_map(|range| range.start()..=range.end());
            bytes.map(|byte| vec![byte.to_ascii_lowercase()]).collect()
        }
    };
    tidy(&mut texts);
    (texts.len() <= MOST && !texts.is_empty()).then_some(texts)
}
