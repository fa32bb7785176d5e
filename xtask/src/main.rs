//! The repository's own commands: `cargo xtask test`, `setup`, `tidy`, `docs`, `real`, `fuzz`, `bench`.
//!
//! `cargo xtask test` is the whole check, the same on every machine and in CI. The other commands are its stages, or what
//! they need.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "these commands talk to a person at a terminal"
)]
#![allow(clippy::disallowed_methods, reason = "HOME, CI and the like say on which machine the checks run")]

mod bench;
mod clients;
mod docs;
mod fuzz;
mod page;
mod real;
mod report;
mod run;
mod setup;
mod test;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::report::Report;

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "The repository's own commands")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Format, clippy, docs, tests, tidy and the real-input check, with the time of each
    Test(test::Options),
    /// Install the tools that the checks compare with, and fetch the real inputs
    Setup(setup::Options),
    /// Check the rules of this repository that no compiler checks
    Tidy,
    /// Write the JSON Schema of every document to docs/schema
    Docs(docs::Options),
    /// Add real binaries and compare every document with readelf and objdump
    Real(real::Options),
    /// Feed the readers inputs that a fuzzer makes
    Fuzz(fuzz::Options),
    /// Measure `elfscope add` against `objdump -d`
    Bench(bench::Options),
}

fn main() -> ExitCode {
    let command = Arguments::parse().command;
    let mut report = Report::default();
    let outcome = match &command {
        Command::Test(options) => test::run(options, &mut report),
        Command::Setup(options) => setup::run(options, &mut report),
        Command::Tidy => tidy::run(&mut report),
        Command::Docs(options) => docs::run(options),
        Command::Real(options) => real::run(options, &mut report),
        Command::Fuzz(options) => fuzz::run(options, &mut report),
        Command::Bench(options) => bench::run(options),
    };
    if let Err(error) = outcome {
        report.fail(format!("{error:#}"));
    }
    report.finish()
}
