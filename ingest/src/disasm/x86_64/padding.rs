//! The `nop`s that assemblers and linkers fill up with (Intel SDM volume 2, "NOP"; AMD optimisation guides).

/// Whether all bytes belong to `nop`s: `90` and `0f 1f` with any memory operand, after any of the prefixes that fillers use
/// (`66`, `2e`, REX).
pub(super) fn is_padding(mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        let Some(size) = nop(bytes) else { return false };
        bytes = &bytes[size..];
    }
    true
}

/// The size of the `nop` at the start.
fn nop(bytes: &[u8]) -> Option<usize> {
    let prefixes = bytes.iter().take(14).take_while(|byte| matches!(byte, 0x66 | 0x2e)).count();
    match bytes.get(prefixes..)? {
        [0x90, ..] => Some(prefixes + 1),
        // A REX prefix must not name register 8: that is an exchange.
        [0x48, 0x90, ..] => Some(prefixes + 2),
        [0x0f, 0x1f, modrm, rest @ ..] => {
            let (mode, register) = (modrm >> 6, modrm & 7);
            let scaled = usize::from(mode != 3 && register == 4);
            let no_base = scaled == 1 && rest.first()? & 7 == 5;
            let displacement = match mode {
                1 => 1,
                2 => 4,
                0 if register == 5 || no_base => 4,
                _ => 0,
            };
            let size = prefixes + 3 + scaled + displacement;
            (size <= bytes.len()).then_some(size)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fillers_of_gas_are_padding_and_code_is_not() {
        // `as` from binutils 2.40, `.p2align 4` after one to fifteen bytes.
        let fillers: [&[u8]; 10] = [
            &[0x90],
            &[0x66, 0x90],
            &[0x0f, 0x1f, 0x00],
            &[0x0f, 0x1f, 0x40, 0x00],
            &[0x0f, 0x1f, 0x44, 0x00, 0x00],
            &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
            &[0x0f, 0x1f, 0x80, 0, 0, 0, 0],
            &[0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0],
            &[0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0],
            &[0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0],
        ];
        for filler in fillers {
            assert!(is_padding(filler), "{filler:x?}");
            assert!(is_padding(&[filler, filler].concat()), "{filler:x?} twice");
            assert!(!is_padding(&filler[..filler.len() - 1]) || filler.len() == 1, "{filler:x?} cut");
        }
        for code in [&[0xc3][..], &[0x90, 0xc3], &[0x49, 0x90], &[0x0f, 0x1e, 0xfa], &[0xcc], &[0x00, 0x00]] {
            assert!(!is_padding(code), "{code:x?}");
        }
    }
}
