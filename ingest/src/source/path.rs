//! Paths as bytes with `/` between their components.

use std::path::PathBuf;

/// The components of a path, `.` and empty ones left out, `..` folded where there is something to fold into. A path that
/// starts with `/` has nothing above its root.
pub(super) fn components(path: &[u8]) -> Vec<&[u8]> {
    let absolute = path.starts_with(b"/");
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if parts.last().is_some_and(|last| *last != b"..") => {
                parts.pop();
            }
            b".." if absolute => {}
            _ => parts.push(part),
        }
    }
    parts
}

/// The components from the last to the first.
pub(super) fn reversed(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.rsplit(|byte| *byte == b'/')
}

/// The path below a folder that these bytes name.
pub(super) fn to_relative(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
        PathBuf::from(OsStr::from_bytes(bytes))
    }
    #[cfg(not(unix))]
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_folded_where_there_is_something_to_fold_into() {
        let folded = |path: &str| {
            let parts = components(path.as_bytes());
            String::from_utf8(parts.join(&b'/')).unwrap_or_default()
        };
        assert_eq!(folded("./elf/../sysdeps//x86_64/strlen.S"), "sysdeps/x86_64/strlen.S");
        assert_eq!(folded("../../a/./b"), "../../a/b");
        assert_eq!(folded("/../a"), "a");
        assert_eq!(folded("a/.."), "");
    }
}
