//! What a binary is, where every claim comes from, and what to ask next.

use elfscope_core::{Edition, listing};

use crate::{commands::Context, failure::Failure};

pub(super) fn show(context: &mut Context, edition: &Edition, build: &str) -> Result<(), Failure> {
    let meta = pollster::block_on(context.location.request().meta(edition))?;
    let out = &mut context.out;
    if out.json {
        return out.document(&*meta);
    }
    out.lines(&listing::summary(edition, &meta))?;
    out.plain("")?;
    let mut next = vec![("a function", vec!["show", build, "NAME"])];
    if edition.told.sources > 0 {
        next.push(("with its source", vec!["show", build, "NAME", "--source"]));
    }
    next.push(("find one", vec!["search", build, "TEXT"]));
    for (what, args) in next {
        out.note(format!("{what}: {}", context.location.command(&args)))?;
    }
    Ok(())
}
