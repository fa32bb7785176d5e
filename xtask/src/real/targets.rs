//! Every direct target equals objdump's: the row's operand, and the edge or the place in the same body.

use elfscope_schema::{EdgeClass, EdgeKind, Row};

use super::{
    Machine,
    listing::{Site, landing, told},
    readelf::hex,
    tally::Tally,
};
use crate::report::Report;

pub(super) struct Targets {
    machine: Machine,
    operands: Tally,
    calls: Tally,
    jumps: Tally,
    claimed: Tally,
    indirect: Tally,
    gaps: Tally,
}

impl Targets {
    pub(super) fn new(machine: Machine) -> Self {
        Self {
            machine,
            operands: Tally::new("targets: the operand is objdump's"),
            calls: Tally::new("targets: a call's edge lands there"),
            jumps: Tally::new("targets: a jump's edge lands there, or it stays inside"),
            claimed: Tally::new("targets: an edge without slot has objdump's target"),
            gaps: Tally::optional("targets: gaps claim no edge, they may be data"),
            indirect: Tally::new("targets: an indirect call or jump has an edge"),
        }
    }

    pub(super) fn check(&mut self, site: &Site) {
        let Some(oracle) = site.oracle else { return };
        let target = oracle.target(self.machine);
        let at = site.address;
        if let Some(target) = target {
            let ours = operand_target(site.row);
            self.operands
                .check(ours == Some(target), || format!("{at:x}: `{}`, not {target:x}", site.row.operands));
            if site.body.is_gap {
                self.gaps.check(site.edges.is_empty(), || {
                    format!("{at:x} in {}: {}", site.body.key, told(site.edges))
                });
                return;
            }
            let lands = site.edges.iter().any(|edge| landing(edge) == Some(target));
            let is_call = ["call", "bl"].contains(&&*oracle.mnemonic);
            // A jump may stay in its subprogram; a call never does, to its own entry included. The one that calls the
            // next row to learn where it is doesn't leave either.
            let stays = site.body.holds(target) && (!is_call || target == at + site.row.bytes.len() as u64);
            let tally = if is_call { &mut self.calls } else { &mut self.jumps };
            tally.check(lands || (stays && site.edges.is_empty()), || {
                format!("{at:x} in {}: {target:x} there, {} here", site.body.key, told(site.edges))
            });
        } else if !site.body.is_gap && is_indirect(&oracle.mnemonic, &oracle.operands, self.machine) {
            self.indirect.check(!site.edges.is_empty(), || {
                format!("{at:x} in {}: `{} {}` has no edge", site.body.key, oracle.mnemonic, oracle.operands)
            });
        }
        for edge in site.edges {
            let told_slot = edge.target.as_ref().is_some_and(|target| target.slot.is_some());
            let direct = edge.class != EdgeClass::Indirect && edge.kind != EdgeKind::Fallthrough;
            if direct && (target.is_some() || !told_slot) {
                self.claimed.check(target.is_some() && target == landing(edge), || {
                    format!(
                        "{at:x} in {}: {} here, {target:x?} there",
                        site.body.key,
                        told(std::slice::from_ref(edge))
                    )
                });
            }
        }
    }

    pub(super) fn finish(self, input: &str, report: &mut Report) {
        for tally in [self.operands, self.calls, self.jumps, self.claimed, self.indirect, self.gaps] {
            tally.finish(input, report);
        }
    }
}

/// The address that a branch's operands end in: `0x26a4c`, `#0x26a4c`, `w0, #3, #0x26b00`.
fn operand_target(row: &Row) -> Option<u64> {
    let last = row.operands.rsplit([',', ' ']).next()?;
    let number = last.trim_start_matches('#');
    number.strip_prefix("0x").map_or_else(|| number.parse().ok(), hex)
}

fn is_indirect(mnemonic: &str, operands: &str, machine: Machine) -> bool {
    match machine {
        Machine::X86_64 => {
            (mnemonic.starts_with("call") || mnemonic.starts_with("jmp")) && operands.starts_with('*')
        }
        Machine::Aarch64 => ["br", "blr"].iter().any(|name| mnemonic.starts_with(name)) && mnemonic != "brk",
    }
}
