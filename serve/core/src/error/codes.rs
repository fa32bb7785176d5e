//! Every code that a refusal can have: what caused it, what to do, an example. `docs/errors.md` is made of this list.

/// A code and what is to be known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The code: it never changes its meaning.
    pub code: &'static str,
    /// What caused it.
    pub cause: &'static str,
    /// What to do.
    pub fix: &'static str,
    /// A question that is refused so.
    pub example: &'static str,
}

/// The codes, by name.
pub const CODES: &[Code] = &[
    Code {
        code: "E_AMBIGUOUS",
        cause: "The text fits several things. The first is never taken in silence.",
        fix: "Ask for one of `allowed`, which lists them.",
        example: "`archive_function {\"build_id\": \"libc.so.6\", \"function\": \"copy\"}` where two functions are called `copy`",
    },
    Code {
        code: "E_BAD_ARGUMENTS",
        cause: "The tool has no such argument, or the argument has no such value.",
        fix: "Look at the tool's schema; the message names what is wrong.",
        example: "`archive_callers {\"build_id\": \"libc.so.6\", \"fn\": \"puts\"}`",
    },
    Code {
        code: "E_BAD_CURSOR",
        cause: "The cursor is not whole, or it belongs to another question or another edition.",
        fix: "Give back `next_cursor` as it was, with the same arguments; or ask again without one.",
        example: "the cursor of `archive_callers` of `puts`, given to that of `gets`",
    },
    Code {
        code: "E_BAD_METHOD",
        cause: "The route takes no such HTTP method.",
        fix: "Use one of the methods in `allowed`.",
        example: "`PUT /archive/index.json`",
    },
    Code {
        code: "E_BAD_PATH",
        cause: "The path is no path: its percent-encoding is broken, or it leads upwards.",
        fix: "Percent-encode what stands in a path, and start from the catalogue.",
        example: "`GET /archive/%zz`",
    },
    Code {
        code: "E_BAD_REFERENCE",
        cause: "The text can't be what stands there: it has another form.",
        fix: "`allowed` says which forms there are.",
        example: "`elfscope show '#v=2&w=listing'`",
    },
    Code {
        code: "E_BAD_REGEX",
        cause: "The regular expression is wrong, too large, or says nothing by which it could be looked up.",
        fix: "Put three letters in a row in it that every match has.",
        example: "`archive_lookup {\"build_id\": \"libc.so.6\", \"query\": \".*\", \"match\": \"regex\"}`",
    },
    Code {
        code: "E_CHANGED",
        cause: "The document is another one than `If-Match` names.",
        fix: "Ask without `If-Match` for what is there now.",
        example: "`GET /archive/index.json` with `If-Match: \"an old tag\"`",
    },
    Code {
        code: "E_DAMAGED",
        cause: "A document or a source of the archive is not what it should be.",
        fix: "`elfscope verify` says what else is damaged; adding the binary again makes it new.",
        example: "any question about a build whose pack was cut",
    },
    Code {
        code: "E_FORBIDDEN",
        cause: "The request names a host or an origin that this server doesn't answer to.",
        fix: "Name it when the server is started: `--allow-host HOST`.",
        example: "`GET /archive/index.json` with `Host: evil.example`",
    },
    Code {
        code: "E_GONE",
        cause: "The edition was there and was removed; the message has the reason.",
        fix: "Ask for the current one, which `allowed` names where there is one.",
        example: "`archive_lookup {\"build_id\": \"<build-id>/<a removed edition>\"}`",
    },
    Code {
        code: "E_INPUT_TOO_LARGE",
        cause: "A text is longer than anything it could mean.",
        fix: "Give its start: names are found by it too.",
        example: "`archive_lookup` with a `query` of 10,000 characters",
    },
    Code {
        code: "E_NOT_FOUND",
        cause: "Nothing here is called that.",
        fix: "`allowed` has the names that come nearest; `archive_lookup` finds parts of names.",
        example: "`archive_function {\"build_id\": \"libc.so.6\", \"function\": \"ptus\"}`",
    },
    Code {
        code: "E_NOT_INDEXED",
        cause: "The catalogue is too large to be looked through for that.",
        fix: "Ask for one of the forms in `allowed`, which an index answers.",
        example: "a part of a name among 100,000 builds",
    },
    Code {
        code: "E_NOT_PUBLISHED",
        cause: "The debug data cites the source, but its text is not in the archive; the message says why.",
        fix: "Add the binary again with the sources that it was built from: `--source DIR`.",
        example: "`archive_source` of a file that was not supplied",
    },
    Code {
        code: "E_OUT_OF_RANGE",
        cause: "The number is outside what there is. Nothing is clamped.",
        fix: "`allowed` is the real range.",
        example: "`archive_function {\"build_id\": \"libc.so.6\", \"function\": \"puts\", \"from\": \"9999\"}`",
    },
    Code {
        code: "E_OVER_BUDGET",
        cause: "The answer would take more than one request may read.",
        fix: "Ask for less, or by address or key instead of by name.",
        example: "a line behind lines of megabytes",
    },
    Code {
        code: "E_QUERY_TOO_SHORT",
        cause: "A part of fewer than three bytes is in nearly everything.",
        fix: "Give more of it, or match `prefix` or `exact`.",
        example: "`archive_lookup {\"build_id\": \"libc.so.6\", \"query\": \"io\"}`",
    },
    Code {
        code: "E_STORE",
        cause: "The store failed: a disk, a network.",
        fix: "Ask again; if it stays, look at the host's log.",
        example: "any question while the archive's disk is away",
    },
    Code {
        code: "E_TOO_LARGE",
        cause: "What is to be compared or looked at is more than one answer takes.",
        fix: "The message says how much there is and what to ask instead.",
        example: "a comparison of two functions of a million rows",
    },
    Code {
        code: "E_UNSUPPORTED",
        cause: "The document was written by a newer version.",
        fix: "Use a newer elfscope.",
        example: "an archive of a later version",
    },
    Code {
        code: "E_WRONG_KIND",
        cause: "It is there, but it is something else than what was asked for.",
        fix: "The message says what it is, and what to ask for it.",
        example: "`archive_callees {\"build_id\": \"libc.so.6\", \"function\": \"stdout\"}`",
    },
];

/// What is to be known of a code.
#[must_use]
pub fn find(code: &str) -> Option<&'static Code> {
    CODES.iter().find(|known| known.code == code)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    /// The codes that the files of a folder raise, this list aside.
    fn raised(folder: &Path, codes: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                raised(&path, codes);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !path.ends_with("codes.rs")
            {
                let text = fs::read_to_string(&path).unwrap();
                let literals = text.split('"').filter(|part| {
                    let name = part.strip_prefix("E_").unwrap_or_default();
                    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
                });
                codes.extend(literals.map(str::to_owned));
            }
        }
    }

    #[test]
    fn every_code_is_listed_and_every_listed_one_is_raised() {
        let mut codes = BTreeSet::new();
        raised(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut codes);
        let listed: BTreeSet<String> = CODES.iter().map(|code| code.code.to_owned()).collect();
        assert_eq!(
            codes, listed,
            "error/codes.rs lists what `Error::code` and the like say, no more and no less"
        );
        assert!(CODES.is_sorted_by(|a, b| a.code < b.code));
    }
}
