//! Canonical JSON looked through without parsing it: where its members and elements stand, and what its texts say.
//!
//! A search reads far more records than it answers with. Their bytes are walked here and only what fits is parsed, so that
//! the budget of parsed JSON goes into answers. What isn't canonical gives nothing, and whoever asked calls it damaged.

use std::borrow::Cow;

use elfscope_schema::Name;

/// The end of the value that starts here.
fn end_of_value(bytes: &[u8], start: usize) -> Option<usize> {
    match bytes.get(start)? {
        b'"' => end_of_string(bytes, start),
        b'{' | b'[' => {
            let (mut depth, mut at) = (0_usize, start);
            loop {
                match bytes.get(at)? {
                    b'"' => {
                        at = end_of_string(bytes, at)?;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
        }
        _ => {
            let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b'\n');
            Some(bytes[start..].iter().position(ends).map_or(bytes.len(), |length| start + length))
        }
    }
}

fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The value of a member of an object.
pub(crate) fn member<'a>(object: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let mut at = 1;
    if object.first() != Some(&b'{') {
        return None;
    }
    while object.get(at) == Some(&b'"') {
        let end = end_of_string(object, at)?;
        let found = object.get(at + 1..end - 1)? == key.as_bytes();
        if object.get(end) != Some(&b':') {
            return None;
        }
        let value_end = end_of_value(object, end + 1)?;
        if found {
            return object.get(end + 1..value_end);
        }
        at = value_end + usize::from(object.get(value_end) == Some(&b','));
    }
    None
}

/// The elements of an array.
pub(crate) fn elements(array: &[u8]) -> Option<Vec<&[u8]>> {
    let mut found = Vec::new();
    if array.first() != Some(&b'[') {
        return None;
    }
    let mut at = 1;
    while array.get(at)? != &b']' {
        let end = end_of_value(array, at)?;
        found.push(array.get(at..end).filter(|element| !element.is_empty())?);
        at = match array.get(end)? {
            b',' => end + 1,
            b']' => end,
            _ => return None,
        };
    }
    Some(found)
}

/// What a string says, or what can be shown of a [`Name`].
pub(crate) fn text(value: &[u8]) -> Option<Cow<'_, str>> {
    let inside = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    match inside {
        Some(inside) if !inside.contains(&b'\\') => Some(Cow::Borrowed(std::str::from_utf8(inside).ok()?)),
        _ => {
            let name: Name = serde_json::from_slice(value).ok()?;
            Some(Cow::Owned(name.text().to_owned()))
        }
    }
}

/// What an integer says.
pub(crate) fn number(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use elfscope_schema::{Address, NameEntry, NamedCode, lookup::NamedKind, to_canonical};

    use super::*;

    #[test]
    fn walking_finds_what_parsing_finds() {
        let digest = elfscope_schema::BodyDigest::truncated(&[7; 32]);
        for name in [
            &b"puts"[..],
            b"a \"quoted\\\" name, with ] and }",
            b"\xff\xfe\"",
            b"\x01\n",
            "é\u{2028}".as_bytes(),
            b"",
        ] {
            let entry = NameEntry {
                address: Some(Address::virt(0x1000)),
                code: Some(NamedCode(digest, true)),
                default: true,
                kind: NamedKind::Function,
                mangled: None,
                name: Name::from_bytes(name),
                version: Some(Name::from_bytes(name)),
            };
            let mut bytes = to_canonical(&vec![entry.clone(), entry.clone()]);
            bytes.pop();
            let records = elements(&bytes).unwrap();
            assert_eq!(records.len(), 2);
            for record in records {
                assert_eq!(serde_json::from_slice::<NameEntry>(record).unwrap(), entry);
                assert_eq!(text(member(record, "name").unwrap()).unwrap(), entry.name.text());
                assert_eq!(text(member(record, "address").unwrap()).unwrap(), "1000");
                assert_eq!(member(record, "default").unwrap(), b"true");
                assert_eq!(elements(member(record, "code").unwrap()).unwrap().len(), 2);
                assert!(member(record, "nothing").is_none());
            }
        }
        assert_eq!(elements(b"[]").unwrap().len(), 0);
        assert_eq!(number(elements(b"[12,3]").unwrap()[0]), Some(12));
    }

    #[test]
    fn what_is_cut_or_broken_is_nothing() {
        let whole = br#"{"a":[1,{"b":"\"]"},"x"],"c":2}"#;
        for end in 0..whole.len() {
            let cut = &whole[..end];
            assert!(member(cut, "zzz").is_none());
            let _ = member(cut, "c").map(number);
        }
        for broken in [&b"["[..], b"[1", b"[,]", b"", b"{", b"{\"a\"", b"{\"a\"}", b"[\"a", b"[\"\\"] {
            assert!(elements(broken).is_none() && member(broken, "a").is_none(), "{broken:?}");
        }
    }
}
