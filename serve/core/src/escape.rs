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

/// A string in double quotes, on one line, cut at [`TEXT`] characters. `cut` says that more follows in any case.
#[must_use]
pub fn quoted(text: &str, cut: bool) -> String {
    let mut out = format!("\"{}\"", shown(text, TEXT, true));
    if cut && !out.ends_with("more)\"") {
        out.push('…');
    }
    out
}

fn shown(text: &str, most: usize, quotes: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for (count, (at, character)) in text.char_indices().enumerate() {
        if count == most {
            let _ = write!(out, "…({} bytes more)", text.len() - at);
            break;
        }
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0' => out.push_str("\\0"),
            '\\' => out.push_str("\\\\"),
            '"' if quotes => out.push_str("\\\""),
            _ if is_hidden(character) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
            }
            _ => out.push(character),
        }
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
        let long = name(&"x".repeat(NAME + 5));
        assert!(long.ends_with("…(5 bytes more)"), "{long}");
    }
}
