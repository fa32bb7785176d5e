//! The digests of a body: algorithm 1 of [`Digests`].

use std::fmt::Write as _;

use elfscope_schema::{Address, BodyDigest, BodyKind, Digests, EdgeClass, Name};
use sha2::{Digest as _, Sha256};

use super::Telling;
use crate::{
    bodies::Body,
    disasm::Points,
    elf::Symbol,
    resolve::{Meaning, Resolved, Resolver, Usage},
};

/// Collects what the fields of a body refer to.
pub(super) struct Builder {
    masked: Vec<u8>,
    lines: String,
    unknown: u32,
}

impl Builder {
    pub(super) fn new(code: &[u8]) -> Self {
        Self { masked: code.to_vec(), lines: String::new(), unknown: 0 }
    }

    /// Adds one unit.
    pub(super) fn add(
        &mut self,
        resolver: &Resolver<'_, '_>,
        index: u32,
        telling: &Telling<'_>,
        resolved: Option<&Resolved>,
    ) {
        let start = telling.unit.offset as usize;
        let field = telling.facts.field;
        if let Some(field) = field {
            let from = start + usize::from(field.at);
            for (byte, mask) in self.masked[from..].iter_mut().zip(field.mask) {
                *byte &= !mask;
            }
        }
        let body = &resolver.bodies.all()[index as usize];
        // In a file that is loaded at its own addresses an immediate may be one: then it isn't known what it refers to.
        if telling.may_hold_address {
            self.is_unknown();
        }
        if let Some(relocated) = &telling.relocated {
            if field.is_none() {
                let from = (relocated.first.place.offset - body.start.offset) as usize;
                let end = (from + 4).min(start + usize::from(telling.unit.size));
                self.masked[from..end].fill(0);
            }
            if relocated.half {
                return;
            }
            match relocated.symbol.map(|symbol| &resolver.elf.symbols[symbol as usize]) {
                Some(symbol) => match resolver.place_of(symbol) {
                    Some(place) => {
                        self.place(
                            resolver,
                            body,
                            place.plus(relocated.distance as u64),
                            telling.usage(true),
                        );
                    }
                    None => self.import(symbol),
                },
                None => self.is_unknown(),
            }
            return;
        }
        match field.map(|field| field.points) {
            None | Some(Points::Half) => {}
            Some(Points::Unknown) => self.is_unknown(),
            Some(Points::At(address)) => {
                let address = Address { section: body.start.section, offset: address };
                if let Some(symbol) = resolved.and_then(|resolved| resolved.import) {
                    self.import(&resolver.elf.symbols[symbol as usize]);
                } else if let Some(callee) = resolved
                    .filter(|resolved| resolved.class == EdgeClass::Ifunc)
                    .and_then(|resolved| resolved.body)
                {
                    self.function(resolver, &resolver.bodies.all()[callee as usize], 0);
                } else {
                    let taken = telling.facts.refer.is_some_and(|refer| refer.taken);
                    self.place(resolver, body, address, telling.usage(taken));
                }
            }
        }
    }

    pub(super) fn finish(self) -> Digests {
        let shape = truncated(Sha256::digest(&self.masked).into());
        let mut hash = Sha256::new();
        hash.update(b"elfscope-body-1\n");
        hash.update(shape.as_bytes());
        hash.update(self.lines.as_bytes());
        Digests { algorithm: 1, body: truncated(hash.finalize().into()), shape, unknown: self.unknown }
    }

    fn place(&mut self, resolver: &Resolver<'_, '_>, own: &Body, address: Address, usage: Usage) {
        match resolver.meaning(address, usage) {
            Meaning::Import(symbol) => self.import(&resolver.elf.symbols[symbol as usize]),
            Meaning::Ifunc(index) => self.function(resolver, &resolver.bodies.all()[index as usize], 0),
            Meaning::Pointer(held) => match resolver.bodies.find_at(held) {
                Some(index) => {
                    let body = &resolver.bodies.all()[index as usize];
                    self.function(resolver, body, held.offset - body.start.offset);
                }
                None => self.is_unknown(),
            },
            Meaning::Body(index, offset) => {
                let body = &resolver.bodies.all()[index as usize];
                if body.start == own.start {
                    let _ = writeln!(self.lines, "self {offset:x}");
                } else {
                    self.function(resolver, body, offset);
                }
            }
            Meaning::Text(text) => {
                let digest = elfscope_schema::lookup::string_digest(text.as_bytes());
                let _ = writeln!(self.lines, "string {digest}");
            }
            Meaning::Object(..) | Meaning::Data => self.is_unknown(),
        }
    }

    fn function(&mut self, resolver: &Resolver<'_, '_>, body: &Body, offset: u64) {
        match resolver.names_of(body).first() {
            Some(name) if body.kind != BodyKind::Gap => {
                let version = name.version.map_or("-".into(), String::from_utf8_lossy);
                let _ = writeln!(self.lines, "function {} {version} +{offset:x}", escaped(name.name));
            }
            _ => self.is_unknown(),
        }
    }

    fn import(&mut self, symbol: &Symbol<'_>) {
        let version = symbol.version.map_or("-".into(), String::from_utf8_lossy);
        let _ = writeln!(self.lines, "import {} {version}", escaped(symbol.name));
    }

    fn is_unknown(&mut self) {
        self.unknown += 1;
        self.lines.push_str("unknown\n");
    }
}

/// A name that can't make a line look like another: as documents tell it, control characters escaped.
fn escaped(name: &[u8]) -> String {
    match Name::from_bytes(name) {
        Name::Text(text) if text.bytes().all(|byte| byte > b' ' && byte != 0x7f) => text,
        _ => format!("hex:{}", elfscope_schema::hex::encode(name)),
    }
}

fn truncated(digest: [u8; 32]) -> BodyDigest {
    BodyDigest::truncated(&digest)
}
