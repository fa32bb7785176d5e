//! Following registers through a body, for the addresses that AArch64 puts together from two units.
//!
//! **What counts as proven.** A register's value is the page of an `adrp`, an address made from one, or a word loaded from
//! a known place. It counts where every way to that place gives it:
//! - Where ways meet (at targets of the body's own direct jumps), what all of them agree on is kept.
//! - Where control may arrive in a way that isn't seen (the body's start, the landings that the caller names, every `bti`,
//!   targets of the body's own calls, what follows an end without being jumped to), nothing is known.
//! - A register is forgotten when anything writes it ([`writes`](super::writes)), all of them at bytes that are no
//!   instruction; a call or `svc` takes x0 to x18 and x30.
//!
//! **Where landings stay unknown** only pairs are told, and everything is forgotten at calls too (which may not return, so
//! that the next unit is another way's). That is so where the caller doesn't know the landings, where bytes are no
//! instruction (it may be a branch this decoder doesn't know), and where an indirect jump may go anywhere in the body: one
//! whose target isn't known, unless the body has `bti j` (then its compiler marked each such place) or x30 was reloaded
//! from the stack before it (then the frame is gone, and it is a tail call). The pair stands even with a landing between
//! its halves: the low 12 bits of a symbol are good for nothing but its own page, so whatever leads there has put that
//! page into the register. What is then done with the whole address may follow from another way's, and isn't told.

use super::super::{Facts, Field, Flow, Points, Refer, Target, Unit};
use super::access::Access;
use super::body::Body;
use super::branch::Transfer;
use super::state::{State, Value};
use super::{bits, signed, writes};

/// The bits of an immediate that starts at bit 5 and has 19 bits.
const IMM19: u32 = 0x00ff_ffe0;
/// The bits of `adr` and `adrp`'s immediate.
const IMM21: u32 = 0x60ff_ffe0;
/// The bits of an unsigned 12-bit immediate.
const IMM12: u32 = 0x003f_fc00;

/// What each unit does; see [`Family::facts`](super::super::Family::facts).
pub(super) fn facts(units: &[Unit], code: &[u8], address: u64, landings: Option<&[u64]>) -> Vec<Facts> {
    let body = Body::new(units, code, address, landings.unwrap_or_default());
    let exact = landings.is_some() && !body.has_unknown;
    let mut walk = Walk::new(&body, exact);
    walk.run();
    if exact && walk.jumps_anywhere && !body.has_bti_jump {
        walk = Walk::new(&body, false);
        walk.run();
    }
    walk.finish()
}

/// Runs of units are walked until nothing less is known at the start of any. At first all that hasn't been seen to
/// contradict is believed, so what a run tells is final only when it has been walked for the last time.
struct Walk<'a> {
    body: &'a Body<'a>,
    /// Whether all landings are known.
    exact: bool,
    facts: Vec<Facts>,
    /// For each unit, the `adrp` whose page it makes whole.
    completes: Vec<Option<u32>>,
    /// At each leader, what the ways there that have been walked agree on.
    arriving: Vec<Option<State>>,
    /// One bit a leader whose run is to be walked.
    pending: Vec<u64>,
    /// Where the walk is.
    state: State,
    unit: usize,
    /// Whether there is a jump to an unknown place that may be in this body.
    jumps_anywhere: bool,
}

impl<'a> Walk<'a> {
    fn new(body: &'a Body<'a>, exact: bool) -> Self {
        let leaders = body.leaders.len();
        let mut walk = Self {
            body,
            exact,
            facts: vec![Facts::PLAIN; body.units.len()],
            completes: vec![None; body.units.len()],
            arriving: vec![None; leaders],
            pending: vec![0; leaders.div_ceil(64)],
            state: State::NOTHING,
            unit: 0,
            jumps_anywhere: false,
        };
        for leader in (0..leaders).filter(|&leader| body.open[leader]) {
            walk.arrive(leader, &State::NOTHING);
        }
        walk
    }

    fn run(&mut self) {
        let mut unseen = 0;
        loop {
            while let Some(word) = self.pending.iter().position(|&word| word != 0) {
                let bit = self.pending[word].trailing_zeros() as usize;
                self.pending[word] &= self.pending[word] - 1;
                self.run_from(word * 64 + bit);
            }
            // Jumped to only from runs that nothing is seen to lead to.
            while self.arriving.get(unseen).is_some_and(Option::is_some) {
                unseen += 1;
            }
            if unseen == self.arriving.len() {
                return;
            }
            self.arrive(unseen, &State::NOTHING);
        }
    }

    /// Another way to this leader.
    fn arrive(&mut self, leader: usize, state: &State) {
        let changed = match &mut self.arriving[leader] {
            Some(before) => before.meet(state),
            none => {
                *none = Some(state.clone());
                true
            }
        };
        if changed {
            self.pending[leader / 64] |= 1 << (leader % 64);
        }
    }

    /// Walks the run that begins at this leader.
    fn run_from(&mut self, leader: usize) {
        let body = self.body;
        let end = body.leaders.get(leader + 1).map_or(body.units.len(), |&next| next as usize);
        self.state.clone_from(self.arriving[leader].as_ref().unwrap_or(&State::NOTHING));
        let mut goes_on = true;
        for unit in body.leaders[leader] as usize..end {
            self.unit = unit;
            self.completes[unit] = None;
            let place = body.address.wrapping_add(unit as u64 * 4);
            self.facts[unit] = match body.word(unit) {
                Some(word) => match Transfer::parse(word) {
                    Some(transfer) => {
                        goes_on = transfer.goes_on();
                        self.transfer(transfer, place)
                    }
                    None => self.step(word, place),
                },
                None => {
                    self.state.forget_all();
                    Facts::PLAIN
                }
            };
        }
        if goes_on && end < body.units.len() {
            let state = std::mem::replace(&mut self.state, State::NOTHING);
            self.arrive(leader + 1, &state);
        }
    }

    /// The facts, once nothing changes any more.
    fn finish(mut self) -> Vec<Facts> {
        for unit in self.completes.into_iter().flatten() {
            if let Some(Field { points, .. }) = &mut self.facts[unit as usize].field {
                *points = Points::Half;
            }
        }
        self.facts
    }

    fn transfer(&mut self, transfer: Transfer, place: u64) -> Facts {
        let (flow, field) = match transfer {
            Transfer::Relative { distance, mask, link, conditional } => {
                let address = place.wrapping_add_signed(distance);
                let target = Target::Address(address);
                if !link && let Some(leader) = self.leader_by(distance) {
                    let state = self.state.clone();
                    self.arrive(leader, &state);
                }
                let flow = if link { Flow::Call(target) } else { Flow::Jump { target, conditional } };
                (flow, Some(field(mask, Points::At(address))))
            }
            Transfer::Register { register, link: true } => {
                (Flow::Call(self.target(register).unwrap_or(Target::Computed { switch: false })), None)
            }
            Transfer::Register { register, link: false } => {
                let target = self.target(register).unwrap_or_else(|| {
                    let unwound = self.state.unwound;
                    self.jumps_anywhere |= !unwound;
                    Target::Computed { switch: !unwound && self.state.is_computed(register) }
                });
                (Flow::Jump { target, conditional: false }, None)
            }
            Transfer::Return => (Flow::Return, None),
            Transfer::Stop => (Flow::Stop, None),
            Transfer::Supervisor => (Flow::System, None),
        };
        match flow {
            Flow::Call(_) | Flow::System if self.exact => self.state.forget(writes::BY_CALL),
            Flow::Call(_) | Flow::System => self.state.forget_all(),
            Flow::Jump { .. } | Flow::Return | Flow::Stop | Flow::Next => {}
        }
        Facts { flow, refer: None, field }
    }

    /// Where a branch to the register goes.
    fn target(&self, register: u32) -> Option<Target> {
        match self.state.value(register)? {
            Value::Page { address, .. } | Value::Address(address) => Some(Target::Address(address)),
            Value::Loaded(slot) => Some(Target::Slot(slot)),
        }
    }

    /// A word that goes on to the next one.
    fn step(&mut self, word: u32, place: u64) -> Facts {
        let rd = bits(word, 0, 5);
        let rn = bits(word, 5, 5);
        let refers = |address, taken| Some(Refer { address, taken });
        // `adr` and `adrp`.
        if word & 0x1f00_0000 == 0x1000_0000 {
            let distance = signed(word, 5, 19) << 2 | i64::from(bits(word, 29, 2));
            if word >> 31 == 0 {
                let address = place.wrapping_add_signed(distance);
                self.set(rd, Value::Address(address));
                let field = Some(field(IMM21, Points::At(address)));
                return Facts { flow: Flow::Next, refer: refers(address, true), field };
            }
            let address = (place & !0xfff).wrapping_add_signed(distance << 12);
            self.set(rd, Value::Page { address, unit: self.unit as u32 });
            return Facts { field: Some(field(IMM21, Points::Unknown)), ..Facts::PLAIN };
        }
        // `add xd, xn, #imm`.
        if word & 0xffc0_0000 == 0x9100_0000 {
            let Some((address, field)) = self.base(rn, i64::from(bits(word, 10, 12)), true) else {
                self.state.forget(1 << rd);
                return Facts::PLAIN;
            };
            self.set(rd, Value::Address(address));
            return Facts { flow: Flow::Next, refer: refers(address, true), field };
        }
        // `mov xd, xm`.
        if word & 0xffe0_ffe0 == 0xaa00_03e0 {
            let from = bits(word, 16, 5);
            let computed = self.state.is_computed(from);
            match self.state.value(from) {
                Some(value) => self.set(rd, value),
                None => self.state.forget(1 << rd),
            }
            if computed {
                self.state.set_computed(rd);
            }
            return Facts::PLAIN;
        }
        // Literals of `ldr`, `ldrsw` and `prfm`, into general or vector registers.
        if word & 0x3b00_0000 == 0x1800_0000 {
            let address = place.wrapping_add_signed(signed(word, 5, 19) << 2);
            self.state.forget(writes::written(word));
            if word >> 24 == 0x58 {
                self.set(rd, Value::Loaded(address));
            }
            let field = Some(field(IMM19, Points::At(address)));
            return Facts { flow: Flow::Next, refer: refers(address, false), field };
        }
        if let Some(access) = Access::parse(word) {
            let place = self.base(access.base, access.offset, access.low_half);
            self.state.forget(writes::written(word));
            if access.base == 31 && writes::written(word) >> 30 & 1 == 1 {
                self.state.unwound = true;
            }
            let Some((address, field)) = place else {
                return Facts::PLAIN;
            };
            for (register, slot) in access.loads.into_iter().zip([address, address.wrapping_add(8)]) {
                if let Some(register) = register {
                    self.set(register, Value::Loaded(slot));
                }
            }
            return Facts { flow: Flow::Next, refer: refers(address, false), field };
        }
        if let Some(register) = authenticated(word) {
            // The same word without its code, or one that no branch survives.
            if !matches!(self.state.value(register), Some(Value::Loaded(_))) {
                self.state.forget_value(register);
            }
            return Facts::PLAIN;
        }
        self.state.forget(writes::written(word));
        if is_computing(word) {
            self.state.set_computed(rd);
        }
        Facts::PLAIN
    }

    /// A base register's value plus an offset, and the field that the offset is. `low_half`: whether a linker may have
    /// put the low half of an address there.
    fn base(&mut self, register: u32, offset: i64, low_half: bool) -> Option<(u64, Option<Field>)> {
        match self.state.value(register)? {
            Value::Page { address, unit } if low_half => {
                self.completes[self.unit] = Some(unit);
                let whole = address.wrapping_add_signed(offset);
                Some((whole, Some(field(IMM12, Points::At(whole)))))
            }
            // No linker fills these offsets, so nothing but known values makes the place known.
            Value::Page { address, .. } if self.exact => Some((address.wrapping_add_signed(offset), None)),
            // An offset from a whole address is the compiler's: it stays when the code is linked elsewhere.
            Value::Address(address) => Some((address.wrapping_add_signed(offset), None)),
            Value::Page { .. } | Value::Loaded(_) => None,
        }
    }

    /// The register now holds this. Where landings are unknown, only pages outlast the unit that makes them.
    fn set(&mut self, register: u32, value: Value) {
        if self.exact || matches!(value, Value::Page { .. }) {
            self.state.set(register, value);
        } else {
            self.state.forget(1 << register);
        }
    }

    /// The leader at this distance in bytes from the current unit.
    fn leader_by(&self, distance: i64) -> Option<usize> {
        self.body.leader_at((self.unit as u64).wrapping_add_signed(distance / 4))
    }
}

/// `autia`, `autib`, with all that they may be short for: the register that is authenticated.
fn authenticated(word: u32) -> Option<u32> {
    match word {
        // `autia1716`, `autib1716`; `autiaz`, `autiasp`, `autibz`, `autibsp`.
        0xd503_219f | 0xd503_21df => Some(17),
        0xd503_239f | 0xd503_23bf | 0xd503_23df | 0xd503_23ff => Some(30),
        _ if word & 0xffff_d800 == 0xdac1_1000 => Some(bits(word, 0, 5)),
        _ => None,
    }
}

/// What compilers put before the `br` of a switch: `add` of registers (shifted or extended), or a load at a base plus an
/// index.
fn is_computing(word: u32) -> bool {
    word & 0xff20_0000 == 0x8b00_0000
        || word & 0xffe0_0000 == 0x8b20_0000
        || word & 0xffe0_0c00 == 0xf860_0800
}

/// A field of a word.
fn field(mask: u32, points: Points) -> Field {
    Field { at: 0, mask: mask.to_le_bytes(), points }
}
