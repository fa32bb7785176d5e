//! The view that a link names: what the tool answered that gave it.

use elfscope_core::{Link, link::View, tools};
use serde_json::json;

use crate::{commands::Context, exit::Exit, failure::Failure};

/// Shows exactly the view of a link.
pub(super) fn show(context: &mut Context, text: &str) -> Result<(), Failure> {
    let link = Link::parse(text)?;
    let Some((name, mut arguments)) = tools::question(&link) else {
        return Err(Failure::new(Exit::Usage, "this link names a view that is only on the page"));
    };
    let service = context.location.service();
    // A part of a list is reached by walking to it; rows and lines are asked for as such.
    let part = link.rows.filter(|_| !matches!(link.view, View::Listing | View::Source));
    loop {
        let answer = pollster::block_on(tools::call(&service, name, arguments.clone()));
        let answer = answer.ok_or_else(|| Failure::new(Exit::Usage, "this link names no view"))??;
        let told = answer.envelope.from.zip(answer.envelope.to);
        let is_part = match (part, told) {
            (Some((first, last)), Some((from, to))) => from <= last && to >= first,
            (Some(_), None) => false,
            (None, _) => true,
        };
        if is_part && context.out.json {
            context.out.document(&answer.structured())?;
        } else if is_part {
            answer.listing.lines().try_for_each(|line| context.out.plain(line))?;
        }
        let is_done = part.is_none_or(|(_, last)| told.is_some_and(|(_, to)| to >= last));
        match answer.envelope.next_cursor.filter(|_| !is_done) {
            Some(cursor) => arguments["cursor"] = json!(cursor),
            None => return Ok(()),
        }
    }
}
