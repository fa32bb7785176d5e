//! Cutting what strangers wrote, so that no name makes a pointer or a page of the catalogue too large.

use elfscope_schema::{Name, Sha256Digest, hex};

/// Most bytes of JSON that a name or a package takes in `current.json` and the catalogue. File names have at most 255
/// bytes on Linux; this is what they take at worst short of control characters.
pub const TEXT: usize = 1024;

/// A name that takes at most [`TEXT`] bytes, or its start, its length and its digest.
pub(super) fn name(name: &Name) -> Name {
    let (length, sha256) = match name {
        Name::Text(text) if escaped(text) <= TEXT => return name.clone(),
        Name::Bytes { hex, lossy } if hex.len() + escaped(lossy) <= TEXT => return name.clone(),
        Name::Text(text) => (text.len() as u64, Sha256Digest::of(text.as_bytes())),
        Name::Bytes { hex, .. } => {
            let bytes = hex::decode(hex).unwrap_or_default();
            (bytes.len() as u64, Sha256Digest::of(&bytes))
        }
        Name::Long { length, sha256, .. } => (*length, *sha256),
    };
    Name::Long { length, prefix: start(name.text(), TEXT).to_owned(), sha256 }
}

/// A text that takes at most `most` bytes; one that was cut ends in `…`.
pub(super) fn text(text: &str, most: usize) -> String {
    if escaped(text) <= most {
        return text.to_owned();
    }
    format!("{}…", start(text, most - '…'.len_utf8()))
}

/// The start of a text that takes at most `most` bytes.
fn start(text: &str, most: usize) -> &str {
    let mut taken = 0;
    for (at, character) in text.char_indices() {
        taken += cost(character);
        if taken > most {
            return &text[..at];
        }
    }
    text
}

fn escaped(text: &str) -> usize {
    text.chars().map(cost).sum()
}

/// Bytes that a character takes in canonical JSON.
fn cost(character: char) -> usize {
    match character {
        '"' | '\\' | '\u{8}' | '\u{c}' | '\n' | '\r' | '\t' => 2,
        control if control < ' ' => 6,
        other => other.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use elfscope_schema::to_canonical;

    use super::*;

    #[test]
    fn nothing_takes_more_than_its_share() {
        for given in [
            &b"a\x01\"\n"[..],
            b"libc.so.6",
            &[1; 4096],
            &[0xff; 4096],
            &[b'x'; 5000],
            "é".repeat(900).as_bytes(),
        ] {
            let cut = name(&Name::from_bytes(given));
            assert!(to_canonical(&cut).len() <= TEXT + 150, "{}", to_canonical(&cut).len());
            assert_eq!(cut == Name::from_bytes(given), given.len() < 100);
            if let Name::Long { length, sha256, .. } = cut {
                assert_eq!((length, sha256), (given.len() as u64, Sha256Digest::of(given)));
            }
        }
        assert_eq!(text("abcdef", 6), "abcdef");
        assert_eq!(text("abcdefg", 6), "abc…");
        assert_eq!(text("\u{1}\u{1}", 9), "\u{1}…");
    }
}
