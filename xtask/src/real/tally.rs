//! Counts of one comparison, and the first examples of what differs.

use crate::report::Report;

/// How many differences are shown.
const SHOWN: usize = 20;

/// One comparison.
pub(super) struct Tally {
    what: &'static str,
    compared: u64,
    different: u64,
    examples: Vec<String>,
    may_be_empty: bool,
}

impl Tally {
    pub(super) fn new(what: &'static str) -> Self {
        Self { what, compared: 0, different: 0, examples: Vec::new(), may_be_empty: false }
    }

    /// One of which an input may have none. Of anything else, none compared means that the comparison is broken.
    pub(super) fn optional(what: &'static str) -> Self {
        Self { may_be_empty: true, ..Self::new(what) }
    }

    /// Counts one thing that was compared.
    pub(super) fn check(&mut self, same: bool, example: impl FnOnce() -> String) {
        self.compared += 1;
        if !same {
            self.different += 1;
            if self.examples.len() < SHOWN {
                self.examples.push(example());
            }
        }
    }

    /// Prints it and counts it as one check.
    pub(super) fn finish(self, input: &str, report: &mut Report) {
        println!("  {:<52}{:>9} compared{:>8} differ", self.what, self.compared, self.different);
        for example in &self.examples {
            println!("      {example}");
        }
        if self.different > 0 {
            let (different, compared) = (self.different, self.compared);
            report.fail(format!("real: {input}: {}: {different} of {compared} differ", self.what));
        } else if self.compared == 0 && !self.may_be_empty {
            report.fail(format!("real: {input}: {}: nothing was compared", self.what));
        } else {
            report.pass();
        }
    }
}
