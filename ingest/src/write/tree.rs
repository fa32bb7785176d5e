//! Indices as trees of small pages: see `elfscope_schema::lookup`.

use std::collections::BTreeMap;

use elfscope_schema::{
    IndexRoot, Lookup, LookupPage, Record, TableEntry, TrigramEntry, documents::schema, limits, to_canonical,
};

use super::LazyPack;
use crate::archive::ArchiveError;

/// The records of one index, sorted, each with its key.
pub(crate) struct Records {
    /// Its name.
    pub(crate) name: &'static str,
    /// The records.
    pub(crate) records: Vec<(String, Record)>,
    /// The name of its index of trigrams, and the text of each record that it is over.
    pub(crate) trigrams: Option<(&'static str, Vec<String>)>,
}

/// An index whose leaves are the pages of another pack: their first keys and ordinals.
pub(crate) struct Leaves {
    /// Its name.
    pub(crate) name: &'static str,
    /// First key and ordinal of each page.
    pub(crate) pages: Vec<TableEntry>,
}

/// What all roots together may take while every index stands in the root whole.
const ALL_INLINE: usize = limits::INDEX_PAGE - 1024;
/// What one index may take of the root otherwise: all eleven stay under a page.
const ONE_INLINE: usize = 1300;
/// What a page may take beside its records.
const FRAME: usize = 160;
/// Most numbers in one entry of trigrams: with six digits each, well under a page.
const TRIGRAM_NUMBERS: usize = 1600;

/// Writes the pages of all indices and gives their roots.
pub(crate) fn write(
    indices: Vec<Records>,
    leaves: Vec<Leaves>,
    pack: &mut LazyPack<'_>,
) -> Result<Lookup, ArchiveError> {
    let mut roots = BTreeMap::new();
    let sizes: Vec<Vec<usize>> = indices
        .iter()
        .map(|index| index.records.iter().map(|(_, record)| to_canonical(record).len()).collect())
        .collect();
    let totals: Vec<usize> = sizes.iter().map(|sizes| sizes.iter().sum()).collect();
    let tables: usize = leaves.iter().map(|index| table_size(&index.pages)).sum();
    let all_inline = totals.iter().sum::<usize>() + tables <= ALL_INLINE;
    for ((index, sizes), total) in indices.into_iter().zip(sizes).zip(totals) {
        if index.records.is_empty() {
            continue;
        }
        if all_inline || total <= ONE_INLINE {
            let root = IndexRoot {
                entries: index.records.len() as u64,
                first_leaf: None,
                leaf: Some(index.records.into_iter().map(|(_, record)| record).collect()),
                levels: 0,
                table: None,
            };
            roots.insert(index.name.to_owned(), root);
            continue;
        }
        let cuts = cut(&sizes);
        if let Some((name, texts)) = &index.trigrams {
            let records = trigrams(texts, &cuts);
            let sizes: Vec<usize> = records.iter().map(|(_, record)| to_canonical(record).len()).collect();
            let cuts = cut(&sizes);
            roots.insert((*name).to_owned(), write_tree(name, records, &cuts, pack)?);
        }
        roots.insert(index.name.to_owned(), write_tree(index.name, index.records, &cuts, pack)?);
    }
    for index in leaves.into_iter().filter(|index| !index.pages.is_empty()) {
        let entries = index.pages.len() as u64;
        let first_leaf = index.pages.first().map(|page| page.1);
        let (levels, table) = write_tables(index.name, index.pages, pack)?;
        let root = IndexRoot { entries, first_leaf, leaf: None, levels, table: Some(table) };
        roots.insert(index.name.to_owned(), root);
    }
    Ok(Lookup { indices: roots, schema: schema::LOOKUP.to_owned() })
}

/// Where leaves start: the numbers of their first records.
fn cut(sizes: &[usize]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut filled = usize::MAX;
    for (position, size) in sizes.iter().enumerate() {
        if filled.saturating_add(*size) > limits::INDEX_PAGE - FRAME {
            starts.push(position);
            filled = 0;
        }
        filled += size;
    }
    starts
}

fn write_tree(
    name: &str,
    records: Vec<(String, Record)>,
    cuts: &[usize],
    pack: &mut LazyPack<'_>,
) -> Result<IndexRoot, ArchiveError> {
    let entries = records.len() as u64;
    let first_leaf = Some(pack.next());
    let mut table = Vec::with_capacity(cuts.len());
    let mut records = records.into_iter();
    for (number, start) in cuts.iter().enumerate() {
        let end = cuts.get(number + 1).copied().unwrap_or(entries as usize);
        let mut leaf = Vec::with_capacity(end - start);
        for (key, record) in records.by_ref().take(end - start) {
            if leaf.is_empty() {
                table.push(TableEntry(key, pack.next()));
            }
            leaf.push(record);
        }
        let page: LookupPage = LookupPage {
            index: name.to_owned(),
            leaf: Some(leaf),
            schema: schema::LOOKUP.to_owned(),
            table: None,
        };
        pack.push(to_canonical(&page))?;
    }
    let (levels, table) = write_tables(name, table, pack)?;
    Ok(IndexRoot { entries, first_leaf, leaf: None, levels, table: Some(table) })
}

/// Writes tables over pages until the topmost fits the root. Returns how many levels stand below that one.
fn write_tables(
    name: &str,
    mut table: Vec<TableEntry>,
    pack: &mut LazyPack<'_>,
) -> Result<(u32, Vec<TableEntry>), ArchiveError> {
    let mut levels = 1;
    while table_size(&table) > ONE_INLINE && table.len() > 2 {
        let sizes: Vec<usize> = table.iter().map(|entry| to_canonical(entry).len()).collect();
        let cuts = cut(&sizes);
        let mut above = Vec::with_capacity(cuts.len());
        for (number, start) in cuts.iter().enumerate() {
            let end = cuts.get(number + 1).copied().unwrap_or(table.len());
            let part = table[*start..end].to_vec();
            above.push(TableEntry(part[0].0.clone(), pack.next()));
            let page: LookupPage = LookupPage {
                index: name.to_owned(),
                leaf: None,
                schema: schema::LOOKUP.to_owned(),
                table: Some(part),
            };
            pack.push(to_canonical(&page))?;
        }
        table = above;
        levels += 1;
    }
    Ok((levels, table))
}

fn table_size(table: &[TableEntry]) -> usize {
    table.iter().map(|entry| to_canonical(entry).len()).sum()
}

/// Which leaves have which trigram.
fn trigrams(texts: &[String], cuts: &[usize]) -> Vec<(String, Record)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    let mut here: Vec<u32> = Vec::new();
    for (leaf, start) in (0u32..).zip(cuts) {
        let end = cuts.get(leaf as usize + 1).copied().unwrap_or(texts.len());
        here.clear();
        for text in &texts[*start..end] {
            let lower = text.as_bytes().to_ascii_lowercase();
            here.extend(
                lower
                    .windows(limits::TRIGRAM)
                    .map(|three| u32::from_be_bytes([0, three[0], three[1], three[2]])),
            );
        }
        here.sort_unstable();
        here.dedup();
        found.extend(here.iter().map(|trigram| (*trigram, leaf)));
    }
    found.sort_unstable();
    let mut records = Vec::new();
    for same in found.chunk_by(|a, b| a.0 == b.0) {
        let key = format!("{:06x}", same[0].0);
        let mut numbers: Vec<u64> = Vec::new();
        let mut end = 0u32;
        for (_, leaf) in same {
            if *leaf == end && !numbers.is_empty() {
                if let Some(run) = numbers.last_mut() {
                    *run += 1;
                }
            } else {
                if numbers.len() >= TRIGRAM_NUMBERS {
                    records
                        .push((key.clone(), TrigramEntry(key.clone(), std::mem::take(&mut numbers)).into()));
                    end = 0;
                }
                numbers.extend([u64::from(*leaf - end), 1]);
            }
            end = *leaf + 1;
        }
        records.push((key.clone(), TrigramEntry(key, numbers).into()));
    }
    records
}
