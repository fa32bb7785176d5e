//! Numbers as people and models read them.

/// A number with its thousands apart.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number and what it counts.
#[must_use]
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A size in bytes, from 10 on with its hex beside it.
#[must_use]
pub fn bytes(number: u64) -> String {
    match number {
        0..10 => count(number, "byte", "bytes"),
        _ => format!("{} (0x{number:x}) bytes", grouped(number)),
    }
}

/// A part of a whole, in percent; never 0 % or 100 % of what isn't.
#[must_use]
pub fn share(part: u64, whole: u64) -> String {
    match (part, whole) {
        (0, _) => "0 %".to_owned(),
        (part, whole) if part == whole => "100 %".to_owned(),
        (part, whole) => {
            let tenths = (u128::from(part) * 1000 / u128::from(whole.max(1))).clamp(1, 999);
            format!("{}.{} %", tenths / 10, tenths % 10)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([1, 9, 1032].map(bytes), ["1 byte", "9 bytes", "1,032 (0x408) bytes"]);
        assert_eq!(
            [(0, 0), (0, 9), (1, 100_000), (99_999, 100_000), (5, 5), (1, 3)].map(|(a, b)| share(a, b)),
            ["0 %", "0 %", "0.1 %", "99.9 %", "100 %", "33.3 %"]
        );
    }
}
