//! Text from strangers, made safe to show: names and strings of a binary may hold anything.
//!
//! Control characters, the controls that turn the direction of text, invisible characters and what is not a character at all
//! are shown as escapes, and what is too long is cut visibly. The result is one line.

use std::fmt::Write as _;

/// Most characters of a name that a line shows.
pub const NAME: usize = 160;
/// Most characters of a string that a line shows.
pub const TEXT: usize = 100;
/// Most characters of a text that is told whole.
pub const LINE: usize = 2000;
/// Most columns of a line of source.
pub const CODE: usize = 200;
/// Columns from one tab stop to the next.
pub const TAB: usize = 8;

/// A name, on one line, cut at [`NAME`] characters.
#[must_use]
pub fn name(text: &str) -> String {
    shown(text, NAME, false)
}

/// A text without quotes, on one line, cut at [`TEXT`] characters.
#[must_use]
pub fn text(text: &str) -> String {
    shown(text, TEXT, false)
}

/// A line of text that is told whole, cut only at [`LINE`] characters.
#[must_use]
pub fn line(text: &str) -> String {
    shown(text, LINE, false)
}

/// A text that stands around an answer, cut at so many characters.
#[must_use]
pub fn at_most(text: &str, characters: usize) -> String {
    shown(text, characters, false)
}

/// A path, on one line: cut at its front, since its end says what it is; in quotes where it has spaces or quotes in it, so
/// that it can't read on as what stands behind it.
#[must_use]
pub fn path(path: &str) -> String {
    let count = path.chars().count();
    let quotes = path.contains(|character: char| character.is_whitespace() || character == '"');
    let text = match path.char_indices().nth(count.saturating_sub(NAME)) {
        Some((at, _)) if at > 0 => format!("({at} bytes before)…{}", shown(&path[at..], NAME, quotes)),
        _ => shown(path, NAME, quotes),
    };
    if quotes { format!("\"{text}\"") } else { text }
}

/// A line of a source without its `\n`, cut visibly at [`CODE`] columns. It reads as it is written: backslashes stand for
/// themselves, tabs go on to the next multiple of [`TAB`] columns, and a `\r` at its end, as some systems write them, is left
/// out. What a terminal would act on and what is hidden is shown as `<U+001B>`, bytes that are not UTF-8 as `<0xFF>`.
#[must_use]
pub fn code(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut out = String::new();
    let (mut column, mut at) = (0, 0);
    for chunk in line.utf8_chunks() {
        let invalid = chunk.invalid().iter().map(|byte| (format!("<0x{byte:02X}>"), 1));
        let valid = chunk.valid().chars().map(|character| {
            let text = match character {
                '\t' => "\t".to_owned(),
                _ if is_hidden(character) => format!("<U+{:04X}>", u32::from(character)),
                _ => character.to_string(),
            };
            (text, character.len_utf8())
        });
        for (text, bytes) in valid.chain(invalid) {
            let text = if text == "\t" { " ".repeat(TAB - column % TAB) } else { text };
            let width = text.chars().count();
            if column + width > CODE {
                let _ = write!(out, "…({} bytes more)", line.len() - at);
                return out;
            }
            out.push_str(&text);
            column += width;
            at += bytes;
        }
    }
    out
}

/// A string in double quotes, on one line, cut at [`TEXT`] characters. `cut` says that more follows in any case.
#[must_use]
pub fn quoted(text: &str, cut: bool) -> String {
    let mut out = format!("\"{}\"", shown(text, TEXT, true));
    if cut && !out.ends_with("more)\"") {
        out.push('…');
    }
    out
}

/// The limit counts what is shown: an escape of a character takes as many as it is long, so that no name makes a line longer.
fn shown(text: &str, most: usize, quotes: bool) -> String {
    let mut out = String::with_capacity(text.len().min(most));
    let mut width = 0;
    for (at, character) in text.char_indices() {
        let escaped = match character {
            '\n' => "\\n".to_owned(),
            '\r' => "\\r".to_owned(),
            '\t' => "\\t".to_owned(),
            '\0' => "\\0".to_owned(),
            '\\' => "\\\\".to_owned(),
            '"' if quotes => "\\\"".to_owned(),
            _ if is_hidden(character) => format!("\\u{{{:x}}}", u32::from(character)),
            _ => String::new(),
        };
        width += escaped.chars().count().max(1);
        if width > most {
            let _ = write!(out, "…({} bytes more)", text.len() - at);
            break;
        }
        if escaped.is_empty() { out.push(character) } else { out.push_str(&escaped) }
    }
    out
}

/// Characters that a terminal or a reader would act on instead of showing them.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_and_nothing_hides() {
        for (given, expected) in [
            ("puts", "puts"),
            ("größe", "größe"),
            ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
            ("a\nb\tc\0", "a\\nb\\tc\\0"),
            ("\u{202e}evil\u{2066}", "\\u{202e}evil\\u{2066}"),
            ("\u{200f}\u{61c}\u{200b}", "\\u{200f}\\u{61c}\\u{200b}"),
            ("a\\n", "a\\\\n"),
            ("\u{9b}31m", "\\u{9b}31m"),
        ] {
            assert_eq!(name(given), expected);
        }
        assert_eq!(quoted("say \"hi\"\n", false), "\"say \\\"hi\\\"\\n\"");
        assert_eq!(quoted("cut", true), "\"cut\"…");
        for (given, expected) in [
            (&b"\tputs (\"a\\n\");\r"[..], "        puts (\"a\\n\");"),
            (b"a\tb", "a       b"),
            (b"\x1b[31m\0\r!", "<U+001B>[31m<U+0000><U+000D>!"),
            ("a\u{202e}b ü".as_bytes(), "a<U+202E>b ü"),
            (b"latin \xe9t\xe9", "latin <0xE9>t<0xE9>"),
        ] {
            assert_eq!(code(given), expected);
        }
        assert_eq!(code(&[b'x'; CODE]).len(), CODE);
        assert_eq!(code(&[b'\xff'; CODE]), format!("{}…(167 bytes more)", "<0xFF>".repeat(33)));
        assert_eq!(path("libio/ioputs.c"), "libio/ioputs.c");
        assert_eq!(path("a.c:3  md5-verified\n\"x"), "\"a.c:3  md5-verified\\n\\\"x\"");
        let long = path(&format!("{}/ioputs.c", "d".repeat(300)));
        assert!(long.starts_with("(149 bytes before)…d") && long.ends_with("/ioputs.c"), "{long}");
        assert_eq!(
            name(&"\u{202e}".repeat(NAME)),
            format!("{}…(420 bytes more)", "\\u{202e}".repeat(NAME / 8))
        );
        let long = name(&"x".repeat(NAME + 5));
        assert!(long.ends_with("…(5 bytes more)"), "{long}");
    }
}
