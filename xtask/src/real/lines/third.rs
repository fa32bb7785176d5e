//! gdb as the judge where two tools differ: the innermost place and the functions around it, of single addresses.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

use super::stack::{Level, Text, Texts, base};
use crate::run::{program, stdout};

/// For each address a line: address, file, line, and the functions' names, innermost first, tabs between.
const SCRIPT: &str = "\
import gdb
def around(block):
    while block is not None and not block.is_global and not block.is_static:
        if block.function is not None:
            yield block.function.linkage_name or block.function.name
        block = block.superblock
with open(ADDRESSES) as addresses:
    for text in addresses:
        address = int(text, 16)
        sal = gdb.find_pc_line(address)
        file = sal.symtab.filename if sal.symtab else ''
        names = around(gdb.block_for_pc(address))
        print('\\t'.join([text.strip(), file, str(sal.line)] + list(names)))
";

/// What gdb says of one address.
pub(super) struct Judgement {
    file: Text,
    line: u32,
    /// Names of the functions, innermost first.
    functions: Vec<Text>,
}

/// What gdb says of some addresses of a file that isn't stripped.
pub(super) fn ask(
    unstripped: &Path,
    debug_folder: Option<&PathBuf>,
    addresses: &[u64],
    work: &Path,
    texts: &mut Texts,
) -> Result<BTreeMap<u64, Judgement>> {
    let (list, script) = (work.join("judged"), work.join("judge.py"));
    let lines: String = addresses.iter().map(|address| format!("{address:x}\n")).collect();
    fs::write(&list, lines)?;
    fs::write(&script, format!("ADDRESSES = {:?}\n{SCRIPT}", list.display().to_string()))?;
    let mut gdb = program("gdb");
    gdb.args(["-nx", "-batch", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off"]);
    if let Some(folder) = debug_folder {
        gdb.arg("-iex").arg(format!("set debug-file-directory {}", folder.display()));
    }
    let said = stdout(gdb.arg("-x").arg(&script).arg(unstripped)).context("gdb can't judge")?;
    Ok(said.lines().filter_map(|line| parse(line, texts)).collect())
}

fn parse(line: &str, texts: &mut Texts) -> Option<(u64, Judgement)> {
    let mut words = line.split('\t');
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    let (file, line) = (words.next()?, words.next()?.parse().ok()?);
    let file = if file.is_empty() { Text::NONE } else { texts.path(file) };
    let functions = words.map(|name| texts.text(name)).collect();
    Some((address, Judgement { file, line, functions }))
}

impl Judgement {
    /// Whether it says the same of the innermost place. How it tells folders depends on its release: the file's name counts.
    pub(super) fn has_place(&self, texts: &Texts, ours: Option<&Level>) -> bool {
        match ours {
            Some(ours) => self.line == ours.line && base(texts.get(self.file)) == base(texts.get(ours.file)),
            None => self.file == Text::NONE,
        }
    }

    /// Whether it names the same functions, one for each level.
    pub(super) fn has_functions(&self, ours: &[Level]) -> bool {
        let named = ours.iter().filter(|level| level.function != Text::NONE);
        self.functions.iter().copied().eq(named.map(|level| level.function))
    }

    /// What it says, in one line.
    pub(super) fn told(&self, texts: &Texts) -> String {
        let names: Vec<&str> = self.functions.iter().map(|name| texts.get(*name)).collect();
        format!("{} {}:{}", names.join(" < "), texts.get(self.file), self.line)
    }
}
