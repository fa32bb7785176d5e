//! Telling all bodies: many at once, written in order, and what the indices need of them kept.

use elfscope_schema::{Address, Counts, Digests};
use rayon::prelude::*;

use crate::{
    archive::ArchiveError,
    bodies::Body,
    disasm::decode::Decoder,
    progress::Progress,
    tell::{Teller, Told},
    write::{
        LazyPack,
        callers::{Callee, Site},
        data::DataSite,
    },
};

/// What all bodies gave together.
#[derive(Default)]
pub(super) struct Collected {
    /// For each body, its first page.
    pub(super) ordinals: Vec<u64>,
    /// For each body, its digests.
    pub(super) digests: Vec<Option<Digests>>,
    /// All ways in.
    pub(super) sites: Vec<Site>,
    /// All references to data.
    pub(super) refs: Vec<DataSite>,
    /// Which bodies cite which source files, by the files' numbers among [`Dwarf::paths`].
    pub(super) citing: Vec<(u32, Address)>,
    /// What was counted.
    pub(super) counts: Counts,
}

/// Bytes of code that are told at once, at least: enough for all cores, little enough to hold.
const BATCH: u64 = 192 * 1024;

/// Tells all bodies and writes their pages, in order.
pub(super) fn tell_all(
    teller: &Teller<'_, '_, '_>,
    import_of: &[u32],
    pack: &mut LazyPack<'_>,
    all: &mut Collected,
    progress: &dyn Progress,
) -> Result<(), ArchiveError> {
    let bodies = teller.resolver.bodies.all();
    let mut told: Vec<Told> = Vec::new();
    let mut start = 0;
    loop {
        let end = batch_end(bodies, start);
        // The next batch is told while the last one is written, in order.
        let (written, next) = rayon::join(
            || collect(bodies, std::mem::take(&mut told), import_of, pack, all, progress),
            || tell_batch(teller, start..end),
        );
        written?;
        if start == end {
            return Ok(());
        }
        if let Some(dwarf) = teller.dwarf {
            dwarf.forget_below(bodies[start].start.offset);
        }
        (told, start) = (next, end);
    }
}

fn batch_end(bodies: &[Body], start: usize) -> usize {
    let mut bytes = 0;
    let inside = bodies[start..].iter().take_while(|body| {
        let more = bytes < BATCH;
        bytes += body.size;
        more
    });
    start + inside.count()
}

fn tell_batch(teller: &Teller<'_, '_, '_>, range: std::ops::Range<usize>) -> Vec<Told> {
    let decoder = || teller.family.and_then(|family| Decoder::new(family).ok());
    let bodies = range.into_par_iter().with_min_len(4);
    bodies.map_init(decoder, |decoder, index| teller.tell(index as u32, decoder.as_mut())).collect()
}

fn collect(
    bodies: &[Body],
    told: Vec<Told>,
    import_of: &[u32],
    pack: &mut LazyPack<'_>,
    all: &mut Collected,
    progress: &dyn Progress,
) -> Result<(), ArchiveError> {
    progress.advance(told.len() as u64);
    for told in told {
        let body = &bodies[all.ordinals.len()];
        let from = u32::try_from(all.ordinals.len()).unwrap_or(u32::MAX);
        all.ordinals.push(pack.next());
        pack.push_pages(&told.pages)?;
        all.digests.push(told.digests);
        all.counts.rows += told.rows;
        all.counts.undecoded += told.undecoded;
        all.counts.rows_with_line += told.rows_with_line;
        all.citing.extend(told.files.iter().map(|path| (*path, body.start)));
        for class in &told.edges {
            match all.counts.edges.get_mut(class.name()) {
                Some(count) => *count += 1,
                None => drop(all.counts.edges.insert(class.name().to_owned(), 1)),
            }
        }
        all.sites.extend(told.calls.iter().filter_map(|call| {
            let import =
                call.import.map(|symbol| import_of[symbol as usize]).filter(|import| *import != u32::MAX);
            let callee = call.body.map(Callee::Body).or(import.map(Callee::Import))?;
            Some(Site { callee, from, call: *call })
        }));
        all.refs.extend(told.refs.iter().map(|site| DataSite { from, site: *site }));
    }
    Ok(())
}
