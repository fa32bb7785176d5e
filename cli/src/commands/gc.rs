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
}

impl Gc {
    #[expect(clippy::unused_self, reason = "as all commands")]
    pub(crate) fn run(&self, context: &mut Context) -> Result<Exit, Failure> {
        let collected = context.location.open()?.gc()?;
        let freed = collected.deleted.iter().map(|(_, bytes)| bytes).sum();
        if context.out.json {
            context.out.document(&Told {
                deleted: collected.deleted.iter().map(|(path, _)| path.clone()).collect(),
                freed,
                left_out: collected.left_out.iter().map(ToString::to_string).collect(),
            })?;
        } else if collected.deleted.is_empty() {
            context.out.plain("nothing to delete")?;
        } else {
            for (path, bytes) in &collected.deleted {
                let line = Line::of(Kind::Plain, "deleted ").and(Kind::Address, escape::name(path));
                context.out.line(&line.and(Kind::Note, format!("  {} bytes", grouped(*bytes))))?;
            }
            context.out.note(format!("{} freed", count(freed, "byte", "bytes")))?;
        }
        for build in &collected.left_out {
            context.out.flush()?;
            let line = Line::of(Kind::Mark, "damaged: ")
                .and(Kind::Plain, format!("{build}/current.json; nothing of it was deleted"));
            crate::output::aside(&line);
        }
        Ok(if collected.left_out.is_empty() { Exit::Done } else { Exit::Differs })
    }
}
