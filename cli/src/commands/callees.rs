//! `callees`: what a function calls.

use elfscope_core::listing::{self, Kind, Line};
use elfscope_schema::Edge;

use super::{Context, Paging};
use crate::{args, exit::Exit, failure::Failure, output::count};

/// Tells what a function calls, and how sure that is.
#[derive(Debug, clap::Args)]
#[command(after_help = "Every way out of the function is listed with its class:\n  \
    direct               a call to a function of this binary\n  \
    tail                 a jump into another function\n  \
    import               into another library, by name\n  \
    ifunc                chosen at run time by a resolver\n  \
    into_body            lands inside another function\n  \
    internal_unresolved  lands where no function is known\n  \
    indirect             through a register or memory: not statically resolvable")]
pub(crate) struct CalleesOf {
    #[arg(value_name = "BUILD", help = args::BUILD)]
    build: String,
    #[arg(value_name = "FUNCTION", help = args::FUNCTION)]
    function: String,
    /// Only edges of this class
    #[arg(long, value_name = "CLASS")]
    class: Option<String>,
    #[command(flatten)]
    paging: Paging,
}

impl CalleesOf {
    pub(crate) fn run(&self, context: &mut Context) -> Result<Exit, Failure> {
        let edition = context.location.edition(&self.build)?;
        let (entry, _) = pollster::block_on(context.location.request().function(&edition, &self.function))?;
        let mut cursor = self.paging.cursor.clone();
        let mut shown = 0;
        let mut head = true;
        loop {
            let answer = pollster::block_on(context.location.request().callees(
                &edition,
                &entry,
                self.paging.left(shown),
                cursor.as_deref(),
            ))?;
            cursor.clone_from(&answer.next_cursor);
            let callees = &answer.value;
            let fits = |edge: &&Edge| self.class.as_ref().is_none_or(|class| edge.class.name() == class);
            let edges: Vec<Edge> = callees.edges.iter().filter(fits).cloned().collect();
            shown += edges.len();
            if context.out.json {
                context.out.document(&answer)?;
            } else {
                if std::mem::take(&mut head) {
                    let name = callees.name.as_ref().map_or_else(|| callees.key.to_string(), listing::called);
                    let mut line = Line::of(Kind::Title, name);
                    line.push(Kind::Note, format!("  {}", count(callees.total, "way out", "ways out")));
                    context.out.line(&line)?;
                }
                context.out.lines(&listing::callees(callees.key, &edges))?;
            }
            if cursor.is_none() || self.paging.left(shown) == 0 {
                break;
            }
        }
        if let Some(cursor) = cursor.filter(|_| !context.out.json) {
            let args =
                ["callees", &self.build, &elfscope_core::key_of(&entry).to_string(), "--cursor", &cursor];
            context.out.note(format!("  more: {} (or `--all`)", context.location.command(&args)))?;
        }
        Ok(Exit::Done)
    }
}
