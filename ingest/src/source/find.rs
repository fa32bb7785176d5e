//! Which files of a tree have the longest end of a path.

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

/// The files of a tree that are small enough to be sources, by the components of their paths from the last to the first:
/// those with the same end stand together.
pub(super) struct Index<'a> {
    tree: &'a Tree,
    order: Vec<u32>,
}

impl<'a> Index<'a> {
    /// An index of a tree.
    pub(super) fn of(tree: &'a Tree) -> Self {
        let small = (0u32..).zip(&tree.files).filter(|(_, file)| file.is_source());
        let mut order: Vec<u32> = small.map(|(file, _)| file).collect();
        let end = |file: u32| reversed(&tree.files[file as usize].path);
        order.par_sort_unstable_by(|a, b| end(*a).cmp(end(*b)).then(a.cmp(b)));
        Self { tree, order }
    }

    /// The numbers of the files that have the greatest number of a path's last components, and that number. `parts` are all of them, in
    /// the path's order.
    pub(super) fn longest(&self, parts: &[&[u8]]) -> (usize, &[u32]) {
        let files = &self.tree.files;
        let end = |file: &u32| reversed(&files[*file as usize].path);
        let wanted = || parts.iter().rev().copied();
        // Whatever shares most with the path stands beside the place where it would stand itself.
        let place = self.order.partition_point(|file| end(file).cmp(wanted()) == Ordering::Less);
        let beside = self.order[place.saturating_sub(1)..].iter().take(2);
        let shared = |file: &u32| end(file).zip(wanted()).take_while(|(a, b)| a == b).count();
        let length = beside.map(shared).max().unwrap_or(0);
        let cut = |file: &u32| end(file).take(length).cmp(wanted().take(length));
        let first = self.order.partition_point(|file| cut(file) == Ordering::Less);
        let after = first + self.order[first..].partition_point(|file| cut(file) == Ordering::Equal);
        let equal = if length == 0 { &[] } else { &self.order[first..after] };
        (length, equal)
    }
}

/// The file of a tree with exactly this path.
pub(super) fn exact(trees: &[Tree], tree: u32, path: &[u8]) -> Option<At> {
    let files = &trees[tree as usize];
    let file = files.find(path).filter(|file| files.files[*file].is_source())?;
    Some(At { tree, file: u32::try_from(file).ok()? })
}
