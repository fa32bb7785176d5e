//! What an edition says of every row: its place and the functions that it stands in.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
};

use anyhow::{Context as _, Result};
use elfscope_schema::{BodyKind, FunctionPage, Place};

use super::stack::{Level, Text, Texts};
use crate::real::edition::Edition;

/// All rows of an edition, in order.
pub(super) struct Claims {
    pub(super) rows: Vec<Claim>,
    stacks: Vec<Box<[Level]>>,
}

/// What is said of one row.
pub(super) struct Claim {
    pub(super) address: u64,
    /// Whether it is in a function's body, not in a stub or a gap.
    pub(super) is_inside: bool,
    stack: Option<u32>,
}

impl Claims {
    pub(super) fn read(edition: &Edition, texts: &mut Texts) -> Result<Self> {
        let mut claims = Self { rows: Vec::new(), stacks: Vec::new() };
        let mut is_inside = false;
        for page in edition.functions()? {
            let page = page?;
            if let Some(head) = &page.head {
                is_inside = [BodyKind::Function, BodyKind::Ifunc].contains(&head.kind);
            }
            for run in &page.runs {
                let stack = run.at.as_ref().map(|place| stack(&page, place, texts));
                let number = stack.map(|stack| claims.add(stack)).transpose()?;
                for row in &run.rows {
                    let address = page.key.address.plus(u64::from(row.offset)).offset;
                    claims.rows.push(Claim { address, is_inside, stack: number });
                }
            }
        }
        Ok(claims)
    }

    fn add(&mut self, stack: Vec<Level>) -> Result<u32> {
        let number = u32::try_from(self.stacks.len()).context("more runs than 32 bits count")?;
        self.stacks.push(stack.into());
        Ok(number)
    }

    /// The stack of a row; empty where nothing is claimed.
    pub(super) fn stack(&self, claim: &Claim) -> &[Level] {
        claim.stack.and_then(|number| self.stacks.get(number as usize)).map_or(&[], |stack| stack)
    }

    /// Writes the address of every row, a line each, as all tools read them.
    pub(super) fn write_addresses(&self, path: &Path) -> Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        for row in &self.rows {
            writeln!(file, "0x{:x}", row.address)?;
        }
        Ok(file.flush()?)
    }
}

fn stack(page: &FunctionPage, place: &Place, texts: &mut Texts) -> Vec<Level> {
    let levels = page.stack(place);
    let levels = levels.into_iter().map(|level| Level {
        function: level.function.map_or(Text::NONE, |name| texts.text(name.text())),
        file: level.file.map_or(Text::NONE, |file| texts.path(file.path.text())),
        line: level.line.unwrap_or(0),
    });
    levels.collect()
}
