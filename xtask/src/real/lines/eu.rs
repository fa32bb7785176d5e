//! What eu-addr2line says of every row: the innermost place only. With LTO it leaves frames out of its stacks, and names take
//! it minutes (seen in 0.188).

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, ChildStdout, Stdio},
};

use anyhow::{Context as _, Result, bail};

use super::stack::{Level, Text, Texts, base};
use crate::run::program;

/// Its answers, read while it prints.
pub(super) struct Answers {
    child: Child,
    lines: BufReader<ChildStdout>,
    line: String,
}

impl Answers {
    /// Asks for all addresses of a file that isn't stripped.
    pub(super) fn ask(unstripped: &Path, addresses: &Path) -> Result<Self> {
        let mut child = program("eu-addr2line")
            .arg("-e")
            .arg(unstripped)
            .stdin(File::open(addresses)?)
            .stdout(Stdio::piped())
            .spawn()
            .context("`eu-addr2line` can't be run")?;
        let stdout = child.stdout.take().context("it prints nothing")?;
        Ok(Self { child, lines: BufReader::with_capacity(1 << 18, stdout), line: String::new() })
    }

    /// The place of the next address, or none; it names no function.
    pub(super) fn next(&mut self, texts: &mut Texts) -> Result<Option<Level>> {
        self.line.clear();
        if self.lines.read_line(&mut self.line)? == 0 {
            bail!("eu-addr2line ended early");
        }
        let (file, line) = parse_place(self.line.trim_end()).with_context(|| format!("`{}`", self.line))?;
        Ok((file != "??").then(|| Level { function: Text::NONE, file: texts.path(file), line }))
    }

    /// Waits for its end.
    pub(super) fn finish(mut self) -> Result<()> {
        let status = self.child.wait()?;
        if !status.success() {
            bail!("eu-addr2line ended with {status}");
        }
        Ok(())
    }
}

/// Whether both are the same place. A relative folder is told twice by elfutils (`./csu/./csu/a.c`: it joins DWARF 5's
/// directory 0 to the compilation folder again), so only the file's name counts there.
pub(super) fn is_same(texts: &Texts, ours: Option<&Level>, theirs: Option<&Level>) -> bool {
    let (Some(ours), Some(theirs)) = (ours, theirs) else { return ours.is_none() && theirs.is_none() };
    let same_file = ours.file == theirs.file || {
        let (ours, theirs) = (texts.get(ours.file), texts.get(theirs.file));
        !theirs.starts_with('/') && base(ours) == base(theirs)
    };
    same_file && ours.line == theirs.line
}

/// `./csu/./csu/init-first.c:84:1 (discriminator 2)`, or without a column, or `??:0`.
fn parse_place(text: &str) -> Option<(&str, u32)> {
    let text = text.split(" (").next()?;
    let (before, last) = text.rsplit_once(':')?;
    let last = last.parse().ok()?;
    match before.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?))) {
        Some(with_column) => Some(with_column),
        None => Some((before, last)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        assert_eq!(parse_place("./csu/./csu/a.c:84:1 (discriminator 2)"), Some(("./csu/./csu/a.c", 84)));
        assert_eq!(parse_place("a.c:84"), Some(("a.c", 84)));
        assert_eq!(parse_place("??:0"), Some(("??", 0)));
    }
}
