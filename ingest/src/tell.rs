//! One body, told: its rows, its edges, what it refers to, its digests, as pages.

mod cites;
mod digest;
mod edges;
mod pages;
mod places;
mod relocated;

use std::collections::BTreeSet;

use elfscope_schema::{
    Address, BodyKind, CitedFile, Declared, Digests, EdgeClass, EdgeKind, Notes, Referent, ReferentKind, Row,
    to_canonical,
};

use crate::{
    bodies::Body,
    disasm::{Facts, Family, Flow, Refer, Target, Unit, decode::Decoder},
    dwarf::Dwarf,
    landings::Landings,
    marks::Marks,
    resolve::{Resolved, Resolver, Usage},
};
pub(crate) use pages::Page;
use pages::{Content, Items};
use places::Places;
use relocated::Relocated;

/// What a body gave.
pub(crate) struct Told {
    /// Its pages.
    pub(crate) pages: Vec<Page>,
    /// Where its edges lead.
    pub(crate) calls: Vec<CallSite>,
    /// What its rows refer to.
    pub(crate) refs: Vec<RefSite>,
    /// Rows.
    pub(crate) rows: u64,
    /// Rows with a source line.
    pub(crate) rows_with_line: u64,
    /// Rows that the decoder doesn't know.
    pub(crate) undecoded: u64,
    /// The source files that its rows and inlined calls cite, as numbers among [`Dwarf::paths`].
    pub(crate) files: Vec<u32>,
    /// Edges by class.
    pub(crate) edges: Vec<EdgeClass>,
    /// Its digests.
    pub(crate) digests: Option<Digests>,
}

/// One edge, as callers need it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallSite {
    /// The body that it leads to.
    pub(crate) body: Option<u32>,
    /// The symbol that it leads to.
    pub(crate) import: Option<u32>,
    /// Offset of its row.
    pub(crate) row: u32,
    /// How far inside the target it lands.
    pub(crate) offset: u64,
    /// Its class.
    pub(crate) class: Class,
    /// How control leaves.
    pub(crate) kind: EdgeKind,
    /// Whether control may also go on.
    pub(crate) conditional: bool,
}

/// The classes that have callers, small enough to keep millions of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Direct,
    Tail,
    Import,
    Ifunc,
    IntoBody,
}

impl Class {
    fn of(class: &EdgeClass) -> Option<Self> {
        match class {
            EdgeClass::Direct => Some(Self::Direct),
            EdgeClass::Tail => Some(Self::Tail),
            EdgeClass::Import => Some(Self::Import),
            EdgeClass::Ifunc => Some(Self::Ifunc),
            EdgeClass::IntoBody => Some(Self::IntoBody),
            _ => None,
        }
    }

    /// As documents tell it.
    pub(crate) fn document(self) -> EdgeClass {
        match self {
            Self::Direct => EdgeClass::Direct,
            Self::Tail => EdgeClass::Tail,
            Self::Import => EdgeClass::Import,
            Self::Ifunc => EdgeClass::Ifunc,
            Self::IntoBody => EdgeClass::IntoBody,
        }
    }
}

/// One reference of a row to data, or to code whose address it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RefSite {
    /// What it refers to.
    pub(crate) to: Address,
    /// Offset of its row.
    pub(crate) row: u32,
    /// How it uses it.
    pub(crate) usage: Usage,
}

/// What telling a body needs beside its decoder.
pub(crate) struct Teller<'a, 'elf, 'data> {
    /// What is known of the file.
    pub(crate) resolver: &'a Resolver<'elf, 'data>,
    /// The machine.
    pub(crate) family: Option<&'static dyn Family>,
    /// Places at which control may arrive.
    pub(crate) landings: &'a Landings,
    /// Where data stands among code.
    pub(crate) marks: &'a Marks,
    /// What the debug data says, where there is any.
    pub(crate) dwarf: Option<&'a Dwarf<'data>>,
    /// The documents of the source files that it cites.
    pub(crate) cited: &'a [CitedFile],
}

/// A row that is being told.
struct Telling<'a> {
    unit: Unit,
    facts: Facts,
    relocated: Option<Relocated<'a>>,
    /// Whether the address that it makes is that of a table which the body then loads from.
    of_table: bool,
    /// Whether an immediate of it may be an address that nothing proves.
    may_hold_address: bool,
}

impl Telling<'_> {
    fn usage(&self, taken: bool) -> Usage {
        match (taken, self.of_table) {
            (true, false) => Usage::Taken,
            (true, true) => Usage::Table,
            (false, _) => Usage::Accessed,
        }
    }
}

impl Teller<'_, '_, '_> {
    /// Tells one body. `decoder` is none where the machine has none; then the body has no rows.
    pub(crate) fn tell(&self, index: u32, decoder: Option<&mut Decoder>) -> Told {
        let body = &self.resolver.bodies.all()[index as usize];
        let (Some(decoder), Some(family)) = (decoder, self.family) else {
            let (signature, declared) = self.declaration_of(body);
            let content = Content {
                rows: Items::default(),
                places: &Places::default(),
                edges: Items::default(),
                edge_rows: Vec::new(),
                digests: None,
                signature,
                declared,
            };
            return Told {
                pages: pages::write(self.resolver, index, content, self.cited),
                calls: Vec::new(),
                refs: Vec::new(),
                rows: 0,
                rows_with_line: 0,
                undecoded: 0,
                files: Vec::new(),
                edges: Vec::new(),
                digests: None,
            };
        };
        let code = self.code_of(body);
        let region = &self.resolver.elf.image.regions()[body.region as usize];
        decoder.decode(code, body.start.offset, &self.marks.data_in(region, body.start, body.size));
        let units = decoder.units();
        let landings = self.landings.find_in(body);
        let facts = family.facts(units, code, body.start.offset, landings.as_deref());

        let is_code = body.kind != BodyKind::Gap;
        let mut rows = Items::for_rows(units.len());
        let mut edges = Vec::new();
        let mut calls = Vec::new();
        let mut refs = Vec::new();
        let mut digest = digest::Builder::new(code);
        let tables = family.tables(units, code, &facts);
        let mut step = Step::default();
        for (position, (unit, facts)) in units.iter().zip(&facts).enumerate() {
            let in_step = step.next(unit, facts, body.start.offset);
            let telling = Telling {
                unit: *unit,
                facts: *facts,
                relocated: self.relocated(body, family, unit),
                of_table: tables.binary_search(&position).is_ok(),
                may_hold_address: !in_step || self.may_hold_address(family, unit, code),
            };
            let is_code = is_code && in_step;
            let resolved =
                if is_code { self.edges_of(index, &telling, &mut edges, &mut calls) } else { None };
            let to =
                if is_code { self.referent_of(body, &telling, resolved.as_ref(), &mut refs) } else { None };
            if body.kind != BodyKind::Gap {
                digest.add(self.resolver, index, &telling, resolved.as_ref());
            }
            let (mnemonic, operands) = decoder.text(position);
            let relocations = telling.relocated.map(|relocated| relocated.documents).unwrap_or_default();
            let notes = Notes { relocations, to };
            let bytes = &code[unit.offset as usize..][..usize::from(unit.size)];
            rows.push(|out| Row::write(out, unit.offset, bytes, mnemonic, operands, &notes));
        }
        if body.kind == BodyKind::Function || body.kind == BodyKind::Ifunc {
            self.fall_through(index, units, &facts, family, &mut edges, &mut calls);
        }
        // A gap is nobody's code: that two are alike says nothing.
        let digests = is_code.then(|| digest.finish());
        let mut written = Items::default();
        let mut from = Vec::with_capacity(edges.len());
        for edge in &edges {
            written.push(|out| out.extend_from_slice(to_canonical(edge).trim_ascii_end()));
            from.push(units.partition_point(|unit| unit.offset < edge.row));
        }
        let places =
            self.dwarf.map(|dwarf| Places::find(dwarf, body.start.offset, units)).unwrap_or_default();
        let (signature, declared) = self.declaration_of(body);
        let content = Content {
            rows,
            places: &places,
            edges: written,
            edge_rows: from,
            digests: digests.clone(),
            signature,
            declared,
        };
        Told {
            pages: pages::write(self.resolver, index, content, self.cited),
            calls,
            refs,
            rows: units.len() as u64,
            rows_with_line: places.with_line(),
            files: places.files,
            undecoded: units.iter().filter(|unit| !unit.decoded).count() as u64,
            edges: edges.into_iter().map(|edge| edge.class).collect(),
            digests,
        }
    }

    /// The signature of a function and where it is declared, where the debug data enters a subprogram at its start. Of several
    /// (folded functions) the one that has the body's first name, else the first.
    fn declaration_of(&self, body: &Body) -> (Option<String>, Option<Declared>) {
        let Some(dwarf) = self.dwarf.filter(|_| body.is_function()) else { return (None, None) };
        let functions = dwarf.find_functions(body.start.offset);
        let shown = self.resolver.names_of(body).first().map(|name| name.name);
        let named = functions.iter().find(|function| function.name.is_some() && function.name == shown);
        let Some(function) = named.or(functions.first()) else { return (None, None) };
        let declared = function.declared().and_then(|declared| {
            let file = self.cited.get(declared.path as usize)?;
            Some(Declared { file: file.path.clone(), line: declared.line })
        });
        (dwarf.signature(function), declared)
    }

    /// Whether a unit may hold an address that nothing proves to be one.
    fn may_hold_address(&self, family: &dyn Family, unit: &Unit, code: &[u8]) -> bool {
        let Some(image) = &self.resolver.fixed else { return false };
        let bytes = code.get(unit.offset as usize..).and_then(|rest| rest.get(..usize::from(unit.size)));
        !unit.decoded || bytes.is_some_and(|bytes| family.may_hold_address(bytes, image))
    }

    fn code_of(&self, body: &Body) -> &[u8] {
        let region = &self.resolver.elf.image.regions()[body.region as usize];
        let from = (body.start.offset - region.start.offset) as usize;
        &region.data[from..from + body.size as usize]
    }

    /// What a unit's operand refers to.
    fn referent_of(
        &self,
        body: &Body,
        telling: &Telling<'_>,
        resolved: Option<&Resolved>,
        refs: &mut Vec<RefSite>,
    ) -> Option<Referent> {
        let section = body.start.section;
        let row = telling.unit.offset;
        if let Some(resolved) = resolved.filter(|resolved| resolved.class != EdgeClass::Indirect) {
            return self.referent_of_edge(resolved);
        }
        if let Some(relocated) = telling.relocated.as_ref().filter(|relocated| relocated.refers) {
            let taken = telling.facts.refer.is_none_or(|refer| refer.taken);
            let symbol = &self.resolver.elf.symbols[relocated.symbol? as usize];
            let place = self.resolver.place_of(symbol).map(|place| place.plus(relocated.distance as u64));
            return match place {
                Some(place) => {
                    refs.push(RefSite { to: place, row, usage: telling.usage(taken) });
                    Some(self.resolver.referent(place, telling.usage(taken)))
                }
                None => Some(self.resolver.imported(symbol)),
            };
        }
        if telling.relocated.is_some() {
            return None;
        }
        let through = match telling.facts.flow {
            Flow::Call(Target::Slot(slot)) | Flow::Jump { target: Target::Slot(slot), .. } => {
                Some(Refer { address: slot, taken: false })
            }
            _ => None,
        };
        let refer = telling.facts.refer.or(through)?;
        let to = Address { section, offset: refer.address };
        // An address that is no place of the file (a null-based table, a distance): nothing to refer to.
        self.resolver.elf.image.find_region(to)?;
        refs.push(RefSite { to, row, usage: telling.usage(refer.taken) });
        Some(self.resolver.referent(to, telling.usage(refer.taken)))
    }

    fn referent_of_edge(&self, resolved: &Resolved) -> Option<Referent> {
        let target = resolved.target.as_ref()?;
        let kind = match resolved.class {
            EdgeClass::Import => ReferentKind::Import,
            EdgeClass::Ifunc => ReferentKind::Ifunc,
            EdgeClass::InternalUnresolved => {
                let section = self.resolver.elf.image.find_region(target.address?)?.name?;
                return Some(Referent {
                    address: target.address,
                    cut: false,
                    kind: ReferentKind::Data,
                    name: Some(elfscope_schema::Name::from_bytes(section)),
                    offset: None,
                    text: None,
                    version: None,
                });
            }
            _ => ReferentKind::Function,
        };
        Some(Referent {
            address: target.address.or_else(|| target.stub.map(|stub| stub.address)).or(target.slot),
            cut: false,
            kind,
            name: target.names.first().cloned(),
            offset: target.offset,
            text: None,
            version: target.version.clone(),
        })
    }
}

/// Whether the decoder is in step with the code. On a machine whose units differ in size, what follows bytes that it
/// doesn't know may start in the middle of a unit: nothing is concluded from it until a place that a branch leads to.
#[derive(Default)]
struct Step {
    lost: bool,
    landings: BTreeSet<u64>,
}

impl Step {
    fn next(&mut self, unit: &Unit, facts: &Facts, start: u64) -> bool {
        if !unit.decoded {
            // Units of one size can't be out of step; nor can bytes that a mapping symbol says to be data.
            self.lost |= unit.size == 1;
        } else if self.landings.contains(&u64::from(unit.offset)) {
            self.lost = false;
        }
        if let (false, Flow::Jump { target: Target::Address(target), .. }) = (self.lost, facts.flow) {
            self.landings.insert(target.wrapping_sub(start));
        }
        !self.lost
    }
}
