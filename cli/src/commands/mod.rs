//! One file a command: its arguments, and what it does.

pub(crate) mod add;
pub(crate) mod callees;
pub(crate) mod callers;
pub(crate) mod demo;
pub(crate) mod export;
pub(crate) mod gc;
pub(crate) mod list;
pub(crate) mod mcp;
pub(crate) mod promote;
pub(crate) mod remove;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod verify;

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::{
    archive::Location,
    args::{Args, Command},
    exit::Exit,
    failure::Failure,
    output::{self, Out},
};

/// What a command works with.
pub(crate) struct Context {
    pub(crate) location: Location,
    pub(crate) out: Out,
}

/// How much of a long answer is wanted.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Paging {
    /// Most results
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
    /// All results
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
    /// Go on where an earlier answer ended
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
}

impl Paging {
    /// How many results are still wanted.
    pub(crate) fn left(&self, have: usize) -> usize {
        if self.all { usize::MAX } else { self.limit.saturating_sub(have) }
    }
}

/// Runs the program.
pub(crate) fn run() -> Exit {
    let matches = Args::command().styles(output::style::help()).try_get_matches();
    let args = match matches.and_then(|matches| Args::from_arg_matches(&matches)) {
        Ok(args) => args,
        Err(error) => {
            let failed = error.use_stderr();
            return match error.print() {
                _ if failed => Exit::Usage,
                Ok(()) => Exit::Done,
                Err(error) => output::report(&Failure::output(&error)),
            };
        }
    };
    dispatch(&args).unwrap_or_else(|failure| output::report(&failure))
}

fn dispatch(args: &Args) -> Result<Exit, Failure> {
    let location = match &args.command {
        Command::Demo(_) => Location::demo(args.archive.as_deref())?,
        _ => Location::find(args.archive.as_deref())?,
    };
    let mut context = Context { location, out: Out::new(args.json) };
    let done = match &args.command {
        Command::Demo(command) => command.run(&mut context),
        Command::Add(command) => command.run(&mut context),
        Command::List(command) => command.run(&mut context),
        Command::Show(command) => command.run(&mut context),
        Command::Search(command) => command.run(&mut context),
        Command::Callees(command) => command.run(&mut context),
        Command::Callers(command) => command.run(&mut context),
        Command::Verify(command) => command.run(&mut context),
        Command::Serve(command) => command.run(&mut context),
        Command::Export(command) => command.run(&mut context),
        Command::Remove(command) => command.run(&mut context),
        Command::Promote(command) => command.run(&mut context),
        Command::Gc(command) => command.run(&mut context),
        Command::Mcp(command) => command.run(&mut context),
    };
    // What was said before a failure is said first.
    let written = context.out.flush();
    done.and_then(|exit| written.map(|()| exit))
}
