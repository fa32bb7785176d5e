//! Symbolic links inside a tree: one that leads to a file of the tree is that file once more. The links are read as text, and
//! followed in what is known of the tree alone, so that none leads out of it, wherever it stands.

use std::collections::BTreeMap;

use super::walk::TreeFile;

/// Most links that one path leads through, as in Linux.
const MOST: usize = 40;

/// Adds what links are to the files of a tree, which are sorted by path. A link that has a file's own path is none.
pub(super) fn add(files: &mut Vec<TreeFile>, links: &BTreeMap<Vec<u8>, Vec<u8>>) {
    let number = |path: &[u8]| files.binary_search_by(|file| file.path.as_slice().cmp(path)).ok();
    let unheard = links.keys().filter(|path| number(path).is_none());
    let linked = unheard.filter_map(|path| {
        let file = &files[number(&follow(path, links)?)?];
        Some(TreeFile { path: path.clone(), ..file.clone() })
    });
    let linked: Vec<TreeFile> = linked.collect();
    files.extend(linked);
    files.sort_by(|a, b| a.path.cmp(&b.path));
}

/// The path without links that a path leads to; none where that is outside, or after too many links.
fn follow(path: &[u8], links: &BTreeMap<Vec<u8>, Vec<u8>>) -> Option<Vec<u8>> {
    let parts = |path: &[u8]| path.split(|byte| *byte == b'/').rev().map(<[u8]>::to_vec).collect::<Vec<_>>();
    let mut ahead = parts(path);
    let mut here: Vec<Vec<u8>> = Vec::new();
    let mut passed = 0;
    while let Some(part) = ahead.pop() {
        match part.as_slice() {
            b"" | b"." => continue,
            b".." => {
                here.pop()?;
                continue;
            }
            _ => here.push(part),
        }
        if let Some(to) = links.get(&here.join(&b'/')) {
            passed += 1;
            if passed > MOST || to.starts_with(b"/") || to.len() > crate::limits::CITED_PATH {
                return None;
            }
            here.pop();
            ahead.extend(parts(to));
        }
    }
    Some(here.join(&b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_through_links_and_never_out() {
        let links = [
            ("a", "b/c.c"),
            ("d", "b"),
            ("e", "d/../d/c.c"),
            ("b/up", "../x.c"),
            ("out", "../x.c"),
            ("b/out", "../../x.c"),
            ("root", "/x.c"),
            ("loop", "loop"),
            ("p", "q"),
            ("q", "p"),
        ];
        let links = links.map(|(path, to)| (path.as_bytes().to_vec(), to.as_bytes().to_vec())).into();
        for (path, expected) in [
            ("a", Some("b/c.c")),
            ("d/c.c", Some("b/c.c")),
            // `..` leaves the folder that a link leads to.
            ("e", Some("b/c.c")),
            ("b/up", Some("x.c")),
            ("d/up", Some("x.c")),
            ("out", None),
            ("b/out", None),
            ("root", None),
            ("loop", None),
            ("p", None),
        ] {
            let expected = expected.map(|path| path.as_bytes().to_vec());
            assert_eq!(follow(path.as_bytes(), &links), expected, "{path}");
        }
    }
}
