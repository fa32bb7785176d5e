//! Which form of a document a client takes: the stored gzip member, or what it inflates to (RFC 9110, section 12.5.3).

use http::{HeaderMap, header::ACCEPT_ENCODING};

/// Whether gzip may be sent, and is liked no less than the identity.
pub(super) fn takes_gzip(headers: &HeaderMap) -> bool {
    let (mut gzip, mut any, mut identity) = (None, None, None);
    for value in headers.get_all(ACCEPT_ENCODING) {
        for item in value.to_str().unwrap_or_default().split(',') {
            let mut parts = item.split(';').map(str::trim);
            let coding = parts.next().unwrap_or_default().to_ascii_lowercase();
            let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
            let weight = match weight {
                None => 1000,
                Some(text) => match weight_of(text) {
                    Some(weight) => weight,
                    None => continue,
                },
            };
            match coding.as_str() {
                "gzip" | "x-gzip" => gzip = Some(weight),
                "identity" => identity = Some(weight),
                "*" => any = Some(weight),
                _ => {}
            }
        }
    }
    let weight = gzip.or(any).unwrap_or(0);
    weight > 0 && weight >= identity.unwrap_or(0)
}

/// A weight in thousandths.
fn weight_of(text: &str) -> Option<u32> {
    let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let whole: u32 = whole.parse().ok().filter(|whole| *whole <= 1)?;
    if part.len() > 3 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part: u32 = format!("{part:0<3}").parse().ok()?;
    Some((whole * 1000 + part).min(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_say() {
        for (said, expected) in [
            ("", false),
            ("gzip", true),
            ("x-gzip", true),
            ("GZIP", true),
            ("br, gzip", true),
            ("gzip;q=0", false),
            ("gzip; q=0.000", false),
            ("*", true),
            ("*;q=0", false),
            ("gzip;q=0, *", false),
            ("identity", false),
            ("identity;q=1, gzip;q=0.5", false),
            ("identity;q=0.5, gzip;q=1.0", true),
            ("gzip;q=0.001", true),
            ("gzip;q=2", false),
            ("gzip;q=x", false),
            ("deflate, br", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, said.parse().unwrap());
            assert_eq!(takes_gzip(&headers), expected, "{said}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
