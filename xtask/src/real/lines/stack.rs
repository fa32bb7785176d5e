//! Stacks of all tools in one form, so that they can be compared.

use std::collections::BTreeMap;

/// One level of a stack, innermost first: the function, and the place in it. 0 stands for what isn't told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Level {
    pub(super) function: Text,
    pub(super) file: Text,
    /// 0 is code of no line, in all tools.
    pub(super) line: u32,
}

/// A text by its number in [`Texts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Text(u32);

impl Text {
    pub(super) const NONE: Self = Self(0);
}

/// Every text once: hundreds of thousands of stacks have few.
pub(super) struct Texts {
    numbers: BTreeMap<Box<str>, Text>,
    texts: Vec<Box<str>>,
    /// Paths as a tool tells them, to their folded form.
    paths: BTreeMap<Box<str>, Text>,
}

impl Texts {
    pub(super) fn new() -> Self {
        Self { numbers: BTreeMap::new(), texts: vec!["".into()], paths: BTreeMap::new() }
    }

    /// The number of a text; that of an empty one is [`Text::NONE`].
    pub(super) fn text(&mut self, text: &str) -> Text {
        if text.is_empty() {
            return Text::NONE;
        }
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = Text(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        self.texts.push(text.into());
        self.numbers.insert(text.into(), number);
        number
    }

    /// The number of a path, folded.
    pub(super) fn path(&mut self, path: &str) -> Text {
        if let Some(number) = self.paths.get(path) {
            return *number;
        }
        let number = self.text(&fold(path));
        self.paths.insert(path.into(), number);
        number
    }

    pub(super) fn get(&self, text: Text) -> &str {
        self.texts.get(text.0 as usize).map_or("", |text| text)
    }

    /// A stack in one line: `inner a.c:3 < outer b.c:20`.
    pub(super) fn told(&self, stack: &[Level]) -> String {
        let or = |text: Text| if text == Text::NONE { "?" } else { self.get(text) };
        let level = |level: &Level| format!("{} {}:{}", or(level.function), or(level.file), level.line);
        if stack.is_empty() {
            return "nothing".to_owned();
        }
        stack.iter().map(level).collect::<Vec<_>>().join(" < ")
    }
}

/// A path without `.`, and without `..` where there is something to fold it into.
pub(super) fn fold(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if path.starts_with('/') && parts.is_empty() => {}
            part => parts.push(part),
        }
    }
    let start = if path.starts_with('/') { "/" } else { "" };
    format!("{start}{}", parts.join("/"))
}

/// The last part of a path.
pub(super) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_fold() {
        for (path, folded) in [
            ("./csu/../sysdeps/x86_64/start.S", "sysdeps/x86_64/start.S"),
            ("../a/./b.c", "../a/b.c"),
            ("/a/../../b", "/b"),
            ("a//b", "a/b"),
        ] {
            assert_eq!(fold(path), folded);
        }
        let mut texts = Texts::new();
        assert_eq!(texts.path("./a/b"), texts.path("a/x/../b"));
        assert_eq!(texts.text(""), Text::NONE);
    }
}
