//! Words that transfer control (Arm ARM C4.1, "Branches, Exception Generating and System instructions").

use super::{bits, signed};

/// A word that doesn't just go on to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    /// `b`, `bl`, `b.cond`, `bc.cond`, `cbz`, `cbnz`, `tbz`, `tbnz`.
    Relative {
        /// Bytes from the word to the target.
        distance: i64,
        /// The bits of the distance.
        mask: u32,
        link: bool,
        conditional: bool,
    },
    /// `br`, `blr` and their authenticating forms.
    Register { register: u32, link: bool },
    /// `ret`, `eret`, `drps`, and authenticating forms.
    Return,
    /// `udf`, `brk`, `hlt`.
    ///
    /// `udf` is what compilers and linkers fill with; `brk` is `__builtin_trap`, sanitizers' and a kernel's report; `hlt`
    /// is a debugger's. What handles one may go on after it (semihosting, a kernel's `WARN`), which no byte here tells.
    /// To say that it goes on would make a fall into the next function out of a trap at a function's end.
    Stop,
    /// `svc`, `hvc`, `smc`: back to the next word, with registers changed as by a call (SMCCC keeps x18 to x29).
    Supervisor,
}

impl Transfer {
    /// What the word transfers, or `None` where it goes on.
    pub(super) fn parse(word: u32) -> Option<Self> {
        let relative = |low, count, link, conditional| {
            let mask = ((1_u32 << count) - 1) << low;
            Some(Self::Relative { distance: signed(word, low, count) * 4, mask, link, conditional })
        };
        match word >> 24 {
            0x14..=0x17 => relative(0, 26, false, false),
            0x94..=0x97 => relative(0, 26, true, false),
            // Conditions 14 and 15 are both "always".
            0x54 => relative(5, 19, false, word & 0xe != 0xe),
            0x34 | 0x35 | 0xb4 | 0xb5 => relative(5, 19, false, true),
            0x36 | 0x37 | 0xb6 | 0xb7 => relative(5, 14, false, true),
            // `retaasppc`, `retabsppc`.
            0x55 if word & 0xffc0_001f == 0x5500_001f => Some(Self::Return),
            0xd6 | 0xd7 => Self::register(word),
            0xd4 => match word & 0x00e0_001f {
                0x01..=0x03 => Some(Self::Supervisor),
                0x0020_0000 | 0x0040_0000 => Some(Self::Stop),
                _ => None,
            },
            0 if word >> 16 == 0 => Some(Self::Stop),
            _ => None,
        }
    }

    /// Whether the next unit may follow.
    pub(super) fn goes_on(self) -> bool {
        match self {
            Self::Relative { link, conditional, .. } => link || conditional,
            Self::Register { link, .. } => link,
            Self::Return | Self::Stop => false,
            Self::Supervisor => true,
        }
    }

    /// "Unconditional branch (register)".
    fn register(word: u32) -> Option<Self> {
        // op3 is 0 without authentication, 2 or 3 with key A or B.
        let (authenticates, last) = match bits(word, 10, 6) {
            0 => (false, bits(word, 0, 5)),
            2 | 3 => (true, bits(word, 0, 5)),
            _ => return None,
        };
        if bits(word, 16, 5) != 31 {
            return None;
        }
        let register = bits(word, 5, 5);
        // Without a modifier register, its place says 31 where a key is used and 0 where none is.
        let zero = last == if authenticates { 31 } else { 0 };
        match bits(word, 21, 4) {
            link @ (0 | 1) if zero => Some(Self::Register { register, link: link == 1 }),
            link @ (8 | 9) if authenticates => Some(Self::Register { register, link: link == 9 }),
            2 if zero || authenticates => Some(Self::Return),
            4 | 5 if zero && register == 31 => Some(Self::Return),
            _ => None,
        }
    }
}

/// `bti` in any form: where indirect branches may land.
pub(super) fn is_bti(word: u32) -> bool {
    word & 0xffff_ff3f == 0xd503_241f
}

/// `bti j` and `bti jc`: where an indirect jump may land. A compiler that writes them writes one at each such place.
pub(super) fn is_bti_jump(word: u32) -> bool {
    word & 0xffff_ffbf == 0xd503_249f
}
