//! What could not be read, collected while the rest goes on.

use std::collections::BTreeMap;

use elfscope_schema::{Diagnostic, Name};

use crate::limits;

/// A collector of diagnostics: sorted and bounded when it is finished, so that a table of a million broken entries
/// costs one page.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    by_code: BTreeMap<&'static str, (Vec<Diagnostic>, u64)>,
}

impl Diagnostics {
    /// Adds one: a stable code, what it is about, and one sentence.
    pub(crate) fn add(&mut self, code: &'static str, subject: &[u8], message: impl Into<String>) {
        let (kept, total) = self.by_code.entry(code).or_default();
        *total += 1;
        if kept.len() < limits::DIAGNOSTICS_A_CODE {
            kept.push(Diagnostic {
                code: code.to_owned(),
                message: message.into(),
                subject: Name::from_bytes(subject),
            });
        }
    }

    /// Takes over what another collector has.
    pub(crate) fn absorb(&mut self, other: Self) {
        for (code, (mut diagnostics, count)) in other.by_code {
            let (kept, total) = self.by_code.entry(code).or_default();
            *total += count;
            diagnostics.truncate(limits::DIAGNOSTICS_A_CODE - kept.len());
            kept.append(&mut diagnostics);
        }
    }

    /// All of them, in order of code and then as they came.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let mut all = Vec::new();
        for (code, (kept, total)) in self.by_code {
            let left = total - kept.len() as u64;
            all.extend(kept);
            if left > 0 {
                all.push(Diagnostic {
                    code: code.to_owned(),
                    message: format!("{left} more of these are not listed"),
                    subject: Name::from(""),
                });
            }
        }
        all
    }
}
