//! What differs between two functions: their rows, aligned.
//!
//! The whole of both bodies is aligned for every answer, so that windows of one alignment fit each other; rows are only parsed
//! where they are told. The aligner (git's histogram, Myers' where that finds no anchor) bounds its own work.

use std::collections::BTreeMap;

use elfscope_schema::{BodyDigest, FunctionEntry, FunctionKey, Head, Name, Row};
use imara_diff::{Algorithm, Diff, InternedInput, Interner};
use serde::Serialize;

use super::{
    Compared, editions,
    rows::{Shaped, rows_of},
};
use crate::{Edition, Error, Request, Result, Store, cursor, functions::key_of, window::PACK};

/// Most pairs of one answer.
pub const MOST: usize = 500;
/// Most rows of both functions together.
pub const MOST_ROWS: u64 = 250_000;
/// Within a changed part of so many rows a side or fewer, rows of one mnemonic are sought.
const PART: usize = 64;

/// How the rows of a pair go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Both say the same: mnemonic, operands and what they refer to; where in memory that is may differ.
    Equal,
    /// The same mnemonic at the same place between equal rows, and another operand, referent or target.
    Changed,
    /// `a` has it.
    OnlyA,
    /// `b` has it.
    OnlyB,
}

/// Aligned rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowPair {
    /// How they go together.
    pub side: Side,
    /// The row of `a` with its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<(u32, Row)>,
    /// The row of `b` with its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b: Option<(u32, Row)>,
}

/// What is said of one of the functions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Body {
    /// The body.
    pub key: FunctionKey,
    /// The name that listings show of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// How many rows it has.
    pub rows: u64,
    /// Its `body` digest, and how many of its fields are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<(BodyDigest, u32)>,
}

/// What the digests of two bodies say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Equal `body` digests, and no field is unknown: the same code.
    Equal,
    /// Equal `shape` digests: the same bytes but for fields that depend on where things stand. What those refer to differs, or isn't
    /// known.
    SameShape,
    /// Other bytes.
    Different,
    /// A body without digests.
    Unknown,
}

/// How many pairs there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PairCounts {
    /// Equal rows.
    pub equal: u64,
    /// Changed ones.
    pub changed: u64,
    /// Rows that only `a` has.
    pub only_a: u64,
    /// Rows that only `b` has.
    pub only_b: u64,
}

/// What differs between two functions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionDiff {
    /// One function.
    pub function_a: Body,
    /// The other.
    pub function_b: Body,
    /// What their digests say.
    pub verdict: Verdict,
    /// All pairs of the alignment, counted.
    pub total: PairCounts,
    /// The number of the first pair here.
    pub from: u64,
    /// The pairs of this window.
    pub pairs: Vec<RowPair>,
}

/// Which pairs are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairWindow<'a> {
    /// Only those that are not equal, with so many equal ones around each; none for all.
    pub context: Option<u32>,
    /// Most pairs, up to [`MOST`].
    pub limit: usize,
    /// Where an earlier answer goes on.
    pub cursor: Option<&'a str>,
}

type Pair = (Side, Option<usize>, Option<usize>);

impl<S: Store> Request<S> {
    /// The rows of two functions, aligned.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for functions of more rows than are aligned, [`Error::BadCursor`], an archive that can't be read.
    pub async fn diff_functions(
        &mut self,
        (a, entry_a): (&Edition, &FunctionEntry),
        (b, entry_b): (&Edition, &FunctionEntry),
        window: PairWindow<'_>,
    ) -> Result<Compared<FunctionDiff>> {
        let limit = window.limit.clamp(1, MOST);
        let question = format!("diff functions {} {} {:?}", key_of(entry_a), key_of(entry_b), window.context);
        let name = editions(a, b);
        let [from] = match window.cursor {
            Some(cursor) => cursor::read(cursor, &name, &question)?,
            None => [0],
        };
        let (head_a, rows_a) = self.shaped(a, entry_a, 0).await?;
        let (head_b, rows_b) = self.shaped(b, entry_b, rows_a.len() as u64).await?;
        let pairs = align(&rows_a, &rows_b);
        let mut total = PairCounts::default();
        for (side, _, _) in &pairs {
            *match side {
                Side::Equal => &mut total.equal,
                Side::Changed => &mut total.changed,
                Side::OnlyA => &mut total.only_a,
                Side::OnlyB => &mut total.only_b,
            } += 1;
        }
        let shown = shown(&pairs, window.context);
        let start = shown.partition_point(|number| (*number as u64) < from);
        let mut told = Vec::new();
        let mut next = None;
        for number in shown.iter().copied().skip(start) {
            let (side, at_a, at_b) = pairs[number];
            let size =
                at_a.map_or(0, |at| rows_a[at].record.len()) + at_b.map_or(0, |at| rows_b[at].record.len());
            if told.len() == limit || !self.budget().has(0, size) {
                next = Some([number as u64]);
                break;
            }
            let mut row = |edition: &Edition, rows: &[Shaped], at: Option<usize>| match at {
                Some(at) => {
                    let number = u32::try_from(at).unwrap_or(u32::MAX);
                    let path = format!("{}/{PACK}", edition.folder());
                    self.parse_part::<Row>(&path, &rows[at].record).map(|row| Some((number, row)))
                }
                None => Ok(None),
            };
            told.push(RowPair { side, a: row(a, &rows_a, at_a)?, b: row(b, &rows_b, at_b)? });
        }
        let diff = FunctionDiff {
            verdict: verdict(&head_a, &head_b),
            function_a: body(entry_a, &head_a),
            function_b: body(entry_b, &head_b),
            total,
            from: shown.get(start).map_or(from, |number| *number as u64),
            pairs: told,
        };
        let next_cursor = next.map(|at| cursor::write(&name, &question, at));
        Ok(Compared { a: a.source().clone(), b: b.source().clone(), value: diff, next_cursor })
    }

    /// All rows of a body, beside so many others.
    async fn shaped(
        &mut self,
        edition: &Edition,
        entry: &FunctionEntry,
        beside: u64,
    ) -> Result<(Head, Vec<Shaped>)> {
        let key = key_of(entry);
        let path = format!("{}/{PACK}", edition.folder());
        let damaged = || Error::Damaged {
            path: path.clone(),
            expected: "the pages of the body that the look-up names",
            source: None,
        };
        let first = self.members(edition.folder(), PACK, &[entry.2]).await?;
        let (_, page) = first.first().ok_or_else(damaged)?;
        let pages = crate::raw::member(page, "pages").and_then(crate::raw::number).ok_or_else(damaged)?;
        let head = crate::raw::member(page, "head").ok_or_else(damaged)?;
        let head: Head = self.parse_part(&path, head)?;
        let too_large = |rows: u64| Error::TooLarge {
            what: "both functions together have more rows than are aligned",
            given: format!("{rows} rows"),
            allowed: format!(
                "{MOST_ROWS} rows and {} MiB of their documents",
                crate::request::SCAN_BYTES >> 20
            ),
            fix: "compare their listings window by window".to_owned(),
        };
        let all = u64::from(head.rows_total).saturating_add(beside);
        if all > MOST_ROWS || pages > MOST_ROWS {
            return Err(too_large(all));
        }
        let mut rows = Vec::with_capacity(head.rows_total as usize);
        let mut take = |page: &[u8]| -> Result<()> {
            let named = crate::raw::member(page, "key")
                .and_then(crate::raw::text)
                .is_some_and(|told| told == key.to_string());
            let found = rows_of(page, key).filter(|_| named).ok_or_else(damaged)?;
            rows.extend(found);
            Ok(())
        };
        take(page)?;
        let rest: Vec<u64> = (1..pages).map(|page| entry.2.saturating_add(page)).collect();
        let mut rest = rest.as_slice();
        while !rest.is_empty() {
            let read = self.members(edition.folder(), PACK, rest).await?;
            if read.is_empty() {
                return Err(too_large(all));
            }
            rest = &rest[read.len()..];
            for (_, page) in &read {
                take(page)?;
            }
        }
        if rows.len() as u64 != u64::from(head.rows_total) {
            return Err(damaged());
        }
        Ok((head, rows))
    }
}

fn body(entry: &FunctionEntry, head: &Head) -> Body {
    Body {
        key: key_of(entry),
        name: head.names.first().map(|name| name.name.clone()),
        rows: u64::from(head.rows_total),
        body: head.digests.as_ref().map(|digests| (digests.body, digests.unknown)),
    }
}

fn verdict(a: &Head, b: &Head) -> Verdict {
    let (Some(a), Some(b)) = (&a.digests, &b.digests) else { return Verdict::Unknown };
    match (a.shape == b.shape, a.body == b.body && a.unknown == 0 && b.unknown == 0) {
        _ if a.algorithm != b.algorithm => Verdict::Unknown,
        (_, true) => Verdict::Equal,
        (true, false) => Verdict::SameShape,
        (false, false) => Verdict::Different,
    }
}

/// The numbers of the pairs that are told.
fn shown(pairs: &[Pair], context: Option<u32>) -> Vec<usize> {
    let Some(context) = context else { return (0..pairs.len()).collect() };
    let mut shown = Vec::new();
    let mut from = 0;
    for (number, _) in pairs.iter().enumerate().filter(|(_, pair)| pair.0 != Side::Equal) {
        let start = number.saturating_sub(context as usize).max(from);
        let end = number.saturating_add(context as usize).saturating_add(1).min(pairs.len());
        shown.extend(start..end.max(start));
        from = end.max(from);
    }
    shown
}

/// Aligns the rows of two bodies: every row of either is in one pair, in order.
fn align(a: &[Shaped], b: &[Shaped]) -> Vec<Pair> {
    let mut input =
        InternedInput { before: Vec::new(), after: Vec::new(), interner: Interner::new(a.len() + b.len()) };
    input.update_before(a.iter().map(|row| row.says.as_str()));
    input.update_after(b.iter().map(|row| row.says.as_str()));
    let diff = Diff::compute(Algorithm::Histogram, &input);
    let mut pairs: Vec<Pair> = Vec::with_capacity(a.len().max(b.len()));
    let (mut at_a, mut at_b) = (0, 0);
    let equal = |pairs: &mut Vec<Pair>, at_a: &mut usize, at_b: &mut usize, end: usize| {
        while *at_a < end {
            pairs.push((Side::Equal, Some(*at_a), Some(*at_b)));
            (*at_a, *at_b) = (*at_a + 1, *at_b + 1);
        }
    };
    for hunk in diff.hunks() {
        equal(&mut pairs, &mut at_a, &mut at_b, hunk.before.start as usize);
        let (end_a, end_b) = (hunk.before.end as usize, hunk.after.end as usize);
        let mut rows_a = at_a..end_a;
        let mut rows_b = at_b..end_b;
        for (same_a, same_b) in same_mnemonics(&a[rows_a.clone()], &b[rows_b.clone()]) {
            let (same_a, same_b) = (at_a + same_a, at_b + same_b);
            pairs.extend((rows_a.start..same_a).map(|at| (Side::OnlyA, Some(at), None)));
            pairs.extend((rows_b.start..same_b).map(|at| (Side::OnlyB, None, Some(at))));
            pairs.push((Side::Changed, Some(same_a), Some(same_b)));
            (rows_a.start, rows_b.start) = (same_a + 1, same_b + 1);
        }
        pairs.extend(rows_a.map(|at| (Side::OnlyA, Some(at), None)));
        pairs.extend(rows_b.map(|at| (Side::OnlyB, None, Some(at))));
        (at_a, at_b) = (end_a, end_b);
    }
    equal(&mut pairs, &mut at_a, &mut at_b, a.len());
    hold_targets(&mut pairs, a, b);
    pairs
}

/// Which rows of a changed part have the same mnemonic, in order: the longest such list where the part is small, else those that
/// stand side by side.
fn same_mnemonics(a: &[Shaped], b: &[Shaped]) -> Vec<(usize, usize)> {
    let same = |at_a: usize, at_b: usize| a[at_a].mnemonic() == b[at_b].mnemonic();
    if a.len() > PART || b.len() > PART {
        return (0..a.len().min(b.len())).filter(|at| same(*at, *at)).map(|at| (at, at)).collect();
    }
    // The length of the longest list from each place on.
    let width = b.len() + 1;
    let mut longest = vec![0_u8; (a.len() + 1) * width];
    for at_a in (0..a.len()).rev() {
        for at_b in (0..b.len()).rev() {
            longest[at_a * width + at_b] = if same(at_a, at_b) {
                longest[(at_a + 1) * width + at_b + 1] + 1
            } else {
                longest[(at_a + 1) * width + at_b].max(longest[at_a * width + at_b + 1])
            };
        }
    }
    let (mut at_a, mut at_b, mut found) = (0, 0, Vec::new());
    while at_a < a.len() && at_b < b.len() {
        if same(at_a, at_b) {
            found.push((at_a, at_b));
            (at_a, at_b) = (at_a + 1, at_b + 1);
        } else if longest[(at_a + 1) * width + at_b] >= longest[at_a * width + at_b + 1] {
            at_a += 1;
        } else {
            at_b += 1;
        }
    }
    found
}

/// Rows that lead to places in their own body say the same only where those places are aligned with each other.
fn hold_targets(pairs: &mut [Pair], a: &[Shaped], b: &[Shaped]) {
    let mut aligned: BTreeMap<u64, u64> = BTreeMap::new();
    for (_, at_a, at_b) in pairs.iter() {
        if let (Some(at_a), Some(at_b)) = (at_a, at_b) {
            aligned.insert(a[*at_a].offset, b[*at_b].offset);
        }
    }
    // A place that isn't the start of a row is told by how far it is in its row.
    let start = |rows: &[Shaped], at: u64| {
        let before = rows.partition_point(|row| row.offset <= at).saturating_sub(1);
        rows.get(before).map(|row| (row.offset, at - row.offset.min(at)))
    };
    for (side, at_a, at_b) in pairs.iter_mut().filter(|pair| pair.0 == Side::Equal) {
        let (Some(at_a), Some(at_b)) = (*at_a, *at_b) else { continue };
        let (ours, theirs) = (&a[at_a].selfs, &b[at_b].selfs);
        let leads_alike = ours.iter().zip(theirs).all(|(ours, theirs)| {
            let (Some(ours), Some(theirs)) = (start(a, *ours), start(b, *theirs)) else { return false };
            // A row that was added or removed where a jump lands: the jump leads to other code.
            aligned.get(&ours.0) == Some(&theirs.0) && ours.1 == theirs.1
        });
        if !leads_alike {
            *side = Side::Changed;
        }
    }
}

#[cfg(test)]
mod tests {
    use elfscope_schema::Address;

    use super::*;

    fn shaped(lines: &[&str]) -> Vec<Shaped> {
        let rows: Vec<String> = lines
            .iter()
            .enumerate()
            .map(|(number, line)| {
                let (mnemonic, operands) = line.split_once(' ').unwrap_or((line, ""));
                format!("[{},\"90\",\"{mnemonic}\",\"{operands}\"]", number * 4)
            })
            .collect();
        let page = format!("{{\"runs\":[{{\"rows\":[{}]}}]}}", rows.join(","));
        let key = FunctionKey { address: Address::virt(0x1000), size: 0x100_0000 };
        rows_of(page.as_bytes(), key).unwrap()
    }

    fn sides(a: &[&str], b: &[&str]) -> String {
        let letters = align(&shaped(a), &shaped(b)).into_iter().map(|(side, ..)| match side {
            Side::Equal => '=',
            Side::Changed => '~',
            Side::OnlyA => '-',
            Side::OnlyB => '+',
        });
        letters.collect()
    }

    #[test]
    fn rows_are_aligned() {
        for (a, b, expected) in [
            (&["push %rbp", "ret"][..], &["push %rbp", "ret"][..], "=="),
            (&["push %rbp", "ret"], &["push %rbp", "nop", "ret"], "=+="),
            (&["push %rbp", "nop", "ret"], &["push %rbp", "ret"], "=-="),
            (&["mov $1, %eax", "ret"], &["mov $2, %eax", "ret"], "~="),
            (&["a", "mov $1", "x", "z"], &["a", "y", "mov $2", "z"], "=+~-="),
            // The jump leads over what was added, to the same row; then to another.
            (&["je 0x1008", "nop", "ret"], &["je 0x100c", "nop", "inc", "ret"], "==+="),
            (&["je 0x1008", "nop", "ret"], &["je 0x1004", "nop", "ret"], "~=="),
            (&[], &["ret"], "+"),
            (&[], &[], ""),
        ] {
            assert_eq!(sides(a, b), expected, "{a:?} {b:?}");
        }
    }

    #[test]
    fn every_row_is_in_one_pair() {
        let line = |number: u32| match number.wrapping_mul(2_654_435_761) >> 29 {
            0 => "mov $1".to_owned(),
            1 => format!("add ${number}"),
            2 => "ret".to_owned(),
            other => format!("op{other}"),
        };
        let a: Vec<String> = (0..3000).map(line).collect();
        let b: Vec<String> = (100..3100).filter(|number| number % 7 != 0).map(line).collect();
        let (a, b): (Vec<&str>, Vec<&str>) =
            (a.iter().map(String::as_str).collect(), b.iter().map(String::as_str).collect());
        let pairs = align(&shaped(&a), &shaped(&b));
        let all_a: Vec<usize> = pairs.iter().filter_map(|pair| pair.1).collect();
        let all_b: Vec<usize> = pairs.iter().filter_map(|pair| pair.2).collect();
        assert!(all_a.iter().copied().eq(0..a.len()) && all_b.iter().copied().eq(0..b.len()));
        let shown = shown(&pairs, Some(2));
        assert!(shown.is_sorted_by(|a, b| a < b) && shown.len() < pairs.len());
    }

    #[test]
    fn a_hundred_thousand_rows_without_anything_in_common_are_no_work() {
        let a: Vec<String> = (0..100_000).map(|number| format!("op ${number}")).collect();
        let b: Vec<String> = (0..100_000).rev().map(|number| format!("op ${number}")).collect();
        let (a, b): (Vec<&str>, Vec<&str>) =
            (a.iter().map(String::as_str).collect(), b.iter().map(String::as_str).collect());
        assert!(align(&shaped(&a), &shaped(&b)).len() >= 100_000);
    }
}
