//! What an address or slot means: the class of an edge, the referent of an operand.
//!
//! The only place that decides either, so that rows, edges, callers, data and digests can't disagree.

use std::ops::Range;

use elfscope_schema::{
    Address, BodyKind, EdgeClass, EdgeKind, EdgeTarget, Name, Referent, ReferentKind, limits as format,
};

use crate::{
    bodies::{Bodies, Body},
    disasm::{Family, Leads},
    dwarf::Function,
    elf::{Elf, Symbol},
    limits,
    names::{CodeNames, PlaceName, place_of},
    slots::{Content, Slots},
    strings,
};

/// Everything that is known of a file before its bodies are told.
pub(crate) struct Resolver<'elf, 'data> {
    /// The file.
    pub(crate) elf: &'elf Elf<'data>,
    /// The names of its code.
    pub(crate) code: &'elf CodeNames<'data>,
    /// The names of its data.
    pub(crate) data: &'elf CodeNames<'data>,
    /// For each name of data, how far all names up to it reach: for finding the object around an address.
    reach: Vec<Address>,
    /// Its bodies.
    pub(crate) bodies: &'elf Bodies,
    /// Its slots.
    pub(crate) slots: Slots<'elf, 'data>,
    /// The addresses of a file that is loaded at its own ones; none of any other.
    pub(crate) fixed: Option<Range<u64>>,
    /// The other bodies of each body's subprogram, as pairs of indices in both directions, sorted.
    pub(crate) parts: Vec<(u32, u32)>,
}

/// Where control goes, resolved.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    /// Its class.
    pub(crate) class: EdgeClass,
    /// Its target, as documents tell it.
    pub(crate) target: Option<EdgeTarget>,
    /// The body that it is a caller of.
    pub(crate) body: Option<u32>,
    /// The symbol (index among the file's) that it is a caller of.
    pub(crate) import: Option<u32>,
}

/// How an operand uses an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    /// It makes the address itself; what it points to may be text.
    Taken,
    /// It makes the address of a table that it then loads from, by an index.
    Table,
    /// It reads or writes there.
    Accessed,
}

/// What an address means to an operand.
pub(crate) enum Meaning<'a, 'data> {
    /// The stub or slot of a symbol (its index among the file's).
    Import(u32),
    /// The slot of what this resolver body returns.
    Ifunc(u32),
    /// A slot that holds this address for good.
    Pointer(Address),
    /// A place in a body, and how far inside.
    Body(u32, u64),
    /// A place in an object, and how far inside.
    Object(&'a PlaceName<'data>, u64),
    /// Text up to a NUL.
    Text(&'data str),
    /// Anything else.
    Data,
}

impl<'elf, 'data> Resolver<'elf, 'data> {
    /// A resolver over what was found in a file.
    pub(crate) fn new(
        elf: &'elf Elf<'data>,
        code: &'elf CodeNames<'data>,
        data: &'elf CodeNames<'data>,
        bodies: &'elf Bodies,
        functions: &[Function<'_>],
        family: Option<&'static dyn Family>,
    ) -> Self {
        let mut furthest = Address::virt(0);
        let reach = data.all().iter().map(|name| {
            furthest = furthest.max(name.address.plus(name.size.min(u64::MAX - name.address.offset)));
            furthest
        });
        let reach = reach.collect();
        let parts = find_parts(code, bodies, functions);
        let regions = elf.image.regions();
        let ends = regions.first().zip(regions.last()).filter(|_| elf.elf_type == object::elf::ET_EXEC.0);
        let fixed = ends.map(|(first, last)| first.start.offset..last.start.offset.saturating_add(last.size));
        Self { elf, code, data, reach, bodies, slots: Slots::of(elf, family), fixed, parts }
    }

    /// The names of a body, the one to show first at first.
    pub(crate) fn names_of(&self, body: &Body) -> &[PlaceName<'data>] {
        self.code.slice(&body.names)
    }

    /// The name that listings show of a body.
    pub(crate) fn shown_name(&self, body: &Body) -> Option<Name> {
        self.names_of(body).first().map(|name| Name::from_bytes(name.name))
    }

    /// The place that a symbol of this file names.
    pub(crate) fn place_of(&self, symbol: &Symbol<'_>) -> Option<Address> {
        place_of(self.elf, symbol)
    }

    /// Where control goes that leaves body `from` for an address; `None` for what is not an edge: a jump within the
    /// function's own parts. A stub is looked through to what it leads to.
    pub(crate) fn control(&self, from: u32, kind: EdgeKind, address: Address) -> Option<Resolved> {
        let stub = self.bodies.find_at(address).filter(|index| kind == EdgeKind::Call || *index != from);
        let body = stub.map(|index| &self.bodies.all()[index as usize]).filter(|body| body.start == address);
        if let Some((body, leads)) = body.and_then(|body| Some((body, body.leads?))) {
            let through = match leads {
                Leads::Slot(slot) => self.through_slot(from, kind, Address::virt(slot)),
                Leads::Lazy(entry) => {
                    self.slots.find_lazy(entry).and_then(|slot| self.through_slot(from, kind, slot))
                }
                // A veneer that leads to a veneer is no linker's; it could be a ring.
                Leads::Address(target) if target != address.offset => {
                    let target = Address { section: address.section, offset: target };
                    let beyond = self.bodies.find_at(target).map(|index| &self.bodies.all()[index as usize]);
                    beyond.filter(|body| body.leads.is_none()).and_then(|_| self.land(from, kind, target))
                }
                Leads::Address(_) | Leads::Header | Leads::Unknown => None,
            };
            if let Some(mut through) = through {
                if let Some(target) = &mut through.target {
                    target.stub = Some(body.key());
                }
                return Some(through);
            }
        }
        self.land(from, kind, address)
    }

    /// As [`Self::control`], without looking through a stub: what a stub leads to isn't looked through again, since a file
    /// may make a ring of them.
    fn land(&self, from: u32, kind: EdgeKind, address: Address) -> Option<Resolved> {
        let unresolved = Resolved {
            class: EdgeClass::InternalUnresolved,
            target: Some(EdgeTarget { address: Some(address), ..EdgeTarget::default() }),
            body: None,
            import: None,
        };
        let Some(index) = self.bodies.find_at(address) else { return Some(unresolved) };
        let body = &self.bodies.all()[index as usize];
        if kind != EdgeKind::Call && (index == from || self.parts.binary_search(&(from, index)).is_ok()) {
            return None;
        }
        let exact = address == body.start;
        if body.kind == BodyKind::Gap {
            return Some(unresolved);
        }
        if exact && self.names_of(body).iter().any(|name| is_retpoline(name.name)) {
            return Some(Resolved { class: EdgeClass::Indirect, target: None, body: None, import: None });
        }
        let class = match (exact, body.kind, kind) {
            (false, ..) => EdgeClass::IntoBody,
            (true, BodyKind::Ifunc, _) => EdgeClass::Ifunc,
            (true, _, EdgeKind::Call) => EdgeClass::Direct,
            (true, ..) => EdgeClass::Tail,
        };
        Some(Resolved { class, target: Some(self.target_in(body, address)), body: Some(index), import: None })
    }

    /// Where control goes through a slot, where that is known; `None` where it is not.
    pub(crate) fn through_slot(&self, from: u32, kind: EdgeKind, slot: Address) -> Option<Resolved> {
        let mut resolved = match self.slots.find_fixed(slot)? {
            Content::Symbol(symbol) => self.import(symbol),
            Content::Ifunc(resolver) => {
                let mut resolved = self.land(from, EdgeKind::Call, resolver)?;
                resolved.class = EdgeClass::Ifunc;
                resolved
            }
            Content::Address(address) => self.land(from, kind, address)?,
        };
        if let Some(target) = &mut resolved.target {
            target.slot = Some(slot);
        }
        Some(resolved)
    }

    /// Where control goes that a relocation sends to symbol + `distance`.
    pub(crate) fn by_relocation(
        &self,
        from: u32,
        kind: EdgeKind,
        symbol: u32,
        distance: i64,
    ) -> Option<Resolved> {
        let entry = self.elf.symbols.get(symbol as usize)?;
        match self.place_of(entry) {
            Some(place) => self.control(from, kind, place.plus(distance as u64)),
            None => Some(self.import(symbol)),
        }
    }

    /// A reference to an imported symbol. One that this file itself defines as a GNU_IFUNC is known to go through its
    /// resolver.
    fn import(&self, symbol: u32) -> Resolved {
        let entry = &self.elf.symbols[symbol as usize];
        let own = self.place_of(entry).filter(|_| entry.kind.is_ifunc());
        if let Some(index) = own.and_then(|place| self.bodies.find_at(place)) {
            let body = &self.bodies.all()[index as usize];
            let target = self.target_in(body, body.start);
            return Resolved {
                class: EdgeClass::Ifunc,
                target: Some(target),
                body: Some(index),
                import: None,
            };
        }
        let target = EdgeTarget {
            names: vec![Name::from_bytes(entry.name)],
            version: entry.version.map(Name::from_bytes),
            library: entry.library.map(Name::from_bytes),
            ..EdgeTarget::default()
        };
        Resolved { class: EdgeClass::Import, target: Some(target), body: None, import: Some(symbol) }
    }

    fn target_in(&self, body: &Body, address: Address) -> EdgeTarget {
        let offset = address.offset.wrapping_sub(body.start.offset);
        EdgeTarget {
            address: Some(address),
            key: Some(body.key()),
            names: self
                .names_of(body)
                .iter()
                .take(format::EDGE_NAMES)
                .map(|name| Name::from_bytes(name.name))
                .collect(),
            offset: (offset != 0).then_some(offset),
            ..EdgeTarget::default()
        }
    }

    /// What an address means to an operand that computes or accesses it.
    pub(crate) fn meaning(&self, address: Address, usage: Usage) -> Meaning<'_, 'data> {
        let object = self.find_object(address);
        // An object of no size (`_GLOBAL_OFFSET_TABLE_`) names a place and not what stands there.
        if let Some(object) = object.filter(|object| object.size > 0) {
            return Meaning::Object(object, address.offset - object.address.offset);
        }
        match self.slots.find(address) {
            Some(Content::Symbol(symbol)) => return Meaning::Import(symbol),
            Some(Content::Ifunc(resolver)) => {
                if let Some(index) = self.bodies.find_at(resolver) {
                    return Meaning::Ifunc(index);
                }
            }
            Some(Content::Address(held)) if usage == Usage::Accessed && self.elf.image.is_relro(address) => {
                return Meaning::Pointer(held);
            }
            _ => {}
        }
        if let Some(index) = self.bodies.find_at(address) {
            let body = &self.bodies.all()[index as usize];
            let stub =
                || self.control(u32::MAX, EdgeKind::Call, address).filter(|_| body.kind == BodyKind::Stub);
            if let Some(symbol) = stub().and_then(|resolved| resolved.import) {
                return Meaning::Import(symbol);
            }
            if body.kind != BodyKind::Gap {
                return Meaning::Body(index, address.offset - body.start.offset);
            }
        }
        if let Some(object) = object {
            return Meaning::Object(object, 0);
        }
        let text = match usage {
            Usage::Taken => strings::find_at(self.elf, address),
            Usage::Table | Usage::Accessed => None,
        };
        text.map_or(Meaning::Data, Meaning::Text)
    }

    /// What an operand refers to that computes or accesses an address.
    pub(crate) fn referent(&self, address: Address, usage: Usage) -> Referent {
        let at = |kind, name: Option<Name>, offset: u64| Referent {
            address: Some(address),
            cut: false,
            kind,
            name,
            offset: (offset != 0).then_some(offset),
            text: None,
            version: None,
        };
        let data = || {
            let section = self.elf.image.find_region(address).and_then(|region| region.name);
            at(ReferentKind::Data, section.map(Name::from_bytes), 0)
        };
        match self.meaning(address, usage) {
            Meaning::Import(symbol) => {
                Referent { address: Some(address), ..self.imported(&self.elf.symbols[symbol as usize]) }
            }
            Meaning::Ifunc(index) => {
                at(ReferentKind::Ifunc, self.shown_name(&self.bodies.all()[index as usize]), 0)
            }
            Meaning::Pointer(held) => {
                self.referent_name(held).map_or_else(data, |name| at(ReferentKind::Pointer, Some(name), 0))
            }
            Meaning::Body(index, offset) => {
                at(ReferentKind::Function, self.shown_name(&self.bodies.all()[index as usize]), offset)
            }
            Meaning::Object(object, offset) => {
                at(ReferentKind::Object, Some(Name::from_bytes(object.name)), offset)
            }
            Meaning::Text(text) => {
                let (start, cut) = strings::start(text, format::ROW_TEXT);
                Referent { text: Some(start.to_owned()), cut, ..at(ReferentKind::String, None, 0) }
            }
            Meaning::Data => data(),
        }
    }

    /// A symbol that another file provides, as a referent.
    pub(crate) fn imported(&self, symbol: &Symbol<'_>) -> Referent {
        Referent {
            address: None,
            cut: false,
            kind: ReferentKind::Import,
            name: Some(Name::from_bytes(symbol.name)),
            offset: None,
            text: None,
            version: symbol.version.map(Name::from_bytes),
        }
    }

    /// The function or object that starts at an address exactly.
    fn referent_name(&self, address: Address) -> Option<Name> {
        let body = self.bodies.find_at(address).map(|index| &self.bodies.all()[index as usize]);
        let function = body.filter(|body| body.start == address).and_then(|body| self.shown_name(body));
        function.or_else(|| {
            let object = self.find_object(address).filter(|object| object.address == address)?;
            Some(Name::from_bytes(object.name))
        })
    }

    /// The object around an address: the last that starts at or before it and reaches past it, or starts at it.
    pub(crate) fn find_object(&self, address: Address) -> Option<&PlaceName<'data>> {
        let all = self.data.all();
        let after = all.partition_point(|name| name.address <= address);
        let mut index = after;
        // Back over what starts earlier, while anything before still reaches this far: rarely more than one step.
        for _ in 0..64 {
            index = index.checked_sub(1)?;
            let name = &all[index];
            let inside = name.address.section == address.section
                && (name.address == address || address.offset - name.address.offset < name.size);
            if inside {
                // The first of the names of one place is the one to show.
                let first = self.data.find_at(name.address).start as usize;
                return Some(&all[first]);
            }
            if self.reach[index] <= address {
                return None;
            }
        }
        None
    }
}

/// Whether a name is one that compilers give to the thunks that stand for indirect branches (gcc's
/// `-mindirect-branch=thunk`, clang's `-mretpoline`): what is called is in a register.
fn is_retpoline(name: &[u8]) -> bool {
    const THUNKS: [&[u8]; 4] = [
        b"__x86_indirect_thunk_",
        b"__x86_indirect_call_thunk_",
        b"__x86_indirect_jump_thunk_",
        b"__llvm_retpoline_",
    ];
    THUNKS.iter().any(|thunk| name.starts_with(thunk))
}

/// Pairs of bodies that are parts of one subprogram: gcc's `name.cold` beside the one body that is called `name`.
fn find_parts(code: &CodeNames<'_>, bodies: &Bodies, functions: &[Function<'_>]) -> Vec<(u32, u32)> {
    let mut by_name: Vec<(&[u8], u32)> = Vec::new();
    let mut cold: Vec<(&[u8], u32)> = Vec::new();
    for (index, body) in (0u32..).zip(bodies.all()) {
        for name in code.slice(&body.names) {
            by_name.push((name.name, index));
            let end = name.name.windows(5).rposition(|window| window == b".cold");
            if let Some(end) = end
                && end > 0
                && name.name[end + 5..].iter().all(|byte| *byte == b'.' || byte.is_ascii_digit())
            {
                cold.push((&name.name[..end], index));
            }
        }
    }
    by_name.sort_unstable();
    by_name.dedup();
    cold.sort_unstable();
    let unique = |list: &[(&[u8], u32)], name: &[u8]| {
        let first = list.partition_point(|(other, _)| *other < name);
        let same: Vec<u32> =
            list[first..].iter().take_while(|(other, _)| *other == name).map(|(_, index)| *index).collect();
        // Two static functions of one name: nothing here says whose part it is.
        match same[..] {
            [index] => Some(index),
            _ => None,
        }
    };
    let mut pairs = Vec::new();
    for (name, _) in &cold {
        if let (Some(hot), Some(cold)) = (unique(&by_name, name), unique(&cold, name))
            && hot != cold
        {
            pairs.extend([(hot, cold), (cold, hot)]);
        }
    }
    // The ranges of one subprogram, where each is a body of its own.
    for function in functions.iter().filter(|function| function.ranges.len() > 1) {
        let starts = function.ranges.iter().take(limits::PARTS).map(|(start, _)| Address::virt(*start));
        let starting = starts.filter_map(|start| {
            let index = bodies.find_at(start)?;
            (bodies.all()[index as usize].start == start).then_some(index)
        });
        let parts: Vec<u32> = starting.collect();
        for one in &parts {
            pairs.extend(parts.iter().filter(|other| *other != one).map(|other| (*one, *other)));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
