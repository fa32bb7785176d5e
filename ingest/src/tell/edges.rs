//! The edges of a body: which rows control leaves from, and where to.

use elfscope_schema::{Address, BodyKind, Edge, EdgeClass, EdgeKind};

use super::{CallSite, Class, Teller, Telling};
use crate::{
    bodies::Body,
    disasm::{Facts, Family, Flow, Target, Unit},
    resolve::Resolved,
};

impl Teller<'_, '_, '_> {
    /// The edge that a unit makes, if any, and what it resolves to.
    pub(super) fn edges_of(
        &self,
        from: u32,
        telling: &Telling<'_>,
        edges: &mut Vec<Edge>,
        calls: &mut Vec<CallSite>,
    ) -> Option<Resolved> {
        let (kind, target, conditional) = match telling.facts.flow {
            Flow::Call(target) => (EdgeKind::Call, target, false),
            Flow::Jump { target, conditional } => (EdgeKind::Jump, target, conditional),
            Flow::Next | Flow::Return | Flow::Stop | Flow::System => return None,
        };
        let section = self.resolver.bodies.all()[from as usize].start.section;
        let (symbol, distance) =
            telling.relocated.as_ref().map_or((None, 0), |relocated| (relocated.symbol, relocated.distance));
        let resolved = match (target, symbol) {
            (Target::Address(_) | Target::Slot(_), Some(symbol)) => {
                Some(self.resolver.by_relocation(from, kind, symbol, distance)?)
            }
            (Target::Address(address), None) => {
                Some(self.resolver.control(from, kind, Address { section, offset: address })?)
            }
            (Target::Slot(slot), None) => {
                self.resolver.through_slot(from, kind, Address { section, offset: slot })
            }
            (Target::Computed { .. }, _) => None,
        };
        let switch = kind == EdgeKind::Jump && matches!(target, Target::Computed { switch: true });
        self.push_edge(telling.unit.offset, kind, conditional, switch, resolved.clone(), edges, calls);
        resolved
    }

    #[expect(clippy::too_many_arguments, reason = "one edge is this much")]
    fn push_edge(
        &self,
        row: u32,
        kind: EdgeKind,
        conditional: bool,
        switch: bool,
        resolved: Option<Resolved>,
        edges: &mut Vec<Edge>,
        calls: &mut Vec<CallSite>,
    ) {
        let Some(resolved) = resolved else {
            edges.push(Edge { class: EdgeClass::Indirect, conditional, kind, row, switch, target: None });
            return;
        };
        if let Some(class) = Class::of(&resolved.class) {
            let offset = resolved.target.as_ref().and_then(|target| target.offset).unwrap_or(0);
            let (body, import) = (resolved.body, resolved.import);
            calls.push(CallSite { body, import, row, offset, class, kind, conditional });
        }
        edges.push(Edge { class: resolved.class, conditional, kind, row, switch, target: resolved.target });
    }

    /// The edge of a body whose last row goes on into what follows, over padding where there is some. A call at the end
    /// never does: compilers end a function with a call that doesn't return; nor does a call of the system (`exit`).
    pub(super) fn fall_through(
        &self,
        index: u32,
        units: &[Unit],
        facts: &[Facts],
        family: &'static dyn Family,
        edges: &mut Vec<Edge>,
        calls: &mut Vec<CallSite>,
    ) {
        let body = &self.resolver.bodies.all()[index as usize];
        let Some(unit) = units.last() else { return };
        // What decides is the last unit that does something: padding at the end is just passed, or not reached.
        let code = self.code_of(body);
        let does_nothing = |unit: &&Unit| {
            let bytes = code.get(unit.offset as usize..).and_then(|rest| rest.get(..usize::from(unit.size)));
            unit.decoded && bytes.is_some_and(|bytes| family.is_padding(bytes))
        };
        let padding = units.iter().rev().take_while(does_nothing).count();
        let Some(last) = facts[..facts.len() - padding].last() else { return };
        let goes_on = matches!(last.flow, Flow::Next | Flow::Jump { conditional: true, .. });
        if !goes_on || !unit.decoded || !is_reached(body, units, facts, self.code_of(body), family) {
            return;
        }
        let all = self.resolver.bodies.all();
        let next_to = |before: &Body, at: usize| {
            all.get(at).filter(|next| next.start == before.end() && next.region == before.region)
        };
        let Some(mut follows) = next_to(body, index as usize + 1) else { return };
        if follows.kind == BodyKind::Gap && family.is_padding(self.code_of(follows)) {
            let Some(beyond) = next_to(follows, index as usize + 2) else { return };
            follows = beyond;
        }
        if follows.kind == BodyKind::Stub {
            return;
        }
        let end = follows.start;
        if let Some(mut resolved) = self.resolver.control(index, EdgeKind::Fallthrough, end) {
            if resolved.class == EdgeClass::Ifunc {
                resolved.class = EdgeClass::Tail;
            }
            self.push_edge(unit.offset, EdgeKind::Fallthrough, false, false, Some(resolved), edges, calls);
        }
    }
}

/// Whether control can reach the last unit from the one before: padding after a return or jump is not reached. Where an
/// indirect jump may go anywhere, all but padding counts as reached.
fn is_reached(body: &Body, units: &[Unit], facts: &[Facts], code: &[u8], family: &dyn Family) -> bool {
    let start = body.start.offset;
    let mut landings: Vec<u64> = Vec::new();
    let mut anywhere = false;
    for facts in facts {
        match facts.flow {
            Flow::Jump { target: Target::Address(target), .. } => landings.push(target.wrapping_sub(start)),
            Flow::Jump { target: Target::Computed { .. }, .. } => anywhere = true,
            _ => {}
        }
    }
    landings.sort_unstable();
    let ends = |facts: &Facts| {
        matches!(facts.flow, Flow::Return | Flow::Stop | Flow::Jump { conditional: false, .. })
    };
    let Some(last) = facts.iter().rposition(ends) else { return true };
    let after = &units[last + 1..];
    let landed = after.iter().any(|unit| landings.binary_search(&u64::from(unit.offset)).is_ok());
    let rest = after.first().and_then(|unit| code.get(unit.offset as usize..)).unwrap_or_default();
    landed || (anywhere && !family.is_padding(rest))
}
