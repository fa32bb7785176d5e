//! `gc`: deletes what nothing refers to.

use elfscope_core::{
    escape,
    listing::{Kind, Line},
};
use serde::Serialize;

use super::Context;
use crate::{
    exit::Exit,
    failure::Failure,
    output::{count, grouped},
};

/// Deletes what nothing refers to: what interrupted runs left behind. It never deletes a published edition.
#[derive(Debug, clap::Args)]
pub(crate) struct Gc {}

#[derive(Serialize)]
struct Told {
    deleted: Vec<String>,
    freed: u64,
    left_out: Vec<String>,
    sources: u64,
    unread: Vec<String>,
}

impl Gc {
    #[expect(clippy::unused_self, reason = "as all commands")]
    pub(crate) fn run(&self, context: &mut Context) -> Result<Exit, Failure> {
        let collected = context.location.open()?.gc()?;
        let freed = collected.source_bytes + collected.deleted.iter().map(|(_, bytes)| bytes).sum::<u64>();
        if context.out.json {
            context.out.document(&Told {
                deleted: collected.deleted.iter().map(|(path, _)| path.clone()).collect(),
                freed,
                left_out: collected.left_out.iter().map(ToString::to_string).collect(),
                sources: collected.sources,
                unread: collected.unread.clone(),
            })?;
        } else if collected.deleted.is_empty() && collected.sources == 0 {
            context.out.plain("nothing to delete")?;
        } else {
            for (path, bytes) in &collected.deleted {
                let line = Line::of(Kind::Plain, "deleted ").and(Kind::Address, escape::name(path));
                context.out.line(&line.and(Kind::Note, format!("  {} bytes", grouped(*bytes))))?;
            }
            if collected.sources > 0 {
                let sources = count(collected.sources, "source", "sources");
                let line = Line::of(Kind::Plain, format!("deleted {sources} that no edition cites"));
                let bytes = format!("  {} bytes", grouped(collected.source_bytes));
                context.out.line(&line.and(Kind::Note, bytes))?;
            }
            context.out.note(format!("{} freed", count(freed, "byte", "bytes")))?;
        }
        for build in &collected.left_out {
            context.out.flush()?;
            let line = Line::of(Kind::Mark, "damaged: ")
                .and(Kind::Plain, format!("{build}/current.json; nothing of it was deleted"));
            crate::output::aside(&line);
        }
        for path in &collected.unread {
            context.out.flush()?;
            let line = Line::of(Kind::Mark, "damaged: ")
                .and(Kind::Plain, format!("{}; no source was deleted", escape::name(path)));
            crate::output::aside(&line);
        }
        let is_whole = collected.left_out.is_empty() && collected.unread.is_empty();
        Ok(if is_whole { Exit::Done } else { Exit::Differs })
    }
}
