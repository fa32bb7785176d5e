//! Links: the page's URL of exactly one view, pinned to an edition. One spelling, for the page, citations and rooms alike.
//!
//! `BASE/#v=1&b=<build-id>/<edition>&w=listing&f=…&r=12-18&o=14&e=3`. The keys, in the order in which they are written:
//!
//! | key | meaning |
//! | --- | --- |
//! | `v` | version of this form: 1 |
//! | `b` | the edition, `<build-id>/<edition>`; none in the catalogue |
//! | `w` | the view: `catalogue`, `search`, `diff`, `strings`, `atlas`, `listing`, `graph`, `source` |
//! | `q`, `m`, `k` | a search's text, match (`exact`, `prefix`, `substring`, `regex`) and kind |
//! | `a` | the other side of a diff: `<build-id>/<edition>`, and `:<function key>` where functions are compared |
//! | `f` | a function key |
//! | `i` | an imported name whose callers are shown, `name` or `name@version` |
//! | `d`, `c` | of a graph, which edges: `out` or `in`; and of which class |
//! | `n` | of a graph, how many rows are shown before each site |
//! | `x` | an address of data, in an atlas |
//! | `s` | how rows are shown: `outline`, `asm`, `source`; `asm` where it is left out |
//! | `r` | rows of a function, edges of a graph, items of a list: `first-last`, from 0 |
//! | `o` | the row in focus |
//! | `e` | the number of an edge among the function's |
//! | `p`, `l` | a source's path and its lines, `first-last`, from 1 |
//!
//! Values are percent-encoded but for unreserved characters (RFC 3986, section 2.3) and `/:@`. A path or imported name of more
//! than [`elfscope_schema::limits::SORT_KEY`] bytes stands as the key that indices sort it by ([`Name::sort_key`]), so that no
//! stranger's name makes a link long; it is taken wherever the name itself is.

use std::{fmt, fmt::Write as _, str::FromStr};

use elfscope_schema::{Address, BuildId, EditionId, FunctionKey, Name};

use crate::{Error, Result};

/// A view of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum View {
    /// The builds.
    #[default]
    Catalogue,
    /// What a search finds.
    Search,
    /// What differs between two builds or functions.
    Diff,
    /// The strings of a build.
    Strings,
    /// What a build is, and what is at an address of it.
    Atlas,
    /// Rows of a function.
    Listing,
    /// The edges of a function.
    Graph,
    /// Lines of a source.
    Source,
}

const VIEWS: [(View, &str); 8] = [
    (View::Catalogue, "catalogue"),
    (View::Search, "search"),
    (View::Diff, "diff"),
    (View::Strings, "strings"),
    (View::Atlas, "atlas"),
    (View::Listing, "listing"),
    (View::Graph, "graph"),
    (View::Source, "source"),
];

/// One view. What a view doesn't need is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// `b`.
    pub edition: Option<(BuildId, EditionId)>,
    /// `w`.
    pub view: View,
    /// `q`.
    pub query: Option<String>,
    /// `m`.
    pub matching: Option<String>,
    /// `k`.
    pub kind: Option<String>,
    /// `a`.
    pub other: Option<(BuildId, EditionId, Option<FunctionKey>)>,
    /// `f`.
    pub function: Option<FunctionKey>,
    /// `i`.
    pub import: Option<String>,
    /// `d`.
    pub direction: Option<String>,
    /// `c`.
    pub class: Option<String>,
    /// `n`.
    pub context: Option<u64>,
    /// `x`.
    pub address: Option<Address>,
    /// `s`.
    pub shown: Option<String>,
    /// `r`.
    pub rows: Option<(u64, u64)>,
    /// `o`.
    pub focus: Option<u64>,
    /// `e`.
    pub edge: Option<u64>,
    /// `p`.
    pub path: Option<String>,
    /// `l`.
    pub lines: Option<(u64, u64)>,
}

impl Link {
    /// A link to a view of an edition.
    #[must_use]
    pub fn of(edition: &crate::Edition, view: View) -> Self {
        let source = edition.source();
        Self { edition: Some((source.build_id.clone(), source.edition.clone())), view, ..Self::default() }
    }

    /// The link under what a host is reached by, without a slash at its end; empty where it isn't reached by URL.
    #[must_use]
    pub fn url(&self, base: &str) -> String {
        format!("{base}/#{self}")
    }

    /// Whether a text is meant as a link: it has a fragment of this form.
    #[must_use]
    pub fn is_meant(text: &str) -> bool {
        text.split_once('#').is_some_and(|(_, fragment)| fragment.starts_with("v="))
    }

    /// Reads a URL, or the fragment of one with its `#`.
    ///
    /// # Errors
    /// [`Error::BadReference`] for what isn't exactly of this form.
    pub fn parse(text: &str) -> Result<Self> {
        let refuse = |why: &str| Error::BadReference {
            what: "a link to a view",
            given: text.to_owned(),
            allowed: format!("`#v=1&b=<build-id>/<edition>&w=listing&f=<key>&r=0-9` and the like: {why}"),
        };
        let (_, fragment) = text.split_once('#').ok_or_else(|| refuse("it has no `#`"))?;
        let mut link = Self::default();
        let mut last = "";
        for member in fragment.split('&') {
            let (key, value) = member.split_once('=').ok_or_else(|| refuse("members are `key=value`"))?;
            let at = |key: &str| KEYS.iter().position(|known| *known == key);
            let (now, before) = (at(key), at(last));
            if now.is_none() {
                return Err(refuse(&format!("the key `{}` is unknown", crate::escape::name(key))));
            }
            if before >= now {
                return Err(refuse("each key stands once, in the order of the form"));
            }
            last = key;
            let value = decode(value).ok_or_else(|| refuse("values are percent-encoded UTF-8"))?;
            link.set(key, &value).ok_or_else(|| refuse(&format!("`{key}` can't be that")))?;
        }
        if !fragment.starts_with("v=1") || !fragment.contains("&w=") {
            return Err(refuse("it starts with `v=1` and names a view by `w=`"));
        }
        Ok(link)
    }

    fn set(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "v" => (value == "1").then_some(())?,
            "b" => self.edition = Some(pinned(value)?),
            "w" => self.view = VIEWS.iter().find(|(_, name)| *name == value)?.0,
            "q" => self.query = Some(value.to_owned()),
            "m" => self.matching = Some(one_of(value, &["exact", "prefix", "substring", "regex"])?),
            "k" => self.kind = Some(value.to_owned()),
            "a" => {
                let (pin, key) = match value.split_once(':') {
                    Some((pin, key)) => (pin, Some(key.parse().ok()?)),
                    None => (value, None),
                };
                let (build, edition) = pinned(pin)?;
                self.other = Some((build, edition, key));
            }
            "f" => self.function = Some(value.parse().ok()?),
            "i" => self.import = Some(value.to_owned()),
            "d" => self.direction = Some(one_of(value, &["in", "out"])?),
            "c" => self.class = Some(value.to_owned()),
            "n" => self.context = Some(value.parse().ok()?),
            "x" => self.address = Some(value.parse().ok()?),
            "s" => self.shown = Some(one_of(value, &["outline", "asm", "source"])?),
            "r" => self.rows = Some(range(value)?),
            "o" => self.focus = Some(value.parse().ok()?),
            "e" => self.edge = Some(value.parse().ok()?),
            "p" => self.path = Some(value.to_owned()),
            "l" => self.lines = Some(range(value)?),
            _ => return None,
        }
        Some(())
    }
}

/// The keys, in order.
const KEYS: [&str; 19] =
    ["v", "b", "w", "q", "m", "k", "a", "f", "i", "d", "c", "n", "x", "s", "r", "o", "e", "p", "l"];

impl fmt::Display for Link {
    /// The fragment, without its `#`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut say = |key: &str, value: Option<String>| match value {
            Some(value) => write!(f, "{}{key}={}", if key == "v" { "" } else { "&" }, encode(&value)),
            None => Ok(()),
        };
        let range = |range: &Option<(u64, u64)>| range.map(|(first, last)| format!("{first}-{last}"));
        let view = VIEWS.iter().find(|(view, _)| *view == self.view).map(|(_, name)| (*name).to_owned());
        let other = self.other.as_ref().map(|(build, edition, key)| match key {
            Some(key) => format!("{build}/{edition}:{key}"),
            None => format!("{build}/{edition}"),
        });
        say("v", Some("1".to_owned()))?;
        say("b", self.edition.as_ref().map(|(build, edition)| format!("{build}/{edition}")))?;
        say("w", view)?;
        say("q", self.query.clone())?;
        say("m", self.matching.clone())?;
        say("k", self.kind.clone())?;
        say("a", other)?;
        say("f", self.function.map(|key| key.to_string()))?;
        say("i", self.import.clone())?;
        say("d", self.direction.clone())?;
        say("c", self.class.clone())?;
        say("n", self.context.map(|rows| rows.to_string()))?;
        say("x", self.address.map(|address| address.to_string()))?;
        say("s", self.shown.clone())?;
        say("r", range(&self.rows))?;
        say("o", self.focus.map(|row| row.to_string()))?;
        say("e", self.edge.map(|edge| edge.to_string()))?;
        say("p", self.path.clone())?;
        say("l", range(&self.lines))
    }
}

impl FromStr for Link {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

/// How a link writes a path or an imported name: the name itself while it is short, else the key that indices sort it by.
#[must_use]
pub fn bounded(name: &str) -> String {
    Name::sort_key(name).into_owned()
}

/// Whether a text is the sort key of a longer name rather than a name.
pub(crate) fn is_key(text: &str) -> bool {
    text.rsplit_once('\u{1}').is_some_and(|(start, digest)| {
        digest.len() == 16
            && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
            && start.len() > elfscope_schema::limits::SORT_KEY - 4
    })
}

fn pinned(value: &str) -> Option<(BuildId, EditionId)> {
    let (build, edition) = value.split_once('/')?;
    Some((build.parse().ok()?, edition.parse().ok()?))
}

fn range(value: &str) -> Option<(u64, u64)> {
    let (first, last) = value.split_once('-')?;
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some((first, last))
}

fn one_of(value: &str, allowed: &[&str]) -> Option<String> {
    allowed.contains(&value).then(|| value.to_owned())
}

fn encode(value: &str) -> String {
    let mut out = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/:@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// What a value stands for; none where it is not as [`encode`] writes it, but for capitals of hex digits.
fn decode(value: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                bytes.push(u8::try_from(high * 16 + low).ok()?);
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIN: &str = "aabbccddeeff00112233/0123456789abcdef0123456789abcdef";

    #[test]
    fn every_form_comes_back() {
        for text in [
            "#v=1&w=catalogue",
            "#v=1&w=catalogue&r=100-199",
            &format!("#v=1&b={PIN}&w=atlas"),
            &format!("#v=1&b={PIN}&w=atlas&x=s5-40"),
            &format!("#v=1&b={PIN}&w=listing&f=401000-31&s=source&r=12-18&o=14&e=3"),
            &format!("#v=1&b={PIN}&w=graph&i=puts@GLIBC_2.2.5&d=in&c=import&n=8&r=0-9"),
            &format!("#v=1&b={PIN}&w=search&q=a%20b%26%25%23&m=substring&k=string"),
            &format!("#v=1&b={PIN}&w=diff&a={PIN}:401000-31&f=401000-31"),
            &format!("#v=1&b={PIN}&w=source&p=/usr/src/a%C3%BC.c&l=1-40"),
        ] {
            let link = Link::parse(text).unwrap();
            assert_eq!(format!("#{link}"), text);
            assert_eq!(Link::parse(&link.url("https://archive.example")).unwrap(), link);
            assert!(Link::is_meant(text) && Link::is_meant(&link.url("")));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "#",
            "v=1&w=catalogue",
            "#v=2&w=catalogue",
            "#w=catalogue",
            "#v=1",
            "#v=1&w=map",
            "#v=1&w=catalogue&z=1",
            "#v=1&w=catalogue&w=search",
            "#v=1&w=search&b=aabbccddeeff/00",
            "#v=1&w=listing&r=9-3",
            "#v=1&w=listing&r=3",
            "#v=1&w=search&q=%f",
            "#v=1&w=search&q=%ff",
            "#v=1&w=listing&f=main",
            "#v=1&w=listing&s=hex",
        ] {
            let error = Link::parse(text).unwrap_err();
            assert_eq!(error.code(), "E_BAD_REFERENCE", "{text}");
        }
    }

    #[test]
    fn long_names_stay_short() {
        assert_eq!(bounded("libio/ioputs.c"), "libio/ioputs.c");
        assert!(bounded(&"d".repeat(5000)).len() < 220);
    }
}
