//! `callers`: who calls a function or an imported symbol.

use elfscope_core::listing::{self, Kind};

use super::{Context, Paging};
use crate::{args, exit::Exit, failure::Failure, output::count};

/// Tells who calls a function or an imported symbol of the binary.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Only calls that the code itself proves are known: one through a pointer names no target.\n\n\
    Examples:\n  elfscope callers libc.so.6 malloc\n  elfscope callers ./a.out import:puts"
)]
pub(crate) struct CallersOf {
    #[arg(value_name = "BUILD", help = args::BUILD)]
    build: String,
    /// A function, or import:NAME for a symbol of another library
    #[arg(value_name = "FUNCTION|import:NAME")]
    function: String,
    #[command(flatten)]
    paging: Paging,
}

impl CallersOf {
    pub(crate) fn run(&self, context: &mut Context) -> Result<Exit, Failure> {
        let edition = context.location.edition(&self.build)?;
        let callee = pollster::block_on(context.location.request().callee(&edition, &self.function))?;
        let title = listing::callee(&callee);
        let mut cursor = self.paging.cursor.clone();
        let mut shown = 0;
        let mut head = true;
        loop {
            let answer = pollster::block_on(context.location.request().callers(
                &edition,
                &callee,
                self.paging.left(shown),
                cursor.as_deref(),
            ))?;
            cursor.clone_from(&answer.next_cursor);
            let callers = &answer.value;
            shown += callers.callers.len();
            if context.out.json {
                context.out.document(&answer)?;
            } else {
                if std::mem::take(&mut head) {
                    let line = title.clone().and(
                        Kind::Note,
                        match callers.total {
                            0 => "  no calls that the code proves".to_owned(),
                            total => format!("  {}", count(total, "way in", "ways in")),
                        },
                    );
                    context.out.line(&line)?;
                }
                context.out.lines(&listing::callers(&callers.callers))?;
                if let Some(also) = &callers.also {
                    let line = context.location.command(&["callers", &self.build, also]);
                    context.out.note(format!(
                        "  its name is imported too, so calls may go through a slot: {line}"
                    ))?;
                }
            }
            if cursor.is_none() || self.paging.left(shown) == 0 {
                break;
            }
        }
        if let Some(cursor) = cursor.filter(|_| !context.out.json) {
            let args = ["callers", &self.build, &self.function, "--cursor", &cursor];
            context.out.note(format!("  more: {} (or `--all`)", context.location.command(&args)))?;
        }
        Ok(Exit::Done)
    }
}
