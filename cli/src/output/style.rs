//! Colours: sober ones of the terminal's own sixteen, so that they fit dark and light.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use elfscope_core::listing::{Kind, Line};

/// The style of a kind of text.
fn style(kind: Kind) -> Style {
    let plain = Style::new();
    let coloured = |colour: AnsiColor| plain.fg_color(Some(colour.into()));
    match kind {
        Kind::Plain => plain,
        Kind::Title => plain.bold(),
        Kind::Label | Kind::Bytes | Kind::Note | Kind::Code => plain.dimmed(),
        Kind::Address => coloured(AnsiColor::Yellow),
        Kind::Mnemonic => coloured(AnsiColor::Blue),
        Kind::Symbol => coloured(AnsiColor::Cyan),
        Kind::Import => coloured(AnsiColor::Magenta),
        Kind::String => coloured(AnsiColor::Green),
        Kind::Source => coloured(AnsiColor::Cyan).bold(),
        Kind::Mark => coloured(AnsiColor::Red).bold(),
    }
}

/// The style of headings in `--help`.
pub(crate) fn help() -> clap::builder::Styles {
    clap::builder::Styles::styled()
        .header(Style::new().bold())
        .usage(Style::new().bold())
        .literal(style(Kind::Symbol))
        .placeholder(style(Kind::Note))
        .error(style(Kind::Mark))
}

/// Adds a line with its colours; trailing spaces are left out.
pub(crate) fn push(text: &mut String, line: &Line) {
    let mut left = line.text().chars().count();
    for span in &line.spans {
        let shown: String = span.text.chars().take(left).collect();
        left -= shown.chars().count();
        if shown.is_empty() {
            continue;
        }
        let style = style(span.kind);
        let _ = write!(text, "{style}{shown}{style:#}");
    }
}
