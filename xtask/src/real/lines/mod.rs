//! Lines and inlined frames: every row's stack is llvm-symbolizer's, its innermost place eu-addr2line's.
//!
//! The two don't agree with each other everywhere, so a share of rows is asked for. Where a row differs, gdb judges it at
//! that very address: it counts as explained only if gdb sides with us. Nothing here names an address of a real input,
//! since those move with every update; addresses that stay are in the tests of the fixtures.

pub(super) mod alternate;
mod claims;
mod eu;
mod llvm;
mod outcome;
mod stack;
mod third;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::Result;

use self::{
    claims::Claims,
    outcome::{Kind, Outcome},
    stack::Texts,
};
use super::{edition::Edition, inputs::Lines};
use crate::{
    report::Report,
    run::{has, output, program},
    setup::{Debugged, llvm_symbolizer},
};

pub(super) fn compare(edition: &Edition, lines: &Lines, input: &str, report: &mut Report) -> Result<()> {
    let missing = ["eu-addr2line", "eu-unstrip", "objcopy", "gdb"].into_iter().find(|tool| !has(tool));
    let (Some(llvm), None) = (llvm_symbolizer(), missing) else {
        let tool = missing.unwrap_or("llvm-symbolizer (15 or newer)");
        report.skip(format!("real input {input}: lines"), format!("there is no `{tool}` here"));
        return Ok(());
    };
    let work = tempfile::tempdir()?;
    let unstripped = unstripped(&lines.of, work.path())?;
    let addresses = work.path().join("addresses");
    let mut texts = Texts::new();
    let claims = Claims::read(edition, &mut texts)?;
    claims.write_addresses(&addresses)?;

    let mut stacks = Outcome::new("lines: the stack is llvm-symbolizer's", lines.required);
    let mut innermosts = Outcome::new("lines: the innermost place is eu-addr2line's", lines.required);
    let (mut placed, mut inlined) = (0u64, 0u64);
    // Both print while they are read, each on a core of its own.
    let mut from_llvm = llvm::Answers::ask(&llvm, &lines.of.debug, &addresses, work.path())?;
    let mut from_eu = eu::Answers::ask(&unstripped, &addresses)?;
    let mut theirs = Vec::new();
    for claim in &claims.rows {
        let ours = claims.stack(claim);
        placed += u64::from(!ours.is_empty());
        inlined += u64::from(ours.len() > 1);
        from_llvm.next(&mut texts, &mut theirs)?;
        stacks.count(claim.address, Kind::of(ours, &theirs), ours, &theirs);
        let innermost = from_eu.next(&mut texts)?;
        // Outside of functions it goes on with the last line that it saw.
        if claim.is_inside {
            let theirs: Vec<_> = innermost.into_iter().collect();
            let same = eu::is_same(&texts, ours.first(), theirs.first());
            let kind = if same { None } else { Kind::of(&ours[..ours.len().min(1)], &theirs) };
            innermosts.count(claim.address, kind, ours, &theirs);
        }
    }
    from_llvm.finish()?;
    from_eu.finish()?;
    println!("  {placed} of {} rows have a place, {inlined} of them in inlined functions", claims.rows.len());
    if placed == 0 || inlined == 0 {
        report.fail(format!("real: {input}: {placed} rows have a place, {inlined} in inlined functions"));
    }
    let mut differing: Vec<u64> = stacks.addresses().chain(innermosts.addresses()).collect();
    differing.sort_unstable();
    differing.dedup();
    let judged = if differing.is_empty() {
        BTreeMap::new()
    } else {
        third::ask(&unstripped, lines.debug_folder.as_ref(), &differing, work.path(), &mut texts)?
    };
    stacks.finish(&judged, &texts, input, report);
    innermosts.finish(&judged, &texts, input, report);
    Ok(())
}

/// The binary with its debug data in it, for tools that want both.
fn unstripped(of: &Debugged, work: &Path) -> Result<PathBuf> {
    if of.file == of.debug {
        return Ok(of.file.clone());
    }
    let path = work.join("unstripped");
    output(program("eu-unstrip").arg("-o").arg(&path).args([&of.file, &of.debug]))?;
    Ok(path)
}
