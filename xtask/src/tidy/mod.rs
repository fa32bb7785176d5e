//! The rules of this repository that no compiler checks, each a small function that says where it is broken and what to do.

mod cover;
mod dependencies;
mod files;
mod samples;
mod text;

use anyhow::Result;

use crate::report::Report;

pub(crate) use files::Tree;

/// How many places of one rule are shown.
const SHOWN: usize = 20;

/// One rule.
struct Rule {
    /// What holds, and why.
    about: &'static str,
    /// Every place where it does not hold: `file:line: what, and what to do`.
    check: fn(&Tree) -> Result<Vec<String>>,
}

const RULES: &[Rule] = &[
    Rule {
        about: "every .rs file opens with `//!`: a reader learns what it is for before reading it",
        check: text::opens_with_doc,
    },
    Rule { about: "files stay under 500 lines: one file, one subject", check: text::not_too_long },
    Rule { about: "no file is over 1 MB: a clone stays quick", check: text::not_too_big },
    Rule { about: "nothing is left open: no stub, no skipped test", check: text::nothing_left_open },
    Rule {
        about: "no path of one machine and no registry host: the repository works anywhere",
        check: text::no_machine,
    },
    Rule {
        about: "`serve/core` does no IO and reads no clock: it runs in a Worker and in tests alike",
        check: text::core_is_pure,
    },
    Rule {
        about: "`ingest` reads no clock, network or environment: the same inputs give the same bytes",
        check: text::ingest_is_pure,
    },
    Rule {
        about: "only `cli`, hosts and `xtask` print or exit: a library returns",
        check: text::libraries_are_quiet,
    },
    Rule {
        about: "only `schema` derives serde: a stored document has one definition",
        check: text::only_schema_stores,
    },
    Rule {
        about: "crates know only what the architecture lets them know",
        check: dependencies::who_knows_whom,
    },
    Rule {
        about: "`schema::PINNED` is what Cargo.lock has: another decoder is another derivation",
        check: dependencies::pinned,
    },
    Rule { about: "every dependency's licence is in deny.toml", check: dependencies::licences },
    Rule {
        about: "samples are valid, and have every member and variant of every document",
        check: samples::complete,
    },
    Rule { about: "docs/schema is what the types say", check: samples::schemas_are_fresh },
];

pub(crate) fn run(report: &mut Report) -> Result<()> {
    let tree = Tree::read()?;
    for rule in RULES {
        let broken = (rule.check)(&tree)?;
        if broken.is_empty() {
            report.pass();
            continue;
        }
        println!("{}:", rule.about);
        for place in broken.iter().take(SHOWN) {
            println!("  {place}");
        }
        if broken.len() > SHOWN {
            println!("  and {} more", broken.len() - SHOWN);
        }
        report.fail(format!("tidy: {} ({} places)", rule.about, broken.len()));
    }
    println!("tidy: {} rules, {} files", RULES.len(), tree.files().len());
    Ok(())
}
