//! Regular expressions as queries: what text a match must have (so that the index can find it), and the matcher.
//!
//! Letters fit in either case, ASCII ones as everywhere in search, unless the expression says `(?-i)`: anywhere in it, for all of it. Sizes are bounded, and so is
//! the work: the text that one request may match against shrinks with the size of the automaton. No clock is involved.

use regex_automata::{
    Input,
    meta::{Config, Regex},
    nfa::thompson,
};
use regex_syntax::{
    ParserBuilder,
    ast::{self, Flag, FlagsItemKind},
    hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind},
};

use crate::{
    Error, Result,
    literals::{self, Group},
};

/// Longest expression, in bytes.
pub const LONGEST: usize = 1024;
/// Most bytes that its automaton may take.
const AUTOMATON: usize = 512 * 1024;
/// Most bytes that the matcher keeps beside it.
const SCRATCH: usize = 1024 * 1024;
/// Bytes of text times states of the automaton that one request may take: the worst that matching costs.
const WORK: usize = 1 << 28;
/// So much text is matched against in any case: more than one text has.
const LEAST: usize = 64 * 1024;

/// A regular expression, ready to match.
pub(crate) struct Pattern {
    regex: Regex,
    /// What a text must have, ASCII letters lowered: something of each group.
    pub(crate) groups: Vec<Group>,
    /// Bytes of text that one request may match against.
    pub(crate) most_text: usize,
}

impl Pattern {
    /// Reads an expression.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let refuse =
            |why: String, fix: &str| Error::BadRegex { given: text.to_owned(), why, fix: fix.to_owned() };
        if text.len() > LONGEST {
            return Err(refuse(
                format!("it has {} bytes, and {LONGEST} is the most", text.len()),
                "ask for less, or search for a part of it as a substring",
            ));
        }
        let syntax = |source: String| {
            let last = source.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim();
            refuse(
                last.strip_prefix("error: ").unwrap_or(last).to_owned(),
                "write it as the Rust crate `regex` reads it: no look-around, no back-references",
            )
        };
        let tree = ast::parse::ParserBuilder::new()
            .nest_limit(64)
            .build()
            .parse(text)
            .map_err(|source| syntax(source.to_string()))?;
        let fold = !ast::visit(&tree, Sensitive(false)).unwrap_or(false);
        let mut parser = ParserBuilder::new().nest_limit(64).case_insensitive(fold).build();
        let hir = without_kelvin(&parser.parse(text).map_err(|source| syntax(source.to_string()))?);
        let groups = literals::required(&hir);
        if groups.is_empty() {
            return Err(refuse(
                "it fits texts that need have no three letters in common, and the index is of three letters in a row".to_owned(),
                "add three or more letters that every match has in a row (`mem(cpy|set)_` rather than `m.*y`), or search by prefix",
            ));
        }
        let too_large = || {
            let fix = "use smaller counts, or ASCII classes such as `[a-z0-9_]` for `\\w`";
            refuse(format!("its automaton would take more than {AUTOMATON} bytes"), fix)
        };
        let config = thompson::Config::new().nfa_size_limit(Some(AUTOMATON));
        let nfa =
            thompson::Compiler::new().configure(config).build_from_hir(&hir).ok().ok_or_else(too_large)?;
        let config = Config::new().nfa_size_limit(Some(AUTOMATON)).hybrid_cache_capacity(SCRATCH);
        let regex = Regex::builder().configure(config).build_from_hir(&hir).ok().ok_or_else(too_large)?;
        Ok(Self { regex, groups, most_text: (WORK / nfa.states().len().max(1)).max(LEAST) })
    }

    /// Whether it fits a part of a text.
    pub(crate) fn fits(&self, text: &str) -> bool {
        self.regex.is_match(Input::new(text))
    }
}

/// Whether an expression says somewhere that letters fit in their own case only.
struct Sensitive(bool);

impl Sensitive {
    fn look(&mut self, flags: &ast::Flags) {
        let negated = flags.items.iter().position(|item| item.kind == FlagsItemKind::Negation);
        let fold =
            flags.items.iter().position(|item| item.kind == FlagsItemKind::Flag(Flag::CaseInsensitive));
        self.0 |= negated.zip(fold).is_some_and(|(negated, fold)| negated < fold);
    }
}

impl ast::Visitor for Sensitive {
    type Output = bool;
    type Err = ();

    fn finish(self) -> Result<bool, ()> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, node: &ast::Ast) -> Result<(), ()> {
        match node {
            ast::Ast::Flags(set) => self.look(&set.flags),
            ast::Ast::Group(group) => {
                if let ast::GroupKind::NonCapturing(flags) = &group.kind {
                    self.look(flags);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The same without the two characters that Unicode folds to ASCII letters, the Kelvin sign and the long s: with them `k` and `s`
/// would be two texts each, and the index has one.
fn without_kelvin(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            let has =
                |letter: char| class.iter().any(|range| (range.start()..=range.end()).contains(&letter));
            let folded = |range: &ClassUnicodeRange| {
                let alone = (range.start() == range.end()).then_some(range.start());
                alone.is_some_and(|one| (one == '\u{212a}' && has('k')) || (one == '\u{17f}' && has('s')))
            };
            Hir::class(Class::Unicode(ClassUnicode::new(
                class.iter().filter(|range| !folded(range)).copied(),
            )))
        }
        HirKind::Repetition(repetition) => Hir::repetition(repetition.with(without_kelvin(&repetition.sub))),
        HirKind::Capture(capture) => without_kelvin(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(without_kelvin).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(without_kelvin).collect()),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Look(_) | HirKind::Class(Class::Bytes(_)) => {
            hir.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(text: &str) -> Vec<Vec<String>> {
        let pattern = Pattern::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let text = |literal: &Vec<u8>| String::from_utf8_lossy(literal).into_owned();
        pattern.groups.iter().map(|group| group.iter().map(text).collect()).collect()
    }

    #[test]
    fn required_text_is_found() {
        for (regex, expected) in [
            ("malloc", vec![vec!["malloc"]]),
            ("^MALLOC$", vec![vec!["malloc"]]),
            ("mem(cpy|set)_", vec![vec!["memcpy_", "memset_"]]),
            ("foo.*bar", vec![vec!["foo"], vec!["bar"]]),
            ("(foo|barr)[0-9]+", vec![vec!["barr", "foo"]]),
            ("abc+def", vec![vec!["abc"], vec!["cdef"]]),
            ("(?:abc){2,}", vec![vec!["abcabc"], vec!["abc"]]),
            ("a.b|xyz1", vec![]),
            ("x?yzw", vec![vec!["xyzw", "yzw"]]),
            ("(?-i)Foo", vec![vec!["foo"]]),
            ("(?i)k_lm", vec![vec!["k_lm"]]),
            ("é..abc", vec![vec!["abc"]]),
            ("\\bmain\\b", vec![vec!["main"]]),
            ("get[ab]name", vec![vec!["getaname", "getbname"]]),
        ] {
            if expected.is_empty() {
                assert_eq!(
                    Pattern::parse(regex).err().map(|error| error.code()),
                    Some("E_BAD_REGEX"),
                    "{regex}"
                );
            } else {
                assert_eq!(groups(regex), expected, "{regex}");
            }
        }
    }

    #[test]
    fn letters_fit_in_either_case_but_only_ascii_ones() {
        let fits = |regex: &str, text: &str| Pattern::parse(regex).unwrap().fits(text);
        assert!(fits("Malloc", "mALLOc_hook"));
        assert!(!fits("(?-i)Malloc", "malloc"));
        assert!(!fits("task", "tas\u{212a}"));
        assert!(fits("[a-c]bcd", "ABCD"));
        assert!(fits("étape", "ÉTAPE"));
        assert!(fits("abc[^x]d", "ABCYD") && !fits("abc[^x]d", "abcXd"));
    }

    #[test]
    fn what_would_take_too_much_is_refused() {
        let nested = format!("{}abc{}", "(".repeat(200), ")".repeat(200));
        let long = "a".repeat(LONGEST + 1);
        for regex in [
            "(",
            "a{1000}{1000}bcd",
            "abc\\w{400}",
            ".*",
            "[a-z]+",
            "\\d\\d\\d",
            "",
            "ab",
            &nested,
            &long,
            "(?=abc)",
            "(a)\\1bcd",
        ] {
            let error = Pattern::parse(regex).err().unwrap_or_else(|| panic!("{regex} passed"));
            assert_eq!(error.code(), "E_BAD_REGEX", "{regex}");
            assert!(error.fix().is_some() && error.to_string().len() < 2000, "{error}");
        }
    }
}
