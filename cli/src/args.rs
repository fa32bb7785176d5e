//! The command line as clap reads it: one argument struct a command, in the command's file.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::{commands, exit};

/// The program's arguments.
#[derive(Debug, Parser)]
#[command(
    name = "elfscope",
    version,
    about = "An archive of binaries that you bring: functions, disassembly, calls, strings, told with evidence",
    long_about = "Reads any ELF file (a program, a library, an object file) and keeps what is in it: functions under all their \
        names, every instruction, who calls what, strings and who uses them. What it can't know it says, instead of guessing.\n\n\
        Start with `elfscope demo`, or with a binary of your own: `elfscope add FILE`, then `elfscope show FILE`.",
    after_long_help = exit::TABLE,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Args {
    /// Folder of the archive [default: $ELFSCOPE_ARCHIVE, else elfscope/archive in your data folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) archive: Option<PathBuf>,
    /// Print data as JSON, one document a line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// See what this is: add three binaries to an archive of their own and look into one
    Demo(commands::demo::Demo),
    /// Add binaries to the archive: ELF files, or folders of them
    Add(commands::add::Add),
    /// List the builds in the archive
    List(commands::list::List),
    /// Show what a binary is, a listing of one of its functions, or one of its sources
    Show(commands::show::Show),
    /// Find functions, data, imports, strings and sources
    Search(commands::search::Search),
    /// What a function calls
    Callees(commands::callees::CalleesOf),
    /// Who calls a function or an imported symbol
    Callers(commands::callers::CallersOf),
    /// Serve the archive over HTTP: to the page, to programs, to gdb
    Serve(commands::serve::Serve),
    /// Check every stored byte
    Verify(commands::verify::Verify),
    /// Write the archive as one file a document, for a plain file host
    Export(commands::export::Export),
    /// Remove a build or one of its editions; a note that it was there stays
    Remove(commands::remove::Remove),
    /// Make an edition the current one of its build
    Promote(commands::promote::Promote),
    /// Delete what nothing refers to
    Gc(commands::gc::Gc),
    /// Answer an agent over standard input and output, as MCP has it
    Mcp(commands::mcp::Mcp),
}

/// What BUILD means, for every command's help.
pub(crate) const BUILD: &str =
    "A name (libc.so.6), a build id or its first 6 digits, BUILD/EDITION, or the path of an ELF file";
/// What FUNCTION means.
pub(crate) const FUNCTION: &str =
    "A name, name@version, an address (0x1139, anywhere inside), or a key (1139-31)";
/// What `show` shows.
pub(crate) const SHOWN: &str = "A function: a name, name@version, an address (0x1139, anywhere inside), or a key (1139-31); or a source by its path or the end of it";
