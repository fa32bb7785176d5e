//! Builds of the catalogue: all of them, or those whose name, soname or package fits.

use elfscope_schema::IndexEntry;

use super::{
    Answered, Envelope,
    answered::fits,
    ask::{STRANGERS, Walk},
    lookup::How,
};
use crate::{
    Error, Result, Service, Store,
    catalogue::By,
    escape,
    link::{Link, View},
    listing::{self, Kind, Line},
};

/// Marks a cursor of the catalogue, which belongs to no edition.
const MARK: &str = "catalogue";

/// The builds that fit, and where their list goes on.
pub(super) async fn find<S: Store>(
    service: &Service<S>,
    query: Option<(&str, How)>,
    matching: &str,
    cursor: Option<&str>,
) -> Result<Answered> {
    let walk = Walk::read(cursor)?;
    let refuse = |why| Error::BadCursor { given: cursor.unwrap_or_default().to_owned(), why };
    // Which page, and the last build of it that was told.
    let (page, after) = match walk.inner.as_deref().map(|inner| inner.split(':').collect::<Vec<_>>()) {
        None => (String::new(), None),
        Some(parts) => match parts.as_slice() {
            [MARK, page, ""] => ((*page).to_owned(), None),
            [MARK, page, after] => ((*page).to_owned(), Some((*after).to_owned())),
            _ => return Err(refuse("it belongs to another question")),
        },
    };
    let mut request = service.request();
    let mut envelope = Envelope { provenance: "this archive's catalogue".to_owned(), ..Envelope::default() };
    let mut link = Link { view: View::Catalogue, ..Link::default() };
    if let Some((text, _)) = query {
        link.query = Some(text.to_owned());
        link.matching = Some(matching.to_owned());
    }
    envelope.link = link.url(&service.config().public_url);
    envelope.note("Names, sonames and packages are what the files say of themselves.");
    envelope.note(STRANGERS);
    let exact = match query {
        Some((text, How::Exact)) => Some(text),
        _ => None,
    };
    let (all, total, next, complete) = match exact {
        // By its hash a name is found at once, in however large a catalogue.
        Some(text) if walk.inner.is_none() || page.is_empty() => {
            let (mut all, mut more) = (Vec::new(), false);
            for by in [By::Id, By::Name, By::Soname, By::Package] {
                let (found, unfinished) = request.catalogued(by, text).await?;
                all.extend(found);
                more |= unfinished;
            }
            all.sort_by(|a, b| (a.name.text(), &a.build_id).cmp(&(b.name.text(), &b.build_id)));
            all.dedup_by(|a, b| a.build_id == b.build_id);
            (all, None, None, !more)
        }
        _ => {
            let start = (!page.is_empty()).then_some(page.as_str());
            let catalogue = request.catalogue(start).await?;
            let whole = start.is_none() && catalogue.next_cursor.is_none();
            (catalogue.builds, Some(catalogue.total), catalogue.next_cursor, whole)
        }
    };
    let from = match &after {
        Some(after) => {
            let at = all.iter().position(|build| build.build_id.as_str() == after);
            at.ok_or_else(|| refuse("the catalogue has changed since; ask again from its start"))? + 1
        }
        None => 0,
    };
    let rest = &all[from..];
    let wanted: Vec<(usize, &IndexEntry)> = rest
        .iter()
        .enumerate()
        .filter(|(_, build)| query.is_none_or(|query| is_wanted(build, query)))
        .collect();
    let mut shown: Vec<IndexEntry> = wanted.iter().map(|(_, build)| (*build).clone()).collect();
    let room = envelope.room();
    let mut lines = listing::builds(&shown);
    let count = fits(&lines, room).saturating_sub(1);
    let cut = count < shown.len();
    if cut {
        shown.truncate(count.max(1));
        lines = listing::builds(&shown);
    }
    let told = walk.told + shown.len() as u64;
    let goes_on = if cut {
        let last = shown.last().map(|build| build.build_id.to_string()).unwrap_or_default();
        Some(format!("{MARK}:{page}:{last}"))
    } else {
        next.map(|page| format!("{MARK}:{page}:"))
    };
    if !shown.is_empty() {
        (envelope.from, envelope.to) = (Some(walk.told), Some(told - 1));
        link.rows = Some((walk.told, told - 1));
        envelope.link = link.url(&service.config().public_url);
    }
    match (query, total) {
        (None, total) => envelope.total = total,
        (Some(_), _) if complete && walk.told == 0 => envelope.total = Some(wanted.len() as u64),
        (Some(_), _) => envelope.scanned = Some(rest.len() as u64),
    }
    if exact.is_some() && !complete {
        envelope.note("More builds fit than one look-up of a large catalogue reads; these are some of them.");
    }
    if shown.is_empty() {
        let text = match (query, &goes_on) {
            (None, _) => "The archive is empty.".to_owned(),
            (Some((text, _)), None) => {
                format!("No build's name, soname or package fits `{}`.", escape::name(text))
            }
            (Some(_), Some(_)) => "No build fits so far; the cursor goes on.".to_owned(),
        };
        lines = vec![Line::of(Kind::Note, text)];
    }
    envelope.next_cursor = goes_on.map(|inner| Walk::write(inner, told));
    Ok(envelope.with(&lines, request.budget()))
}

fn is_wanted(build: &IndexEntry, (query, how): (&str, How)) -> bool {
    let package = build.package.as_deref();
    let own = [Some(build.name.text()), build.soname.as_ref().map(elfscope_schema::Name::text), package];
    let name_of_package = package.and_then(|package| package.split(' ').next());
    let id = Some(build.build_id.as_str()).filter(|_| how != How::Substring);
    own.into_iter().chain([name_of_package, id]).flatten().any(|text| how.fits(text, query))
}
