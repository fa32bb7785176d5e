//! Whether an unpacked tree has its patches applied: quilt's record is what the package's series says.
//!
//! An edited series, a checkout whose patches are still to be applied, and a tree with some of them popped all carry the
//! changelog of the package, and are not what was compiled.

use super::tree::Tree;
use crate::{InputError, limits};

/// Where quilt, and `dpkg-source` as it does, keeps the names of the patches that are applied. The only file of `.pc` that
/// counts as one of a tree.
pub(super) const APPLIED: &[u8] = b".pc/applied-patches";

/// The folder that it is in.
pub(super) const FOLDER: &[u8] = b".pc";

/// The series that are unpacked: Debian's own goes before the one for all.
const SERIES: [&[u8]; 2] = [b"debian/patches/debian.series", b"debian/patches/series"];

/// Whether exactly the patches of a tree's series are applied, in their order. A tree without patches has none to apply.
pub(super) fn is_applied(tree: &Tree) -> Result<bool, InputError> {
    let series = SERIES.iter().find_map(|path| tree.find(path));
    let (Some(wanted), Some(applied)) = (text(tree, series)?, text(tree, tree.find(APPLIED))?) else {
        return Ok(false);
    };
    Ok(patches(&wanted).eq(patches(&applied)))
}

/// The whole text of a file, empty where there is none; none where it is longer than is read.
fn text(tree: &Tree, file: Option<usize>) -> Result<Option<Vec<u8>>, InputError> {
    let Some(file) = file.map(|file| &tree.files[file]) else { return Ok(Some(Vec::new())) };
    match file.size <= limits::SOURCE_CONTROL {
        true => tree.read(file).map(Some),
        false => Ok(None),
    }
}

/// The names of the patches: the first word of each line that is no comment. What follows a name says how to apply it.
fn patches(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = text
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty()));
    words.filter(|word| !word.starts_with(b"#"))
}

#[cfg(test)]
mod tests {
    use super::patches;

    #[test]
    fn comments_and_blank_lines_name_no_patch() {
        let text = b"# all\n\n  a.patch -p1 # why\n\tb/c.diff\r\n#d\n   \ne";
        assert!(patches(text).eq([&b"a.patch"[..], b"b/c.diff", b"e"]));
        assert_eq!(patches(b"").count(), 0);
    }
}
