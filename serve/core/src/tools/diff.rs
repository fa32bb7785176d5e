//! `archive_diff`: what differs between two builds, or between two functions.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Answered, Envelope, Tool,
    answered::fits,
    ask::{ARGUMENT, STRANGERS, Walk, small, within},
};
use crate::{
    Edition, Error, Request, Result, Service, Store,
    diff::PairWindow,
    link::{Link, View},
    listing::{self, Kind, Line},
};

/// Most differences, and pairs of rows, of one answer; fewer where they are long.
const CHANGES: usize = 60;
const PAIRS: usize = 80;
/// Most equal rows around each difference.
const CONTEXT: u32 = 50;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Diff {
    /// BUILD, or BUILD:FUNCTION
    a: String,
    /// BUILD, or BUILD:FUNCTION; the function may be left out where it is called the same
    b: String,
    /// Of functions: only rows that differ, with so many equal ones around; without it, all rows
    #[serde(default)]
    #[schemars(range(max = 50))]
    context: Option<u32>,
    /// next_cursor of an earlier answer
    #[serde(default)]
    cursor: Option<String>,
}

impl Tool for Diff {
    const NAME: &'static str = "archive_diff";
    const TITLE: &'static str = "What differs between two builds or functions";
    const DESCRIPTION: &'static str = "Two builds: functions, data and imports added, removed, changed (other code under the same name) \
        and moved (equal code under another name). Two functions (BUILD:FUNCTION): their rows aligned.";

    async fn answer<S: Store>(self, service: &Service<S>) -> Result<Answered> {
        small("a", &self.a, ARGUMENT)?;
        small("b", &self.b, ARGUMENT)?;
        within("context", self.context, 0, CONTEXT)?;
        let walk = Walk::read(self.cursor.as_deref())?;
        let ((build_a, function_a), (build_b, function_b)) = (split(&self.a), split(&self.b));
        let mut request = service.request();
        let editions = walk.inner.as_deref().and_then(|inner| inner.split('.').next()?.split_once('-'));
        let a = open(&mut request, build_a, editions.map(|editions| editions.0)).await?;
        let b = open(&mut request, build_b, editions.map(|editions| editions.1)).await?;
        let mut envelope = Envelope::of(&a);
        envelope.provenance = format!(
            "a: {}; b: {}/{}: {}",
            envelope.provenance,
            b.source().build_id,
            b.source().edition,
            Envelope::of(&b).provenance
        );
        let mut link = Link::of(&a, View::Diff);
        let pin = |edition: &Edition| (edition.source().build_id.clone(), edition.source().edition.clone());
        let function = function_a.or(function_b);
        let (Some(one), other) = (function_a.or(function), function_b.or(function)) else {
            let (build, edition) = pin(&b);
            link.other = Some((build, edition, None));
            return self.builds(service, &request, (&a, &b), &walk, envelope, link).await;
        };
        let (entry_a, _) = request.function(&a, one).await?;
        let (entry_b, _) = request.function(&b, other.unwrap_or(one)).await?;
        let (build, edition) = pin(&b);
        link.function = Some(crate::key_of(&entry_a));
        link.other = Some((build, edition, Some(crate::key_of(&entry_b))));
        link.context = self.context.map(u64::from);
        envelope.link = link.url(&service.config().public_url);
        let room = envelope.room();
        let mut limit = PAIRS;
        loop {
            let mut request = request.fork();
            let window = PairWindow { context: self.context, limit, cursor: walk.inner.as_deref() };
            let answer = request.diff_functions((&a, &entry_a), (&b, &entry_b), window).await?;
            let diff = &answer.value;
            let mut lines = listing::diff_head(diff);
            lines.push(Line::default());
            lines.extend(listing::pairs(&diff.pairs));
            if fits(&lines, room) < lines.len() && limit > 1 {
                limit /= 2;
                continue;
            }
            lines.truncate(fits(&lines, room).max(1));
            let shown = diff.pairs.len() as u64;
            if self.context.is_none() {
                let total = &diff.total;
                envelope.total = Some(total.equal + total.changed + total.only_a + total.only_b);
            }
            if shown > 0 {
                (envelope.from, envelope.to) = (Some(walk.told), Some(walk.told + shown - 1));
                link.rows = envelope.from.zip(envelope.to);
            }
            envelope.link = link.url(&service.config().public_url);
            envelope.next_cursor = answer.next_cursor.map(|inner| Walk::write(inner, walk.told + shown));
            envelope.note(
                "Rows are aligned by what they say, not by what they do. `<` and `>` are a row of a and what stands in its place in b.",
            );
            envelope.note(STRANGERS);
            return Ok(envelope.with(&lines, request.budget()));
        }
    }
}

impl Diff {
    async fn builds<S: Store>(
        &self,
        service: &Service<S>,
        base: &Request<&S>,
        (a, b): (&Edition, &Edition),
        walk: &Walk,
        mut envelope: Envelope,
        mut link: Link,
    ) -> Result<Answered> {
        envelope.link = link.url(&service.config().public_url);
        let room = envelope.room();
        let mut limit = CHANGES;
        loop {
            let mut request = base.fork();
            let answer = request.diff_builds(a, b, &[], limit, walk.inner.as_deref()).await?;
            let diff = &answer.value;
            let mut lines = diff.summary.as_ref().map(listing::diff_summary).unwrap_or_default();
            let counts = listing::change_counts(diff.total.as_ref().unwrap_or(&diff.counts));
            let part = if diff.total.is_some() { "" } else { " (of the names that this answer looked at)" };
            lines.push(Line::of(Kind::Note, format!("{counts}{part}")));
            lines.push(Line::default());
            lines.extend(listing::changes(&diff.changes));
            if fits(&lines, room) < lines.len() && limit > 1 {
                limit /= 2;
                continue;
            }
            lines.truncate(fits(&lines, room).max(1));
            let shown = diff.changes.len() as u64;
            if shown > 0 {
                (envelope.from, envelope.to) = (Some(walk.told), Some(walk.told + shown - 1));
                link.rows = envelope.from.zip(envelope.to);
            }
            match &answer.next_cursor {
                None => envelope.total = Some(walk.told + shown),
                Some(_) => envelope.scanned = Some(diff.scanned),
            }
            envelope.link = link.url(&service.config().public_url);
            envelope.next_cursor = answer.next_cursor.map(|inner| Walk::write(inner, walk.told + shown));
            envelope.note(
                "Functions belong together by name and version; `changed` says that the code differs, not that what it does differs. \
                 Functions without names are not compared.",
            );
            envelope.note(STRANGERS);
            return Ok(envelope.with(&lines, request.budget()));
        }
    }
}

/// The build and the function of a side.
fn split(text: &str) -> (&str, Option<&str>) {
    match text.split_once(':') {
        Some((build, function)) if !function.is_empty() => (build, Some(function)),
        _ => (text, None),
    }
}

/// The edition of a side: the one that the cursor tells, though another may be current by now.
async fn open<S: Store>(request: &mut Request<S>, build: &str, edition: Option<&str>) -> Result<Edition> {
    match edition.filter(|_| !build.contains('/')) {
        Some(edition) => match request.edition(&format!("{build}/{edition}")).await {
            Err(Error::BadReference { .. }) => request.edition(build).await,
            found => found,
        },
        None => request.edition(build).await,
    }
}
