//! What stands at an address that is in no function, or behind a name that has no code here.

use elfscope_schema::{Address, ImportEntry, Name};

use super::{Answered, Envelope, answered::fits, ask::STRANGERS};
use crate::{
    Edition, Error, Request, Result, Service, Store, cursor, escape,
    link::{self, Link, View},
    listing::{self, Kind, Line},
    spell, versioned,
};

/// Marks that a walk starts at the first page.
const START: u64 = u64::MAX;

/// The data at an address, or where it lies where nothing is known of it.
pub(super) async fn data<S: Store>(
    service: &Service<S>,
    mut request: Request<&S>,
    edition: &Edition,
    asked: Address,
    start: Option<&str>,
) -> Result<Answered> {
    let mut envelope = Envelope::of(edition);
    let mut link = Link::of(edition, View::Atlas);
    link.address = Some(asked);
    envelope.link = link.url(&service.config().public_url);
    let name = edition.source().edition.as_str();
    let (question, pages) = (format!("data lines {asked}"), format!("data {asked}"));
    let [page, skip] = match start {
        Some(cursor) => cursor::read(cursor, name, &question)?,
        None => [START, 0],
    };
    let inner = (page != START).then(|| cursor::write(name, &pages, [page]));
    let answer = match request.data(edition, asked, inner.as_deref()).await {
        Err(Error::NotFound { .. }) => return nothing(envelope, request, edition, asked).await,
        answer => answer?,
    };
    let lines: Vec<Line> =
        answer.value.items.iter().flat_map(|item| listing::data(edition, asked, item, usize::MAX)).collect();
    envelope.total = answer.value.items.first().map(|item| item.refs_total);
    envelope.note("`total` counts the rows that refer to it. An address that code computes at run time is not known here.");
    envelope.note("`held by` are slots that hold its address: who refers to the slot reaches it too.");
    envelope.note(STRANGERS);
    let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(lines.len());
    let rest = &lines[skip..];
    let shown = fits(rest, envelope.room()).max(1).min(rest.len());
    envelope.next_cursor = if shown < rest.len() {
        Some(cursor::write(name, &question, [page, (skip + shown) as u64]))
    } else {
        match answer.next_cursor {
            Some(inner) => {
                let [page] = cursor::read(&inner, name, &pages)?;
                Some(cursor::write(name, &question, [page, 0]))
            }
            None => None,
        }
    };
    Ok(envelope.with(&rest[..shown], request.budget()))
}

/// Where an address lies of which nothing else is known; an address in no section is refused.
async fn nothing<S: Store>(
    mut envelope: Envelope,
    mut request: Request<&S>,
    edition: &Edition,
    asked: Address,
) -> Result<Answered> {
    let meta = request.meta(edition).await?;
    let size = |text: &str| u64::from_str_radix(text, 16).unwrap_or(0);
    let placed = meta.sections.items.iter().filter(|section| {
        section.address.section == asked.section
            && (section.address.section != 0 || section.address.offset != 0)
    });
    let inside = placed.clone().find(|section| {
        let within = asked.offset.checked_sub(section.address.offset);
        within.is_some_and(|within| within < size(&section.size))
    });
    let Some(section) = inside else {
        let ends = placed.map(|section| (section.address, section.address.plus(size(&section.size))));
        let (first, last) =
            ends.fold((None, None), |(first, last): (Option<Address>, Option<Address>), (start, end)| {
                (
                    Some(first.map_or(start, |first| first.min(start))),
                    Some(last.map_or(end, |last| last.max(end))),
                )
            });
        return Err(Error::OutOfRange {
            what: "address",
            given: spell(asked),
            allowed: match (first, last) {
                (Some(first), Some(last)) => format!(
                    "the sections of this file, {} to {} (an address of a running process is the file's own plus where it was loaded)",
                    spell(first),
                    spell(last)
                ),
                _ => "the sections of this file".to_owned(),
            },
        });
    };
    let start = section.address;
    let within = asked.offset - start.offset;
    let lines = [
        Line::of(Kind::Title, spell(asked))
            .and(Kind::Note, format!("  in {}", escape::name(meta.file.name.text()))),
        Line::of(
            Kind::Plain,
            format!(
                "  in section {}, {} to {}, 0x{within:x} = {within} bytes from its start",
                escape::name(section.name.text()),
                spell(start),
                spell(start.plus(size(&section.size))),
            ),
        ),
        Line::of(
            Kind::Note,
            "  in no function; no string, object or pointer table is known there, and no row refers to it",
        ),
    ];
    envelope.note("That nothing is known there doesn't say that nothing is: data without a name or a reference is not listed.");
    envelope.note(STRANGERS);
    Ok(envelope.with(&lines, request.budget()))
}

/// A thread-local object: it has no address of its own.
pub(super) fn tls<S: Store>(
    service: &Service<S>,
    request: &Request<&S>,
    edition: &Edition,
    name: &Name,
    at: Address,
) -> Answered {
    let mut envelope = Envelope::of(edition);
    envelope.link = Link::of(edition, View::Atlas).url(&service.config().public_url);
    envelope.note("A thread-local object has an address in each thread; who uses it is not told here.");
    envelope.note(STRANGERS);
    let text = format!(
        "{} is thread-local: it stands at {} = {} of each thread's block",
        escape::name(name.text()),
        spell(at),
        at.offset
    );
    envelope.with(&[Line::of(Kind::Plain, text)], request.budget())
}

/// A name that is only imported: its code is in another file.
pub(super) async fn import<S: Store>(
    service: &Service<S>,
    mut request: Request<&S>,
    edition: &Edition,
    name: &Name,
    version: Option<&Name>,
) -> Result<Answered> {
    let mut envelope = Envelope::of(edition);
    let mut link = Link::of(edition, View::Graph);
    let shown = versioned(name, version, false);
    link.import = Some(link::bounded(name.text()));
    link.direction = Some("in".to_owned());
    envelope.link = link.url(&service.config().public_url);
    let found = request.imports(edition, name.text()).await?;
    let mut lines = vec![
        Line::of(Kind::Title, escape::name(&shown))
            .and(Kind::Note, "  imported: its code is in another file"),
    ];
    for entry in &found {
        let mut line = Line::of(
            Kind::Import,
            format!("  {}", escape::name(&versioned(&entry.name, entry.version.as_ref(), false))),
        );
        match &entry.library {
            Some(library) => line.push(Kind::Note, format!(" of {}", escape::name(library.text()))),
            None => line.push(Kind::Note, ", no library named"),
        }
        line.push(
            Kind::Note,
            if entry.callers.is_some() { "; called here" } else { "; no call here that the code proves" },
        );
        lines.push(line);
    }
    for entry in &found {
        lines.extend(providers(&mut request, edition, entry).await?);
    }
    let calls =
        format!("  who calls it: archive_callers with function `import:{}`", escape::name(name.text()));
    lines.push(Line::of(Kind::Note, calls));
    envelope.note("Which library the loader takes it from is decided when the program runs.");
    envelope.note(STRANGERS);
    Ok(envelope.with(&lines, request.budget()))
}

/// Candidates that are told of one import.
const CANDIDATES: usize = 12;

/// The catalogued builds that may provide an import.
pub(super) async fn providers<S: Store>(
    request: &mut Request<S>,
    edition: &Edition,
    entry: &ImportEntry,
) -> Result<Vec<Line>> {
    let answer = request.providers(edition, entry, None).await?;
    let found = &answer.value;
    let shown = escape::name(&versioned(&entry.name, entry.version.as_ref(), false));
    let sonames: Vec<String> = found.sonames.iter().map(|soname| escape::name(soname.text())).collect();
    let head = match found.candidates.len() {
        0 if answer.next_cursor.is_some() && found.looked_at == 0 => format!(
            "  which builds here provide {shown} was not looked for: past what one request reads; ask with the build id"
        ),
        0 => format!("  no build here whose soname is {} was found to provide {shown}", sonames.join(", ")),
        _ => format!("  {shown}: candidates by soname and version, not what the loader will pick"),
    };
    let mut lines = vec![Line::of(Kind::Note, head)];
    for candidate in found.candidates.iter().take(CANDIDATES) {
        let mut line = Line::of(Kind::Symbol, format!("    {}", escape::name(candidate.name.text())));
        line.push(Kind::Address, format!("  {}/{}", candidate.build_id, candidate.edition));
        if let Some(address) = candidate.address {
            line.push(Kind::Address, format!("  at {}", spell(address)));
        }
        if let Some(package) = &candidate.package {
            line.push(Kind::Note, format!("  {}", escape::text(package)));
        }
        lines.push(line);
    }
    let left = found.candidates.len().saturating_sub(CANDIDATES);
    if left > 0 || answer.next_cursor.is_some() || found.more_builds {
        let text = "    … and further builds of such a soname, not shown or not looked at here";
        lines.push(Line::of(Kind::Note, text));
    }
    Ok(lines)
}
