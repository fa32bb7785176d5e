//! `archive_callees`: the ways out of a function.

use elfscope_schema::{Edge, EdgeClass};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Answered, Envelope, Tool,
    answered::{fits, width},
    ask::{ARGUMENT, STRANGERS, Walk, open, small, within},
};
use crate::{
    Edition, Request, Result, Service, Store, Window,
    calls::MOST,
    link::{Link, View},
    listing::{self, Kind, Line, Options, numbers::count},
    window::From,
};

/// Stands for rows that were asked for and aren't here.
pub(super) const LEFT_OUT: &str = "      rows left out here: past what one request reads";
/// Most sites of one answer that rows are shown before.
pub(super) const SITES: usize = 64;
/// Most rows that are shown before each site.
pub(super) const CONTEXT: u32 = 8;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Callees {
    /// Build id, its start, a name, or any of these and /edition
    build_id: String,
    /// Name, name@version, key, or an address in it
    function: String,
    /// Only edges of this class
    #[serde(default)]
    class: Option<Class>,
    /// Rows shown before each site, such as what loads its arguments
    #[serde(default)]
    #[schemars(range(max = 8))]
    context: Option<u32>,
    /// next_cursor of an earlier answer
    #[serde(default)]
    cursor: Option<String>,
}

/// How sure it is where an edge leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Class {
    Direct,
    Tail,
    Import,
    Ifunc,
    IntoBody,
    InternalUnresolved,
    Indirect,
}

impl Class {
    pub(super) fn fits(wanted: Option<Self>, class: &EdgeClass) -> bool {
        wanted.is_none_or(|wanted| wanted.name() == class.name())
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Tail => "tail",
            Self::Import => "import",
            Self::Ifunc => "ifunc",
            Self::IntoBody => "into_body",
            Self::InternalUnresolved => "internal_unresolved",
            Self::Indirect => "indirect",
        }
    }
}

/// Some ways out, and where their list goes on.
struct Found {
    /// Each with its number among all.
    edges: Vec<(u64, Edge)>,
    /// How many were looked at in all, those told before included.
    scanned: u64,
    total: u64,
    next: Option<String>,
}

impl Tool for Callees {
    const NAME: &'static str = "archive_callees";
    const TITLE: &'static str = "What a function calls";
    const DESCRIPTION: &'static str = "Every way out of a function, each with its class: direct, tail, import, ifunc, into_body, \
        internal_unresolved, indirect (not statically resolvable). `context` adds the rows before each.";

    async fn answer<S: Store>(self, service: &Service<S>) -> Result<Answered> {
        small("function", &self.function, ARGUMENT)?;
        within("context", self.context, 0, CONTEXT)?;
        let walk = Walk::read(self.cursor.as_deref())?;
        let mut request = service.request();
        let edition = open(&mut request, &self.build_id, self.cursor.as_deref()).await?;
        let (entry, _) = request.function(&edition, &self.function).await?;
        let key = crate::key_of(&entry);
        let mut envelope = Envelope::of(&edition);
        let mut link = Link::of(&edition, View::Graph);
        (link.function, link.direction) = (Some(key), Some("out".to_owned()));
        link.context = self.context.filter(|rows| *rows > 0).map(u64::from);
        link.class = self.class.map(|class| class.name().to_owned());
        envelope.link = link.url(&service.config().public_url);
        let room = envelope.room();
        let mut most = if self.context.unwrap_or(0) > 0 { SITES } else { usize::MAX };
        loop {
            let mut request = request.fork();
            let found = self.find(&mut request, &edition, &entry, &walk, most).await?;
            let edges: Vec<Edge> = found.edges.iter().map(|(_, edge)| edge.clone()).collect();
            let first = request.function_page(&edition, &entry, 0).await?;
            let name = first.head.as_ref().and_then(|head| head.names.first()).map(listing::shown_name);
            let mut title = Line::of(Kind::Title, name.unwrap_or_else(|| key.to_string()));
            title.push(Kind::Note, format!("  {key}, {}", count(found.total, "way out", "ways out")));
            if self.class.is_some() {
                title.push(Kind::Note, " of all classes");
            }
            let mut sites = vec![title];
            let mut ends = Vec::new();
            let window = match self.context.filter(|context| *context > 0 && !edges.is_empty()) {
                Some(_) => self.rows(&mut request, &edition, &entry, &edges).await?,
                None => None,
            };
            for (line, edge) in listing::callees(key, &edges).into_iter().zip(&edges) {
                sites.push(line);
                match (&window, self.context) {
                    (Some(window), Some(context)) => {
                        sites.extend(before(&edition, window, edge.row, context));
                    }
                    (None, Some(1..)) => sites.push(Line::of(Kind::Note, LEFT_OUT)),
                    _ => {}
                }
                ends.push(sites.len());
            }
            let fitting = fits(&sites, room);
            let whole = ends.iter().take_while(|end| **end <= fitting).count();
            if whole < edges.len() && most > 1 {
                // The next round asks for just those that fit.
                let told = found.edges.get(whole.saturating_sub(1)).map_or(walk.told, |(number, _)| *number);
                most = usize::try_from(told + 1 - walk.told).unwrap_or(1).max(1);
                if whole == 0 {
                    most = 1;
                }
                continue;
            }
            sites.truncate(fits(&sites, room).max(1));
            debug_assert!(sites.iter().map(width).sum::<usize>() <= room.max(400));
            envelope.from = found.edges.first().map(|(number, _)| *number);
            envelope.to = found.edges.last().map(|(number, _)| *number);
            match self.class {
                None => envelope.total = Some(found.total),
                Some(_) if found.next.is_none() && walk.told == 0 => {
                    envelope.total = Some(found.edges.len() as u64);
                }
                Some(_) => envelope.scanned = Some(found.scanned),
            }
            link.rows = envelope.from.zip(envelope.to);
            envelope.link = link.url(&service.config().public_url);
            envelope.next_cursor = found.next.map(|inner| Walk::write(inner, found.scanned));
            envelope.note("Jumps within the function are not ways out. An indirect call names no target: only a run could tell it.");
            if self.class.is_some() {
                envelope.note("`from` and `to` number the edges of all classes.");
            }
            envelope.note(STRANGERS);
            return Ok(envelope.with(&sites, request.budget()));
        }
    }
}

impl Callees {
    /// The edges of the class among the next `most` of all classes, as far as the budget goes.
    async fn find<S: Store>(
        &self,
        request: &mut Request<S>,
        edition: &Edition,
        entry: &elfscope_schema::FunctionEntry,
        walk: &Walk,
        most: usize,
    ) -> Result<Found> {
        let mut found = Found { edges: Vec::new(), scanned: walk.told, total: 0, next: walk.inner.clone() };
        loop {
            let told = usize::try_from(found.scanned - walk.told).unwrap_or(usize::MAX);
            let limit = MOST.min(most.saturating_sub(told));
            let answer = request.callees(edition, entry, limit, found.next.as_deref()).await?;
            found.total = answer.value.total;
            for edge in answer.value.edges {
                if Class::fits(self.class, &edge.class) {
                    found.edges.push((found.scanned, edge));
                }
                found.scanned += 1;
            }
            found.next = answer.next_cursor;
            let told = usize::try_from(found.scanned - walk.told).unwrap_or(usize::MAX);
            let enough = told >= most || found.edges.len() >= MOST;
            if found.next.is_none() || enough || !request.has_room(2, elfscope_schema::limits::PAGE) {
                return Ok(found);
            }
        }
    }

    /// The rows around the edges, as far as the budget goes.
    async fn rows<S: Store>(
        &self,
        request: &mut Request<S>,
        edition: &Edition,
        entry: &elfscope_schema::FunctionEntry,
        edges: &[Edge],
    ) -> Result<Option<Window>> {
        let Some(first) = edges.first() else { return Ok(None) };
        if !request.has_room(3, elfscope_schema::limits::PAGE) {
            return Ok(None);
        }
        let at = entry.0.plus(u64::from(first.row));
        let from = From::Address(at, self.context.unwrap_or(0));
        Ok(Some(request.window_of(edition, entry, from, u32::MAX).await?.value))
    }
}

/// The row of an edge and the rows before it, as far as a window has them.
pub(super) fn before(edition: &Edition, window: &Window, offset: u32, context: u32) -> Vec<Line> {
    let Some((number, _)) = window.rows().find(|(_, row)| row.offset == offset) else {
        return vec![Line::of(Kind::Note, LEFT_OUT)];
    };
    let from = number.saturating_sub(context).max(window.rows_from);
    let mut part = window.part(from, number - from + 1);
    (part.focus, part.next_row) = (Some(number), None);
    let options = Options { head: false, bytes: false, numbers: true, ..Options::default() };
    listing::render(edition, &part, options)
        .into_iter()
        .map(|line| {
            let mut indented = Line::of(Kind::Plain, "      ");
            indented.spans.extend(line.spans);
            indented
        })
        .collect()
}
