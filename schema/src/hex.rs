//! Lowercase hex, the only spelling this archive writes and reads.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The lowercase hex of `bytes`.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    push(&mut text, bytes);
    text
}

/// Appends the lowercase hex of `bytes`.
pub fn push(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

/// Appends the lowercase hex of `bytes`, as ASCII.
pub fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(
        bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]),
    );
}

/// The bytes of lowercase hex, or `None` for an odd length or any other character.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    text.as_bytes().chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

/// A number in lowercase hex without prefix or leading zeros.
pub(crate) fn parse_u64(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.len() <= 16 && text.bytes().all(|byte| digit(byte).is_some());
    if !plain || (text.len() > 1 && text.starts_with('0')) {
        return None;
    }
    u64::from_str_radix(text, 16).ok()
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}
