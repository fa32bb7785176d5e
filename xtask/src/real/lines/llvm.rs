//! What llvm-symbolizer says of every row.
//!
//! It reads a copy of the debug file without symbol tables: with one, it puts a symbol's name in the place of the outermost
//! function's (seen in 19: `strxfrm_l` where the debug data says `__GI___strxfrm_l`), and a symbol's file where there is no line.
//! Addresses are the binary's own either way.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Stdio},
};

use anyhow::{Context as _, Result, bail};

use super::stack::{Level, Text, Texts};
use crate::run::{output, program};

/// Its answers, read while it prints.
pub(super) struct Answers {
    child: Child,
    lines: BufReader<ChildStdout>,
    line: String,
}

impl Answers {
    /// Asks for all addresses of a file.
    pub(super) fn ask(tool: &str, debug: &Path, addresses: &Path, work: &Path) -> Result<Self> {
        let bare = bare(debug, work)?;
        let mut object = std::ffi::OsString::from("--obj=");
        object.push(&bare);
        let mut child = program(tool)
            .arg(object)
            .args(["--inlines", "--functions=linkage", "--no-demangle", "--output-style=LLVM"])
            .stdin(File::open(addresses)?)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("`{tool}` can't be run"))?;
        let stdout = child.stdout.take().context("it prints nothing")?;
        Ok(Self { child, lines: BufReader::with_capacity(1 << 18, stdout), line: String::new() })
    }

    /// The stack of the next address, empty where it knows nothing.
    pub(super) fn next(&mut self, texts: &mut Texts, stack: &mut Vec<Level>) -> Result<()> {
        stack.clear();
        let mut lines = 0;
        while self.read()? {
            lines += 1;
            let function = if self.line == "??" { Text::NONE } else { texts.text(&self.line) };
            if !self.read()? {
                break;
            }
            let (file, line) = parse_place(&self.line).with_context(|| format!("`{}`", self.line))?;
            let file = if file == "??" { Text::NONE } else { texts.path(file) };
            stack.push(Level { function, file, line });
        }
        if lines == 0 {
            bail!("llvm-symbolizer ended early");
        }
        // Without a line it knows no place, whatever function covers it.
        if stack.first().is_some_and(|innermost| innermost.file == Text::NONE) {
            stack.clear();
        }
        Ok(())
    }

    /// Reads a line; an empty one ends an answer.
    fn read(&mut self) -> Result<bool> {
        self.line.clear();
        self.lines.read_line(&mut self.line)?;
        self.line.truncate(self.line.trim_end_matches('\n').len());
        Ok(!self.line.is_empty())
    }

    /// Waits for its end.
    pub(super) fn finish(mut self) -> Result<()> {
        let status = self.child.wait()?;
        if !status.success() {
            bail!("llvm-symbolizer ended with {status}");
        }
        Ok(())
    }
}

/// A copy without symbol tables.
fn bare(debug: &Path, work: &Path) -> Result<PathBuf> {
    let bare = work.join("bare");
    let mut copy = program("objcopy");
    output(copy.args(["--strip-all", "--keep-section=.debug_*"]).args([debug, &bare]))?;
    Ok(bare)
}

/// `./libio/ioputs.c:32:1`
fn parse_place(text: &str) -> Option<(&str, u32)> {
    let mut parts = text.rsplitn(3, ':');
    let (_column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some((file, line.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        assert_eq!(parse_place("./a:b/c.c:32:1"), Some(("./a:b/c.c", 32)));
        assert_eq!(parse_place("??:0:0"), Some(("??", 0)));
    }
}
