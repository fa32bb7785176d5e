//! A body's pages: cut at [`limits::PAGE_ITEMS`] rows or [`limits::PAGE`] bytes, written and deflated.

use std::ops::Range;

use elfscope_schema::{
    BodyKind, CitedFile, Declared, Digests, EdgeTarget, FunctionName, FunctionPage, Head, Name, Place,
    documents::schema, limits, to_canonical,
};
use serde::Serialize;

use super::{cites::Cites, places::Places};
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
/// What a run takes beside its rows.
const RUN: usize = 80;
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
    cites: Cites,
    /// The place of each of its rows, as it numbers them.
    places: Vec<Option<Place>>,
}

/// A body's parts that pages hold.
pub(super) struct Content<'a> {
    /// The rows.
    pub(super) rows: Items,
    /// Where they are in the source; empty where nothing says so.
    pub(super) places: &'a Places,
    /// The edges.
    pub(super) edges: Items,
    /// The number of the row that each edge leaves from.
    pub(super) edge_rows: Vec<usize>,
    /// The digests.
    pub(super) digests: Option<Digests>,
    /// What the debug data says of the function as a whole.
    pub(super) signature: Option<String>,
    /// Where it declares it.
    pub(super) declared: Option<Declared>,
}

/// All pages of a body. `cited` are the documents of all cited files.
pub(super) fn write(
    resolver: &Resolver<'_, '_>,
    index: u32,
    content: Content<'_>,
    cited: &[CitedFile],
) -> Vec<Page> {
    let Content { rows, places, edges, edge_rows, digests, signature, declared } = content;
    let body = &resolver.bodies.all()[index as usize];
    let names: Vec<FunctionName> =
        resolver.names_of(body).iter().map(crate::names::PlaceName::to_document).collect();
    let head_names = fitting(&names, HEAD_NAMES);
    let head = Head {
        bounds: body.origin,
        claimed_size: body.claimed,
        declared,
        digests,
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
        signature,
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
        cites: Cites::none(places),
        places: Vec::new(),
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
        let place = places.rows.get(row).copied().flatten();
        let cost = |open: &Open| place.map_or(0, |place| open.cites.cost(place, places, cited)) + RUN;
        let (mut more_cited, items) = pages.last().map_or((0, 0), |last| (cost(last), last.rows.len()));
        if items == limits::PAGE_ITEMS || (size + more + more_cited > limits::PAGE && items > 0) {
            let next = open(pages.len(), row, edge);
            size = FRAME + size_of(&next.frame);
            more_cited = cost(&next);
            pages.push(next);
        }
        edge += leaving;
        if let Some(last) = pages.last_mut() {
            (last.rows.end, last.edges.end) = (row + 1, edge);
            let place = place.map(|place| last.cites.cite(place, places, cited));
            // A run goes on while the place is the same.
            size += more + if last.places.last() == Some(&place) { 0 } else { more_cited };
            last.places.push(place);
        }
    }
    let total = count(pages.len());
    pages
        .into_iter()
        .map(|mut open| {
            open.frame.pages = total;
            open.frame.files = std::mem::take(&mut open.cites.files);
            open.frame.frames = std::mem::take(&mut open.cites.frames);
            let text = open.frame.with_items(edges.slice(&open.edges), &open.runs(&rows));
            let member = deflate_member(&text);
            Page { text, member }
        })
        .collect()
}

impl Open {
    /// The JSON of its runs.
    fn runs(&self, rows: &Items) -> Vec<u8> {
        let mut runs = Vec::with_capacity(rows.bytes(&self.rows) + self.places.len() * 16);
        let mut from = self.rows.start;
        for same in self.places.chunk_by(|a, b| a == b) {
            if !runs.is_empty() {
                runs.push(b',');
            }
            runs.push(b'{');
            if let Some(place) = &same[0] {
                runs.extend_from_slice(b"\"at\":");
                runs.extend_from_slice(to_canonical(place).trim_ascii_end());
                runs.push(b',');
            }
            runs.extend_from_slice(b"\"rows\":[");
            runs.extend_from_slice(rows.slice(&(from..from + same.len())));
            runs.extend_from_slice(b"]}");
            from += same.len();
        }
        runs
    }
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
