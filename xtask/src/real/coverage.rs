//! Every executable byte is in exactly one body.

use elfscope_schema::{FunctionKey, FunctionPage};

use super::{readelf::Binary, tally::Tally};
use crate::report::Report;

pub(super) struct Coverage<'a> {
    binary: &'a Binary,
    bodies: Vec<FunctionKey>,
    rows: Tally,
    /// Where the next row of the current body must start.
    expected: u64,
}

impl<'a> Coverage<'a> {
    pub(super) fn new(binary: &'a Binary) -> Self {
        Self {
            binary,
            bodies: Vec::new(),
            rows: Tally::new("bodies: rows cover each without a gap"),
            expected: 0,
        }
    }

    pub(super) fn page(&mut self, page: &FunctionPage) {
        if page.page == 0 {
            self.bodies.push(page.key);
            self.expected = 0;
        }
        for row in page.runs.iter().flat_map(|run| &run.rows) {
            if u64::from(row.offset) != self.expected {
                let expected = self.expected;
                self.rows
                    .check(false, || format!("{}: row at {:x}, not at {expected:x}", page.key, row.offset));
            }
            self.expected = u64::from(row.offset) + row.bytes.len() as u64;
        }
        if page.page + 1 == page.pages {
            let expected = self.expected;
            self.rows.check(expected == page.key.size, || format!("{}: rows end at {expected:x}", page.key));
        }
    }

    pub(super) fn finish(self, input: &str, report: &mut Report) {
        let mut sorted = Tally::new("bodies: sorted, none overlaps the next");
        for pair in self.bodies.windows(2) {
            let end = pair[0].address.offset + pair[0].size;
            sorted.check(end <= pair[1].address.offset, || format!("{} and {}", pair[0], pair[1]));
        }
        let mut bytes = Tally::new("bodies: every executable byte is in one (by section)");
        let code: Vec<_> = self.binary.sections.iter().filter(|section| section.is_code()).collect();
        let (mut inside, mut all) = (0, 0);
        for section in code {
            let range = section.address..section.address + section.size;
            let covered: u64 = self
                .bodies
                .iter()
                .filter(|body| range.contains(&body.address.offset))
                .map(|body| body.size.min(range.end.saturating_sub(body.address.offset)))
                .sum();
            let name = &section.name;
            bytes.check(covered == section.size, || format!("{name}: {covered} of {} bytes", section.size));
            inside += covered;
            all += section.size;
        }
        let total: u64 = self.bodies.iter().map(|body| body.size).sum();
        bytes.check(total == inside, || {
            format!("bodies have {total} bytes, {inside} of them in executable sections")
        });
        println!("  {} bodies, {inside} of {all} executable bytes", self.bodies.len());
        sorted.finish(input, report);
        bytes.finish(input, report);
        self.rows.finish(input, report);
    }
}
