//! `verify`: whether every stored byte is as it was written.

use elfscope_core::{
    escape,
    listing::{Kind, Line},
};
use elfscope_ingest::archive::Scope;
use serde::Serialize;

use super::Context;
use crate::{
    args,
    exit::Exit,
    failure::Failure,
    output::{bar, count, grouped},
};

/// Checks every stored byte against the digests that the archive holds.
#[derive(Debug, clap::Args)]
pub(crate) struct Verify {
    /// Only this build or edition [default: the whole archive]
    #[arg(value_name = "BUILD", long_help = args::BUILD)]
    build: Option<String>,
}

/// Most findings that are shown.
const MOST: usize = 100;

#[derive(Serialize)]
struct Told<'a> {
    bytes: u64,
    editions: u64,
    findings: Vec<Found<'a>>,
    good: bool,
    stopped: bool,
}

#[derive(Serialize)]
struct Found<'a> {
    leftover: bool,
    path: &'a str,
    what: &'a str,
}

impl Verify {
    pub(crate) fn run(&self, context: &mut Context) -> Result<Exit, Failure> {
        let archive = context.location.open()?;
        let target = self.build.as_deref().map(|build| context.location.target(build)).transpose()?;
        let scope = match &target {
            None => Scope::All,
            Some((build, None)) => Scope::Build(build),
            Some((build, Some(edition))) => Scope::Edition(build, edition),
        };
        let bar = bar("checking", "bytes");
        let verified = archive.verify(scope, MOST, &|done, total| bar.at(done, total));
        bar.clear();
        let verified = verified?;
        let good = verified.is_good();
        if context.out.json {
            let findings = verified.findings.iter();
            context.out.document(&Told {
                bytes: verified.bytes,
                editions: verified.editions,
                findings: findings
                    .map(|found| Found { leftover: found.leftover, path: &found.path, what: &found.what })
                    .collect(),
                good,
                stopped: verified.stopped,
            })?;
            return Ok(if good { Exit::Done } else { Exit::Differs });
        }
        for found in &verified.findings {
            let kind = if found.leftover { Kind::Note } else { Kind::Mark };
            let line = Line::of(kind, if found.leftover { "left over  " } else { "damaged    " });
            let line = line
                .and(Kind::Address, escape::name(&found.path))
                .and(Kind::Plain, format!("  {}", escape::text(&found.what)));
            context.out.line(&line)?;
        }
        if verified.stopped {
            context.out.note(format!("stopped after {}: there may be more", grouped(MOST as u64)))?;
        }
        let looked = format!(
            "{}, {}",
            count(verified.editions, "edition", "editions"),
            count(verified.bytes, "byte", "bytes")
        );
        if good {
            context.out.line(&Line::of(Kind::String, "good  ").and(Kind::Plain, looked))?;
            if !verified.findings.is_empty() {
                context
                    .out
                    .note(format!("clear what is left over: {}", context.location.command(&["gc"])))?;
            }
            return Ok(Exit::Done);
        }
        context.out.line(&Line::of(Kind::Mark, "differs  ").and(Kind::Plain, looked))?;
        context.out.note("adding a damaged binary again derives it anew, once its edition is removed")?;
        if verified.findings.iter().any(|found| found.path.starts_with("src/")) {
            context.out.note("a damaged file in src/ is written anew then too, once it is deleted")?;
        }
        Ok(Exit::Differs)
    }
}
