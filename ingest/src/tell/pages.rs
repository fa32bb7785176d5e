//! A body's pages: cut at [`limits::PAGE_ITEMS`] rows or [`limits::PAGE`] bytes, written and deflated.

use std::ops::Range;

use elfscope_schema::{
    BodyKind, Digests, EdgeTarget, FunctionName, FunctionPage, Head, Name, documents::schema, limits,
    to_canonical,
};
use serde::Serialize;

use crate::{archive::deflate_member, disasm::Leads, resolve::Resolver};

/// One document of a pack: its canonical text and the gzip member that holds it.
pub(crate) struct Page {
    /// The text.
    pub(crate) text: Vec<u8>,
    /// The member.
    pub(crate) member: Vec<u8>,
}

/// What a page without items, and all commas and numbers that grow with it, may take.
const FRAME: usize = 600;
/// What the names may take of the head's page.
const HEAD_NAMES: usize = 24 * 1024;

/// Items of a list as JSON, one after the other.
#[derive(Default)]
pub(super) struct Items {
    json: Vec<u8>,
    ends: Vec<usize>,
}

impl Items {
    /// Room for so many rows.
    pub(super) fn for_rows(rows: usize) -> Self {
        Self { json: Vec::with_capacity(rows * 64), ends: Vec::with_capacity(rows) }
    }

    /// Appends what `write` writes as one item, with a comma after it.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.json);
        self.json.push(b',');
        self.ends.push(self.json.len());
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of some of them, commas included.
    fn bytes(&self, items: &Range<usize>) -> usize {
        self.start(items.end) - self.start(items.start)
    }

    /// The JSON of some of them, with commas between.
    fn slice(&self, items: &Range<usize>) -> &[u8] {
        let json = &self.json[self.start(items.start)..self.start(items.end)];
        json.strip_suffix(b",").unwrap_or(json)
    }

    fn start(&self, item: usize) -> usize {
        item.checked_sub(1).map_or(0, |before| self.ends[before])
    }
}

/// A page that is being filled: its frame, and which rows and edges stand on it.
struct Open {
    frame: FunctionPage,
    rows: Range<usize>,
    edges: Range<usize>,
}

/// All pages of a body. `edge_rows` says which row each edge leaves from.
pub(super) fn write(
    resolver: &Resolver<'_, '_>,
    index: u32,
    rows: &Items,
    edges: &Items,
    edge_rows: &[usize],
    digests: Option<&Digests>,
) -> Vec<Page> {
    let body = &resolver.bodies.all()[index as usize];
    let names: Vec<FunctionName> =
        resolver.names_of(body).iter().map(crate::names::PlaceName::to_document).collect();
    let head_names = fitting(&names, HEAD_NAMES);
    let head = Head {
        bounds: body.origin,
        claimed_size: body.claimed,
        declared: None,
        digests: digests.cloned(),
        edges_total: count(edges.len()),
        entries: Vec::new(),
        kind: body.kind,
        leads: leads(resolver, index),
        names: names[..head_names].to_vec(),
        names_total: count(names.len()),
        parts: parts(resolver, index),
        rows_total: count(rows.len()),
        runs_into: resolver.bodies.runs_into(index as usize),
        section: resolver.elf.image.regions()[body.region as usize].name.map(Name::from_bytes),
        signature: None,
    };
    let open = |number: usize, rows_from: usize, edges_from: usize| Open {
        frame: FunctionPage {
            edges: Vec::new(),
            files: Vec::new(),
            frames: Vec::new(),
            head: None,
            key: body.key(),
            names: Vec::new(),
            page: count(number),
            pages: 0,
            rows_from: count(rows_from),
            runs: Vec::new(),
            schema: schema::FN.to_owned(),
        },
        rows: rows_from..rows_from,
        edges: edges_from..edges_from,
    };

    let mut pages = vec![open(0, 0, 0)];
    pages[0].frame.head = Some(head);
    let mut size = FRAME + size_of(&pages[0].frame);
    let mut names = &names[head_names..];
    while !names.is_empty() {
        let more = fitting(names, limits::PAGE - FRAME);
        let mut next = open(pages.len(), 0, 0);
        next.frame.names = names[..more].to_vec();
        names = &names[more..];
        size = FRAME + size_of(&next.frame);
        pages.push(next);
    }

    let mut edge = 0;
    for row in 0..rows.len() {
        let leaving = edge_rows[edge..].iter().take_while(|from| **from == row).count();
        let more = rows.bytes(&(row..row + 1)) + edges.bytes(&(edge..edge + leaving));
        let items = pages.last().map_or(0, |last| last.rows.len());
        if items == limits::PAGE_ITEMS || (size + more > limits::PAGE && items > 0) {
            let next = open(pages.len(), row, edge);
            size = FRAME + size_of(&next.frame);
            pages.push(next);
        }
        size += more;
        edge += leaving;
        if let Some(last) = pages.last_mut() {
            (last.rows.end, last.edges.end) = (row + 1, edge);
        }
    }
    let total = count(pages.len());
    pages
        .into_iter()
        .map(|mut open| {
            open.frame.pages = total;
            let mut runs = Vec::new();
            if !open.rows.is_empty() {
                runs.extend_from_slice(b"{\"rows\":[");
                runs.extend_from_slice(rows.slice(&open.rows));
                runs.extend_from_slice(b"]}");
            }
            let text = open.frame.with_items(edges.slice(&open.edges), &runs);
            let member = deflate_member(&text);
            Page { text, member }
        })
        .collect()
}

fn leads(resolver: &Resolver<'_, '_>, index: u32) -> Option<EdgeTarget> {
    let body = &resolver.bodies.all()[index as usize];
    match body.leads? {
        Leads::Slot(_) | Leads::Lazy(_) | Leads::Address(_) => {
            let resolved = resolver.control(u32::MAX, elfscope_schema::EdgeKind::Call, body.start)?;
            let mut target = resolved.target?;
            // It is this stub.
            target.stub = None;
            Some(target).filter(|target| target.key != Some(body.key()))
        }
        Leads::Header | Leads::Unknown => None,
    }
}

fn parts(resolver: &Resolver<'_, '_>, index: u32) -> Vec<elfscope_schema::FunctionKey> {
    let first = resolver.parts.partition_point(|(of, _)| *of < index);
    let own = resolver.parts[first..].iter().take_while(|(of, _)| *of == index);
    own.filter_map(|(_, part)| {
        let part = &resolver.bodies.all()[*part as usize];
        (part.kind != BodyKind::Gap).then(|| part.key())
    })
    .collect()
}

/// How many of the first items fit into so many bytes; at least one.
fn fitting<T: Serialize>(items: &[T], most: usize) -> usize {
    let mut size = 0;
    let fit = items.iter().take_while(|item| {
        size += size_of(item) + 1;
        size <= most
    });
    fit.count().max(usize::from(!items.is_empty()))
}

/// The bytes that a value takes in a document.
fn size_of<T: Serialize>(value: &T) -> usize {
    to_canonical(value).len() - 1
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
