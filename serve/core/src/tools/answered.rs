//! What a tool answers: an envelope that says where the answer comes from and how far it goes, and a listing.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::MOST_CHARACTERS;
use crate::{Budget, Edition, escape, listing::Line};

/// Most characters of a provenance that stands around an answer.
const PROVENANCE: usize = 600;
/// Characters that are kept for what the envelope says only when the listing is done: numbers, the cursor, notes, the numbers
/// in the link and what it starts with.
const RESERVE: usize = 1500;

/// What stands around every listing. What doesn't apply is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Envelope {
    /// The build that the answer is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// The edition that it was read from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edition: Option<String>,
    /// Where every claim of that edition comes from.
    pub provenance: String,
    /// The number of the first item here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// The number of the last item here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// How many there are in all; `null` where that was not counted.
    pub total: Option<u64>,
    /// How many records were looked at, where `total` is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scanned: Option<u64>,
    /// Asked with this, the answer goes on; `null` where nothing is left.
    pub next_cursor: Option<String>,
    /// What the evidence does not say.
    pub note: String,
    /// The page's URL of exactly this view, pinned to the edition.
    pub link: String,
}

impl Envelope {
    /// What every answer about an edition says.
    pub(super) fn of(edition: &Edition) -> Self {
        let source = edition.source();
        Self {
            build_id: Some(source.build_id.to_string()),
            edition: Some(source.edition.to_string()),
            provenance: escape::at_most(&source.provenance, PROVENANCE),
            ..Self::default()
        }
    }

    /// Adds a sentence or two to what the evidence doesn't say, once.
    pub(super) fn note(&mut self, text: &str) {
        if !text.is_empty() && !self.note.contains(text) {
            if !self.note.is_empty() {
                self.note.push(' ');
            }
            self.note.push_str(text);
        }
    }

    /// Characters that are left for the listing, the link being known but for its numbers and what it starts with: how far an answer
    /// goes is the same on every host.
    pub(super) fn room(&self) -> usize {
        let link = self.link.split_once('#').map(|(_, fragment)| fragment.to_owned()).unwrap_or_default();
        let around = Answered { envelope: Self { link, ..self.clone() }, ..Answered::default() }.text();
        MOST_CHARACTERS.saturating_sub(around.chars().count() + RESERVE)
    }

    /// The answer with these lines.
    pub(super) fn with(self, lines: &[Line], budget: Budget) -> Answered {
        let mut listing = String::new();
        for line in lines {
            listing.push_str(&line.text());
            listing.push('\n');
        }
        Answered { envelope: self, listing, budget }
    }
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// What stands around the listing.
    pub envelope: Envelope,
    /// The listing: lines for a model to read, each ended by `\n`.
    pub listing: String,
    /// What it cost; no part of what is told.
    pub budget: Budget,
}

impl Answered {
    /// The structured half: the envelope, and the listing in it.
    #[must_use]
    pub fn structured(&self) -> Value {
        let mut value = json!(self.envelope);
        value["listing"] = Value::String(self.listing.clone());
        value
    }

    /// The text half: the envelope as lines, and the listing.
    #[must_use]
    pub fn text(&self) -> String {
        let envelope = &self.envelope;
        let mut text = String::new();
        let mut say = |label: &str, value: &str| {
            if !value.is_empty() {
                text.push_str(label);
                text.push_str(": ");
                text.push_str(value);
                text.push('\n');
            }
        };
        let or_empty = |value: &Option<String>| value.clone().unwrap_or_default();
        say("build_id", &or_empty(&envelope.build_id));
        say("edition", &or_empty(&envelope.edition));
        say("provenance", &envelope.provenance);
        let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        say("from", &number(envelope.from));
        say("to", &number(envelope.to));
        say("total", &envelope.total.map_or_else(|| "not counted".to_owned(), |total| total.to_string()));
        say("scanned", &number(envelope.scanned));
        say("next_cursor", envelope.next_cursor.as_deref().unwrap_or("none, this is the end"));
        say("note", &envelope.note);
        say("link", &envelope.link);
        text.push('\n');
        text.push_str(&self.listing);
        text
    }

    /// JSON Schema of the structured half: what is always there, and no more.
    #[must_use]
    pub fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "provenance": {"type": "string"},
                "total": {"type": ["integer", "null"]},
                "next_cursor": {"type": ["string", "null"]},
                "note": {"type": "string"},
                "link": {"type": "string"},
                "listing": {"type": "string"},
            },
            "required": ["provenance", "total", "next_cursor", "note", "link", "listing"],
        })
    }
}

/// How many of these lines fit so many characters.
pub(super) fn fits(lines: &[Line], room: usize) -> usize {
    let mut used = 0;
    lines
        .iter()
        .take_while(|line| {
            used += width(line);
            used <= room
        })
        .count()
}

/// The characters that a line takes in a listing.
pub(super) fn width(line: &Line) -> usize {
    line.text().chars().count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_halves_say_everything() {
        let envelope = Envelope {
            build_id: Some("b1".to_owned()),
            edition: Some("e2".to_owned()),
            provenance: "p3".to_owned(),
            from: Some(4),
            to: Some(5),
            total: Some(6),
            scanned: Some(7),
            next_cursor: Some("c8".to_owned()),
            note: "n9".to_owned(),
            link: "l10".to_owned(),
        };
        let answered = Answered { envelope, listing: "row 11\n".to_owned(), ..Answered::default() };
        let structured = answered.structured().to_string();
        let text = answered.text();
        for said in ["b1", "e2", "p3", "4", "5", "6", "7", "c8", "n9", "l10", "row 11"] {
            assert!(structured.contains(said), "{said}");
            assert!(text.contains(said), "{said}");
        }
    }
}
