//! `remove`: a build or one of its editions.

use elfscope_core::listing::{Kind, Line};
use serde::Serialize;

use super::Context;
use crate::{exit::Exit, failure::Failure};

/// Removes a build or one of its editions. Its name and the reason stay, so that who has a link learns what became of it.
#[derive(Debug, clap::Args)]
pub(crate) struct Remove {
    /// The build (all its editions) or the edition
    #[arg(value_name = "BUILD[/EDITION]")]
    target: String,
    /// Why, in one line
    #[arg(long, value_name = "TEXT", default_value = "no reason given")]
    reason: String,
}

#[derive(Serialize)]
struct Told {
    build_id: String,
    current: Option<String>,
    removed: Vec<String>,
}

impl Remove {
    pub(crate) fn run(&self, context: &mut Context) -> Result<Exit, Failure> {
        let archive = context.location.open()?;
        let (build, edition) = context.location.target(&self.target)?;
        let removed = archive.remove(&build, edition.as_ref(), &self.reason)?;
        let current = removed.current.as_ref().map(ToString::to_string);
        if context.out.json {
            let removed = removed.editions.iter().map(ToString::to_string).collect();
            context.out.document(&Told { build_id: build.to_string(), current, removed })?;
            return Ok(Exit::Done);
        }
        for edition in &removed.editions {
            let line = Line::of(Kind::Plain, "removed ").and(Kind::Address, format!("{build}/{edition}"));
            context.out.line(&line)?;
        }
        match current {
            Some(current) => context.out.note(format!("current now: {current}"))?,
            None => context.out.note("the build has no current edition any more")?,
        }
        Ok(Exit::Done)
    }
}
