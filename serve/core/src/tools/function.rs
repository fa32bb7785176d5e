//! `archive_function`: a window of a function's listing, or what else is at an address.

use elfscope_schema::{Address, FunctionEntry};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Answered, Envelope, Start, Tool,
    answered::{fits, width},
    ask::{ARGUMENT, STRANGERS, open, small, within},
    at,
};
use crate::{
    Edition, Error, LeftOut, Place, Request, Result, Service, Store, Window, cursor,
    link::{Link, View},
    listing::{self, Options},
    window::{From, MOST_ROWS},
};

/// Rows that are told where nothing else is asked for.
pub(super) const ROWS: u32 = 200;
/// Rows before an address that was asked for.
const BEFORE: u32 = 12;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Function {
    /// Build id, its start, a name, or any of these and /edition
    build_id: String,
    /// Name, name@version, key, or any address (0x and hex, as the file has it)
    function: String,
    /// First row, from 0; or an address; or next_cursor
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    from: Option<Start>,
    /// At most 500; without it, what fits
    #[serde(default)]
    #[schemars(range(min = 1, max = 500))]
    rows: Option<u32>,
    /// Without it: outline of functions over 200 rows, else asm+source
    #[serde(default)]
    view: Option<Shown>,
    /// Raw bytes of each row
    #[serde(default)]
    bytes: bool,
}

/// How rows are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(super) enum Shown {
    #[serde(rename = "outline")]
    Outline,
    #[serde(rename = "asm")]
    Asm,
    #[serde(rename = "asm+source")]
    Source,
}

impl Shown {
    /// In the order of their numbers, which cursors tell.
    const ALL: [Self; 3] = [Self::Outline, Self::Asm, Self::Source];

    /// As links say it.
    fn linked(self) -> Option<String> {
        match self {
            Self::Outline => Some("outline".to_owned()),
            Self::Asm => None,
            Self::Source => Some("source".to_owned()),
        }
    }
}

impl Tool for Function {
    const NAME: &'static str = "archive_function";
    const TITLE: &'static str = "Listing of a function, or what is at an address";
    const DESCRIPTION: &'static str = "Disassembly with where each row comes from (file:line, inlined frames) and where calls go. \
        Give a name or any address: of code, such as a crash address, it answers function, row, file:line and inline stack; of \
        data, the string, object or pointer table there and every row that refers to it. Long functions come as an outline; go \
        on by row.";

    async fn answer<S: Store>(self, service: &Service<S>) -> Result<Answered> {
        small("function", &self.function, ARGUMENT)?;
        // An outline tells of rows without showing each.
        let most = if self.view == Some(Shown::Outline) { u32::MAX } else { MOST_ROWS };
        within("rows", self.rows, 1, most)?;
        let start = self.from.clone().map(Start::text);
        let cursor = start.as_deref().filter(|text| text.contains('.'));
        let mut request = service.request();
        let edition = open(&mut request, &self.build_id, cursor).await?;
        match request.place(&edition, &self.function).await? {
            Place::Body(entry, at) => {
                let base = &service.config().public_url;
                self.listing(request, &edition, &entry, at, start.as_deref(), base).await
            }
            Place::Data(at) => at::data(service, request, &edition, at, start.as_deref()).await,
            Place::Tls(name, at) => Ok(at::tls(service, &request, &edition, &name, at)),
            Place::Import(name, version) => {
                at::import(service, request, &edition, &name, version.as_ref()).await
            }
        }
    }
}

impl Function {
    async fn listing<S: Store>(
        &self,
        mut request: Request<S>,
        edition: &Edition,
        entry: &FunctionEntry,
        at: Address,
        start: Option<&str>,
        base: &str,
    ) -> Result<Answered> {
        let key = crate::key_of(entry);
        let question = format!("rows {key}");
        let name = edition.source().edition.as_str();
        let mut view = self.view;
        let from = match start {
            Some(text) if text.contains('.') => {
                let [row, shown] = cursor::read(text, name, &question)?;
                // What goes on goes on as it began, unless it is asked for otherwise.
                view =
                    view.or_else(|| Shown::ALL.into_iter().nth(usize::try_from(shown).unwrap_or(usize::MAX)));
                From::Row(u32::try_from(row).unwrap_or(u32::MAX))
            }
            Some(text) => start_of(text)?,
            None if at != entry.0 => From::Address(at, BEFORE),
            None => From::Row(0),
        };
        let shown = match view {
            Some(shown) => shown,
            // Who names a place wants its rows.
            None if !matches!(from, From::Row(_)) => Shown::Source,
            None => {
                let total = request.function_page(edition, entry, 0).await?;
                let total = total.head.as_ref().map_or(0, |head| head.rows_total);
                if total > ROWS && start.is_none() { Shown::Outline } else { Shown::Source }
            }
        };
        let mut envelope = Envelope::of(edition);
        let mut link = Link::of(edition, View::Listing);
        (link.function, link.shown) = (Some(key), shown.linked());
        envelope.link = link.url(base);
        let rows = self.rows.unwrap_or(if shown == Shown::Outline { u32::MAX } else { ROWS });
        let mut window = request.window_of(edition, entry, from, rows).await?.value;
        if shown == Shown::Source {
            request.source_text(edition, &mut window).await?;
        }
        let options = Options {
            head: true,
            brief: matches!(from, From::Row(row) if row > 0),
            bytes: self.bytes,
            numbers: true,
            rows: None,
        };
        let (window, lines) = fill(edition, window, options, shown, envelope.room());
        let total = window.head.rows_total;
        envelope.total = Some(u64::from(total));
        if let Some(last) = window.len().checked_sub(1) {
            let (from, to) = (u64::from(window.rows_from), u64::from(window.rows_from + last));
            (envelope.from, envelope.to) = (Some(from), Some(to));
            (link.rows, link.focus) = (Some((from, to)), window.focus.map(u64::from));
        }
        envelope.next_cursor =
            window.next_row.map(|row| cursor::write(name, &question, [u64::from(row), shown as u64]));
        envelope.link = link.url(base);
        notes(&mut envelope, edition, &window, shown);
        Ok(envelope.with(&lines, request.budget()))
    }
}

/// As many of a window's rows as fit: the window of them, and its lines.
fn fill(
    edition: &Edition,
    window: Window,
    options: Options,
    shown: Shown,
    room: usize,
) -> (Window, Vec<listing::Line>) {
    let render = |window: &Window, options: Options| match shown {
        Shown::Outline => listing::outline(edition, window, options),
        _ => listing::render(edition, window, options),
    };
    let size = |lines: &[listing::Line]| lines.iter().map(width).sum::<usize>();
    let lines = render(&window, options);
    if size(&lines) <= room {
        return (window, lines);
    }
    // The row that was asked for has to be there, though the rows before it are many.
    let first = match window.focus {
        Some(focus)
            if size(&render(&window.part(window.rows_from, focus - window.rows_from + 1), options))
                > room =>
        {
            focus
        }
        _ => window.rows_from,
    };
    for (head, brief) in [(options.head, options.brief), (true, true), (false, true)] {
        let options = Options { head, brief, ..options };
        let (mut low, mut high) = (0, window.rows_from + window.len() - first);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            let fits = size(&render(&window.part(first, middle), options)) <= room;
            if fits { low = middle } else { high = middle }
        }
        if low > 0 {
            let part = window.part(first, low);
            let lines = render(&part, options);
            return (part, lines);
        }
    }
    let part = window.part(first, 1);
    let mut lines = render(&part, Options { head: false, ..options });
    let kept = fits(&lines, room.saturating_sub(80));
    let left = lines.len() - kept;
    lines.truncate(kept);
    lines.push(listing::Line::of(
        listing::Kind::Note,
        format!("… {left} lines of this row left out: too long"),
    ));
    (part, lines)
}

fn start_of(text: &str) -> Result<From> {
    let text = text.trim();
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
        && let Ok(address) = u64::from_str_radix(digits, 16)
    {
        return Ok(From::Address(Address::virt(address), 0));
    }
    if let Some(address) = text.parse::<Address>().ok().filter(|address| address.section != 0) {
        return Ok(From::Address(address, 0));
    }
    text.parse().ok().map(From::Row).ok_or_else(|| Error::BadReference {
        what: "a row or an address",
        given: text.to_owned(),
        allowed: "a row's number from 0, `0x` and hex, or the `next_cursor` of an earlier answer".to_owned(),
    })
}

/// What the rows don't say.
fn notes(envelope: &mut Envelope, edition: &Edition, window: &Window, shown: Shown) {
    if edition.told.rows_with_line == 0 {
        envelope.note("No debug data tells source lines of this build, so no row names one.");
    } else if window.runs.iter().any(|run| run.at.is_none()) {
        envelope.note("Rows under `no source line` claim none; they don't belong to the place above them.");
    }
    if window.files.iter().any(|file| file.level.is_some_and(crate::Level::is_published)) {
        envelope.note("A level behind a path says how far its text is verified: read_me.");
    }
    if shown == Shown::Source {
        if window.files.iter().any(|file| file.left_out == Some(LeftOut::Budget)) {
            envelope.note("Some source text is left out for size: ask for fewer rows.");
        }
        if window.runs.iter().any(|run| run.at.is_some())
            && window.files.iter().all(|file| file.sha256.is_none())
        {
            envelope.note("The text of the files that are named is not in this archive.");
        }
    }
    if shown == Shown::Outline {
        envelope.note("An outline shows source runs, ways out and strings, not every row: pass `from` and view asm for rows.");
    }
    if window.edges.iter().any(|edge| edge.class.name() == "indirect") {
        envelope.note("An indirect call has no target here: only a run of the program could tell it.");
    }
    if window.head.claimed_size == Some(0) {
        envelope.note("The size of this body is inferred.");
    }
    envelope.note(STRANGERS);
}
