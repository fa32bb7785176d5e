//! The places of a debug file, in their order.

use std::path::{Path, PathBuf};

use elfscope_schema::{BuildId, Found};

use super::{Located, Places, Wants, given::Given, link_problem};
use crate::elf::AlternateLink;

/// The separate debug file of a binary.
pub(super) fn main(
    places: &Places<'_>,
    given: &mut Given,
    want: &Wants,
    notes: &mut Vec<String>,
) -> Option<Located> {
    if let Some(found) = given.by_build(want, notes) {
        return Some(found);
    }
    if let Some(link) = &want.link
        && let Some(found) = given.by_link(link, want, notes)
    {
        return Some(found);
    }
    // A binary with DWARF of its own needs none of the system's.
    if places.only_given || want.has_dwarf {
        return None;
    }
    let mut linked = |path: PathBuf| {
        let link = want.link.as_ref()?;
        // A link may have the name of the file that it stands in.
        if want.plain.as_ref().is_some_and(|plain| same_file(plain, &path)) {
            return None;
        }
        Located::at(path.clone(), Found::Debuglink, |elf, bytes| {
            let problem = link_problem(link, want, elf.build_id.as_ref(), bytes, &path);
            let fits = problem.is_none();
            notes.extend(problem);
            fits
        })
    };
    let name = want.link.as_ref().and_then(|link| std::str::from_utf8(&link.name).ok());
    let folder = want.plain.as_deref().and_then(Path::parent);
    if let (Some(name), Some(folder)) = (name, folder) {
        let found = linked(folder.join(name)).or_else(|| linked(folder.join(".debug").join(name)));
        if found.is_some() {
            return found;
        }
    }
    if let Some(build) = &want.build
        && let Some(found) = by_build_path(places.root, build, Found::BuildIdPath)
    {
        return Some(found);
    }
    // Of the folder's true path, as it was installed.
    let folder = want.plain.as_ref().and_then(|plain| plain.canonicalize().ok());
    let folder = folder.as_deref().and_then(Path::parent).and_then(|folder| folder.strip_prefix("/").ok());
    linked(places.root.join(folder?).join(name?))
}

/// What dwz shares. `beside` is the file that links to it, where that is somebody's own.
pub(super) fn alternate(
    places: &Places<'_>,
    given: &mut Given,
    link: &AlternateLink,
    beside: Option<&Path>,
    notes: &mut Vec<String>,
) -> Option<Located> {
    if let Some(found) = given.alternate(&link.build, notes) {
        return Some(found);
    }
    if places.only_given {
        return None;
    }
    let at =
        |path| Located::at(path, Found::DwzAlternate, |elf, _| elf.build_id.as_ref() == Some(&link.build));
    let hint = std::str::from_utf8(&link.path).ok().map(Path::new);
    let by_hint = hint.and_then(|hint| {
        // An absolute hint stays as it is when it is joined.
        let from = beside.and_then(Path::parent);
        if hint.is_absolute() { at(hint.to_owned()) } else { at(from?.join(hint)) }
    });
    by_hint.or_else(|| by_build_path(places.root, &link.build, Found::DwzAlternate)).or_else(|| {
        let (_, tail) = hint?.to_str()?.rsplit_once(".dwz/")?;
        let plain = tail.split('/').all(|part| !matches!(part, "" | "." | ".."));
        plain.then(|| at(places.root.join(".dwz").join(tail))).flatten()
    })
}

/// `<root>/.build-id/xx/yyyy.debug`.
fn by_build_path(root: &Path, build: &BuildId, found: Found) -> Option<Located> {
    let (first, rest) = build.as_str().split_at_checked(2)?;
    let path = root.join(".build-id").join(first).join(format!("{rest}.debug"));
    Located::at(path, found, |elf, _| elf.build_id.as_ref() == Some(build))
}

fn same_file(a: &Path, b: &Path) -> bool {
    a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}
