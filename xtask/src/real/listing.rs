//! Rows against objdump, line by line: boundaries, bytes, targets, strings, imports.

use std::{collections::BTreeMap, path::Path};

use anyhow::Result;
use elfscope_schema::{BodyKind, Edge, EdgeClass, FunctionKey, FunctionPage, Row, hex};

use super::tally::Tally;
use super::{
    Machine,
    coverage::Coverage,
    edition::Edition,
    imports::Imports,
    objdump::{Instruction, Listing},
    readelf::Binary,
    strings::Strings,
    targets::Targets,
};
use crate::report::Report;

/// A row, the body it is in, and objdump's line of the same address.
pub(super) struct Site<'a> {
    pub(super) body: &'a Body,
    pub(super) row: &'a Row,
    pub(super) address: u64,
    /// The edges that leave from this row.
    pub(super) edges: &'a [Edge],
    /// None where objdump has no line that starts here.
    pub(super) oracle: Option<&'a Instruction>,
}

/// What is known of the body that rows are in.
pub(super) struct Body {
    pub(super) key: FunctionKey,
    pub(super) parts: Vec<FunctionKey>,
    pub(super) is_gap: bool,
}

impl Body {
    /// Whether an address is in it or in another part of the same subprogram.
    pub(super) fn holds(&self, address: u64) -> bool {
        std::iter::once(&self.key).chain(&self.parts).any(|key| {
            let start = key.address.offset;
            (start..start + key.size).contains(&address)
        })
    }
}

/// Compares every row of an edition with what objdump prints of the same file.
pub(super) fn compare(
    edition: &Edition,
    file: &Path,
    binary: &Binary,
    machine: Machine,
    input: &str,
    report: &mut Report,
) -> Result<()> {
    let mut oracle = Listing::of(file, machine)?;
    let mut coverage = Coverage::new(binary);
    let mut rows = Rows::new(machine);
    let mut targets = Targets::new(machine);
    let mut strings = Strings::new(machine, binary);
    let mut imports = Imports::read(file)?;
    let mut body = None;
    for page in edition.functions()? {
        let page = page?;
        coverage.page(&page);
        if page.page == 0 {
            let parts = page.head.as_ref().map_or_else(Vec::new, |head| head.parts.clone());
            let is_gap = page.head.as_ref().is_some_and(|head| head.kind == BodyKind::Gap);
            body = Some(Body { key: page.key, parts, is_gap });
            strings.start_of_body();
        }
        let Some(body) = &body else { continue };
        let edges = edges_by_row(&page);
        for row in page.runs.iter().flat_map(|run| &run.rows) {
            let address = page.key.address.offset + u64::from(row.offset);
            let taken = rows.meet(&mut oracle, row, address)?;
            let edges = edges.get(&row.offset).map_or(&[][..], Vec::as_slice);
            let site = Site { body, row, address, edges, oracle: taken.as_ref() };
            rows.check_bytes(&site, binary);
            targets.check(&site);
            strings.check(&site);
            imports.check(&site);
        }
    }
    rows.rest(&mut oracle)?;
    coverage.finish(input, report);
    rows.finish(input, report);
    targets.finish(input, report);
    strings.finish(input, report);
    imports.finish(edition, input, report)
}

fn edges_by_row(page: &FunctionPage) -> BTreeMap<u32, Vec<Edge>> {
    let mut edges: BTreeMap<u32, Vec<Edge>> = BTreeMap::new();
    for edge in &page.edges {
        edges.entry(edge.row).or_default().push(edge.clone());
    }
    edges
}

/// Boundaries and bytes.
struct Rows {
    machine: Machine,
    boundaries: Tally,
    bytes: Tally,
    decoded: Tally,
}

impl Rows {
    fn new(machine: Machine) -> Self {
        Self {
            machine,
            boundaries: Tally::new("rows: boundaries are objdump's"),
            bytes: Tally::new("rows: bytes are the file's"),
            decoded: Tally::new("rows: what objdump decodes is decoded"),
        }
    }

    /// Takes objdump's line at the address of a row, and counts those before it that start in no row.
    fn meet(&mut self, oracle: &mut Listing, row: &Row, address: u64) -> Result<Option<Instruction>> {
        while oracle.peek().is_some_and(|line| line.address < address) {
            let line = oracle.take()?;
            self.lone_line(line.as_ref());
        }
        let meets = oracle.peek().is_some_and(|line| line.address == address);
        let taken = if meets { oracle.take()? } else { None };
        // AArch64 has one width: a word of data that objdump prints as eight bytes is two rows here.
        if self.machine == Machine::X86_64 || taken.is_some() {
            self.boundaries.check(taken.is_some(), || {
                format!("{address:x}: `{} {}` here, nothing there", row.mnemonic, row.operands)
            });
        }
        if let Some(line) = taken.as_ref().filter(|line| line.is_known()) {
            self.decoded.check(row.mnemonic != ".byte", || {
                format!("{address:x}: .byte here, `{} {}` there", line.mnemonic, line.operands)
            });
        }
        Ok(taken)
    }

    fn lone_line(&mut self, line: Option<&Instruction>) {
        let Some(line) = line else { return };
        if self.machine == Machine::X86_64 || line.is_known() {
            self.boundaries.check(false, || {
                format!("{:x}: nothing here, `{} {}` there", line.address, line.mnemonic, line.operands)
            });
        }
    }

    fn rest(&mut self, oracle: &mut Listing) -> Result<()> {
        while let Some(line) = oracle.take()? {
            self.lone_line(Some(&line));
        }
        Ok(())
    }

    fn check_bytes(&mut self, site: &Site, binary: &Binary) {
        let same = binary.at(site.address).is_some_and(|bytes| bytes.starts_with(&site.row.bytes));
        self.bytes.check(same, || format!("{:x}: {} here", site.address, hex::encode(&site.row.bytes)));
    }

    fn finish(self, input: &str, report: &mut Report) {
        self.boundaries.finish(input, report);
        self.bytes.finish(input, report);
        self.decoded.finish(input, report);
    }
}

/// Where an edge lands first: on the stub that it goes through, else on its target.
pub(super) fn landing(edge: &Edge) -> Option<u64> {
    let target = edge.target.as_ref()?;
    let stub = target.stub.map(|stub| stub.address);
    let inside = || target.key.map(|key| key.address.plus(target.offset.unwrap_or(0)));
    stub.or(target.address).or_else(inside).map(|address| address.offset)
}

/// A row's class of edges in one word, for messages.
pub(super) fn told(edges: &[Edge]) -> String {
    let one = |edge: &Edge| match landing(edge) {
        Some(address) => format!("{} {address:x}", edge.class.name()),
        None => edge.class.name().to_owned(),
    };
    if edges.is_empty() { "no edge".to_owned() } else { edges.iter().map(one).collect::<Vec<_>>().join(", ") }
}

/// Whether an edge leads to another binary.
pub(super) fn is_import(edge: &Edge) -> bool {
    edge.class == EdgeClass::Import
}
