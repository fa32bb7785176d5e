//! `cargo xtask test`: the whole check, in stages.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};

use crate::{
    clients, fuzz, page, real,
    report::Report,
    run::{cargo, show, text},
    setup, tidy,
};

#[derive(Args)]
pub(crate) struct Options {
    /// Run only these stages
    #[arg(value_enum)]
    stages: Vec<Stage>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Stage {
    /// Install what is missing, as root on Debian
    Setup,
    /// `cargo fmt --check`
    Format,
    /// Clippy with warnings denied
    Clippy,
    /// Documentation with warnings denied
    Docs,
    /// `cargo test` of the workspace
    Tests,
    /// The core, compiled for WebAssembly
    Wasm32,
    /// The rules that no compiler checks
    Tidy,
    /// The conformance suite, official SDKs, the inspector and a hostile client against the server
    Clients,
    /// The web page in a real browser
    Page,
    /// Real binaries against readelf and objdump
    Real,
    /// Inputs that a fuzzer makes, a minute for each target
    Fuzz,
}

impl Stage {
    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Whether it runs unless stages are named. The others were not yet seen to pass as a whole on a machine that has nothing
    /// else to do; they run when they are named.
    fn is_usual(self) -> bool {
        !matches!(self, Self::Clients | Self::Page)
    }

    fn run(self, report: &mut Report) -> Result<()> {
        match self {
            Self::Setup => setup::tools(report),
            Self::Format => {
                show(cargo().args(["fmt", "--all", "--check"]))?;
                show(cargo().args(["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))
            }
            Self::Clippy => show(cargo().args([
                "clippy",
                "--quiet",
                "--workspace",
                "--all-targets",
                "--all-features",
                "--",
                "--deny",
                "warnings",
            ])),
            Self::Docs => show(
                cargo()
                    .args(["doc", "--quiet", "--no-deps", "--workspace"])
                    .env("RUSTDOCFLAGS", "-D warnings"),
            ),
            Self::Tests => tests(report),
            Self::Wasm32 => setup::wasm32::check(),
            Self::Tidy => tidy::run(report),
            Self::Clients => clients::run(report),
            Self::Page => page::run(report),
            Self::Real => real::run(&real::Options::default(), report),
            Self::Fuzz => fuzz::run(&fuzz::Options::default(), report),
        }
    }
}

/// Runs every stage, also after one that failed: one run tells all.
pub(crate) fn run(options: &Options, report: &mut Report) -> Result<()> {
    let mut times: Vec<(String, Duration)> = Vec::new();
    for stage in Stage::value_variants() {
        let wanted =
            if options.stages.is_empty() { stage.is_usual() } else { options.stages.contains(stage) };
        if !wanted {
            continue;
        }
        println!("== {}", stage.name());
        let start = Instant::now();
        let before = report.failures();
        match stage.run(report) {
            Ok(()) if report.failures() == before => report.pass(),
            Ok(()) => {}
            Err(error) => {
                println!("{error:#}");
                report.fail(format!("{}: {}", stage.name(), first_line(&error)));
            }
        }
        times.push((stage.name(), start.elapsed()));
        println!();
    }
    println!("time of each stage:");
    for (name, time) in &times {
        println!("  {name:<8}{:>7.1} s", time.as_secs_f64());
    }
    let all: Duration = times.iter().map(|(_, time)| *time).sum();
    println!("  {:<8}{:>7.1} s", "all", all.as_secs_f64());
    Ok(())
}

fn first_line(error: &anyhow::Error) -> String {
    format!("{error:#}").lines().next().unwrap_or_default().to_owned()
}

/// Runs the tests; shows all that is not a test that passed, and counts.
fn tests(report: &mut Report) -> Result<()> {
    let mut command = cargo();
    command.args(["test", "--workspace", "--no-fail-fast", "--color=never"]);
    let (passed, status) = count(&mut command)?;
    report.pass_many(passed);
    println!("{passed} tests passed");
    if passed == 0 {
        bail!("no test ran");
    }
    if !status.success() {
        bail!("`{}` ended with {status}", text(&command));
    }
    Ok(())
}

fn count(command: &mut Command) -> Result<(u64, std::process::ExitStatus)> {
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("`{}`", text(command)))?;
    let lines = BufReader::new(child.stdout.take().context("no output")?);
    let mut passed = 0;
    for line in lines.lines() {
        let line = line?;
        passed += passed_of(&line).unwrap_or(0);
        let quiet = line.is_empty()
            || line.ends_with("... ok")
            || line.starts_with("running ")
            || line.starts_with("test result: ok");
        if !quiet {
            println!("{line}");
        }
    }
    Ok((passed, child.wait()?))
}

/// The number in `test result: ok. 5 passed; …`.
fn passed_of(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("test result: ")?;
    let (before, _) = rest.split_once(" passed")?;
    before.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_counted() {
        assert_eq!(passed_of("test result: ok. 15 passed; 0 failed; 0 ignored; 0 measured"), Some(15));
        assert_eq!(passed_of("test result: FAILED. 3 passed; 1 failed; 0 ignored"), Some(3));
        assert_eq!(passed_of("test a ... ok"), None);
    }
}
