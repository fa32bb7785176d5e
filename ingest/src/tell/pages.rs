//! A body's pages: cut at [`limits::PAGE_ITEMS`] rows or [`limits::PAGE`] bytes, written and deflated.

use elfscope_schema::{
    BodyKind, Digests, Edge, EdgeTarget, FunctionName, FunctionPage, Head, Name, Row, Run, documents::schema,
    limits, to_canonical,
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

impl Page {
    /// A document, written and deflated.
    pub(crate) fn of<T: Serialize>(document: &T) -> Self {
        let text = to_canonical(document);
        let member = deflate_member(&text);
        Self { text, member }
    }
}

/// What a page without items, and all commas and numbers that grow with it, may take.
const FRAME: usize = 600;
/// What the names may take of the head's page.
const HEAD_NAMES: usize = 24 * 1024;

/// All pages of a body.
pub(super) fn write(
    resolver: &Resolver<'_, '_>,
    index: u32,
    rows: Vec<Row>,
    edges: &[Edge],
    digests: Option<&Digests>,
) -> Vec<Page> {
    let body = &resolver.bodies.all()[index as usize];
    let names: Vec<FunctionName> =
        resolver.names_of(body).iter().map(crate::names::PlaceName::to_document).collect();
    let head_names = fitting(&names, HEAD_NAMES);
    let head = Head {
        bounds: body.origin,
        claimed_size: body.claimed,
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
    let page = |number: usize, rows_from: usize| FunctionPage {
        edges: Vec::new(),
        head: None,
        key: body.key(),
        names: Vec::new(),
        page: count(number),
        pages: 0,
        rows_from: count(rows_from),
        runs: Vec::new(),
        schema: schema::FN.to_owned(),
    };

    let mut pages = vec![FunctionPage { head: Some(head), ..page(0, 0) }];
    let mut size = FRAME + size_of(&pages[0]);
    let mut names = &names[head_names..];
    while !names.is_empty() {
        let more = fitting(names, limits::PAGE - FRAME);
        let mut next = page(pages.len(), 0);
        next.names = names[..more].to_vec();
        names = &names[more..];
        size = FRAME + size_of(&next);
        pages.push(next);
    }

    let mut edges = edges.iter().peekable();
    let mut items = 0;
    for (position, row) in rows.into_iter().enumerate() {
        let leaving: Vec<&Edge> =
            std::iter::from_fn(|| edges.next_if(|edge| edge.row == row.offset)).collect();
        let more = row_size(&row) + leaving.iter().map(|edge| size_of(edge) + 1).sum::<usize>();
        if items == limits::PAGE_ITEMS || (size + more > limits::PAGE && items > 0) {
            let next = page(pages.len(), position);
            size = FRAME + size_of(&next);
            pages.push(next);
            items = 0;
        }
        size += more;
        items += 1;
        if let Some(last) = pages.last_mut() {
            last.edges.extend(leaving.into_iter().cloned());
            match last.runs.last_mut() {
                Some(run) => run.rows.push(row),
                None => last.runs.push(Run { at: None, rows: vec![row] }),
            }
        }
    }
    let total = count(pages.len());
    pages
        .into_iter()
        .map(|mut page| {
            page.pages = total;
            Page::of(&page)
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

/// The bytes that a row takes, at most: nothing in it needs escaping but what its notes hold.
fn row_size(row: &Row) -> usize {
    let notes = if row.notes.is_empty() { 0 } else { size_of(&row.notes) + 1 };
    // Brackets, quotes and commas, and up to ten digits of offset.
    22 + row.bytes.len() * 2 + row.mnemonic.len() + row.operands.len() + notes
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
