//! What differs between two builds: a walk over the names of both, side by side.
//!
//! Functions belong together by name and version; what has no counterpart is looked for by its code. Work is bounded: equal
//! functions cost a comparison of bytes, and an answer that looked at all it may says where to go on.

use elfscope_schema::{Address, BodyDigest, Name, NameEntry, limits, lookup::NamedKind};
use serde::Serialize;

use super::{
    Compared, Summary, editions,
    same_code::{Same, Wanted},
    side::{Item, Side},
};
use crate::{Edition, HitKind, Request, Result, Store, cursor};

/// Most changes of one answer.
pub const MOST: usize = 100;

/// How something differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Changed {
    /// `b` has it, `a` has not.
    Added,
    /// `a` has it, `b` has not.
    Removed,
    /// Both have it, with other code.
    Changed,
    /// `a` has it and `b` has not, but `b` has equal code under another name.
    Moved,
}

/// By what two things are said to belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The same name and version, which each build has once.
    SameName,
    /// The same name and version, which a build has several times: they are paired in the order of their addresses, those of
    /// equal code aside.
    SameNameInOrder,
    /// Equal `body` digests without unknown fields.
    EqualBody,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What it is.
    pub kind: HitKind,
    /// How it differs.
    pub change: Changed,
    /// Its name.
    pub name: Name,
    /// The demangled form of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demangled: Option<String>,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Name>,
    /// Where `a` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<Address>,
    /// Where `b` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<Address>,
    /// By what both sides are said to be the same thing; none where there is one side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// The `body` digest of the one side's code, where nothing in it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<BodyDigest>,
    /// Of a function that one side has: bodies of the other with an equal `body` digest, the first few; `null` where the answer had
    /// no room to look for them (a search by the digest does).
    pub same_code: Option<Vec<Same>>,
}

/// How many things differ how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Those that only `b` has.
    pub added: u64,
    /// Those that only `a` has: moved ones among them.
    pub removed: u64,
    /// Functions of both with other code.
    pub changed: u64,
    /// Functions with equal code; data and imports by name.
    pub equal: u64,
    /// Functions with equal digests and the same number of references that have no name: not known to be equal.
    pub same_shape: u64,
    /// Functions of both of which the archive holds no digest.
    pub unknown: u64,
}

/// What differs between two builds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BuildDiff {
    /// What the files are, and how that differs: in the first answer of a walk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// The differences, by name.
    pub changes: Vec<Change>,
    /// How many names of this answer differ how.
    pub counts: Counts,
    /// The same of all names; `null` where this answer is only a part.
    pub total: Option<Counts>,
    /// How many names of either build were looked at for this answer.
    pub scanned: u64,
}

/// A difference that isn't told yet.
struct Found {
    change: Changed,
    basis: Option<Basis>,
    a: Option<Item>,
    b: Option<Item>,
}

impl<S: Store> Request<S> {
    /// What differs between two builds: functions, data and imports by name. `kinds` says which of these; empty for all.
    ///
    /// # Errors
    /// [`crate::Error::BadCursor`], an archive that can't be read.
    pub async fn diff_builds(
        &mut self,
        a: &Edition,
        b: &Edition,
        kinds: &[HitKind],
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Compared<BuildDiff>> {
        let limit = limit.clamp(1, MOST);
        let question = format!("diff builds {kinds:?}");
        let name = editions(a, b);
        let [a_leaf, a_record, b_leaf, b_record, mut skip] = match cursor {
            Some(cursor) => cursor::read(cursor, &name, &question)?,
            None => [0; 5],
        };
        let summary = match cursor {
            None => Some(self.summary(a, b).await?),
            Some(_) => None,
        };
        let mut diff =
            BuildDiff { summary, changes: Vec::new(), counts: Counts::default(), total: None, scanned: 0 };
        let mut left = Side::open(self, a, [a_leaf, a_record]).await?;
        let mut right = Side::open(self, b, [b_leaf, b_record]).await?;
        let mut found: Vec<Found> = Vec::new();
        let next = 'walk: loop {
            let start = |skip: u64, left: [u64; 2], right: [u64; 2]| {
                Some([left[0], left[1], right[0], right[1], skip])
            };
            let stop = start(skip, left.at(), right.at());
            if !left.load(self, None).await? || !right.load(self, None).await? {
                break stop;
            }
            let stop = start(skip, left.at(), right.at());
            let Some(key) = [left.key(), right.key()].into_iter().flatten().min().map(str::to_owned) else {
                break None;
            };
            if !left.load(self, Some(&key)).await? || !right.load(self, Some(&key)).await? {
                break stop;
            }
            let (ours, theirs) = (left.take(&key), right.take(&key));
            let mut counts = Counts::default();
            let wanted = |item: &Item| kinds.is_empty() || kinds.contains(&kind_of(item.kind));
            let scanned = (ours.len() + theirs.len()) as u64;
            let ours: Vec<Item> = ours.into_iter().filter(wanted).collect();
            let theirs: Vec<Item> = theirs.into_iter().filter(wanted).collect();
            let changes = compare(ours, theirs, &mut counts);
            // What was told of this name before was counted before.
            if skip == 0 {
                diff.scanned += scanned;
                diff.counts.add(&counts);
            }
            for (number, change) in (0..).zip(changes).skip(usize::try_from(skip).unwrap_or(usize::MAX)) {
                if found.len() == limit {
                    break 'walk start(
                        number,
                        [stop.map_or(0, |at| at[0]), stop.map_or(0, |at| at[1])],
                        [stop.map_or(0, |at| at[2]), stop.map_or(0, |at| at[3])],
                    );
                }
                found.push(change);
            }
            skip = 0;
        };
        for one in found {
            diff.changes.push(self.told(a, &one)?);
        }
        self.find_same_code(a, b, &mut diff.changes).await?;
        if cursor.is_none() && next.is_none() {
            diff.total = Some(diff.counts);
        }
        let next_cursor = next.map(|at| cursor::write(&name, &question, at));
        Ok(Compared { a: a.source().clone(), b: b.source().clone(), value: diff, next_cursor })
    }

    fn told(&mut self, edition: &Edition, found: &Found) -> Result<Change> {
        let mut parse = |item: &Option<Item>| match item {
            Some(item) => self.parse_record::<NameEntry>(edition, &item.record).map(Some),
            None => Ok(None),
        };
        let (a, b) = (parse(&found.a)?, parse(&found.b)?);
        let (at_a, at_b) =
            (a.as_ref().and_then(|entry| entry.address), b.as_ref().and_then(|entry| entry.address));
        let one_sided = a.is_none() || b.is_none();
        let entry = a.or(b).ok_or_else(|| crate::tree::damaged(edition))?;
        let demangled = elfscope_demangle::demangle(entry.name.text().as_bytes());
        let body = entry.code.filter(|code| one_sided && code.1).map(|code| code.0);
        Ok(Change {
            kind: kind_of(entry.kind),
            change: found.change,
            name: entry.name,
            demangled,
            version: entry.version,
            a: at_a,
            b: at_b,
            basis: found.basis,
            body,
            same_code: None,
        })
    }

    /// Looks for the code of what only one side has on the other side.
    async fn find_same_code(&mut self, a: &Edition, b: &Edition, changes: &mut [Change]) -> Result<()> {
        for (side, other) in [(Changed::Removed, b), (Changed::Added, a)] {
            // What was removed and is elsewhere says more than the other way round.
            let left = limits::REQUEST_READS.saturating_sub(self.budget().reads);
            let keep = if side == Changed::Removed { left / 3 } else { 0 };
            let of_side = |change: &Change| change.change == side && change.kind == HitKind::Function;
            let wanted: Vec<Wanted> = changes
                .iter()
                .enumerate()
                .filter(|(_, change)| of_side(change))
                .filter_map(|(number, change)| Some(Wanted { number, body: change.body? }))
                .collect();
            for (number, same) in self.same_code_of(other, wanted, keep).await? {
                let change = &mut changes[number];
                if side == Changed::Removed && !same.is_empty() {
                    (change.change, change.basis) = (Changed::Moved, Some(Basis::EqualBody));
                }
                change.same_code = Some(same);
            }
        }
        Ok(())
    }
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.added += other.added;
        self.removed += other.removed;
        self.changed += other.changed;
        self.equal += other.equal;
        self.same_shape += other.same_shape;
        self.unknown += other.unknown;
    }
}

pub(super) fn kind_of(kind: NamedKind) -> HitKind {
    match kind {
        NamedKind::Function | NamedKind::Demangled => HitKind::Function,
        NamedKind::Data => HitKind::Data,
        NamedKind::Tls => HitKind::Tls,
        NamedKind::Import => HitKind::Import,
    }
}

/// What differs among the records of one name.
fn compare(mut a: Vec<Item>, mut b: Vec<Item>, counts: &mut Counts) -> Vec<Found> {
    let mut found = Vec::new();
    let class = |item: &Item| (item.kind, item.version.clone());
    let mut classes: Vec<_> = a.iter().chain(&b).map(class).collect();
    classes.sort();
    classes.dedup();
    for one in classes {
        let of_class =
            |items: &mut Vec<Item>| items.extract_if(.., |item| class(item) == one).collect::<Vec<_>>();
        let (mut ours, mut theirs) = (of_class(&mut a), of_class(&mut b));
        let basis =
            if ours.len() == 1 && theirs.len() == 1 { Basis::SameName } else { Basis::SameNameInOrder };
        // Those of equal code belong together first, whatever their order.
        ours.retain(|item| {
            let same = theirs.iter().position(|other| same_code(item, other));
            let Some(at) = same else { return true };
            let exact =
                item.kind != NamedKind::Function || theirs[at].code.as_ref().is_some_and(|code| code.1);
            *(if exact { &mut counts.equal } else { &mut counts.same_shape }) += 1;
            theirs.remove(at);
            false
        });
        let mut theirs = theirs.into_iter();
        for item in ours {
            match theirs.next() {
                Some(other) if item.code.is_none() || other.code.is_none() => counts.unknown += 1,
                Some(other) => {
                    counts.changed += 1;
                    found.push(Found {
                        change: Changed::Changed,
                        basis: Some(basis),
                        a: Some(item),
                        b: Some(other),
                    });
                }
                None => {
                    counts.removed += 1;
                    found.push(Found { change: Changed::Removed, basis: None, a: Some(item), b: None });
                }
            }
        }
        for item in theirs {
            counts.added += 1;
            found.push(Found { change: Changed::Added, basis: None, a: None, b: Some(item) });
        }
    }
    found
}

/// Whether two records of a name, kind and version are of the same thing as far as the index says.
fn same_code(a: &Item, b: &Item) -> bool {
    a.kind != NamedKind::Function || (a.code.is_some() && a.code == b.code)
}
