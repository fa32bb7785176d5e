//! Capstone, one body at a time: every byte in a unit, and the units' text.

use std::{fmt::Write as _, ops::Range};

use capstone::Capstone;

use super::{Family, Unit};

/// The version of the decoder, as documents state it: the crate's, since the library says only its series.
pub(crate) const VERSION: &str = "0.14.0";

/// A decoder with its scratch space. One a thread.
pub(crate) struct Decoder {
    capstone: Capstone,
    family: &'static dyn Family,
    units: Vec<Unit>,
    text: String,
    /// For each unit: where in `text` its mnemonic and its operands end.
    ends: Vec<(u32, u32)>,
}

impl Decoder {
    /// A decoder for a family.
    ///
    /// # Errors
    /// Where capstone was built without the machine, or memory is out.
    pub(crate) fn new(family: &'static dyn Family) -> capstone::CsResult<Self> {
        let capstone = family.decoder()?;
        Ok(Self { capstone, family, units: Vec::new(), text: String::new(), ends: Vec::new() })
    }

    /// Decodes a body. What can't be decoded, and the ranges of `data`, become units of the family's size for that.
    pub(crate) fn decode(&mut self, code: &[u8], address: u64, data: &[Range<usize>]) {
        self.units.clear();
        self.text.clear();
        self.ends.clear();
        let mut at = 0;
        for range in data {
            self.decode_code(code, at..range.start, address);
            let mut place = range.start;
            while place < range.end {
                place += self.push_bytes(code, place..range.end);
            }
            at = range.end;
        }
        self.decode_code(code, at..code.len(), address);
    }

    fn decode_code(&mut self, code: &[u8], range: Range<usize>, address: u64) {
        let mut at = range.start;
        while at < range.end {
            let rest = &code[at..range.end];
            let mut corrected = false;
            if let Ok(mut instructions) = self.capstone.disasm_iter(rest, address.wrapping_add(at as u64)) {
                while let Some(instruction) = instructions.next() {
                    let size = instruction.bytes().len();
                    let longer = self.family.longer(instruction.bytes(), &code[at..range.end]);
                    self.text.push_str(instruction.mnemonic().unwrap_or_default());
                    let mnemonic = self.text.len();
                    self.text.push_str(instruction.op_str().unwrap_or_default());
                    self.ends.push((mnemonic as u32, self.text.len() as u32));
                    let told = longer.unwrap_or(size);
                    self.units.push(Unit { offset: at as u32, size: told as u8, decoded: true });
                    at += told;
                    if longer.is_some() {
                        corrected = true;
                        break;
                    }
                }
            }
            if at < range.end && !corrected {
                at += self.push_bytes(code, at..range.end);
            }
        }
    }

    /// Adds a unit that is no instruction, and gives its size.
    fn push_bytes(&mut self, code: &[u8], range: Range<usize>) -> usize {
        let bytes = &code[range.clone()];
        let size = self.family.undecodable(bytes).clamp(1, bytes.len());
        self.text.push_str(".byte");
        let mnemonic = self.text.len();
        for (index, byte) in bytes[..size].iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            // A string takes any text.
            let _ = write!(self.text, "{comma}0x{byte:02x}");
        }
        self.ends.push((mnemonic as u32, self.text.len() as u32));
        self.units.push(Unit { offset: range.start as u32, size: size as u8, decoded: false });
        size
    }

    /// The units of the body that was decoded last.
    pub(crate) fn units(&self) -> &[Unit] {
        &self.units
    }

    /// Mnemonic and operands of one of them.
    pub(crate) fn text(&self, index: usize) -> (&str, &str) {
        let start = if index == 0 { 0 } else { self.ends[index - 1].1 as usize };
        let (mnemonic, end) = self.ends[index];
        (&self.text[start..mnemonic as usize], &self.text[mnemonic as usize..end as usize])
    }
}
