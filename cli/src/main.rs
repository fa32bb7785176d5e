//! The `elfscope` program: flags to calls, output, progress, exit codes.

mod archive;
mod args;
mod commands;
mod exit;
mod failure;
mod output;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::run().into()
}
