//! What is at an address of data, and who refers to it.

use elfscope_core::{Edition, listing};
use elfscope_schema::Address;

use crate::{commands::Context, failure::Failure};

/// References and slots of an item that are shown.
const SHOWN: usize = 40;

pub(super) fn show(context: &mut Context, edition: &Edition, at: Address) -> Result<(), Failure> {
    let answer = pollster::block_on(context.location.request().data(edition, at, None))?;
    if context.out.json {
        return context.out.document(&answer);
    }
    for item in &answer.value.items {
        context.out.lines(&listing::data(edition, at, item, SHOWN))?;
    }
    Ok(())
}
