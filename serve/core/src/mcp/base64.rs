//! Base64 (RFC 4648, section 4): for bytes that are no text, and for names in headers.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes bytes, padded.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let byte = |at: usize| part.get(at).copied().map_or(0, u32::from);
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let sign = ALPHABET[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at > part.len() { '=' } else { char::from(sign) });
        }
    }
    text
}

/// Reads text that is padded, and has no bits that would be lost; `None` for any other.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let (groups, []) = text.as_bytes().as_chunks::<4>() else { return None };
    let mut bytes = Vec::with_capacity(groups.len() * 3);
    for (number, group) in groups.iter().enumerate() {
        let signs = group.iter().rposition(|sign| *sign != b'=').map_or(0, |at| at + 1);
        if signs < 2 || (signs < 4 && number + 1 < groups.len()) {
            return None;
        }
        let mut bits = 0_u32;
        for sign in &group[..signs] {
            let value = ALPHABET.iter().position(|known| known == sign)?;
            bits = bits << 6 | u32::try_from(value).ok()?;
        }
        bits <<= 6 * (4 - signs);
        let [_, whole @ ..] = bits.to_be_bytes();
        if whole[signs - 1..].iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend(&whole[..signs - 1]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).unwrap(), bytes.as_bytes());
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)).unwrap(), all);
        for bad in ["Z", "Zg", "Zg=", "Zh==", "Zm9=", "====", "Zg==Zg==", "Zm!v", "Z===", "Zm 9v"] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }
}
