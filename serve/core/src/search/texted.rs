//! Records that have a text to search: names, strings, paths of sources.

use elfscope_schema::{Name, NameEntry, SourceEntry, SourceLevel, StringEntry, lookup::NamedKind};

use super::{Hit, HitKind};
use crate::{raw, tree::Entry};

/// A record that has a text.
pub(super) trait Texted: Entry {
    /// The member that is its text.
    const TEXT: &'static str;

    /// Its text.
    fn text(&self) -> &str;
    /// What it is as a result.
    fn hit(&self) -> Hit;
    /// Whether an unparsed record may be of a kind that is wanted.
    fn may_be(record: &[u8], wanted: impl Fn(HitKind) -> bool) -> bool;
}

impl Texted for NameEntry {
    const TEXT: &'static str = "name";

    fn text(&self) -> &str {
        self.name.text()
    }

    fn hit(&self) -> Hit {
        let other = match self.kind {
            NamedKind::Demangled => self.mangled.clone(),
            NamedKind::Function => elfscope_demangle::demangle(self.name.text().as_bytes())
                .map(|demangled| Name::from_bytes(demangled.as_bytes())),
            _ => None,
        };
        Hit {
            kind: kind_of(self.kind),
            name: self.name.clone(),
            demangled: self.kind == NamedKind::Demangled,
            other,
            version: self.version.clone(),
            default: self.default,
            address: self.address,
            not_published: None,
        }
    }

    fn may_be(record: &[u8], wanted: impl Fn(HitKind) -> bool) -> bool {
        let kind = raw::member(record, "kind").and_then(|kind| serde_json::from_slice(kind).ok());
        kind.is_none_or(|kind| wanted(kind_of(kind)))
    }
}

fn kind_of(kind: NamedKind) -> HitKind {
    match kind {
        NamedKind::Function | NamedKind::Demangled => HitKind::Function,
        NamedKind::Data => HitKind::Data,
        NamedKind::Tls => HitKind::Tls,
        NamedKind::Import => HitKind::Import,
    }
}

impl Texted for StringEntry {
    const TEXT: &'static str = "text";

    fn text(&self) -> &str {
        self.text.text()
    }

    fn hit(&self) -> Hit {
        Hit { address: Some(self.address), ..plain(HitKind::String, &self.text) }
    }

    fn may_be(_: &[u8], wanted: impl Fn(HitKind) -> bool) -> bool {
        wanted(HitKind::String)
    }
}

impl Texted for SourceEntry {
    const TEXT: &'static str = "path";

    fn text(&self) -> &str {
        self.path.text()
    }

    fn hit(&self) -> Hit {
        let is_published = matches!(self.level, SourceLevel::Md5Verified | SourceLevel::PathMatched);
        Hit { not_published: (!is_published).then_some(self.level), ..plain(HitKind::Source, &self.path) }
    }

    fn may_be(_: &[u8], wanted: impl Fn(HitKind) -> bool) -> bool {
        wanted(HitKind::Source)
    }
}

fn plain(kind: HitKind, name: &Name) -> Hit {
    Hit {
        kind,
        name: name.clone(),
        demangled: false,
        other: None,
        version: None,
        default: false,
        address: None,
        not_published: None,
    }
}
