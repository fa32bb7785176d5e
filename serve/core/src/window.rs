//! Listing windows: some consecutive rows of a body, from a row or an address on.

use std::sync::Arc;

use elfscope_schema::{
    Address, Edge, Frame, FunctionEntry, FunctionKey, FunctionPage, Head, Row, Run, limits,
};
use serde::Serialize;

use crate::{Answer, Edition, Error, Request, Result, Store, functions::key_of};

mod places;

use places::{Known, PageNumbers};
pub use places::{LeftOut, StackLevel, WindowFile};

/// Most rows of one window.
pub const MOST_ROWS: u32 = crate::limits::ROWS;

pub(crate) const PACK: &str = "fn.jsonl.gz";

/// Where a window starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// At the row of this number, from 0.
    Row(u32),
    /// At the row that has this address, with so many rows before it.
    Address(Address, u32),
}

/// Some rows of a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Window {
    /// The body.
    pub key: FunctionKey,
    /// What is said of the whole body.
    pub head: Head,
    /// The number of the first row here.
    pub rows_from: u32,
    /// The rows, in runs of one claim about their source. Places name files and frames by their numbers here.
    pub runs: Vec<Run>,
    /// The source files that these rows cite, in the order in which they do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<WindowFile>,
    /// The frames that these rows stand in; a parent stands before its children.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frame>,
    /// The edges that leave from these rows.
    pub edges: Vec<Edge>,
    /// The number of the row that was asked for by address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<u32>,
    /// The number of the row after these; none at the body's end.
    pub next_row: Option<u32>,
}

impl Window {
    /// All rows, with their numbers.
    pub fn rows(&self) -> impl Iterator<Item = (u32, &Row)> {
        (self.rows_from..).zip(self.runs.iter().flat_map(|run| &run.rows))
    }

    /// How many rows there are here.
    #[must_use]
    pub fn len(&self) -> u32 {
        u32::try_from(self.rows().count()).unwrap_or(u32::MAX)
    }

    /// The rows from one on, at most so many of them; all else is as it is here.
    #[must_use]
    pub fn part(&self, from: u32, count: u32) -> Self {
        let mut part = Self { runs: Vec::new(), edges: Vec::new(), rows_from: from, ..self.clone() };
        let end = from.saturating_add(count);
        let mut number = self.rows_from;
        for run in &self.runs {
            let rows: Vec<Row> = (number..)
                .zip(&run.rows)
                .filter(|(number, _)| (from..end).contains(number))
                .map(|(_, row)| row.clone())
                .collect();
            number += u32::try_from(run.rows.len()).unwrap_or(u32::MAX);
            if !rows.is_empty() {
                part.runs.push(Run { at: run.at, rows });
            }
        }
        let offsets: Vec<u32> = part.rows().map(|(_, row)| row.offset).collect();
        if let (Some(first), Some(last)) = (offsets.first(), offsets.last()) {
            let edges = self.edges.iter().filter(|edge| (first..=last).contains(&&edge.row));
            part.edges = edges.cloned().collect();
        }
        let next = from.saturating_add(part.len());
        part.next_row = (next < self.head.rows_total).then_some(next);
        part.focus = self.focus.filter(|focus| (from..next).contains(focus));
        part
    }

    /// Whether there are none: a body whose machine has no decoder.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.iter().all(|run| run.rows.is_empty())
    }
}

impl<S: Store> Request<S> {
    /// A window of at most `count` rows. It may be shorter than asked for, where going on would pass what one request
    /// may read; `next_row` says where the next one starts.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a row or address that the body doesn't have, an archive that can't be read.
    pub async fn window(
        &mut self,
        edition: &Edition,
        entry: &FunctionEntry,
        from: From,
        count: u32,
    ) -> Result<Answer<Window>> {
        self.window_of(edition, entry, from, count.clamp(1, MOST_ROWS)).await
    }

    /// A window of as many rows as one request can read, at most `count`.
    pub(crate) async fn window_of(
        &mut self,
        edition: &Edition,
        entry: &FunctionEntry,
        from: From,
        count: u32,
    ) -> Result<Answer<Window>> {
        let key = key_of(entry);
        let first = self.function_page(edition, entry, 0).await?;
        let head = first.head.clone().ok_or_else(|| damaged(edition))?;
        let whole = Window {
            key,
            rows_from: 0,
            runs: Vec::new(),
            files: Vec::new(),
            frames: Vec::new(),
            edges: Vec::new(),
            focus: None,
            next_row: None,
            head,
        };
        let total = whole.head.rows_total;
        if total == 0 {
            return Ok(Answer::whole(edition, whole));
        }
        let (wanted, by_row) = match from {
            From::Row(row) if row < total => (u64::from(row), true),
            From::Row(row) => return Err(outside("row", &row.to_string(), &format!("0 to {}", total - 1))),
            From::Address(at, _) if at.section == key.address.section && key.address <= at => {
                (at.offset - key.address.offset, false)
            }
            From::Address(at, _) => return Err(outside("address", &at.to_string(), &key.to_string())),
        };
        if wanted >= key.size && !by_row {
            return Err(outside("address", &key.address.plus(wanted).to_string(), &key.to_string()));
        }
        let number = self.find_page(edition, entry, &first, total, wanted, by_row).await?;
        let mut page = self.function_page(edition, entry, number).await?;
        let mut window = whole;
        let mut start = match from {
            From::Row(row) => row,
            From::Address(_, before) => {
                let row = row_at(&page, wanted).ok_or_else(|| damaged(edition))?;
                window.focus = Some(row);
                row.saturating_sub(before)
            }
        };
        if start < page.rows_from {
            // Rows before the one asked for may stand on the page before; where there is no room for it, they are left out.
            if self.has_room(2, limits::PAGE) {
                page = self.function_page(edition, entry, page.page - 1).await?;
            }
            start = start.max(page.rows_from);
        }
        window.rows_from = start;
        let mut known = Known::default();
        loop {
            window
                .take(edition, &mut known, &page, start.saturating_add(count))
                .ok_or_else(|| damaged(edition))?;
            let end = start + window.len();
            window.next_row = (end < total).then_some(end);
            let next = page.page + 1;
            if end >= start.saturating_add(count) || next >= first.pages || !self.has_room(1, limits::PAGE) {
                break;
            }
            page = self.function_page(edition, entry, next).await?;
        }
        Ok(Answer::whole(edition, window))
    }

    /// A page of a body.
    pub(crate) async fn function_page(
        &mut self,
        edition: &Edition,
        entry: &FunctionEntry,
        page: u32,
    ) -> Result<Arc<FunctionPage>> {
        let ordinal = entry.2.checked_add(u64::from(page)).ok_or_else(|| damaged(edition))?;
        let found = self.member::<FunctionPage>(edition.folder(), PACK, ordinal).await?;
        let fits = |found: &Arc<FunctionPage>| found.key == key_of(entry) && found.page == page;
        found.filter(fits).ok_or_else(|| damaged(edition))
    }

    /// The page that has a row (by its number, or by its offset in the body). Every page holds its first row's number
    /// and offset, which are found without parsing it, so that a body of thousands of pages costs a few reads.
    async fn find_page(
        &mut self,
        edition: &Edition,
        entry: &FunctionEntry,
        first: &FunctionPage,
        total: u32,
        wanted: u64,
        by_row: bool,
    ) -> Result<u32> {
        let mut high = first.pages;
        let mut high_value = if by_row { u64::from(total) } else { entry.1 };
        let page_end = first.runs.iter().flat_map(|run| &run.rows).next_back().map(|row| {
            if by_row {
                u64::from(first.rows_from + page_rows(first))
            } else {
                u64::from(row.offset) + row.bytes.len() as u64
            }
        });
        let (mut low, mut low_value) = match page_end {
            Some(end) if wanted < end => return Ok(0),
            Some(end) if first.pages > 1 => (1, end),
            _ => return Err(damaged(edition)),
        };
        // Page `low` starts at the row or before it, page `high` behind it.
        let mut turn = false;
        while high - low > 1 {
            // Pages are about alike, so a proportion lands near; every other turn halves, so that none can go on for long.
            let span = u64::from(high - low);
            let part = match high_value.saturating_sub(low_value) {
                0 => 0,
                _ if turn => span / 2,
                range => u64::try_from(
                    u128::from(wanted.saturating_sub(low_value)) * u128::from(span) / u128::from(range),
                )
                .unwrap_or(0),
            };
            turn = !turn;
            let middle = low + u32::try_from(part.clamp(1, span - 1)).unwrap_or(1);
            let bytes = self.member_kept(edition.folder(), PACK, entry.2 + u64::from(middle)).await?;
            let start = bytes.as_deref().and_then(|bytes| page_start(bytes, by_row));
            let start = start.ok_or_else(|| damaged(edition))?;
            if start <= wanted {
                (low, low_value) = (middle, start);
            } else {
                (high, high_value) = (middle, start);
            }
        }
        Ok(low)
    }
}

impl Window {
    /// Adds a page's rows up to the row `end`, the edges that leave from them and the places they stand at. None where a
    /// place names what the page lacks.
    fn take(&mut self, edition: &Edition, known: &mut Known, page: &FunctionPage, end: u32) -> Option<()> {
        let mut numbers = PageNumbers::new(page);
        let have = self.rows_from + self.len();
        let mut number = page.rows_from;
        for run in &page.runs {
            let from = have.saturating_sub(number) as usize;
            let until = end.saturating_sub(number) as usize;
            number += u32::try_from(run.rows.len()).unwrap_or(u32::MAX);
            let until = until.min(run.rows.len());
            let Some(rows) = run.rows.get(from..until).filter(|rows| !rows.is_empty()) else { continue };
            let (start, last) = (rows[0].offset, rows[rows.len() - 1].offset);
            let at = match &run.at {
                Some(place) => Some(numbers.place(self, edition, known, place)?),
                None => None,
            };
            match self.runs.last_mut() {
                Some(before) if before.at == at => before.rows.extend_from_slice(rows),
                _ => self.runs.push(Run { at, rows: rows.to_vec() }),
            }
            self.edges.extend(page.edges.iter().filter(|edge| (start..=last).contains(&edge.row)).cloned());
        }
        Some(())
    }
}

fn page_rows(page: &FunctionPage) -> u32 {
    page.runs.iter().map(|run| u32::try_from(run.rows.len()).unwrap_or(u32::MAX)).sum()
}

/// The number of the row of a page that has the byte at this offset.
fn row_at(page: &FunctionPage, offset: u64) -> Option<u32> {
    let rows = page.runs.iter().flat_map(|run| &run.rows);
    let before = rows.take_while(|row| u64::from(row.offset) <= offset).count();
    page.rows_from.checked_add(u32::try_from(before.checked_sub(1)?).ok()?)
}

/// The number, or the offset, of a page's first row, out of its canonical bytes. Within a string of a document no quote
/// stands without a backslash before it, so these patterns are found where they are members and nowhere else.
fn page_start(bytes: &[u8], by_row: bool) -> Option<u64> {
    let pattern: &[u8] = if by_row { b",\"rows_from\":" } else { b"\"rows\":[[" };
    let at = bytes.windows(pattern.len()).position(|window| window == pattern)? + pattern.len();
    let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&bytes[at..at + digits]).ok()?.parse().ok()
}

fn outside(what: &'static str, given: &str, allowed: &str) -> Error {
    Error::OutOfRange { what, given: given.to_owned(), allowed: allowed.to_owned() }
}

fn damaged(edition: &Edition) -> Error {
    Error::Damaged {
        path: format!("{}/{PACK}", edition.folder()),
        expected: "the pages of the body that the look-up names, with the files and frames that their places name",
        source: None,
    }
}
