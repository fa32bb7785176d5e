//! Which unit has an address.
//!
//! A unit's own entry is to say where its code is (DWARF 5, section 3.1.1), but in DWARF 2 it can give one range only: strict
//! producers leave out what they put into other sections. So what the units' own ranges leave open goes to whom
//! `.debug_aranges` (section 6.1.2) gives it, then to the unit that has a function there, then to one that has lines there and
//! says nothing of itself: other units' lines reach over the padding between functions. Of several that claim an address in
//! the same way the first has it.

use std::iter;

use super::{
    CodeRanges,
    file::{Files, UnitId},
    spans::{Flat, Span},
};
use crate::diagnostics::Diagnostics;

/// What units claim.
pub(super) struct Claims {
    own: Claim,
    functions: Claim,
    lines: Claim,
    most: u64,
}

/// What all units claim in one way.
struct Claim {
    spans: Vec<Span>,
    /// How many more there may be.
    left: u64,
}

/// What one unit claims.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    /// By its own entry.
    pub(super) own: Vec<(u64, u64)>,
    /// By its functions, beside that.
    pub(super) functions: Vec<(u64, u64)>,
    /// By its lines, where its own entry says nothing.
    pub(super) lines: Vec<(u64, u64)>,
}

impl Ranges {
    /// Adds what a unit's functions, and where it says nothing itself its lines, have beside that.
    pub(super) fn complete(
        &mut self,
        functions: impl Iterator<Item = (u64, u64)>,
        lines: impl Iterator<Item = (u64, u64)>,
    ) {
        let own: Vec<Span> = self.own.iter().map(|&(start, end)| Span { start, end, owner: 0 }).collect();
        let own = Flat::of(&own);
        let says = !self.own.is_empty();
        // A unit that says where it is would say so of address 0, too: linkers put it for what they leave out.
        let is_open = |range: &(u64, u64)| !(own.covers(*range) || (says && range.0 == 0));
        self.functions = functions.filter(is_open).collect();
        self.lines = lines.filter(|_| !says).collect();
    }
}

impl Claims {
    /// Each byte of code is the first of a range of a unit at most once where they are true.
    pub(super) fn new(code: &CodeRanges, units: usize) -> Self {
        let most = code.bytes() + units as u64;
        Self { own: Claim::new(most), functions: Claim::new(most), lines: Claim::new(most), most }
    }

    /// Adds the next unit's. Returns whether there was room for all of it.
    pub(super) fn add(&mut self, unit: usize, ranges: &Ranges) -> bool {
        let owner = owner(unit);
        let mut fit = true;
        for (all, some) in [
            (&mut self.own, &ranges.own),
            (&mut self.functions, &ranges.functions),
            (&mut self.lines, &ranges.lines),
        ] {
            fit &= some.iter().all(|&(start, end)| all.push(Span { start, end, owner }));
        }
        fit
    }

    /// Who has which address. `units` are those whose claims were added.
    pub(super) fn settle(
        self,
        files: &Files<'_>,
        units: &[UnitId],
        code: &CodeRanges,
        diagnostics: &mut Diagnostics,
    ) -> Flat {
        let own = Flat::of(&self.own.spans);
        let mut listed = Claim::new(self.most);
        let mut fit = true;
        let mut headers = files.main().dwarf.debug_aranges.headers();
        for header in iter::from_fn(|| headers.next().transpose()) {
            let header = match header {
                Ok(header) => header,
                Err(error) => {
                    let message = format!("it breaks off ({error}): what follows is lost");
                    diagnostics.add("debug-aranges-unreadable", b".debug_aranges", message);
                    break;
                }
            };
            let Some(unit) = find(files, units, header.debug_info_offset().0) else { continue };
            for entry in header.entries().flatten() {
                let (start, end) = (entry.range().begin, entry.range().end);
                // Linkers put 0 for what they leave out.
                if start > 0 && start < end && code.has(start) && !own.covers((start, end)) {
                    fit &= listed.push(Span { start, end, owner: owner(unit) });
                }
            }
        }
        if !fit {
            let message = "it has more ranges than the file has code: what is beyond is lost";
            diagnostics.add("debug-aranges-too-large", b".debug_aranges", message);
        }
        let rest = [listed, self.functions, self.lines];
        rest.iter().fold(own, |flat, claim| flat.or(&Flat::of(&claim.spans)))
    }
}

impl Claim {
    fn new(left: u64) -> Self {
        Self { spans: Vec::new(), left }
    }

    fn push(&mut self, span: Span) -> bool {
        let fits = self.left > 0;
        if fits {
            self.left -= 1;
            self.spans.push(span);
        }
        fits
    }
}

/// The owner of a unit's spans: the first unit is the greatest.
fn owner(unit: usize) -> u32 {
    u32::MAX - u32::try_from(unit).unwrap_or(u32::MAX)
}

/// The unit at an offset of `.debug_info`.
fn find(files: &Files<'_>, units: &[UnitId], offset: usize) -> Option<usize> {
    let all = &files.main().units;
    let number = all.binary_search_by_key(&offset, |(start, _)| *start).ok()?;
    units.binary_search_by_key(&number, |id| id.number as usize).ok()
}
