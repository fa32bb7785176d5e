//! Addresses in AArch64 registers, followed through objdump's text: objdump prints the page of an `adrp` and doesn't add
//! the rest to it.
//!
//! One pass in address order: what is known at a place is what is the same on every way there from above. What comes
//! there from below is left out, so this is a second opinion, not a proof.

use std::collections::BTreeMap;

use super::{Machine, objdump::Instruction, readelf::hex};

/// The address in each of x0 to x30, where it is known.
type State = [Option<u64>; 31];

/// What is known at the current line of a body.
#[derive(Default)]
pub(super) struct Registers {
    /// None after a line that never goes on to the next.
    now: Option<State>,
    /// What jumps that were passed bring to lines that are still to come.
    below: BTreeMap<u64, State>,
}

impl Registers {
    /// The start of a body: nothing is known.
    pub(super) fn start() -> Self {
        Self { now: Some(State::default()), below: BTreeMap::new() }
    }

    /// Comes to a line.
    pub(super) fn arrive(&mut self, address: u64) {
        let Some(brought) = self.below.remove(&address) else { return };
        self.now = Some(self.now.map_or(brought, |now| meet(&now, &brought)));
    }

    /// The address that an instruction makes or reads: `add x0, x1, #0x1a8`, `ldr x0, [x1, #424]`.
    pub(super) fn place(&self, line: &Instruction) -> Option<u64> {
        let (_, rest) = line.operands.split_once(", ")?;
        let (base, rest) = rest.trim_start_matches('[').split_once([',', ']']).unwrap_or((rest, ""));
        let base = self.now?[number(base)?]?;
        let offset = match rest.split_once('#') {
            // `, lsl #12`
            Some((before, _)) if before.contains("lsl") => return None,
            Some((_, offset)) => parse(offset.split([',', ']', ' ']).next()?)?,
            None if rest.is_empty() || rest.starts_with(']') => 0,
            None => return None,
        };
        Some(base.wrapping_add(offset))
    }

    /// Goes past one line.
    pub(super) fn follow(&mut self, line: &Instruction) {
        if let (Some(target), Some(now)) = (line.target(Machine::Aarch64), self.now)
            && line.mnemonic != "bl"
        {
            let brought = self.below.get(&target).map_or(now, |other| meet(other, &now));
            self.below.insert(target, brought);
        }
        let (place, mnemonic) = (self.place(line), &*line.mnemonic);
        let Some(now) = &mut self.now else { return };
        match mnemonic {
            "b" | "br" | "ret" | "brk" | "udf" => {
                self.now = None;
                return;
            }
            "bl" | "blr" => {
                // A call keeps only x19 to x29.
                now[..19].fill(None);
                now[30] = None;
                return;
            }
            _ if keeps_registers(mnemonic) => return,
            _ => {}
        }
        let mut words = line.operands.split(", ");
        let Some(to) = words.next().and_then(number) else { return };
        let second = words.next().unwrap_or_default();
        now[to] = match mnemonic {
            "adrp" | "adr" => line.place(Machine::Aarch64),
            "add" => place,
            "mov" => number(second).and_then(|from| now[from]),
            _ => None,
        };
        if mnemonic.starts_with("ldp")
            && let Some(to) = number(second)
        {
            now[to] = None;
        }
    }
}

/// What two ways to one place agree on.
fn meet(one: &State, other: &State) -> State {
    std::array::from_fn(|number| one[number].filter(|value| other[number] == Some(*value)))
}

/// Stores, compares and conditional branches; `stxr` writes its status.
fn keeps_registers(mnemonic: &str) -> bool {
    let kept = ["st", "b.", "bc.", "cb", "tb", "cmp", "cmn", "tst", "ccmp", "ccmn", "prfm", "nop"];
    kept.iter().any(|start| mnemonic.starts_with(start))
        && !mnemonic.starts_with("stx")
        && !mnemonic.starts_with("stlx")
}

/// The number of `x12` or `w12`.
fn number(name: &str) -> Option<usize> {
    name.trim().strip_prefix(['x', 'w'])?.parse().ok().filter(|number| *number < 31)
}

fn parse(text: &str) -> Option<u64> {
    match text.strip_prefix('-') {
        Some(positive) => parse(positive).map(u64::wrapping_neg),
        None => text.strip_prefix("0x").map_or_else(|| text.parse().ok(), hex),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_are_followed() {
        let line = |mnemonic: &str, operands: &str| Instruction {
            address: 0,
            mnemonic: mnemonic.into(),
            operands: operands.into(),
        };
        let mut registers = Registers::start();
        registers.follow(&line("adrp", "x1, 1a3000 <a>"));
        registers.follow(&line("str", "x1, [sp, #16]"));
        registers.follow(&line("add", "x19, x1, #0x10"));
        assert_eq!(registers.place(&line("add", "x0, x19, #0x8")), Some(0x1a3018));
        assert_eq!(registers.place(&line("ldr", "x0, [x1, #-16]")), Some(0x1a2ff0));
        assert_eq!(registers.place(&line("ldr", "x0, [x1]")), Some(0x1a3000));
        assert_eq!(registers.place(&line("ldr", "x0, [x1, x2]")), None);
        registers.follow(&line("cbz", "x2, 40 <a>"));
        registers.follow(&line("bl", "26a4c <b>"));
        assert_eq!(registers.place(&line("ldr", "x0, [x1]")), None);
        assert_eq!(registers.place(&line("ldr", "x0, [x19]")), Some(0x1a3010));
        registers.follow(&line("ret", ""));
        assert_eq!(registers.place(&line("ldr", "x0, [x19]")), None);
        registers.arrive(0x40);
        assert_eq!(registers.place(&line("ldr", "x0, [x1]")), Some(0x1a3000));
        registers.follow(&line("ldr", "x19, [x0]"));
        assert_eq!(registers.place(&line("ldr", "x0, [x19]")), None);
    }
}
