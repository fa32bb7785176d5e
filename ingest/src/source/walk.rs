//! The files of a folder, and the digest of each.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use elfscope_schema::Sha256Digest;
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use super::{SourceError, links, path::to_relative, quilt};
use crate::{InputError, limits};

/// Names that count as nothing, wherever they stand: what version control and quilt keep of their own beside the sources.
/// It differs between two ways to unpack the same sources. Only [`quilt::APPLIED`] counts.
const NOT_SOURCES: [&str; 4] = [".git", ".hg", ".pc", ".svn"];

/// Bytes that are read at once.
pub(super) const BUFFER: usize = 64 << 10;

/// A file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TreeFile {
    /// Its path below the tree's root, with `/` between its components.
    pub(super) path: Vec<u8>,
    /// Its digest.
    pub(super) sha256: Sha256Digest,
    /// Its size in bytes.
    pub(super) size: u64,
    /// Where its bytes start in the file that holds those of all, where it came out of a tarball.
    pub(super) stored: Option<u64>,
}

impl TreeFile {
    /// Whether it is small enough to be a source.
    pub(super) fn is_source(&self) -> bool {
        self.size <= limits::SOURCE_FILE
    }
}

/// All regular files below a folder with their digests, and the symbolic links that lead to one of them, by the bytes of
/// their paths.
pub(super) fn files(root: &Path) -> Result<Vec<TreeFile>, InputError> {
    let (mut paths, mut links) = (Vec::new(), BTreeMap::new());
    walk(root, &mut Vec::new(), 0, &mut paths, &mut links)?;
    let is = |path: &[u8], kind: fn(&fs::Metadata) -> bool| {
        fs::symlink_metadata(root.join(to_relative(path))).is_ok_and(|meta| kind(&meta))
    };
    if is(quilt::FOLDER, fs::Metadata::is_dir) && is(quilt::APPLIED, fs::Metadata::is_file) {
        paths.push(quilt::APPLIED.to_vec());
    }
    paths.sort_unstable();
    let total = AtomicU64::new(0);
    // Most files are read by one call, so a chunk of them costs less than handing it to another thread.
    let files = paths.into_par_iter().with_min_len(32).map_init(
        || vec![0; BUFFER],
        |buffer, path| {
            let (sha256, size) = digest(&root.join(to_relative(&path)), buffer, &total, root)?;
            Ok(TreeFile { path, sha256, size, stored: None })
        },
    );
    let mut files = files.collect::<Result<Vec<TreeFile>, InputError>>()?;
    links::add(&mut files, &links);
    Ok(files)
}

/// Adds the paths of the files in `folder`, a path below `root`, and what the symbolic links there say.
fn walk(
    root: &Path,
    folder: &mut Vec<u8>,
    depth: usize,
    paths: &mut Vec<Vec<u8>>,
    links: &mut BTreeMap<Vec<u8>, Vec<u8>>,
) -> Result<(), InputError> {
    if depth > limits::FOLDER_DEPTH {
        return Err(too_large(root, "levels of folders", limits::FOLDER_DEPTH as u64));
    }
    let here = root.join(to_relative(folder));
    let unreadable = |source| InputError::Unreadable { path: here.clone(), source };
    let length = folder.len();
    // The folders come last, so that no more than one is open at a time.
    let mut below = Vec::new();
    for entry in fs::read_dir(&here).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        if is_left_out(name.as_encoded_bytes()) {
            continue;
        }
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() {
            below.push(name);
        } else if kind.is_file() || kind.is_symlink() {
            let mut path = Vec::with_capacity(length + 1 + name.len());
            path.extend_from_slice(folder);
            push(&mut path, name.as_encoded_bytes());
            if kind.is_file() {
                paths.push(path);
            } else {
                let to = fs::read_link(here.join(&name)).map_err(unreadable)?;
                links.insert(path, to.into_os_string().into_encoded_bytes());
            }
        }
        if paths.len() + links.len() + below.len() > limits::SOURCE_FILES {
            return Err(too_large(root, "files", limits::SOURCE_FILES as u64));
        }
    }
    for name in below {
        push(folder, name.as_encoded_bytes());
        walk(root, folder, depth + 1, paths, links)?;
        folder.truncate(length);
    }
    Ok(())
}

/// Whether what has this name counts as nothing, and all below it.
pub(super) fn is_left_out(name: &[u8]) -> bool {
    NOT_SOURCES.iter().any(|left_out| name == left_out.as_bytes())
}

fn push(path: &mut Vec<u8>, component: &[u8]) {
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(component);
}

/// The digest and size of a file, which count towards `total`.
fn digest(
    path: &Path,
    buffer: &mut [u8],
    total: &AtomicU64,
    root: &Path,
) -> Result<(Sha256Digest, u64), InputError> {
    let unreadable = |source| InputError::Unreadable { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(unreadable)?;
    let mut hasher = Sha256::new();
    let mut size = 0;
    loop {
        let read = match file.read(buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(error)),
        };
        size += read as u64;
        if total.fetch_add(read as u64, Ordering::Relaxed) > limits::SOURCE_TOTAL {
            return Err(too_large(root, "bytes", limits::SOURCE_TOTAL));
        }
        hasher.update(&buffer[..read]);
    }
    Ok((Sha256Digest::from_bytes(hasher.finalize().into()), size))
}

/// The files at the top of a folder that end in `.dsc`, sorted: each is a source package.
pub(super) fn packages(folder: &Path) -> Result<Vec<PathBuf>, InputError> {
    let unreadable = |source| InputError::Unreadable { path: folder.to_owned(), source };
    let mut packages = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let is_package = entry.file_name().as_encoded_bytes().ends_with(b".dsc");
        if is_package && entry.file_type().map_err(unreadable)?.is_file() {
            packages.push(entry.path());
        }
        if packages.len() > limits::SOURCE_PACKAGES {
            return Err(too_large(folder, "source packages", limits::SOURCE_PACKAGES as u64));
        }
    }
    packages.sort();
    Ok(packages)
}

fn too_large(path: &Path, what: &'static str, allowed: u64) -> InputError {
    SourceError::TooLarge { path: path.to_owned(), what, allowed }.into()
}
