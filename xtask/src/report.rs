//! What passed, what failed, and what was skipped and why.

use std::process::ExitCode;

/// Counts of single checks (a test, a rule, a comparison), not of stages.
#[derive(Default)]
pub(crate) struct Report {
    passed: u64,
    failed: Vec<String>,
    skipped: Vec<(String, String)>,
}

impl Report {
    /// A check that held.
    pub(crate) fn pass(&mut self) {
        self.passed += 1;
    }

    /// Checks that another program counted.
    pub(crate) fn pass_many(&mut self, checks: u64) {
        self.passed += checks;
    }

    /// A check that did not hold, in one line.
    pub(crate) fn fail(&mut self, what: impl Into<String>) {
        self.failed.push(what.into());
    }

    /// How many checks did not hold so far.
    pub(crate) fn failures(&self) -> usize {
        self.failed.len()
    }

    /// A check that could not run here, and why.
    pub(crate) fn skip(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.skipped.push((what.into(), why.into()));
    }

    /// Prints the end of the run and says how the program ends. With `CI=true` a skip is a failure: there, everything can
    /// be installed, so what was skipped was forgotten.
    pub(crate) fn finish(&self) -> ExitCode {
        let strict = std::env::var("CI").is_ok_and(|value| value == "true");
        if self.passed == 0 && self.failed.is_empty() && self.skipped.is_empty() {
            return ExitCode::SUCCESS;
        }
        println!();
        for what in &self.failed {
            println!("failed: {what}");
        }
        for (what, why) in &self.skipped {
            println!("skipped: {what}: {why}");
        }
        let forgotten = strict && !self.skipped.is_empty();
        if forgotten {
            println!("failed: CI=true, and nothing may be skipped there");
        }
        println!("{} passed, {} failed, {} skipped", self.passed, self.failed.len(), self.skipped.len());
        if self.failed.is_empty() && !forgotten { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
