//! Demangled forms: Rust (legacy and v0) and Itanium C++ names, bounded.
//!
//! The writer stores them of a binary's own names, the reader shows them of names that documents repeat: both from here.

use std::fmt::{self, Write};

/// Longest name that is demangled, and longest form that it may have, in bytes.
pub const LIMIT: usize = 4096;

/// The demangled form of a mangled name, or `None` for a name that isn't mangled or can't be demangled within
/// [`LIMIT`] bytes.
#[must_use]
pub fn demangle(name: &[u8]) -> Option<String> {
    let mangled = name.starts_with(b"_Z") || name.starts_with(b"_R") || name.starts_with(b"__Z");
    let text = std::str::from_utf8(name).ok().filter(|text| mangled && text.len() <= LIMIT)?;
    let mut out = Limited(String::new());
    if let Ok(rust) = rustc_demangle::try_demangle(text) {
        write!(out, "{rust:#}").ok()?;
    } else {
        let options = cpp_demangle::ParseOptions::default().recursion_limit(RECURSION);
        let symbol = cpp_demangle::Symbol::new_with_options(text, &options).ok()?;
        let options = cpp_demangle::DemangleOptions::default().recursion_limit(RECURSION);
        symbol.structured_demangle(&mut out, &options).ok()?;
    }
    (out.0 != text).then_some(out.0)
}

/// How deep a name may nest; real ones stay far below, and a deeper one could take all of a thread's stack.
const RECURSION: u32 = 96;

/// A writer that refuses to grow: substitutions let a short name stand for an endless one.
struct Limited(String);

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LIMIT {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demangles_what_is_mangled_and_nothing_else() {
        for (mangled, expected) in [
            ("_ZN3foo3barEi", Some("foo::bar(int)")),
            ("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", Some("core::fmt::Write::write_fmt")),
            ("_RNvCskwGfYPst2Cb_3foo3bar", Some("foo::bar")),
            ("puts", None),
            ("_Z", None),
        ] {
            assert_eq!(demangle(mangled.as_bytes()).as_deref(), expected, "{mangled}");
        }
    }

    #[test]
    fn a_name_that_unfolds_without_end_is_refused() {
        // Each pair repeats all before it.
        let bomb = format!("_Z1fSt4pairI{}E", "St4pairIS_S_ES1_".repeat(200));
        let told = demangle(bomb.as_bytes());
        assert!(told.is_none_or(|text| text.len() <= LIMIT));
    }
}
