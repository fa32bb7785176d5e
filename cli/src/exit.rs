//! Exit codes: the one table.

use std::process::ExitCode;

/// How the program ends. The numbers are part of its surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// Two things that were compared differ, or something stored differs from what it should be.
    Differs = 1,
    /// Wrong usage, or not found.
    Usage = 2,
    /// An input can't be read.
    Input = 3,
    /// The archive can't be read or written.
    Archive = 4,
}

/// What `--help` says of the codes.
pub(crate) const TABLE: &str = "\
Exit codes:
  0  done
  1  a difference was found, or something stored is not as it should be
  2  wrong usage, or not found
  3  an input can't be read
  4  the archive can't be read or written";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
