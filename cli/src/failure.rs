//! What went wrong, in one sentence, with what to do about it: the only place that chooses wording and exit code.

use std::io;

use elfscope_core::{Error, escape};
use elfscope_ingest::{
    AddError, InputError,
    archive::{ArchiveError, ErrorClass},
};

use crate::exit::Exit;

/// Why a command ends before its end.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code.
    pub(crate) exit: Exit,
    /// One sentence; empty where there is nothing to say.
    pub(crate) message: String,
    /// Lines of a list: what fits, what comes near.
    pub(crate) list: Vec<String>,
    /// What to do.
    pub(crate) hints: Vec<String>,
}

impl Failure {
    /// A failure of one sentence.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), list: Vec::new(), hints: Vec::new() }
    }

    /// With what to do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// What an answer can't be written to.
    pub(crate) fn output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            // Who reads has enough: that is no failure.
            return Self::new(Exit::Done, "");
        }
        Self::new(Exit::Archive, format!("the output can't be written: {error}"))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let exit = match &error {
            Error::Damaged { .. } | Error::Unsupported { .. } => Exit::Differs,
            Error::Store { .. } => Exit::Archive,
            _ => Exit::Usage,
        };
        let mut failure = Self::new(exit, chain(&error));
        match &error {
            Error::Ambiguous { choices, more, .. } => {
                let width =
                    choices.iter().map(|choice| escape::name(&choice.ask).chars().count()).max().unwrap_or(0);
                failure.list.extend(choices.iter().map(|choice| {
                    let (ask, name, about) =
                        (escape::name(&choice.ask), escape::name(&choice.name), escape::text(&choice.about));
                    let name = if name == ask { String::new() } else { format!("{name}, ") };
                    format!("{ask:width$}  {name}{about}")
                }));
                if *more {
                    failure.list.push("… and more".to_owned());
                }
                failure.hint("give one of these instead")
            }
            Error::NotFound { what: "build", near, .. } => near_hint(failure, near)
                .hint("`elfscope list` shows what is there, `elfscope add FILE` adds a binary"),
            Error::NotFound { what: "function", near, given, .. } => {
                let failure = near_hint(failure, near);
                if given.chars().all(|digit| digit.is_ascii_hexdigit()) {
                    failure.hint(format!("an address starts with 0x: `0x{given}`"))
                } else {
                    failure.hint("`elfscope search BUILD TEXT` looks for a part of a name")
                }
            }
            Error::NotFound { near, .. } => {
                let failure = near_hint(failure, near);
                match error.fix() {
                    Some(fix) => failure.hint(fix),
                    None => failure,
                }
            }
            Error::QueryTooShort { .. } => {
                failure.hint("give more of it, or look for names that start so: `--match prefix`")
            }
            Error::Damaged { .. } => {
                failure.hint("`elfscope verify` says what else is damaged; `elfscope add` derives it again")
            }
            Error::BadReference { allowed, .. } => failure.hint(format!("it can be {allowed}")),
            Error::Gone { current: Some(current), build_id, .. } => {
                failure.hint(format!("the current one is {build_id}/{current}"))
            }
            _ => match error.fix() {
                Some(fix) => failure.hint(fix),
                None => failure,
            },
        }
    }
}

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        let exit = match error.class() {
            ErrorClass::Usage => Exit::Usage,
            ErrorClass::Differs => Exit::Differs,
            ErrorClass::Storage => Exit::Archive,
        };
        let failure = Self::new(exit, chain(&error));
        match error {
            ArchiveError::NoArchive { .. } => {
                failure.hint("`elfscope add FILE` makes one, `elfscope demo` shows how it works")
            }
            ArchiveError::NotEmpty { .. } => failure.hint("name another folder with `--archive DIR`"),
            _ => failure,
        }
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Self::new(Exit::Input, chain(&error))
    }
}

impl From<AddError> for Failure {
    fn from(error: AddError) -> Self {
        match error {
            AddError::Archive(error) => error.into(),
            AddError::Debug(error) => error.into(),
            error @ AddError::Threads { .. } => Self::new(Exit::Usage, chain(&error)),
        }
    }
}

fn near_hint(failure: Failure, near: &[String]) -> Failure {
    if near.is_empty() {
        return failure;
    }
    let near: Vec<String> = near.iter().map(|name| format!("`{}`", escape::name(name))).collect();
    failure.hint(format!("did you mean {}?", near.join(", ")))
}

/// An error and its causes in one sentence.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
