//! How much reading of abbreviations a file may ask for.
//!
//! Every unit names its table by an offset. Linkers give each table to a few units; a hostile file can name a place inside
//! one large table for each of a million units, which would be read from there to its end each time.

use std::{collections::BTreeMap, sync::Arc};

use gimli::{Abbreviations, DebugAbbrevOffset, Section as _};

use super::Slice;
use crate::limits;

/// The tables that were read.
pub(super) struct Tables<'a> {
    section: &'a [u8],
    /// The bytes of tables that may still be read.
    left: u64,
    known: BTreeMap<usize, Result<Arc<Abbreviations>, String>>,
}

impl<'a> Tables<'a> {
    pub(super) fn new(dwarf: &gimli::Dwarf<Slice<'a>>) -> Self {
        let section = dwarf.debug_abbrev.reader().slice();
        Self { section, left: section.len() as u64 * limits::DEBUG_SHARES, known: BTreeMap::new() }
    }

    /// The table at an offset. One that several units share is read once.
    ///
    /// # Errors
    /// Why it can't be read.
    pub(super) fn find(
        &mut self,
        dwarf: &gimli::Dwarf<Slice<'a>>,
        offset: DebugAbbrevOffset,
    ) -> Result<Arc<Abbreviations>, String> {
        if let Some(known) = self.known.get(&offset.0) {
            return known.clone();
        }
        let read = self.allows(offset.0).and_then(|()| {
            let table = dwarf.debug_abbrev.abbreviations(offset);
            table.map(Arc::new).map_err(|error| error.to_string())
        });
        self.known.insert(offset.0, read.clone());
        read
    }

    fn allows(&mut self, offset: usize) -> Result<(), String> {
        let table = self.section.get(offset..).unwrap_or_default();
        let most = table.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let extent = extent(&table[..most]);
        self.left = self.left.saturating_sub(extent.map_or(most, |(length, _)| length) as u64);
        match extent {
            Some((_, attributes)) if attributes > limits::ATTRIBUTES => {
                Err(format!("its abbreviations have an entry of {attributes} attributes"))
            }
            None if most < table.len() => {
                Err("its abbreviations were read too often for other units".to_owned())
            }
            // One that doesn't end is refused by gimli, after reading as much.
            _ => Ok(()),
        }
    }
}

/// The bytes of a table (DWARF 5, section 7.5.3): code, tag, children, pairs of attribute and form up to 0, and so on up to a
/// code of 0; and how many attributes one entry has at most. `None` where it doesn't end.
fn extent(table: &[u8]) -> Option<(usize, usize)> {
    let (mut at, mut most) = (0, 0);
    let number = |at: &mut usize| {
        let mut value = 0u64;
        for shift in (0..).step_by(7) {
            let byte = *table.get(*at)?;
            *at += 1;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                break;
            }
        }
        Some(value)
    };
    while number(&mut at)? != 0 {
        number(&mut at)?;
        at += 1;
        for count in 0.. {
            let (attribute, form) = (number(&mut at)?, number(&mut at)?);
            if form == u64::from(gimli::constants::DW_FORM_implicit_const.0) {
                number(&mut at)?;
            }
            if (attribute, form) == (0, 0) {
                most = most.max(count);
                break;
            }
        }
    }
    Some((at, most))
}

#[cfg(test)]
mod tests {
    use super::extent;

    #[test]
    fn a_table_ends_where_it_says() {
        let table = [1, 0x11, 1, 0x25, 0x0e, 0x3b, 0x21, 0x85, 1, 0, 0, 2, 0x2e, 0, 0, 0, 0, 9, 9];
        assert_eq!(extent(&table), Some((17, 2)));
        assert_eq!(extent(&table[..16]), None);
        assert_eq!(extent(&[0]), Some((1, 0)));
    }
}
