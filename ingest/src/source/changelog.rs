//! The source package that an unpacked tree says it is: the first entry of `debian/changelog`.

use elfscope_schema::SourcePackage;

use crate::limits;

/// Where it stands in a tree.
pub(super) const PATH: &[u8] = b"debian/changelog";

/// The package of the first entry, `name (version) distributions; …` (deb-changelog(5)). None where the first line that
/// is not empty is no such line.
pub(super) fn parse(text: &[u8]) -> Option<SourcePackage> {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    let line = lines.find(|line| !line.is_empty())?;
    let line = std::str::from_utf8(line).ok()?;
    let (name, rest) = line.split_once(" (")?;
    let (version, rest) = rest.split_once(')')?;
    let distributions = rest.split_once(';')?.0;
    let named = is_word(name, "+-.") && name.starts_with(|first: char| first.is_ascii_alphanumeric());
    let known = named && is_word(version, "+-.:~") && distributions.starts_with(' ');
    known.then(|| SourcePackage { name: name.to_owned(), version: version.to_owned() })
}

/// A version without the `+bN` that a rebuild of the same sources carries.
pub(super) fn without_rebuild(version: &str) -> &str {
    match version.rsplit_once("+b") {
        Some((before, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            before
        }
        _ => version,
    }
}

/// The version of the upstream release: without epoch and Debian revision.
pub(super) fn upstream(version: &str) -> &str {
    let version = version.split_once(':').map_or(version, |(_, rest)| rest);
    version.rsplit_once('-').map_or(version, |(upstream, _)| upstream)
}

fn is_word(text: &str, more: &str) -> bool {
    let known = |letter: char| letter.is_ascii_alphanumeric() || more.contains(letter);
    !text.is_empty() && text.len() <= limits::SOURCE_PACKAGE_WORD && text.chars().all(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, &str)>) {
        let expected = expected
            .map(|(name, version)| SourcePackage { name: name.to_owned(), version: version.to_owned() });
        assert_eq!(parse(text.as_bytes()), expected);
    }

    #[test]
    fn the_first_entry_counts() {
        check("glibc (2.36-9+deb12u14) bookworm; urgency=medium\n", Some(("glibc", "2.36-9+deb12u14")));
        check(
            "\n\nvim (2:9.0.1378-2) unstable; urgency=low\n\nvim (1) x; y\n",
            Some(("vim", "2:9.0.1378-2")),
        );
        check("a (1) unstable experimental; urgency=low\r\n", Some(("a", "1")));
    }

    #[test]
    fn what_is_no_entry_names_no_package() {
        let long = format!("a ({}) sid; urgency=low", "1".repeat(limits::SOURCE_PACKAGE_WORD + 1));
        for text in [
            "",
            "a 1 sid",
            "a (1)",
            "a () sid; u",
            "a b (1) sid; u",
            "-a (1) sid; u",
            "a (1/2) sid; u",
            &long,
        ] {
            check(text, None);
        }
        assert_eq!(parse(b"a\xff (1) sid; urgency=low"), None);
    }

    #[test]
    fn versions_are_cut_where_debian_cuts_them() {
        assert_eq!(without_rebuild("1.0-2+b1"), "1.0-2");
        assert_eq!(without_rebuild("1.0-2+b"), "1.0-2+b");
        assert_eq!(without_rebuild("1.0+bzr3"), "1.0+bzr3");
        assert_eq!(upstream("2:9.0.1378-2"), "9.0.1378");
        assert_eq!(upstream("5.0"), "5.0");
        assert_eq!(upstream("1.2-rc-3"), "1.2-rc");
    }
}
