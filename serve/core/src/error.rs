//! Refusals: one enum with stable codes. What was given, what is allowed and what to do instead are data beside the
//! message; who shows them chooses the wording around it.

use std::io;

use elfscope_schema::{BuildId, EditionId, Mismatch};
use serde::Serialize;

use crate::{Level, escape};

/// What a request comes back with.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a request was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing is called that.
    #[error("no {what} `{}` in {place}", escape::name(given))]
    NotFound {
        /// What was looked for: `build`, `function`, …
        what: &'static str,
        /// What was asked for.
        given: String,
        /// Where it was looked for.
        place: String,
        /// What comes nearest, at most [`crate::nearest::MOST`].
        near: Vec<String>,
        /// What to do.
        fix: Option<String>,
    },
    /// Several things are called that.
    #[error("`{}` fits {}{} {what}s in {place}", escape::name(given), if *more { "more than " } else { "" }, choices.len())]
    Ambiguous {
        /// What was looked for.
        what: &'static str,
        /// What was asked for.
        given: String,
        /// Where it was looked for.
        place: String,
        /// What it may be, at most [`MOST_CHOICES`].
        choices: Vec<Choice>,
        /// Whether there are more.
        more: bool,
    },
    /// It is there, but not what was asked for.
    #[error("`{}` is {is}, not {wanted}", escape::name(given))]
    WrongKind {
        /// What was asked for.
        given: String,
        /// What it is.
        is: String,
        /// What it should be.
        wanted: &'static str,
        /// What to do.
        fix: String,
    },
    /// A source whose text the archive doesn't hold.
    #[error("the text of `{}` is not here: {}", escape::path(path), level.about(*mismatch))]
    NotPublished {
        /// Its path.
        path: String,
        /// Why not.
        level: Level,
        /// And what of it doesn't fit.
        mismatch: Option<Mismatch>,
    },
    /// It was there and was removed.
    #[error("edition {edition} of {build_id} was removed: {}", escape::text(reason))]
    Gone {
        /// The build.
        build_id: BuildId,
        /// The edition.
        edition: EditionId,
        /// Why, in the words of who removed it.
        reason: String,
        /// The edition that is current now.
        current: Option<EditionId>,
    },
    /// It can't be what it was meant to be.
    #[error("`{}` is not {what}", escape::name(given))]
    BadReference {
        /// What it should be.
        what: &'static str,
        /// What was given.
        given: String,
        /// What is allowed.
        allowed: String,
    },
    /// Arguments that a tool doesn't take.
    #[error("`{tool}` can't be asked so: {}", escape::text(why))]
    BadArguments {
        /// The tool.
        tool: &'static str,
        /// What is wrong with them.
        why: String,
    },
    /// A query that no index can answer.
    #[error("a substring query needs at least {} bytes, `{}` has {}", elfscope_schema::limits::TRIGRAM, escape::name(given), given.len())]
    QueryTooShort {
        /// What was given.
        given: String,
    },
    /// A regular expression that can't be searched for.
    #[error("`{}` can't be searched for: {}", escape::name(given), escape::text(why))]
    BadRegex {
        /// What was given.
        given: String,
        /// Why not.
        why: String,
        /// What would do.
        fix: String,
    },
    /// A question that would have to read all of a catalogue too large for it.
    #[error("`{}` can't be looked for so: {why}", escape::name(given))]
    NotIndexed {
        /// What was given.
        given: String,
        /// Why not.
        why: String,
        /// What can be asked instead.
        allowed: String,
    },
    /// More than one answer compares or looks at.
    #[error("{what}: {given}, and one answer takes {allowed}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How large it is.
        given: String,
        /// How large it may be.
        allowed: String,
        /// What to do.
        fix: String,
    },
    /// A number outside what there is.
    #[error("{what} {given} is outside {allowed}")]
    OutOfRange {
        /// What number.
        what: &'static str,
        /// What was given.
        given: String,
        /// What there is.
        allowed: String,
    },
    /// A cursor that this question didn't give.
    #[error("this cursor can't go on here: {why}")]
    BadCursor {
        /// What was given.
        given: String,
        /// Why not.
        why: &'static str,
    },
    /// A document that is not what it should be.
    #[error("`{path}` is damaged: expected {expected}")]
    Damaged {
        /// Its file.
        path: String,
        /// What was expected.
        expected: &'static str,
        /// What the parser said.
        source: Option<serde_json::Error>,
    },
    /// A document of a newer version.
    #[error("`{path}` has the schema `{}`, which this program doesn't know", escape::name(schema))]
    Unsupported {
        /// Its file.
        path: String,
        /// What it says it is.
        schema: String,
    },
    /// A document that would pass what one request may read.
    #[error("`{path}` would pass what one request may {what}: {limit}")]
    OverBudget {
        /// Its file.
        path: String,
        /// `read` or `parse`.
        what: &'static str,
        /// How much that is.
        limit: usize,
    },
    /// The store failed.
    #[error("`{path}` can't be read")]
    Store {
        /// The file.
        path: String,
        /// What the store said.
        source: io::Error,
    },
}

/// Most choices that an ambiguity lists.
pub const MOST_CHOICES: usize = 20;

/// One thing that an ambiguous reference may be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Choice {
    /// The name it goes by.
    pub name: String,
    /// What to ask for to get exactly this one.
    pub ask: String,
    /// What tells it from the others.
    pub about: String,
}

/// A refusal as hosts send it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Stable code.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// What was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// What is allowed instead: choices, nearest names, a range.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Error {
    /// Its stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "E_NOT_FOUND",
            Self::Ambiguous { .. } => "E_AMBIGUOUS",
            Self::WrongKind { .. } => "E_WRONG_KIND",
            Self::NotPublished { .. } => "E_NOT_PUBLISHED",
            Self::Gone { .. } => "E_GONE",
            Self::BadReference { .. } => "E_BAD_REFERENCE",
            Self::BadArguments { .. } => "E_BAD_ARGUMENTS",
            Self::QueryTooShort { .. } => "E_QUERY_TOO_SHORT",
            Self::BadRegex { .. } => "E_BAD_REGEX",
            Self::NotIndexed { .. } => "E_NOT_INDEXED",
            Self::TooLarge { .. } => "E_TOO_LARGE",
            Self::OutOfRange { .. } => "E_OUT_OF_RANGE",
            Self::BadCursor { .. } => "E_BAD_CURSOR",
            Self::Damaged { .. } => "E_DAMAGED",
            Self::Unsupported { .. } => "E_UNSUPPORTED",
            Self::OverBudget { .. } => "E_OVER_BUDGET",
            Self::Store { .. } => "E_STORE",
        }
    }

    /// Whether the archive is at fault rather than the question.
    #[must_use]
    pub fn is_archive(&self) -> bool {
        matches!(
            self,
            Self::Damaged { .. } | Self::Unsupported { .. } | Self::OverBudget { .. } | Self::Store { .. }
        )
    }

    /// What was given.
    #[must_use]
    pub fn given(&self) -> Option<&str> {
        match self {
            Self::NotFound { given, .. }
            | Self::Ambiguous { given, .. }
            | Self::WrongKind { given, .. }
            | Self::BadReference { given, .. }
            | Self::QueryTooShort { given }
            | Self::BadRegex { given, .. }
            | Self::NotIndexed { given, .. }
            | Self::TooLarge { given, .. }
            | Self::OutOfRange { given, .. }
            | Self::BadCursor { given, .. } => Some(given),
            Self::NotPublished { path, .. } => Some(path),
            _ => None,
        }
    }

    /// What is allowed instead.
    #[must_use]
    pub fn allowed(&self) -> Vec<String> {
        match self {
            Self::NotFound { near, .. } => near.clone(),
            Self::Ambiguous { choices, .. } => choices.iter().map(|choice| choice.ask.clone()).collect(),
            Self::WrongKind { wanted, .. } => vec![(*wanted).to_owned()],
            Self::BadReference { allowed, .. }
            | Self::OutOfRange { allowed, .. }
            | Self::NotIndexed { allowed, .. }
            | Self::TooLarge { allowed, .. } => vec![allowed.clone()],
            Self::QueryTooShort { .. } => {
                vec![format!(
                    "{} bytes or more, or match `prefix` or `exact`",
                    elfscope_schema::limits::TRIGRAM
                )]
            }
            Self::Gone { build_id, current: Some(current), .. } => vec![format!("{build_id}/{current}")],
            _ => Vec::new(),
        }
    }

    /// What to do.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        Some(match self {
            Self::NotFound { fix, .. } => return fix.clone(),
            Self::WrongKind { fix, .. } | Self::BadRegex { fix, .. } | Self::TooLarge { fix, .. } => {
                fix.clone()
            }
            Self::NotIndexed { .. } => "ask for one of the allowed forms".to_owned(),
            Self::Ambiguous { .. } => "ask for one of them by what stands in its line".to_owned(),
            Self::QueryTooShort { .. } => "ask for more, or for a prefix".to_owned(),
            Self::NotPublished { .. } => {
                "add the binary again with the sources that it was built from: `--source DIR`".to_owned()
            }
            Self::BadCursor { .. } => "ask again without a cursor".to_owned(),
            Self::Damaged { .. } => "verify the archive, then add the binary again".to_owned(),
            Self::Unsupported { .. } => "use a newer elfscope".to_owned(),
            Self::OverBudget { .. } => "ask for less: an address or a key instead of a name".to_owned(),
            _ => return None,
        })
    }

    /// All of it as data.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        Refusal {
            code: self.code(),
            message: self.to_string(),
            given: self.given().map(str::to_owned),
            allowed: self.allowed(),
            fix: self.fix(),
        }
    }
}
