//! `list`: the builds in the archive.

use elfscope_core::{escape, listing};
use elfscope_schema::IndexEntry;
use serde::Serialize;

use super::Context;
use crate::{exit::Exit, failure::Failure, output::count};

/// Lists the builds in the archive.
#[derive(Debug, clap::Args)]
pub(crate) struct List {}

#[derive(Serialize)]
struct Told {
    builds: Vec<IndexEntry>,
    total: u64,
}

impl List {
    #[expect(clippy::unused_self, reason = "as all commands")]
    pub(crate) fn run(&self, context: &mut Context) -> Result<Exit, Failure> {
        let mut builds: Vec<IndexEntry> = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let page = pollster::block_on(context.location.request().catalogue(cursor.as_deref()))?;
            builds.extend(page.builds);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        builds.sort_by(|a, b| (a.name.text(), &a.build_id).cmp(&(b.name.text(), &b.build_id)));
        let total = builds.len() as u64;
        if context.out.json {
            context.out.document(&Told { builds, total })?;
            return Ok(Exit::Done);
        }
        if builds.is_empty() {
            if context.location.root.is_file() {
                return Err(context.location.missing());
            }
            let root = escape::name(&context.location.root.to_string_lossy());
            context.out.plain(format!("The archive at {root} is empty."))?;
            context.out.note(format!("add a binary: {}", context.location.command(&["add", "FILE"])))?;
            context.out.note(format!("or look at an example first: {} demo", crate::archive::program()))?;
            return Ok(Exit::Done);
        }
        context.out.lines(&listing::builds(&builds))?;
        context.out.note(count(total, "build", "builds"))?;
        Ok(Exit::Done)
    }
}
