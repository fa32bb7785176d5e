//! The path of a member: a name to tell, never a place to write to.

use crate::limits;

/// A member's path without `./` at its start, empty parts and `.` folded; or why it is no path inside a package.
pub(super) fn normalised(raw: &[u8]) -> Result<Vec<u8>, &'static str> {
    if raw.len() > limits::MEMBER_PATH {
        return Err("its path is too long");
    }
    if raw.contains(&0) {
        return Err("its path holds a NUL byte");
    }
    if raw.first() == Some(&b'/') {
        return Err("its path is absolute");
    }
    let mut path = Vec::with_capacity(raw.len());
    for part in raw.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => return Err("its path leads out of the package by `..`"),
            part => {
                if !path.is_empty() {
                    path.push(b'/');
                }
                path.extend_from_slice(part);
            }
        }
    }
    if path.is_empty() { Err("its path is empty") } else { Ok(path) }
}

#[cfg(test)]
mod tests {
    use super::normalised;

    #[test]
    fn paths_stay_inside() {
        for (raw, expected) in [
            (&b"./usr/lib/a"[..], &b"usr/lib/a"[..]),
            (b"usr//lib/./a", b"usr/lib/a"),
            (b"././a", b"a"),
            (b"..a/b..", b"..a/b.."),
            (b"a\\..\\b", b"a\\..\\b"),
        ] {
            assert_eq!(normalised(raw).unwrap(), expected);
        }
        for raw in [&b""[..], b"./", b"/etc/passwd", b"a/../../b", b"..", b"./..", b"a\0b", &[b'a'; 5000]] {
            assert!(normalised(raw).is_err(), "{raw:?}");
        }
    }
}
