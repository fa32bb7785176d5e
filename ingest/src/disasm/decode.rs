//! Capstone, one body at a time: every byte in a unit, and the units' text.

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

    /// Decodes a body. What can't be decoded becomes units of the family's size for that, until the next that can.
    pub(crate) fn decode(&mut self, code: &[u8], address: u64) {
        self.units.clear();
        self.text.clear();
        self.ends.clear();
        let mut at = 0;
        while at < code.len() {
            if let Ok(mut instructions) = self.capstone.disasm_iter(&code[at..], address.wrapping_add(at as u64)) {
                while let Some(instruction) = instructions.next() {
                    let size = instruction.bytes().len();
                    self.text.push_str(instruction.mnemonic().unwrap_or_default());
                    let mnemonic = self.text.len();
                    self.text.push_str(instruction.op_str().unwrap_or_default());
                    self.ends.push((mnemonic as u32, self.text.len() as u32));
                    self.units.push(Unit { offset: at as u32, size: size as u8, decoded: true });
                    at += size;
                }
            }
            if at < code.len() {
                let size = self.family.undecodable(&code[at..]).clamp(1, code.len() - at);
                let unit = Unit { offset: at as u32, size: size as u8, decoded: false };
                self.text.push_str(".byte");
                let mnemonic = self.text.len();
                for (index, byte) in code[at..at + size].iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    self.text.push_str(&format!("{comma}0x{byte:02x}"));
                }
                self.ends.push((mnemonic as u32, self.text.len() as u32));
                self.units.push(unit);
                at += size;
            }
        }
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
