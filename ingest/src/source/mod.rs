//! Sources: the trees that were given, and which of their files are those that debug data cites.
//!
//! Each `--source` is a folder, a tarball, a Debian source package (`.dsc`), or a folder with such packages at its top. What
//! has to be unpacked is, into a folder of the caller's. A tree is known by the digest over its files, wherever it came from.

mod align;
mod changelog;
mod error;
mod find;
mod hint;
mod judge;
mod links;
mod map;
mod md5;
mod names;
mod path;
mod quilt;
mod reserved;
mod tarball;
mod tree;
mod unpack;
mod walk;

use std::path::PathBuf;

use elfscope_schema::{Package, Sha256Digest, SourcePackage, SourceTree};

pub(crate) use align::Aligned;
pub use error::SourceError;
pub(crate) use hint::hints;
pub use hint::{Hint, Origin};
pub(crate) use judge::{Cited, Judged, untold};
pub use map::SourceMap;
pub(crate) use md5::Md5;

use crate::InputError;

/// The source trees that were given, by their digests. What `SourceFile::tree` numbers.
#[derive(Debug, Default)]
pub(crate) struct Trees {
    trees: Vec<tree::Tree>,
    maps: Vec<map::Resolved>,
}

impl Trees {
    /// Opens sources. `scratch` gives a private, empty folder that stays until the trees are no longer needed; it is asked
    /// for once at most, and only where there is something to unpack.
    pub(crate) fn open(
        paths: &[PathBuf],
        maps: &[SourceMap],
        scratch: &mut dyn FnMut() -> Result<PathBuf, InputError>,
    ) -> Result<Self, InputError> {
        let mut unpacker = unpack::Unpacker::new(scratch);
        let mut trees = Vec::new();
        for path in paths {
            trees.extend(unpacker.trees(path)?);
        }
        // Equal trees are one: which of them is read makes no difference.
        trees.sort_by_key(|tree| tree.digest);
        trees.dedup_by_key(|tree| tree.digest);
        let maps = map::resolve(maps, &trees, paths)?;
        Ok(Self { trees, maps })
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// What the manifest tells of them: the trees' digests and the maps, both sorted.
    pub(crate) fn given(&self) -> (Vec<Sha256Digest>, Vec<(String, String)>) {
        let mut maps: Vec<(String, String)> = self.maps.iter().map(map::Resolved::told).collect();
        maps.sort();
        (self.trees.iter().map(|tree| tree.digest).collect(), maps)
    }

    /// What `meta.json` tells of them for a binary that came in a package, by their numbers.
    pub(crate) fn documents(&self, package: Option<&Package>) -> Vec<SourceTree> {
        let built_from = package.map(built_from);
        let told = self.trees.iter().map(|tree| SourceTree {
            digest: tree.digest,
            files: tree.files.len() as u64,
            package: tree.package.clone(),
            package_verified: tree
                .whole_package()
                .is_some_and(|package| built_from.as_ref() == Some(package)),
        });
        told.collect()
    }

    /// The packages that trees say they are, and whose patches these don't have as they should.
    pub(crate) fn unpatched(&self) -> impl Iterator<Item = &SourcePackage> {
        self.trees.iter().filter(|tree| !tree.patched).filter_map(|tree| tree.package.as_ref())
    }
}

/// The source package that a binary package was built from: what it says, else its own name and version (deb-control(5),
/// `Source`), without the mark of a rebuild, which the sources don't carry.
pub(crate) fn built_from(package: &Package) -> SourcePackage {
    let own = || SourcePackage {
        name: package.name.clone(),
        version: changelog::without_rebuild(&package.version).to_owned(),
    };
    package.source.clone().unwrap_or_else(own)
}

#[cfg(test)]
mod tests;
