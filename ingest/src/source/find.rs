//! Which files of the trees have the longest end of a path.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::{path::reversed, tree::Tree, walk::TreeFile};

/// A file of a tree, by numbers. Ordered by tree, then path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct At {
    /// The tree.
    pub(super) tree: u32,
    /// The file in it.
    pub(super) file: u32,
}

impl At {
    /// The tree and the file in it.
    pub(super) fn of(self, trees: &[Tree]) -> (&Tree, &TreeFile) {
        let tree = &trees[self.tree as usize];
        (tree, &tree.files[self.file as usize])
    }
}

/// All files that are small enough to be sources, by the components of their paths from the last to the first: those with
/// the same end stand together.
#[derive(Debug, Default)]
pub(super) struct Index(Vec<At>);

impl Index {
    /// An index of trees.
    pub(super) fn of(trees: &[Tree]) -> Self {
        let mut all: Vec<At> = Vec::with_capacity(trees.iter().map(|tree| tree.files.len()).sum());
        for (tree, files) in (0u32..).zip(trees) {
            let small = (0u32..).zip(&files.files).filter(|(_, file)| file.is_source());
            all.extend(small.map(|(file, _)| At { tree, file }));
        }
        all.par_sort_unstable_by(|a, b| {
            let paths = reversed(&a.of(trees).1.path).cmp(reversed(&b.of(trees).1.path));
            paths.then_with(|| a.cmp(b))
        });
        Self(all)
    }

    /// The files that have the greatest number of a path's last components, and that number. `parts` are all of them, in
    /// the path's order.
    pub(super) fn longest(&self, trees: &[Tree], parts: &[&[u8]]) -> (usize, &[At]) {
        let end = |at: &At| reversed(&at.of(trees).1.path);
        let wanted = || parts.iter().rev().copied();
        // Whatever shares most with the path stands beside the place where it would stand itself.
        let place = self.0.partition_point(|at| end(at).cmp(wanted()) == Ordering::Less);
        let beside = self.0[place.saturating_sub(1)..].iter().take(2);
        let shared = |at: &At| end(at).zip(wanted()).take_while(|(a, b)| a == b).count();
        let length = beside.map(shared).max().unwrap_or(0);
        if length == 0 {
            return (0, &[]);
        }
        let cut = |at: &At| end(at).take(length).cmp(wanted().take(length));
        (length, self.equal(cut))
    }

    /// The files with exactly this path, in all trees.
    pub(super) fn exactly(&self, trees: &[Tree], parts: &[&[u8]]) -> &[At] {
        self.equal(|at| reversed(&at.of(trees).1.path).cmp(parts.iter().rev().copied()))
    }

    fn equal(&self, compare: impl Fn(&At) -> Ordering) -> &[At] {
        let first = self.0.partition_point(|at| compare(at) == Ordering::Less);
        let after = first + self.0[first..].partition_point(|at| compare(at) == Ordering::Equal);
        &self.0[first..after]
    }
}

/// The files of all trees with exactly this path.
pub(super) fn exact(trees: &[Tree], path: &[u8]) -> Vec<At> {
    let found = (0u32..).zip(trees).filter_map(|(tree, files)| {
        let file = files.find(path).filter(|file| files.files[*file].is_source())?;
        Some(At { tree, file: u32::try_from(file).ok()? })
    });
    found.collect()
}
