//! Paths of source files, as documents tell them: see `elfscope_schema::sources`.

use super::{
    file::File,
    unit::{self, Unit},
};
use crate::limits;

/// A source file as one unit's line table gives it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SourcePath {
    /// The path, folded.
    pub(super) path: Vec<u8>,
    /// Whether it is below the compilation folder, as every relative path is.
    pub(super) is_below: bool,
    /// Folder and name as they are, where joined they are not the path.
    pub(super) raw: Option<(Vec<u8>, Vec<u8>)>,
    /// Its MD5.
    pub(super) md5: Option<[u8; 16]>,
}

impl SourcePath {
    /// The bytes that it takes in memory.
    pub(super) fn size(&self) -> usize {
        size_of::<Self>()
            + self.path.len()
            + self.raw.as_ref().map_or(0, |(folder, name)| folder.len() + name.len())
    }
}

/// The path of a file of a unit's line table, by its number there; none where the table doesn't have it, or it is too long.
pub(super) fn find<'a>(file: &File<'a>, unit: &Unit<'a>, index: u32) -> Option<SourcePath> {
    let header = unit.program()?.header();
    let entry = header.file(index.into())?;
    let text = |value| unit::text(&file.dwarf, unit, value, &mut (limits::CITED_PATH + 1));
    let name = text(entry.path_name())?;
    let compilation = unit.comp_dir.as_ref().map(gimli::EndianSlice::slice).unwrap_or_default();
    let folder = match header.directory(entry.directory_index()) {
        Some(folder) => text(folder)?,
        // Before DWARF 5 it is the compilation folder, which may not be given.
        None if header.version() < 5 && entry.directory_index() == 0 => b"",
        None => return None,
    };
    let joined = if name.starts_with(b"/") {
        vec![name]
    } else if folder.starts_with(b"/") || entry.directory_index() == 0 {
        // A DWARF 5 directory 0 is the compilation folder itself, and 0 means it before.
        vec![folder, name]
    } else {
        vec![compilation, folder, name]
    };
    let first = joined.iter().find(|part| !part.is_empty());
    let folded = fold(&joined.join(&b'/'), first.is_some_and(|part| part.starts_with(b"/")));
    if folded.len() > limits::CITED_PATH {
        return None;
    }
    let root = fold(compilation, compilation.starts_with(b"/"));
    let below_root = || {
        let rest = folded.strip_prefix(root.as_slice()).filter(|_| !root.is_empty());
        rest.is_some_and(|rest| rest.starts_with(b"/"))
    };
    let is_below = !folded.starts_with(b"/") || below_root();
    let plain =
        if name.starts_with(b"/") || folder.is_empty() { name.to_vec() } else { [folder, name].join(&b'/') };
    let raw = (plain != folded).then(|| (folder.to_vec(), name.to_vec()));
    let md5 = header.file_has_md5().then(|| *entry.md5()).filter(|md5| *md5 != [0; 16]);
    Some(SourcePath { path: folded, is_below, raw, md5 })
}

/// Folds `.`, `..` and empty parts; a `..` that has nothing to fold into stays, but not above a root.
fn fold(path: &[u8], absolute: bool) -> Vec<u8> {
    let mut folded: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => match folded.last() {
                Some(last) if *last != b".." => {
                    folded.pop();
                }
                None if absolute => {}
                _ => folded.push(part),
            },
            _ => folded.push(part),
        }
    }
    let mut joined = if absolute { b"/".to_vec() } else { Vec::new() };
    joined.extend(folded.join(&b'/'));
    joined
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn paths_fold_as_far_as_they_can() {
        for (path, folded) in [
            ("./libio/../sysdeps/./x86//a.c", "sysdeps/x86/a.c"),
            ("../../a.c", "../../a.c"),
            ("a/../../b.c", "../b.c"),
            ("", ""),
        ] {
            assert_eq!(fold(path.as_bytes(), false), folded.as_bytes(), "{path}");
        }
        assert_eq!(fold(b"/a/../../b//./c.c", true), b"/b/c.c");
    }
}
