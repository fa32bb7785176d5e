//! `promote`: another file becomes what a build is.

use elfscope_core::listing::{Kind, Line};
use serde::Serialize;

use super::Context;
use crate::{exit::Exit, failure::Failure};

/// Makes the file of an edition the one that its build is, where several files claim one build id.
#[derive(Debug, clap::Args)]
pub(crate) struct Promote {
    /// The edition
    #[arg(value_name = "BUILD/EDITION")]
    target: String,
}

#[derive(Serialize)]
struct Told {
    build_id: String,
    current: String,
}

impl Promote {
    pub(crate) fn run(&self, context: &mut Context) -> Result<Exit, Failure> {
        let archive = context.location.open()?;
        let (build, edition) = context.location.target(&self.target)?;
        let Some(edition) = edition else {
            let failure = Failure::new(
                Exit::Usage,
                format!("`{}` names no edition", elfscope_core::escape::name(&self.target)),
            );
            return Err(failure
                .hint(format!("its editions are the folders in {build}: `elfscope promote BUILD/EDITION`")));
        };
        let current = archive.promote(&build, &edition)?;
        if context.out.json {
            let told = Told { build_id: build.to_string(), current: current.to_string() };
            context.out.document(&told)?;
            return Ok(Exit::Done);
        }
        let line = Line::of(Kind::Plain, "current now: ").and(Kind::Address, format!("{build}/{current}"));
        context.out.line(&line)?;
        if current != edition {
            context.out.note("that is the best edition of the same file")?;
        }
        Ok(Exit::Done)
    }
}
