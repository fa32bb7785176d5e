//! Source maps: where a folder of the debug data is in the source trees.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use super::{SourceError, path::components, tree::Tree};

/// A source map as given: paths of the debug data that start with FROM are those below TO in the source trees.
///
/// It is taken at its word: a path that a map applies to is looked for there and nowhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceMap {
    from: String,
    to: String,
}

impl SourceMap {
    /// Reads `FROM=TO`. FROM is a path as the debug data gives it, or the start of one, by whole components: `/` stands for
    /// all absolute paths, `.` for all relative ones. TO is a path inside a source tree, `.` for its root, or one on disk
    /// inside a folder of sources.
    ///
    /// # Errors
    /// Text without `=`, or with nothing on one side of it.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        let (from, to) = text
            .split_once('=')
            .ok_or_else(|| bad(text, "it is `FROM=TO`, two paths with `=` between them"))?;
        if from.is_empty() {
            return Err(bad(text, "before `=` stands a path of the debug data, `.` for all relative ones"));
        }
        if to.is_empty() {
            return Err(bad(text, "after `=` stands a path inside the sources, `.` for their root"));
        }
        Ok(Self { from: from.to_owned(), to: to.to_owned() })
    }

    /// It, with TO as a path inside the trees.
    pub(super) fn resolve(&self, trees: &[Tree], folders: &[PathBuf]) -> Result<Resolved, SourceError> {
        let to = self.inside(trees, folders)?;
        let absolute = self.from.starts_with('/');
        let from = components(self.from.as_bytes()).into_iter().map(<[u8]>::to_vec).collect();
        Ok(Resolved { absolute, from, to })
    }

    fn inside(&self, trees: &[Tree], folders: &[PathBuf]) -> Result<String, SourceError> {
        let to = components(self.to.as_bytes()).join(&b'/');
        if !self.to.starts_with('/') && trees.iter().any(|tree| tree.has(&to)) {
            return Ok(String::from_utf8_lossy(&to).into_owned());
        }
        let found = fs::canonicalize(&self.to).ok();
        let below = found.and_then(|found| {
            let folders = folders.iter().filter_map(|folder| fs::canonicalize(folder).ok());
            folders.filter_map(|folder| relative(&found, &folder)).min_by_key(String::len)
        });
        below.filter(|below| trees.iter().any(|tree| tree.has(below.as_bytes()))).ok_or_else(|| {
            bad(&format!("{}={}", self.from, self.to), "what stands after `=` is in none of the sources")
        })
    }
}

/// `path` below `folder`, with `/` between its components.
fn relative(path: &Path, folder: &Path) -> Option<String> {
    let parts = path.strip_prefix(folder).ok()?.components().map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    Some(parts.collect::<Option<Vec<_>>>()?.join("/"))
}

fn bad(given: &str, reason: &str) -> SourceError {
    SourceError::BadMap { given: given.to_owned(), reason: reason.to_owned() }
}

/// A map whose ends are known. Ordered by FROM.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Resolved {
    absolute: bool,
    from: Vec<Vec<u8>>,
    to: String,
}

impl Resolved {
    /// FROM and the path inside the tree, as the manifest tells them.
    pub(super) fn told(&self) -> (String, String) {
        let from = String::from_utf8_lossy(&self.from.join(&b'/')).into_owned();
        let from = match (self.absolute, from.is_empty()) {
            (true, _) => format!("/{from}"),
            (false, true) => ".".to_owned(),
            (false, false) => from,
        };
        (from, if self.to.is_empty() { ".".to_owned() } else { self.to.clone() })
    }

    /// The path inside a tree that a path of the debug data stands for, where the map applies to it.
    fn apply(&self, absolute: bool, parts: &[&[u8]]) -> Option<Vec<u8>> {
        let applies = absolute == self.absolute
            && parts.len() >= self.from.len()
            && parts.iter().zip(&self.from).all(|(part, from)| *part == from.as_slice());
        let rest = parts.get(self.from.len()..).filter(|_| applies)?.join(&b'/');
        Some(match (self.to.is_empty(), rest.is_empty()) {
            (true, _) => rest,
            (false, true) => self.to.clone().into_bytes(),
            (false, false) => [self.to.as_bytes(), b"/", &rest].concat(),
        })
    }
}

/// The maps of all, sorted. Two of one FROM are refused.
pub(super) fn resolve(
    maps: &[SourceMap],
    trees: &[Tree],
    folders: &[PathBuf],
) -> Result<Vec<Resolved>, SourceError> {
    let resolved = maps.iter().map(|map| map.resolve(trees, folders));
    let mut resolved = resolved.collect::<Result<Vec<Resolved>, SourceError>>()?;
    resolved.sort();
    resolved.dedup();
    let twice =
        resolved.windows(2).find(|two| (two[0].absolute, &two[0].from) == (two[1].absolute, &two[1].from));
    if let Some([first, second]) = twice {
        let ((from, to), (_, other)) = (first.told(), second.told());
        return Err(bad(&format!("{from}={other}"), &format!("the same path is mapped to `{to}` as well")));
    }
    Ok(resolved)
}

/// Where the map with the longest FROM that applies leads.
pub(super) fn apply(maps: &[Resolved], absolute: bool, parts: &[&[u8]]) -> Option<Vec<u8>> {
    let applied = maps.iter().filter_map(|map| Some((map.from.len(), map.apply(absolute, parts)?)));
    applied.max_by_key(|(length, _)| *length).map(|(_, to)| to)
}
