//! Callers: the transpose of all edges that name a target.

use elfscope_schema::{Caller, CallersOf, CallersPage, Name, documents::schema, limits, to_canonical};

use super::{LazyPack, items};
use crate::{archive::ArchiveError, resolve::Resolver, tell::CallSite};

/// Whose callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Callee {
    /// A body.
    Body(u32),
    /// An imported symbol, by its number among the imports.
    Import(u32),
}

/// One edge and the body that it leaves from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// Whose caller it is.
    pub(crate) callee: Callee,
    /// The body that it leaves from.
    pub(crate) from: u32,
    /// The edge.
    pub(crate) call: CallSite,
}

/// An imported symbol: one name and version, however many entries the symbol tables have for it.
#[derive(Clone, Debug)]
pub(crate) struct Import<'data> {
    /// Its name.
    pub(crate) name: &'data [u8],
    /// Its version.
    pub(crate) version: Option<&'data [u8]>,
}

/// Writes all callers. Returns, sorted, whose callers start at which ordinal.
pub(crate) fn write(
    resolver: &Resolver<'_, '_>,
    imports: &[Import<'_>],
    sites: &mut [Site],
    pack: &mut LazyPack<'_>,
) -> Result<Vec<(Callee, u64)>, ArchiveError> {
    sites.sort_by_key(|site| (site.callee, site.from, site.call.row, site.call.kind));
    let mut firsts = Vec::new();
    for same in sites.chunk_by(|a, b| a.callee == b.callee) {
        let callee = same[0].callee;
        firsts.push((callee, pack.next()));
        let of = match callee {
            Callee::Body(index) => CallersOf::Body(resolver.bodies.all()[index as usize].key()),
            Callee::Import(index) => {
                let import = &imports[index as usize];
                CallersOf::Import {
                    name: Name::from_bytes(import.name),
                    version: import.version.map(Name::from_bytes),
                }
            }
        };
        let callers: Vec<Caller> = same.iter().map(|site| caller(resolver, site)).collect();
        let frame = 300 + to_canonical(&of).len();
        let cuts = items::cut(&callers, limits::PAGE - frame, limits::PAGE_ITEMS);
        let pages = u32::try_from(cuts.len()).unwrap_or(u32::MAX);
        let total = callers.len() as u64;
        for (page, range) in (0..).zip(cuts) {
            let page = CallersPage {
                callers: callers[range].to_vec(),
                of: of.clone(),
                page,
                pages,
                schema: schema::CALLERS.to_owned(),
                total,
            };
            pack.push(to_canonical(&page))?;
        }
    }
    Ok(firsts)
}

fn caller(resolver: &Resolver<'_, '_>, site: &Site) -> Caller {
    let from = &resolver.bodies.all()[site.from as usize];
    Caller {
        at: from.start.plus(u64::from(site.call.row)),
        class: site.call.class.document(),
        conditional: site.call.conditional,
        from: from.key(),
        kind: site.call.kind,
        name: resolver.shown_name(from),
        offset: (site.call.offset != 0).then_some(site.call.offset),
    }
}
