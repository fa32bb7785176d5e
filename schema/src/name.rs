//! Names from strangers: bytes in an ELF, text in a document.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{Sha256Digest, hex, limits};

/// A name as a document tells it: text where it is UTF-8 of at most [`limits::NAME`] bytes, else what can be shown of it
/// beside what identifies it. Names are data from strangers and may hold control characters: escape before printing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Name {
    /// The name itself.
    Text(String),
    /// A name that isn't UTF-8.
    Bytes {
        /// Its bytes.
        hex: String,
        /// The same, with U+FFFD for what is not UTF-8.
        lossy: String,
    },
    /// A name longer than [`limits::NAME`] bytes.
    Long {
        /// Its length in bytes.
        length: u64,
        /// Its start, cut at a character's end.
        prefix: String,
        /// The SHA-256 of all of it.
        sha256: Sha256Digest,
    },
}

impl Name {
    /// The name that these bytes are.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        if bytes.len() > limits::NAME {
            let lossy = String::from_utf8_lossy(&bytes[..limits::NAME]);
            let prefix = lossy.trim_end_matches(char::REPLACEMENT_CHARACTER).to_owned();
            return Self::Long { length: bytes.len() as u64, prefix, sha256: Sha256Digest::of(bytes) };
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => {
                Self::Bytes { hex: hex::encode(bytes), lossy: String::from_utf8_lossy(bytes).into_owned() }
            }
        }
    }

    /// What can be shown: the text, the lossy text, or the prefix.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Bytes { lossy: text, .. } | Self::Long { prefix: text, .. } => text,
        }
    }

    /// The key under which an index sorts a name: its text, and where that is longer than [`limits::SORT_KEY`] bytes,
    /// its start and the first 16 hex digits of the SHA-256 of the text, so that no key makes a page of its own.
    #[must_use]
    pub fn sort_key(text: &str) -> Cow<'_, str> {
        if text.len() <= limits::SORT_KEY {
            return Cow::Borrowed(text);
        }
        let digest = Sha256Digest::of(text.as_bytes()).to_string();
        Cow::Owned(format!("{}\u{1}{}", Self::sort_prefix(text), &digest[..16]))
    }

    /// The start of a text that its sort key keeps.
    #[must_use]
    pub fn sort_prefix(text: &str) -> &str {
        let mut end = text.len().min(limits::SORT_KEY);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        &text[..end]
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self::from_bytes(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_name_is_lost_silently() {
        assert_eq!(Name::from_bytes(b"puts"), Name::Text("puts".into()));
        assert_eq!(Name::from_bytes(b"a\xff"), Name::Bytes { hex: "61ff".into(), lossy: "a\u{fffd}".into() });
        let long = vec![b'x'; limits::NAME + 1];
        let Name::Long { length, prefix, sha256 } = Name::from_bytes(&long) else { panic!("not long") };
        assert_eq!(
            (length, prefix.len(), sha256),
            (long.len() as u64, limits::NAME, Sha256Digest::of(&long))
        );
    }

    #[test]
    fn sort_keys_are_bounded_and_differ() {
        let (a, b) = ("y".repeat(5000), "y".repeat(5001));
        assert_ne!(Name::sort_key(&a), Name::sort_key(&b));
        assert!(Name::sort_key(&a).len() <= limits::SORT_KEY + 17);
    }
}
