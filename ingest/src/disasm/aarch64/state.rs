//! What is known of the general registers at one place of a body.

use super::writes::ALL;

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// The page of an address: the result of the `adrp` that is this unit.
    Page {
        /// Address of the page.
        address: u64,
        /// Which unit of the body it is.
        unit: u32,
    },
    /// An address.
    Address(u64),
    /// A word loaded from this address.
    Loaded(u64),
}

/// The registers' values.
#[derive(Clone, Debug)]
pub(super) struct State {
    values: [Value; 31],
    /// Bit n: `values[n]` holds.
    known: u32,
    /// Bit n: xn was last written by a sum of registers or a load from an indexed place.
    computed: u32,
    /// Whether x30 was last written by a load from the stack: only an epilogue does that.
    pub(super) unwound: bool,
}

impl State {
    /// Nothing is known.
    pub(super) const NOTHING: Self =
        Self { values: [Value::Address(0); 31], known: 0, computed: 0, unwound: false };

    /// The value of a register, if it is known. That of register 31 never is.
    pub(super) fn value(&self, register: u32) -> Option<Value> {
        if self.known >> register & 1 == 1 { self.values.get(register as usize).copied() } else { None }
    }

    /// The register now holds this.
    pub(super) fn set(&mut self, register: u32, value: Value) {
        self.forget(1 << register);
        if let Some(place) = self.values.get_mut(register as usize) {
            *place = value;
            self.known |= 1 << register;
        }
    }

    /// Whether the register holds what a switch computes before its jump.
    pub(super) fn is_computed(&self, register: u32) -> bool {
        self.computed >> register & 1 == 1
    }

    /// The register now holds what a switch computes before its jump.
    pub(super) fn set_computed(&mut self, register: u32) {
        self.computed |= 1 << register;
    }

    /// These registers now hold something else.
    pub(super) fn forget(&mut self, registers: u32) {
        self.known &= !registers;
        self.computed &= !registers;
        self.unwound &= registers >> 30 & 1 == 0;
    }

    /// The register now holds something else, of the same origin (an authenticated address).
    pub(super) fn forget_value(&mut self, register: u32) {
        self.known &= !(1 << register);
    }

    /// Every register now holds something else.
    pub(super) fn forget_all(&mut self) {
        self.forget(ALL);
    }

    /// Keeps what both say. Returns whether that is less than before.
    pub(super) fn meet(&mut self, other: &Self) -> bool {
        let mut known = self.known & other.known;
        let mut changed = false;
        let mut rest = known;
        while rest != 0 {
            let n = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            match (&mut self.values[n], other.values[n]) {
                // The same page from two `adrp`: what completes it is told for the first of them.
                (Value::Page { address, unit }, Value::Page { address: same, unit: second })
                    if *address == same =>
                {
                    changed |= second < *unit;
                    *unit = second.min(*unit);
                }
                (mine, theirs) if *mine == theirs => {}
                _ => known &= !(1 << n),
            }
        }
        let computed = self.computed & other.computed;
        let unwound = self.unwound & other.unwound;
        changed |= known != self.known || computed != self.computed || unwound != self.unwound;
        self.known = known;
        self.computed = computed;
        self.unwound = unwound;
        changed
    }
}
