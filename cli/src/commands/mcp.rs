//! `mcp`: answers an agent over standard input and output.

use std::io::{self, BufReader, IsTerminal as _};

use elfscope_core::{
    Config, Service, escape,
    listing::{Kind, Line},
};
use elfscope_local::stdio;

use super::Context;
use crate::{exit::Exit, failure::Failure, output};

/// Answers an agent over standard input and output, as the Model Context Protocol has it.
#[derive(Debug, clap::Args)]
pub(crate) struct Mcp {}

impl Mcp {
    #[expect(clippy::unused_self, reason = "as all commands")]
    pub(crate) fn run(&self, context: &mut Context) -> Result<Exit, Failure> {
        let location = &context.location;
        let root = escape::name(&location.root.to_string_lossy());
        if !location.root.join("index.json").exists() {
            let add = location.command(&["add", "FILE"]);
            output::aside(&Line::of(
                Kind::Note,
                format!("the archive at {root} is empty; add a binary: {add}"),
            ));
        }
        if io::stdin().is_terminal() {
            let line = location.command(&["mcp"]);
            let about = format!(
                "an MCP client starts this and speaks to it: give it the command `{line}` (Ctrl-D ends)"
            );
            output::aside(&Line::of(Kind::Note, about));
        }
        let config = Config { version: env!("CARGO_PKG_VERSION").to_owned(), ..Config::default() };
        let service = Service::new(location.store().clone(), config);
        let mut input = BufReader::new(io::stdin().lock());
        match stdio::serve(&service, &mut input, &mut io::stdout().lock()) {
            Ok(()) => Ok(Exit::Done),
            Err(error) => Err(Failure::output(&error)),
        }
    }
}
