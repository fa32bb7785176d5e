//! `archive_source`: lines of a source, as they are.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Answered, Envelope, Tool,
    answered::fits,
    ask::{ARGUMENT, STRANGERS, open, small, within},
};
use crate::{
    Error, Result, Service, Store, cursor,
    link::{self, Link, View},
    listing,
    sources::MOST_LINES,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    /// Build id, its start, a name, or any of these and /edition
    build_id: String,
    /// Path as the debug data cites it, or the end of it
    path: String,
    /// First line, from 1; or next_cursor
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    from: Option<super::Start>,
    /// At most 400
    #[serde(default)]
    #[schemars(range(min = 1, max = 400))]
    lines: Option<u32>,
}

impl Tool for Source {
    const NAME: &'static str = "archive_source";
    const TITLE: &'static str = "Lines of a source file";
    const DESCRIPTION: &'static str = "Verbatim numbered lines of a source file that a build's debug data cites, and how far it \
        is verified that this is the file it was compiled from. Says so where the text is not in the archive.";

    async fn answer<S: Store>(self, service: &Service<S>) -> Result<Answered> {
        small("path", &self.path, ARGUMENT)?;
        within("lines", self.lines, 1, MOST_LINES)?;
        let start = self.from.map(super::Start::text);
        let is_cursor = start.as_deref().is_some_and(|text| text.contains('.'));
        let mut request = service.request();
        let edition = open(&mut request, &self.build_id, start.as_deref().filter(|_| is_cursor)).await?;
        let file = request.source(&edition, &self.path).await?;
        let question = format!("source {:?}", file.path);
        let name = edition.source().edition.as_str();
        let first = match start.as_deref() {
            None => 1,
            Some(text) if is_cursor => {
                let [line] = cursor::read(text, name, &question)?;
                u32::try_from(line).unwrap_or(u32::MAX)
            }
            Some(text) => text.trim().parse().ok().ok_or_else(|| Error::BadReference {
                what: "a line",
                given: text.to_owned(),
                allowed: "a number from 1, or the `next_cursor` of an earlier answer".to_owned(),
            })?,
        };
        let answer = request.source_lines(&edition, &file, first, self.lines.unwrap_or(MOST_LINES)).await?;
        let mut source = answer.value;
        let mut envelope = Envelope::of(&edition);
        envelope.total = Some(u64::from(source.total));
        envelope.note(&format!("This text is {}: {}.", source.level.name(), source.level.about(None)));
        envelope.note(STRANGERS);
        let mut link = Link::of(&edition, View::Source);
        link.path = Some(link::bounded(file.path.text()));
        envelope.link = link.url(&service.config().public_url);
        let mut lines = listing::source(&edition, &source, true);
        let head = lines.len() - source.lines.len();
        let fitting = fits(&lines, envelope.room()).saturating_sub(head).max(1);
        if fitting < source.lines.len() {
            source.next_line = source.lines.get(fitting).map(|line| line.number);
            source.lines.truncate(fitting);
            lines = listing::source(&edition, &source, true);
        }
        if let (Some(first), Some(last)) = (source.lines.first(), source.lines.last()) {
            let (first, last) = (u64::from(first.number), u64::from(last.number));
            (envelope.from, envelope.to, link.lines) = (Some(first), Some(last), Some((first, last)));
        }
        envelope.next_cursor = source.next_line.map(|line| cursor::write(name, &question, [u64::from(line)]));
        envelope.link = link.url(&service.config().public_url);
        Ok(envelope.with(&lines, request.budget()))
    }
}
