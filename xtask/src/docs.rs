//! `docs/schema/<document>.json`: the JSON Schema of every document, generated from the types of `schema`; and `docs/errors.md`:
//! the codes of refusals, from the list in `serve/core/src/error/codes.rs`.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use elfscope_core::error::codes::CODES;
use elfscope_schema::documents::DOCUMENTS;

use crate::run::root;

#[derive(Args)]
pub(crate) struct Options {
    /// Write nothing: fail if something would change
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let stale = stale()?;
    if options.check {
        if let [first, ..] = &stale[..] {
            bail!("{} is out of date ({} files): run `cargo xtask docs`", first.0.display(), stale.len());
        }
        println!("docs/schema is up to date: {} files, and docs/errors.md", DOCUMENTS.len());
        return Ok(());
    }
    for (path, text) in &stale {
        match text {
            Some(text) => fs::write(path, text),
            None => fs::remove_file(path),
        }
        .with_context(|| format!("{} can't be written", path.display()))?;
        println!("{}", path.strip_prefix(root()).unwrap_or(path).display());
    }
    println!("{} of {} files changed", stale.len(), DOCUMENTS.len() + 1);
    Ok(())
}

/// Files that are not as they should be, with what they should be; `None` for a file that should not be there.
pub(crate) fn stale() -> Result<Vec<(PathBuf, Option<String>)>> {
    let folder = root().join("docs/schema");
    fs::create_dir_all(&folder)?;
    let mut wanted: BTreeMap<PathBuf, Option<String>> = BTreeMap::new();
    for entry in fs::read_dir(&folder)? {
        wanted.insert(entry?.path(), None);
    }
    for document in DOCUMENTS {
        let schema = (document.json_schema)();
        let text = serde_json::to_string_pretty(&schema)? + "\n";
        wanted.insert(folder.join(format!("{}.json", document.name)), Some(text));
    }
    wanted.insert(root().join("docs/errors.md"), Some(errors()));
    Ok(wanted.into_iter().filter(|(path, text)| fs::read_to_string(path).ok() != *text).collect())
}

/// The page of codes.
fn errors() -> String {
    let mut text = "# Refusals\n\nEvery refusal is `{code, message, given, allowed, fix}`, the same on the command line, over HTTP and \
        over MCP. A code never\nchanges its meaning. This page is made by `cargo xtask docs`.\n"
        .to_owned();
    for code in CODES {
        let _ = write!(
            text,
            "\n## `{}`\n{}\n\n- What to do: {}\n- For example: {}\n",
            code.code, code.cause, code.fix, code.example
        );
    }
    text
}
