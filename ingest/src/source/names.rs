//! How many of the functions that debug data declares in a file are there.

use crate::limits;

/// How far from the line of its declaration a name may stand: a return type or an attribute has lines of its own.
const NEAR: u32 = 3;

/// `(k, n)`: of the `n` functions that are declared in a file, how many names its text has within [`NEAR`] lines. A name
/// that no text could hold (`{closure#0}`), and one without a line, counts in neither; what a template is made into counts
/// once.
pub(super) fn count(text: &[u8], declared: &[(Vec<u8>, u32)]) -> (u32, u32) {
    let named = declared.iter().filter_map(|(name, line)| Some((*line, plain(name)?)));
    let mut wanted: Vec<(u32, &[u8])> = named.filter(|(line, _)| *line > 0).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut ends: Vec<u32> = wanted.iter().flat_map(|(line, _)| window(*line)).collect();
    ends.sort_unstable();
    ends.dedup();
    let starts = starts_of(text, &ends);
    let start = |line: u32| ends.binary_search(&line).map_or(text.len(), |at| starts[at]);
    let found = wanted.iter().filter(|(line, name)| {
        let [first, after] = window(*line);
        let (first, after) = (start(first), start(after));
        let after = after.min(first + limits::SOURCE_WINDOW);
        holds(&text[first..after], name)
    });
    let (found, all) = (found.count(), wanted.len());
    (u32::try_from(found).unwrap_or(u32::MAX), u32::try_from(all).unwrap_or(u32::MAX))
}

/// The first line near a line, and the one after the last.
fn window(line: u32) -> [u32; 2] {
    [line.saturating_sub(NEAR).max(1), line.saturating_add(NEAR + 1)]
}

/// Where lines start; the text's end where it has no such line. `lines` are sorted.
fn starts_of(text: &[u8], lines: &[u32]) -> Vec<usize> {
    let mut starts = Vec::with_capacity(lines.len());
    let mut lines = lines.iter().peekable();
    let breaks = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    for (line, start) in (1u32..).zip(std::iter::once(0).chain(breaks)) {
        if lines.next_if(|wanted| **wanted == line).is_some() {
            starts.push(start);
        }
        if lines.peek().is_none() {
            break;
        }
    }
    starts.extend(lines.map(|_| text.len()));
    starts
}

/// The identifier that a function is declared by: without what a template or generic is given, the scopes around it
/// (`a::b`, Go's `main.(*T).b`), and whatever of an operator is no letter.
fn plain(name: &[u8]) -> Option<&[u8]> {
    let given = name.iter().position(|byte| *byte == b'<').unwrap_or(name.len());
    let name = &name[..given];
    let name = name.rsplit(|byte| *byte == b':').next().unwrap_or(name);
    let name = name.rsplit(|byte| *byte == b'.').next().unwrap_or(name);
    let name = name.strip_prefix(b"~").unwrap_or(name);
    let end = name.iter().position(|byte| !is_identifier(*byte)).unwrap_or(name.len());
    let identifier = &name[..end];
    let starts = identifier.first().is_some_and(|first| !first.is_ascii_digit());
    starts.then_some(identifier)
}

/// Whether a text holds a word as a whole identifier.
fn holds(text: &[u8], word: &[u8]) -> bool {
    let mut from = 0;
    while let Some(found) = text[from..].iter().position(|byte| *byte == word[0]) {
        let start = from + found;
        let rest = &text[start..];
        let begins = start == 0 || !is_identifier(text[start - 1]);
        if begins && rest.starts_with(word) && !rest.get(word.len()).is_some_and(|next| is_identifier(*next))
        {
            return true;
        }
        from = start + 1;
    }
    false
}

fn is_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, declared: &[(&str, u32)], expected: (u32, u32)) {
        let declared: Vec<(Vec<u8>, u32)> =
            declared.iter().map(|(name, line)| (name.as_bytes().to_vec(), *line)).collect();
        assert_eq!(count(text.as_bytes(), &declared), expected);
    }

    #[test]
    fn a_name_counts_within_three_lines_as_a_whole_word() {
        let text = "\n\n\n\nint\nputs (const char *);\nfputs_it ();\n";
        check(text, &[("puts", 5), ("puts", 3), ("puts", 9), ("puts", 2), ("puts", 10)], (3, 5));
        check(text, &[("fputs", 7), ("fputs_it", 7), ("it", 7)], (1, 3));
        check(text, &[("puts", 6), ("puts", 6), ("puts", 0)], (1, 1));
        check(text, &[("puts", u32::MAX)], (0, 1));
        check("", &[("a", 1)], (0, 1));
        check("a", &[("a", 1)], (1, 1));
        check("a", &[], (0, 0));
    }

    #[test]
    fn the_last_part_of_a_name_is_what_the_text_has() {
        let text = "fn parse<T>() {}\nfunc (t *Tree) Walk() {}\nbool operator<<(int);\n~Thing();";
        check(text, &[("parse<alloc::string::String>", 1), ("a::b::parse", 1)], (1, 1));
        check(text, &[("main.(*Tree).Walk", 2), ("operator<<", 3), ("~Thing", 4)], (3, 3));
        check(text, &[("{closure#0}", 1), ("<lambda()>", 1), ("", 1), ("1", 1)], (0, 0));
    }

    #[test]
    fn a_long_line_is_read_as_far_as_a_window_goes() {
        let text = format!("{} puts", " ".repeat(limits::SOURCE_WINDOW));
        check(&text, &[("puts", 1)], (0, 1));
    }
}
