//! What GNU objdump prints of a binary's code, read while it prints.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, ChildStdout, Stdio},
};

use anyhow::{Context as _, Result, bail};

use super::{Machine, readelf::hex};
use crate::run::{has, program};

/// One line of code.
#[derive(Debug)]
pub(super) struct Instruction {
    pub(super) address: u64,
    pub(super) mnemonic: String,
    pub(super) operands: String,
}

/// The lines of code of all sections, as objdump prints them.
pub(super) struct Listing {
    child: Child,
    lines: BufReader<ChildStdout>,
    line: Vec<u8>,
    next: Option<Instruction>,
}

/// Words that objdump prints before an x86 mnemonic.
const PREFIXES: &[&str] = &[
    "addr32", "bnd", "cs", "data16", "ds", "es", "fs", "gs", "lock", "notrack", "rep", "repnz", "repz", "ss",
    "xacquire", "xrelease",
];

/// The objdump that knows a machine.
pub(super) fn tool(machine: Machine) -> Option<&'static str> {
    let named = machine.objdump();
    if has(named) {
        return Some(named);
    }
    (machine.is_host() && has("objdump")).then_some("objdump")
}

impl Listing {
    pub(super) fn of(path: &Path, machine: Machine) -> Result<Self> {
        let tool = tool(machine).context("no objdump knows this machine")?;
        let mut child = program(tool)
            .args(["-d", "-z", "-w", "--no-show-raw-insn"])
            .arg(path)
            .stdout(Stdio::piped())
            .spawn()
            .context("objdump can't be run")?;
        let stdout = child.stdout.take().context("objdump prints nothing")?;
        let lines = BufReader::with_capacity(1 << 18, stdout);
        let mut listing = Self { child, lines, line: Vec::new(), next: None };
        listing.next = listing.read()?;
        Ok(listing)
    }

    /// The next line of code, not taken yet.
    pub(super) fn peek(&self) -> Option<&Instruction> {
        self.next.as_ref()
    }

    /// Takes the next line of code. Addresses must grow: sections that lie in another order than their headers would
    /// need another way to compare.
    pub(super) fn take(&mut self) -> Result<Option<Instruction>> {
        let next = self.read()?;
        let taken = std::mem::replace(&mut self.next, next);
        if let (Some(taken), Some(next)) = (&taken, &self.next)
            && next.address <= taken.address
        {
            bail!("objdump goes back from {:x} to {:x}", taken.address, next.address);
        }
        Ok(taken)
    }

    fn read(&mut self) -> Result<Option<Instruction>> {
        loop {
            self.line.clear();
            if self.lines.read_until(b'\n', &mut self.line)? == 0 {
                let status = self.child.wait()?;
                if !status.success() {
                    bail!("objdump ended with {status}");
                }
                return Ok(None);
            }
            if let Some(instruction) = std::str::from_utf8(&self.line).ok().and_then(parse) {
                return Ok(Some(instruction));
            }
        }
    }
}

/// `   26a4c:\tcall   28490 <malloc@plt>`
fn parse(line: &str) -> Option<Instruction> {
    let (address, text) = line.strip_prefix(' ')?.trim_start().split_once(":\t")?;
    let address = hex(address)?;
    let mut rest = text.trim_end();
    loop {
        let (word, after) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
        if (PREFIXES.contains(&word) || word.starts_with("rex")) && !after.trim().is_empty() {
            rest = after.trim_start();
        } else {
            let operands = after.trim_start().to_owned();
            return Some(Instruction { address, mnemonic: word.to_owned(), operands });
        }
    }
}

impl Instruction {
    /// Whether objdump knows it.
    pub(super) fn is_known(&self) -> bool {
        !self.mnemonic.starts_with('.') && self.mnemonic != "(bad)" && !self.operands.contains("; undefined")
    }

    /// Where a direct call or jump leads.
    pub(super) fn target(&self, machine: Machine) -> Option<u64> {
        let name = self.mnemonic.split(',').next()?;
        let is_branch = match machine {
            Machine::X86_64 => {
                name.starts_with('j')
                    || name.starts_with("call")
                    || name.starts_with("loop")
                    || name == "xbegin"
            }
            Machine::Aarch64 => {
                ["b", "bl", "cbz", "cbnz", "tbz", "tbnz"].contains(&name)
                    || name.starts_with("b.")
                    || name.starts_with("bc.")
            }
        };
        let operand = self.plain_operands().rsplit([',', ' ', '\t']).next()?;
        is_branch.then(|| hex(operand.trim_start_matches("0x")))?
    }

    /// The name that objdump gives the target: `malloc@plt`.
    pub(super) fn label(&self) -> Option<&str> {
        self.operands.split_once(" <")?.1.trim_end().rsplit_once('>').map(|(label, _)| label)
    }

    /// The address in the comment `# 1d6e18 <stdout>` of an x86 operand, or the page or place of an AArch64 `adrp`, `adr`
    /// or literal.
    pub(super) fn place(&self, machine: Machine) -> Option<u64> {
        match machine {
            Machine::X86_64 => {
                let comment = self.operands.split_once("# ")?.1;
                hex(comment.split(' ').next()?.trim_start_matches("0x"))
            }
            Machine::Aarch64 if ["adr", "adrp", "ldr", "ldrsw"].contains(&&*self.mnemonic) => {
                hex(self.plain_operands().rsplit(' ').next()?)
            }
            Machine::Aarch64 => None,
        }
    }

    /// Operands without the name of the target and comments.
    fn plain_operands(&self) -> &str {
        let end = [" <", "  # ", "  // "].iter().filter_map(|mark| self.operands.find(mark)).min();
        self.operands[..end.unwrap_or(self.operands.len())].trim_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_objdump() {
        let x86 = |line: &str| parse(line).unwrap();
        let call = x86("   26a4c:\tbnd call 28490 <malloc@plt>\n");
        assert_eq!((call.address, &*call.mnemonic), (0x26a4c, "call"));
        assert_eq!((call.target(Machine::X86_64), call.label()), (Some(0x28490), Some("malloc@plt")));
        let load = x86("   26a4c:\tcall   *0x1a(%rip)        # 1d6e18 <free@@GLIBC_2.2.5+0x8>\n");
        assert_eq!((load.target(Machine::X86_64), load.place(Machine::X86_64)), (None, Some(0x1d6e18)));
        assert_eq!(x86(" 1:\tjne,pn 20 <a>").target(Machine::X86_64), Some(0x20));
        assert_eq!(x86(" 1:\tret").target(Machine::X86_64), None);
        assert!(!x86(" 1:\t(bad)").is_known() && x86(" 1:\tlock").is_known());
        let arm = |line: &str| parse(line).unwrap().target(Machine::Aarch64);
        assert_eq!(arm("   26a4c:\ttbz\tw0, #3, 26b00 <a+0x10>\n"), Some(0x26b00));
        assert_eq!(arm("   26a4c:\tb.eq\t26b00 <a+0x10>  // b.none\n"), Some(0x26b00));
        assert_eq!(arm("   26a4c:\tbr\tx16\n"), None);
        let page = parse("   26a4c:\tadrp\tx0, 1a3000 <a>\n").unwrap();
        assert_eq!(page.place(Machine::Aarch64), Some(0x1a3000));
        assert!(parse("0000000000026380 <main>:").is_none());
        assert!(parse("Disassembly of section .text:").is_none());
    }
}
