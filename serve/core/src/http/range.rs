//! One range of bytes of the identity form (RFC 9110, section 14).

use std::ops::Range;

use http::{
    HeaderMap,
    header::{IF_RANGE, RANGE},
};

/// What a request asks of a representation's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// All of them.
    Whole,
    /// These.
    Part(Range<u64>),
    /// None that there are.
    Outside,
}

/// Whether a request asks for one range of what has this tag, so that the identity form is meant.
pub(super) fn is_asked(headers: &HeaderMap, tag: &str) -> bool {
    let fits = match headers.get(IF_RANGE) {
        // A date fits nothing: there are none here.
        Some(value) => value.as_bytes() == tag.as_bytes(),
        None => true,
    };
    fits && parse(headers).is_some()
}

/// The bytes that are asked for of so many. Several ranges, and what is none, count as not asked for.
pub(super) fn of(headers: &HeaderMap, size: u64) -> Asked {
    let part = match parse(headers) {
        None => return Asked::Whole,
        Some((Some(first), _)) if first >= size => return Asked::Outside,
        Some((Some(first), Some(last))) => first..last.saturating_add(1).min(size),
        Some((Some(first), None)) => first..size,
        Some((None, Some(last))) => size.saturating_sub(last)..size,
        Some((None, None)) => return Asked::Whole,
    };
    if part.is_empty() { Asked::Outside } else { Asked::Part(part) }
}

/// The first and last byte, or how many from the end.
fn parse(headers: &HeaderMap) -> Option<(Option<u64>, Option<u64>)> {
    let text = headers.get(RANGE)?.to_str().ok()?;
    let (unit, range) = text.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") || range.contains(',') {
        return None;
    }
    let (first, last) = range.trim().split_once('-')?;
    let number = |text: &str| match text {
        "" => Some(None),
        // More digits than a number has: past every end.
        _ if text.bytes().all(|byte| byte.is_ascii_digit()) => Some(Some(text.parse().unwrap_or(u64::MAX))),
        _ => None,
    };
    match (number(first)?, number(last)?) {
        (None, None) => None,
        (Some(first), Some(last)) if first > last => None,
        range => Some(range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        for (text, expected) in [
            ("bytes=0-0", Asked::Part(0..1)),
            ("bytes=2-4", Asked::Part(2..5)),
            ("Bytes = 2-4", Asked::Part(2..5)),
            ("bytes=2-", Asked::Part(2..10)),
            ("bytes=2-99", Asked::Part(2..10)),
            ("bytes=-3", Asked::Part(7..10)),
            ("bytes=-99", Asked::Part(0..10)),
            ("bytes=0-99999999999999999999999", Asked::Part(0..10)),
            ("bytes=-0", Asked::Outside),
            ("bytes=10-", Asked::Outside),
            ("bytes=99999999999999999999999-", Asked::Outside),
            ("bytes=4-2", Asked::Whole),
            ("bytes=0-1,3-4", Asked::Whole),
            ("bytes=-", Asked::Whole),
            ("bytes=a-b", Asked::Whole),
            ("rows=0-1", Asked::Whole),
            ("bytes", Asked::Whole),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RANGE, text.parse().unwrap());
            assert_eq!(of(&headers, 10), expected, "{text}");
        }
        assert_eq!(of(&HeaderMap::new(), 10), Asked::Whole);
        let mut headers = HeaderMap::new();
        headers.insert(RANGE, "bytes=0-1".parse().unwrap());
        assert_eq!(of(&headers, 0), Asked::Outside);
        assert!(is_asked(&headers, "\"a\""));
        headers.insert(IF_RANGE, "\"b\"".parse().unwrap());
        assert!(!is_asked(&headers, "\"a\"") && is_asked(&headers, "\"b\""));
    }
}
