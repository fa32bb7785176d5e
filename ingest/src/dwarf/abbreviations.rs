//! How much reading of abbreviations a file may ask for.
//!
//! Every unit names its table by an offset. Linkers give each table to a few units; a hostile file can name a place inside
//! one large table for each of a million units, which would be read from there to its end each time.

use std::collections::BTreeMap;

use gimli::Section as _;

use super::Slice;
use crate::limits;

/// The bytes of tables that may still be read.
pub(super) struct Work<'a> {
    table: &'a [u8],
    left: u64,
    known: BTreeMap<usize, bool>,
}

impl<'a> Work<'a> {
    pub(super) fn new(dwarf: &gimli::Dwarf<Slice<'a>>) -> Self {
        let table = dwarf.debug_abbrev.reader().slice();
        Self { table, left: table.len() as u64 * limits::DEBUG_SHARES, known: BTreeMap::new() }
    }

    /// Whether the table at an offset may be read. One that several units share is read once.
    pub(super) fn allows(&mut self, offset: usize) -> bool {
        if let Some(known) = self.known.get(&offset) {
            return *known;
        }
        let table = self.table.get(offset..).unwrap_or_default();
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        let length = length(&table[..table.len().min(most)]);
        // One that doesn't end is refused by gimli, after reading as much.
        let fits = length.is_some() || table.len() < most;
        self.left = self.left.saturating_sub(length.unwrap_or(table.len().min(most)) as u64);
        self.known.insert(offset, fits);
        fits
    }
}

/// The bytes of a table (DWARF 5, section 7.5.3): code, tag, children, pairs of attribute and form up to 0, and so on up to a
/// code of 0. `None` where it doesn't end.
fn length(table: &[u8]) -> Option<usize> {
    let mut at = 0;
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
        loop {
            let (attribute, form) = (number(&mut at)?, number(&mut at)?);
            if form == u64::from(gimli::constants::DW_FORM_implicit_const.0) {
                number(&mut at)?;
            }
            if (attribute, form) == (0, 0) {
                break;
            }
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn a_table_ends_where_it_says() {
        let table = [1, 0x11, 1, 0x25, 0x0e, 0x3b, 0x21, 0x85, 1, 0, 0, 2, 0x2e, 0, 0, 0, 0, 9, 9];
        assert_eq!(length(&table), Some(17));
        assert_eq!(length(&table[..16]), None);
        assert_eq!(length(&[0]), Some(1));
    }
}
