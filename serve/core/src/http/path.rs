//! Paths of URLs: cut at `/`, then decoded, and hostile ones refused.

use crate::{Error, Result, limits};

/// The segments of a path, decoded. What stands in one may hold a `/` that was percent-encoded.
///
/// # Errors
/// [`Error::BadPath`] for what no path of an archive can be: `.` and `..` in any spelling, NUL, bytes that are not UTF-8
/// (overlong forms among them), escapes that are none. [`Error::InputTooLarge`].
pub(super) fn segments(path: &str) -> Result<Vec<String>> {
    if path.len() > limits::ARGUMENT {
        return Err(Error::InputTooLarge { what: "the path", limit: limits::ARGUMENT });
    }
    let refuse = |why| Error::BadPath { given: path.to_owned(), why };
    let mut segments = Vec::new();
    for segment in path.strip_prefix('/').unwrap_or(path).split('/') {
        let decoded = decode(segment.as_bytes(), false).map_err(refuse)?;
        if decoded.split('/').any(|part| matches!(part, "." | "..")) {
            return Err(refuse(
                "`.` and `..` are not folded here; the debug data's paths are folded already",
            ));
        }
        segments.push(decoded);
    }
    Ok(segments)
}

/// Decodes percent-encoded text; in a query, `+` is a space.
pub(crate) fn decode(text: &[u8], in_query: bool) -> std::result::Result<String, &'static str> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter().copied();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => match (rest.next().and_then(digit), rest.next().and_then(digit)) {
                (Some(high), Some(low)) => high * 16 + low,
                _ => return Err("`%` stands before two hex digits"),
            },
            b'+' if in_query => b' ',
            byte => byte,
        });
    }
    if bytes.contains(&0) {
        return Err("it holds a NUL byte");
    }
    String::from_utf8(bytes).map_err(|_not_text| "it is not UTF-8")
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_paths_are_refused() {
        for bad in [
            "/a/../b",
            "/a/./b",
            "/a/%2e%2e/b",
            "/a/%2E./b",
            "/a/..%2fb",
            "/a/x%2f..%2f..%2fb",
            "/a/%00",
            "/a/%c0%ae%c0%ae/b",
            "/a/%ff",
            "/a/%",
            "/a/%2",
            "/a/%zz",
            "/a/%+1",
            "/..",
        ] {
            let error = segments(bad).unwrap_err();
            assert_eq!(error.code(), "E_BAD_PATH", "{bad}");
        }
        assert_eq!(segments(&"/x".repeat(limits::ARGUMENT)).unwrap_err().code(), "E_INPUT_TOO_LARGE");
        for (path, expected) in [
            ("/a/b", vec!["a", "b"]),
            ("/a//b/", vec!["a", "", "b", ""]),
            ("/operator%2F/%C3%A9+%20...", vec!["operator/", "é+ ..."]),
            ("/", vec![""]),
        ] {
            assert_eq!(segments(path).unwrap(), expected, "{path}");
        }
    }
}
