//! A body cut where control may arrive.

use super::super::Unit;
use super::branch::{Transfer, is_bti, is_bti_jump};

/// A body, and the units in it where runs of units begin.
pub(super) struct Body<'a> {
    /// Its units; unit n is at `4 * n`.
    pub(super) units: &'a [Unit],
    code: &'a [u8],
    /// Address of the first unit.
    pub(super) address: u64,
    /// The units that begin a run, in order: the first unit, every place where control may arrive, and what follows a
    /// unit that doesn't go on.
    pub(super) leaders: Vec<u32>,
    /// For each leader, whether control may arrive there from more than the body's own direct jumps and the unit before.
    pub(super) open: Vec<bool>,
    /// Whether there are bytes that are no instruction.
    pub(super) has_unknown: bool,
    /// Whether there is a `bti j`.
    pub(super) has_bti_jump: bool,
}

impl<'a> Body<'a> {
    /// Finds the leaders. `landings` are addresses.
    pub(super) fn new(units: &'a [Unit], code: &'a [u8], address: u64, landings: &[u64]) -> Self {
        let mut body = Self {
            units,
            code,
            address,
            leaders: Vec::new(),
            open: Vec::new(),
            has_unknown: false,
            has_bti_jump: false,
        };
        let mut targets = Places::new(units.len());
        let mut open = Places::new(units.len());
        let mut after_end = Places::new(units.len());
        open.insert(0);
        for n in 0..units.len() {
            let Some(word) = body.word(n) else {
                body.has_unknown = true;
                continue;
            };
            if is_bti(word) {
                open.insert(n as u64);
                body.has_bti_jump |= is_bti_jump(word);
            }
            let Some(transfer) = Transfer::parse(word) else {
                continue;
            };
            if let Transfer::Relative { distance, link, .. } = transfer {
                let target = (n as u64).wrapping_add_signed(distance / 4);
                // What a callee is given isn't followed.
                if link { open.insert(target) } else { targets.insert(target) }
            }
            if !transfer.goes_on() {
                after_end.insert(n as u64 + 1);
            }
        }
        for landing in landings {
            open.insert(landing.wrapping_sub(address) / 4);
        }
        for n in 0..targets.0.len() {
            let mut leaders = targets.0[n] | open.0[n] | after_end.0[n];
            // What follows an end and isn't jumped to is reached by a way that isn't seen, or not at all.
            let opens = open.0[n] | after_end.0[n] & !targets.0[n];
            while leaders != 0 {
                let bit = leaders.trailing_zeros();
                leaders &= leaders - 1;
                body.leaders.push(n as u32 * 64 + bit);
                body.open.push(opens >> bit & 1 == 1);
            }
        }
        body
    }

    /// The word of a unit, where the decoder knows it.
    pub(super) fn word(&self, n: usize) -> Option<u32> {
        let unit = self.units[n];
        let bytes = self.code.get(n * 4..)?.first_chunk()?;
        (unit.decoded && unit.size == 4 && unit.offset as usize == n * 4).then(|| u32::from_le_bytes(*bytes))
    }

    /// The leader that this unit is.
    pub(super) fn leader_at(&self, unit: u64) -> Option<usize> {
        self.leaders.binary_search(&u32::try_from(unit).ok()?).ok()
    }
}

/// A set of units.
struct Places(Vec<u64>, usize);

impl Places {
    fn new(units: usize) -> Self {
        Self(vec![0; units.div_ceil(64)], units)
    }

    fn insert(&mut self, unit: u64) {
        if unit < self.1 as u64 {
            self.0[unit as usize / 64] |= 1 << (unit % 64);
        }
    }
}
