//! `archive_callers`: the ways into a function or an imported symbol.

use elfscope_schema::{Caller, limits};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Answered, Envelope, Tool,
    answered::fits,
    ask::{ARGUMENT, STRANGERS, Walk, open, small, within},
    callees::{CONTEXT, Class, LEFT_OUT, SITES, before},
};
use crate::{
    Callee, Edition, Request, Result, Service, Store,
    calls::MOST,
    escape,
    link::{self, Link, View},
    listing::{self, Kind, Line, numbers::count},
    versioned,
    window::From,
};

/// Store reads that the rows before a site take at most: down to the body, and its page.
const SITE: usize = 5;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Callers {
    /// Build id, its start, a name, or any of these and /edition
    build_id: String,
    /// Name, name@version, key, or an address in it; import:NAME for an imported symbol
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

struct Found {
    callers: Vec<(u64, Caller)>,
    scanned: u64,
    total: u64,
    also: Option<String>,
    next: Option<String>,
}

impl Tool for Callers {
    const NAME: &'static str = "archive_callers";
    const TITLE: &'static str = "Who calls a function or an imported symbol";
    const DESCRIPTION: &'static str = "Every call and jump that the code proves to lead to a function, or to an imported symbol \
        (malloc of another library). Calls through pointers are not among them. `context` adds the rows before each, which show \
        what is passed.";

    async fn answer<S: Store>(self, service: &Service<S>) -> Result<Answered> {
        small("function", &self.function, ARGUMENT)?;
        within("context", self.context, 0, CONTEXT)?;
        let walk = Walk::read(self.cursor.as_deref())?;
        let mut request = service.request();
        let edition = open(&mut request, &self.build_id, self.cursor.as_deref()).await?;
        let callee = request.callee(&edition, &self.function).await?;
        let mut envelope = Envelope::of(&edition);
        let mut link = Link::of(&edition, View::Graph);
        match &callee {
            Callee::Body(entry) => link.function = Some(crate::key_of(entry)),
            Callee::Import(entry) => {
                let name = versioned(&entry.name, entry.version.as_ref(), false);
                let short = name.len() <= limits::SORT_KEY;
                link.import = Some(if short { name } else { link::bounded(entry.name.text()) });
            }
        }
        link.direction = Some("in".to_owned());
        link.context = self.context.filter(|rows| *rows > 0).map(u64::from);
        link.class = self.class.map(|class| class.name().to_owned());
        envelope.link = link.url(&service.config().public_url);
        // What provides it is looked for once, at the start of a walk.
        let candidates = match (&callee, &self.cursor) {
            (Callee::Import(entry), None) => super::at::providers(&mut request, &edition, entry).await?,
            _ => Vec::new(),
        };
        let room = envelope.room();
        let mut most = if self.context.unwrap_or(0) > 0 { SITES } else { usize::MAX };
        loop {
            let mut request = request.fork();
            let found = self.find(&mut request, &edition, &callee, &walk, most).await?;
            let callers: Vec<Caller> = found.callers.iter().map(|(_, caller)| caller.clone()).collect();
            let mut title = listing::callee(&callee);
            if let Callee::Body(entry) = &callee {
                title.push(Kind::Note, format!("  {}", crate::key_of(entry)));
            }
            title.push(
                Kind::Note,
                match found.total {
                    0 => "  no calls that the code proves".to_owned(),
                    total => format!("  {}", count(total, "way in", "ways in")),
                },
            );
            let mut sites = vec![title];
            if let Some(also) = &found.also {
                sites.push(Line::of(
                    Kind::Note,
                    format!(
                        "  its name is imported too, so further calls go through a slot: ask for `{}`",
                        escape::name(also)
                    ),
                ));
            }
            sites.extend(candidates.iter().cloned());
            let mut ends = Vec::new();
            for (line, caller) in listing::callers(&callers).into_iter().zip(&callers) {
                let mut site = vec![line];
                if let Some(context) = self.context.filter(|context| *context > 0) {
                    let has_room = request.has_room(SITE, limits::INDEX_PAGE)
                        && request.budget().has(0, limits::PAGE + limits::INDEX_PAGE);
                    if has_room {
                        site.extend(rows(&mut request, &edition, caller, context).await?);
                    } else if ends.is_empty() {
                        site.extend([Line::of(Kind::Note, LEFT_OUT)]);
                    } else {
                        break;
                    }
                }
                if ends.len() > 1 && fits(&sites, room) < sites.len() {
                    break;
                }
                sites.extend(site);
                ends.push(sites.len());
            }
            let fitting = fits(&sites, room);
            let whole = ends.iter().take_while(|end| **end <= fitting).count();
            if whole < callers.len() && most > 1 {
                let last =
                    found.callers.get(whole.saturating_sub(1)).map_or(walk.told, |(number, _)| *number);
                most = usize::try_from(last + 1 - walk.told).unwrap_or(1).max(1);
                if whole == 0 {
                    most = 1;
                }
                continue;
            }
            sites.truncate(fits(&sites, room).max(1));
            envelope.from = found.callers.first().map(|(number, _)| *number);
            envelope.to = found.callers.last().map(|(number, _)| *number);
            match self.class {
                None => envelope.total = Some(found.total),
                Some(_) if found.next.is_none() && walk.told == 0 => {
                    envelope.total = Some(found.callers.len() as u64);
                }
                Some(_) => envelope.scanned = Some(found.scanned),
            }
            link.rows = envelope.from.zip(envelope.to);
            envelope.link = link.url(&service.config().public_url);
            envelope.next_cursor = found.next.map(|inner| Walk::write(inner, found.scanned));
            envelope.note("Only what the code itself proves: calls through pointers, from other files and at run time are not here.");
            if self.class.is_some() {
                envelope.note("`from` and `to` number the edges of all classes.");
            }
            envelope.note(STRANGERS);
            return Ok(envelope.with(&sites, request.budget()));
        }
    }
}

impl Callers {
    /// The edges of the class among the next `most` of all classes, as far as the budget goes.
    async fn find<S: Store>(
        &self,
        request: &mut Request<S>,
        edition: &Edition,
        callee: &Callee,
        walk: &Walk,
        most: usize,
    ) -> Result<Found> {
        let mut found =
            Found { callers: Vec::new(), scanned: walk.told, total: 0, also: None, next: walk.inner.clone() };
        // What rows before the sites take is kept for them.
        let leave = if self.context.unwrap_or(0) > 0 { 8 } else { 0 };
        loop {
            let told = usize::try_from(found.scanned - walk.told).unwrap_or(usize::MAX);
            let limit = MOST.min(most.saturating_sub(told));
            let answer = request.callers(edition, callee, limit, found.next.as_deref()).await?;
            found.total = answer.value.total;
            found.also = found.also.or(answer.value.also);
            for caller in answer.value.callers {
                if Class::fits(self.class, &caller.class) {
                    found.callers.push((found.scanned, caller));
                }
                found.scanned += 1;
            }
            found.next = answer.next_cursor;
            let told = usize::try_from(found.scanned - walk.told).unwrap_or(usize::MAX);
            let enough = told >= most || found.callers.len() >= MOST;
            if found.next.is_none() || enough || !request.has_room(2 + leave, limits::PAGE / 2) {
                return Ok(found);
            }
        }
    }
}

/// The row of a site and the rows before it.
async fn rows<S: Store>(
    request: &mut Request<S>,
    edition: &Edition,
    caller: &Caller,
    context: u32,
) -> Result<Vec<Line>> {
    let missing = || vec![Line::of(Kind::Note, LEFT_OUT)];
    let Some(entry) = request.body_at(edition, caller.from.address).await? else { return Ok(missing()) };
    match request.window(edition, &entry, From::Address(caller.at, context), context + 1).await {
        Ok(answer) => {
            let window = answer.value;
            let offset = caller.at.offset.saturating_sub(window.key.address.offset);
            Ok(before(edition, &window, u32::try_from(offset).unwrap_or(u32::MAX), context))
        }
        Err(crate::Error::OverBudget { .. }) => Ok(missing()),
        Err(error) => Err(error),
    }
}
