//! Lines of a source, as they are, and which functions have code from it.

use elfscope_core::{
    Answer, CitedBy, Edition, Error, Level,
    listing::{self, Kind, Line, called},
    sources::MOST_LINES,
    spell,
};
use elfscope_schema::SourceFile;

use crate::{commands::Context, exit::Exit, failure::Failure};

/// What says that a source is meant, where a function may stand too.
pub(super) const SOURCE: &str = "src:";

/// Functions that are named as having code from the source.
const SHOWN: usize = 6;

/// Shows the lines that `PATH`, `PATH:LINE` or `PATH:FROM-TO` asks for, and all of them where `all` asks for that.
pub(super) fn show(
    context: &mut Context,
    edition: &Edition,
    build: &str,
    asked: &str,
    all: bool,
) -> Result<(), Failure> {
    let Asked { path, lines: range } = Asked::parse(asked)?;
    let file = pollster::block_on(context.location.request().source(edition, path))?;
    let path = file.path.text();
    let (mut from, to) = match range {
        Some((from, to)) => (from, to),
        None if all => (1, u32::MAX),
        None => (1, MOST_LINES),
    };
    let mut head = true;
    loop {
        let count = to.saturating_sub(from).saturating_add(1);
        let answer = pollster::block_on(context.location.request().source_lines(edition, &file, from, count));
        let answer = answer.map_err(|error| explain(context, build, path, error))?;
        let next = answer.value.next_line;
        if context.out.json {
            context.out.document(&answer)?;
            if head {
                context.out.document(&functions(context, edition, &file)?)?;
                head = false;
            }
        } else {
            let mut lines = listing::source(edition, &answer.value, head);
            if head && let Some(end) = lines.iter().position(|line| line.spans.is_empty()) {
                lines.insert(end, cited_by(context, edition, build, &file)?);
            }
            context.out.lines(&lines)?;
            head = false;
        }
        match next {
            Some(next) if next <= to => from = next,
            Some(next) if range.is_none() && !context.out.json => {
                let total = answer.value.total;
                let rest =
                    format!("{SOURCE}{path}:{next}-{}", next.saturating_add(MOST_LINES - 1).min(total));
                let line = context.location.command(&["show", build, &rest]);
                return context.out.note(format!("  go on: {line} (or `--all`)"));
            }
            _ => return Ok(()),
        }
    }
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Asked<'a> {
    path: &'a str,
    /// The first and the last line.
    lines: Option<(u32, u32)>,
}

impl<'a> Asked<'a> {
    fn parse(asked: &'a str) -> Result<Self, Failure> {
        let whole = Self { path: asked, lines: None };
        let Some((path, tail)) = asked.rsplit_once(':') else { return Ok(whole) };
        let (from, to) = tail.split_once('-').unwrap_or((tail, tail));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(from) || !is_number(to) {
            return Ok(whole);
        }
        match (from.parse::<u32>(), to.parse::<u32>()) {
            (Ok(from), Ok(to)) if from <= to => Ok(Self { path, lines: Some((from, to)) }),
            _ => Err(Failure::new(Exit::Usage, format!("`{tail}` is no range of lines"))
                .hint("lines are asked for as `src:PATH:FROM-TO`, from 1")),
        }
    }
}

/// The first functions that have code from it.
fn functions(context: &Context, edition: &Edition, file: &SourceFile) -> Result<Answer<CitedBy>, Failure> {
    let mut request = context.location.request();
    Ok(pollster::block_on(request.cited_by(edition, &file.path, SHOWN, None))?)
}

/// Which functions have code from it: the first ones, and how to see all.
fn cited_by(context: &Context, edition: &Edition, build: &str, file: &SourceFile) -> Result<Line, Failure> {
    let answer = functions(context, edition, file)?;
    let mut line = Line::of(Kind::Label, "  code in   ");
    for (at, function) in answer.value.functions.iter().enumerate() {
        line.push(Kind::Plain, if at > 0 { ", " } else { "" });
        match &function.name {
            Some(name) => line.push(Kind::Symbol, called(name)),
            None => line.push(Kind::Address, spell(function.key.address)),
        }
    }
    if answer.value.functions.is_empty() {
        line.push(Kind::Note, "no function");
    }
    if answer.next_cursor.is_some() {
        let all = context.location.command(&["search", build, "--file", file.path.text()]);
        line.push(Kind::Note, format!(", and more: {all}"));
    }
    Ok(line)
}

fn explain(context: &Context, build: &str, path: &str, error: Error) -> Failure {
    let is_missing = matches!(&error, Error::NotPublished { level, .. } if !Level::is_published(*level));
    let failure = Failure::from(error);
    if !is_missing {
        return failure;
    }
    let line = context.location.command(&["search", build, "--file", path]);
    failure.hint(format!("which functions have code from it: {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_behind_a_path() {
        for (asked, path, lines) in [
            ("a.c", "a.c", None),
            ("a.c:33", "a.c", Some((33, 33))),
            ("a.c:33-50", "a.c", Some((33, 50))),
            ("a.c:x", "a.c:x", None),
            ("a:1:2-3", "a:1", Some((2, 3))),
            ("a.c:", "a.c:", None),
        ] {
            assert_eq!(Asked::parse(asked).unwrap(), Asked { path, lines }, "{asked}");
        }
        assert!(Asked::parse("a.c:9-3").is_err());
        assert!(Asked::parse("a.c:99999999999").is_err());
    }
}
