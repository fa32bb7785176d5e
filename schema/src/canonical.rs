//! Canonical bytes: the one way a document is written.
//!
//! UTF-8 JSON, object keys sorted by their bytes, no spaces, integers only, one `\n` at the end. Strings are escaped as
//! `serde_json` does it: `\"`, `\\`, `\b`, `\f`, `\n`, `\r`, `\t`, other control characters as lowercase `\u00xx`, all
//! else verbatim.
//!
//! The types of this crate declare their fields in the order of their keys, so that writing one needs no tree in
//! between; [`is_canonical`] is what tests and `verify` hold every written document to.

use std::borrow::Cow;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// The canonical bytes of a document of this crate.
///
/// # Panics
/// Never for the types of this crate: their maps have string keys and their numbers are integers.
#[must_use]
pub fn to_canonical<T: Serialize>(document: &T) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(document).expect("documents have string keys and integers only");
    bytes.push(b'\n');
    bytes
}

/// The canonical bytes of any JSON value: what [`to_canonical`] gives for a typed document, from its tree.
#[must_use]
pub fn value_to_canonical(value: &Value) -> Vec<u8> {
    let mut bytes = value.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

/// Whether these are the canonical bytes of some JSON document, nested no deeper than `serde_json` reads.
///
/// The text is read once from its start to its end: to make its tree and write that again took eight times as long, most of what
/// `verify` did.
#[must_use]
pub fn is_canonical(bytes: &[u8]) -> bool {
    let Some(text) = bytes.strip_suffix(b"\n") else { return false };
    if std::str::from_utf8(text).is_err() {
        return false;
    }
    let mut reader = Reader { text, at: 0 };
    reader.value(DEPTH).is_some() && reader.at == text.len()
}

/// Reads a document, whatever its field order and spacing.
///
/// # Errors
/// What `serde_json` says of text that is not JSON or not this document.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(bytes)
}

/// How deep arrays and objects may stand in each other: as deep as `serde_json` reads them.
const DEPTH: u32 = 127;

/// Reads canonical JSON. Every step gives `None` at what isn't.
struct Reader<'a> {
    /// UTF-8.
    text: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, expected: &[u8]) -> Option<()> {
        self.text[self.at..].starts_with(expected).then(|| self.at += expected.len())
    }

    fn value(&mut self, depth: u32) -> Option<()> {
        match self.peek()? {
            b'{' => self.object(depth.checked_sub(1)?),
            b'[' => self.array(depth.checked_sub(1)?),
            b'"' => self.string().map(drop),
            b'n' => self.take(b"null"),
            b't' => self.take(b"true"),
            b'f' => self.take(b"false"),
            _ => self.integer(),
        }
    }

    fn array(&mut self, depth: u32) -> Option<()> {
        self.at += 1;
        if self.take(b"]").is_some() {
            return Some(());
        }
        loop {
            self.value(depth)?;
            if self.take(b"]").is_some() {
                return Some(());
            }
            self.take(b",")?;
        }
    }

    /// The keys rise by the bytes of what they say.
    fn object(&mut self, depth: u32) -> Option<()> {
        self.at += 1;
        if self.take(b"}").is_some() {
            return Some(());
        }
        let mut last: Option<Cow<'a, [u8]>> = None;
        loop {
            let (raw, has_escapes) = self.string()?;
            let key = if has_escapes { Cow::Owned(unescape(raw)) } else { Cow::Borrowed(raw) };
            if last.is_some_and(|last| last >= key) {
                return None;
            }
            last = Some(key);
            self.take(b":")?;
            self.value(depth)?;
            if self.take(b"}").is_some() {
                return Some(());
            }
            self.take(b",")?;
        }
    }

    /// What stands between the quotes, and whether there are escapes in it.
    fn string(&mut self) -> Option<(&'a [u8], bool)> {
        self.take(b"\"")?;
        let (start, mut has_escapes) = (self.at, false);
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some((&self.text[start..self.at - 1], has_escapes));
                }
                b'\\' => {
                    has_escapes = true;
                    self.at += 1;
                    self.escape()?;
                }
                0..0x20 => return None,
                _ => self.at += 1,
            }
        }
    }

    /// The one escape that there is for a character that needs one.
    fn escape(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
            _ => {
                self.take(b"u00")?;
                let digits = self.text.get(self.at..self.at + 2)?;
                let has_short = matches!(digits, b"08" | b"09" | b"0a" | b"0c" | b"0d");
                if has_short || !matches!(digits, [b'0' | b'1', b'0'..=b'9' | b'a'..=b'f']) {
                    return None;
                }
                self.at += 2;
            }
        }
        Some(())
    }

    /// What fits 64 bits, with its sign or without one.
    fn integer(&mut self) -> Option<()> {
        let start = self.at;
        let is_negative = self.take(b"-").is_some();
        let digits = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_plain = match self.peek()? {
            b'0' => digits == 1 && !is_negative,
            _ => digits > 0,
        };
        self.at += digits;
        // 18 digits always fit.
        let fits = digits <= 18 || {
            let text = std::str::from_utf8(&self.text[start..self.at]).ok()?;
            if is_negative { text.parse::<i64>().is_ok() } else { text.parse::<u64>().is_ok() }
        };
        (is_plain && fits).then_some(())
    }
}

/// The bytes of a string with the escapes that [`Reader::escape`] lets pass.
fn unescape(raw: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.iter().copied();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next() {
                Some(b'b') => 0x08,
                Some(b't') => b'\t',
                Some(b'n') => b'\n',
                Some(b'f') => 0x0c,
                Some(b'r') => b'\r',
                Some(b'u') => {
                    let digits = rest.by_ref().take(4).filter_map(|digit| char::from(digit).to_digit(16));
                    digits.fold(0, |value, digit| value << 4 | digit as u8)
                }
                other => other.unwrap_or(b'\\'),
            },
            byte => byte,
        });
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_spelling_is_canonical() {
        let good = b"{\"a\":[1,\"\\u001b\\n\xc3\xa9\"],\"b\":null}\n";
        assert!(is_canonical(good));
        for bad in [
            &b"{\"a\":[1,\"\\u001b\\n\xc3\xa9\"],\"b\":null}"[..],
            b"{\"b\":null,\"a\":1}\n",
            b"{\"a\": 1}\n",
            b"{\"a\":1.0}\n",
            b"{\"a\":1,\"a\":1}\n",
            b"{\"a\":\"\\u0041\"}\n",
            b"{\"a\":1}\n\n",
            b"",
        ] {
            assert!(!is_canonical(bad), "{}", String::from_utf8_lossy(bad));
        }
    }

    /// Makes the tree and writes it again.
    fn by_tree(bytes: &[u8]) -> bool {
        fn has_float(value: &Value) -> bool {
            match value {
                Value::Number(number) => number.is_f64(),
                Value::Array(items) => items.iter().any(has_float),
                Value::Object(map) => map.values().any(has_float),
                Value::Null | Value::Bool(_) | Value::String(_) => false,
            }
        }
        serde_json::from_slice::<Value>(bytes)
            .is_ok_and(|value| !has_float(&value) && value_to_canonical(&value) == bytes)
    }

    #[test]
    fn reading_once_says_what_making_the_tree_says() {
        let documents = [
            r#"{"":[],"\t":{},"\n\"\\":0,"\u001f":-1,"!":[null,true,false],"a":"\b\f\r/é\u007f😀","b":18446744073709551615}"#,
            r#"{"a":-9223372036854775808,"a\"":1,"aa":{"x":[[],[{}],{"y":[1,-20,300]}]},"é":"\u0000\u000b\u000e"}"#,
            r#"["",0,10,123456789012345678,1234567890123456789,12345678901234567890,123456789012345678901]"#,
            r#"[18446744073709551616,1]"#,
            r#"[-9223372036854775809]"#,
            r#"{"schema":"archive.fn/1","z":{"b":1,"a":2}}"#,
            "\"x\"",
            "7",
        ];
        let with = [
            "", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "1", "-", ".", "e", "a", "A", "u", "n", " ",
            "\n", "\0", "\u{7f}", "\u{1f}", "\"a\":1,", "\\u0008", "\\u001e", "\\u0041", "\\/", "\\ud800",
            "tru", "-0",
        ];
        let (mut good, mut bad) = (0, 0);
        for document in documents {
            let text = format!("{document}\n").into_bytes();
            for at in 0..=text.len() {
                for cut in [0, 1, 2, 7] {
                    let end = (at + cut).min(text.len());
                    for with in with.iter().map(|with| with.as_bytes()).chain([&b"\xff"[..], b"\xed\xa0\x80"])
                    {
                        let changed = [&text[..at], with, &text[end..]].concat();
                        let expected = by_tree(&changed);
                        *(if expected { &mut good } else { &mut bad }) += 1;
                        assert_eq!(is_canonical(&changed), expected, "{}", String::from_utf8_lossy(&changed));
                    }
                }
            }
        }
        assert!(good > 1000 && bad > 10_000, "{good} good, {bad} bad");
        for depth in [126, 127, 128, 129, 100_000] {
            for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
                let text = format!("{}1{}\n", open.repeat(depth), close.repeat(depth));
                assert_eq!(is_canonical(text.as_bytes()), by_tree(text.as_bytes()), "{depth} deep");
            }
        }
    }
}
