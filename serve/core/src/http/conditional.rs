//! Entity tags and conditional requests (RFC 9110, sections 8.8.3 and 13).

use elfscope_schema::Sha256Digest;
use http::{
    HeaderMap, HeaderName,
    header::{IF_MATCH, IF_NONE_MATCH},
};

/// What a representation is known by: a digest of what its bytes follow from, so that it is known before they are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tag(String);

impl Tag {
    /// The tag of what follows from these texts.
    pub(super) fn of(parts: &[&str]) -> Self {
        // No part holds a NUL: paths and queries with one are refused.
        Self::of_bytes(parts.join("\0").as_bytes())
    }

    /// The tag of bytes that are there.
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        let mut digest = Sha256Digest::of(bytes).to_string();
        digest.truncate(32);
        Self(digest)
    }

    /// As a header tells it, of the identity form.
    pub(super) fn identity(&self) -> String {
        format!("\"{}\"", self.0)
    }

    /// As a header tells it, of the gzip form.
    pub(super) fn gzip(&self) -> String {
        format!("\"{}-gz\"", self.0)
    }
}

/// What a list of tags says of a representation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// There is no such header.
    Nothing,
    /// `*`.
    Any,
    /// One of the tags is this.
    Has(String),
    /// None of the tags is one of its.
    Other,
}

/// What `If-None-Match` says; weak tags count as strong ones.
pub(super) fn none_match(headers: &HeaderMap, tags: &[String]) -> Said {
    said(headers, &IF_NONE_MATCH, tags, true)
}

/// What `If-Match` says; weak tags match nothing.
pub(super) fn must_match(headers: &HeaderMap, tags: &[String]) -> Said {
    said(headers, &IF_MATCH, tags, false)
}

fn said(headers: &HeaderMap, name: &HeaderName, tags: &[String], weak: bool) -> Said {
    let mut said = Said::Nothing;
    for value in headers.get_all(name) {
        let text = value.to_str().unwrap_or_default().trim();
        if text == "*" {
            return Said::Any;
        }
        for (given, is_weak) in listed(text) {
            if (weak || !is_weak)
                && let Some(tag) = tags.iter().find(|tag| *tag == given)
            {
                return Said::Has(tag.clone());
            }
        }
        said = Said::Other;
    }
    said
}

/// The tags of a list, in their quotes, and whether each is weak. What follows something that is none is left out.
fn listed(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([',', ' ', '\t']);
        let (tag, is_weak) = match rest.strip_prefix("W/") {
            Some(tag) => (tag, true),
            None => (rest, false),
        };
        let end = tag.strip_prefix('"')?.find('"')? + 2;
        rest = &tag[end..];
        Some((&tag[..end], is_weak))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_tags() {
        let tags = ["\"a\"".to_owned(), "\"a-gz\"".to_owned()];
        let has = |tag: &str| Said::Has(tag.to_owned());
        for (text, weak, strong) in [
            ("\"a\"", has("\"a\""), has("\"a\"")),
            ("W/\"a\"", has("\"a\""), Said::Other),
            ("\"x\", W/\"y\" ,\"a-gz\"", has("\"a-gz\""), has("\"a-gz\"")),
            ("\"x,\",\"a\"", has("\"a\""), has("\"a\"")),
            ("*", Said::Any, Said::Any),
            ("\"A\"", Said::Other, Said::Other),
            ("a", Said::Other, Said::Other),
            ("\"a", Said::Other, Said::Other),
            ("", Said::Other, Said::Other),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, text.parse().unwrap());
            headers.insert(IF_MATCH, text.parse().unwrap());
            assert_eq!(none_match(&headers, &tags), weak, "{text}");
            assert_eq!(must_match(&headers, &tags), strong, "{text}");
        }
        assert_eq!(none_match(&HeaderMap::new(), &tags), Said::Nothing);
    }
}
