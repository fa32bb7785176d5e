//! `list`: the builds in the archive.

use elfscope_core::{escape, listing::Kind};
use elfscope_schema::IndexEntry;
use serde::Serialize;

use super::Context;
use crate::{
    exit::Exit,
    failure::Failure,
    output::{
        count, grouped, share,
        table::{Table, cell},
    },
};

/// Lists the builds in the archive.
#[derive(Debug, clap::Args)]
pub(crate) struct List {}

/// Characters of a build id that are shown: all of a usual one; the start of a longer one works in its place.
const ID: usize = 40;

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
        // A column that says nothing is left out.
        let packages = builds.iter().any(|build| build.package.is_some());
        let head = ["name", "build id", "machine", ">functions", ">rows", ">with line", "package"];
        let mut table = Table::new(&head[..head.len() - usize::from(!packages)]);
        for build in &builds {
            let mut row = vec![
                cell(Kind::Title, escape::name(build.name.text())),
                cell(Kind::Address, build.build_id.as_str().chars().take(ID).collect::<String>()),
                cell(Kind::Plain, escape::name(&build.machine)),
                cell(Kind::Plain, grouped(build.functions)),
                cell(Kind::Plain, grouped(build.rows)),
                cell(Kind::Plain, share(build.rows_with_line, build.rows)),
            ];
            if packages {
                row.push(cell(Kind::Plain, escape::name(build.package.as_deref().unwrap_or_default())));
            }
            table.row(row);
        }
        context.out.lines(&table.lines(0))?;
        context.out.note(count(total, "build", "builds"))?;
        Ok(Exit::Done)
    }
}
